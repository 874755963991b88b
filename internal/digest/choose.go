package digest

import (
	"slices"

	"github.com/winnowgo/winnow/internal/prose"
	"github.com/winnowgo/winnow/internal/tokencount"
)

// unique keeps the newest of equal items, in order.
func unique(items []string) []string {
	seen := make(map[string]bool, len(items))
	out := make([]string, 0, len(items))
	for _, s := range slices.Backward(items) {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	slices.Reverse(out)
	return out
}

// newestFirst fills room tokens with items, the last one first. The last few of them, full many, may take
// most of it; the older ones are clipped to a line.
func newestFirst(items []string, room, full int) []string {
	return newestOf(len(items), func(i int) string { return items[i] }, room, full)
}

// newestOf is newestFirst for a number of items. It calls item only for those that may have room.
func newestOf(items int, item func(i int) string, room, full int) []string {
	const line = 30     // tokens
	var newest []string // without equal ones, the last one first
	seen := map[string]bool{}
	more := func() bool { // adds the next one
		for items > 0 {
			items--
			if s := item(items); !seen[s] {
				seen[s] = true
				newest = append(newest, s)
				return true
			}
		}
		return false
	}
	for len(newest) < full && more() {
	}
	few := len(newest)
	var out []string
	for age := 0; room > 12 && (age < len(newest) || more()); age++ {
		most := line
		if age < few {
			most = max(line, room/(few-age+1)*2)
		}
		s := tokencount.Clip(newest[age], min(most, room-2))
		if s == "" {
			continue
		}
		room -= tokencount.Cautious(s) + 2
		out = append(out, s)
	}
	slices.Reverse(out)
	return out
}

// whole fills room tokens with items, the last one first, and clips none: half a rule is another rule.
func whole(items []string, room int) []string {
	var out []string
	for _, s := range slices.Backward(items) {
		if n := tokencount.Cautious(s) + 2; n <= room {
			room -= n
			out = append(out, s)
		}
	}
	slices.Reverse(out)
	return out
}

// rankRules puts the rules that forbid or demand behind the others, because the last ones are dropped last.
func rankRules(rules []string) []string {
	var weak, strong []string
	for _, r := range unique(rules) {
		if prose.StrongRules.In(r) {
			strong = append(strong, r)
		} else {
			weak = append(weak, r)
		}
	}
	return append(weak, strong...)
}

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
	const line = 30 // tokens
	items = unique(items)
	var out []string
	for i := len(items) - 1; i >= 0 && room > 12; i-- {
		most := line
		if age := len(items) - 1 - i; age < full {
			most = max(line, room/(min(full, len(items))-age+1)*2)
		}
		s := tokencount.Clip(items[i], min(most, room-2))
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

// rankRules puts the rules that forbid or demand behind the others, where they are the last to go.
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

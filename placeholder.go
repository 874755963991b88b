package winnow

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/identifier"
	"github.com/winnowgo/winnow/internal/mem"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/tokencount"
)

// What stays of a stale part: what it reports, in a line or two, and the names in it that stand nowhere
// else, so that the model still knows them and what to ask for again.

const (
	// A remainder has at most so many tokens, and this share of what it stands for besides. In a replay of the
	// recorded sessions a share of 0.1 costs 0.1 to 0.3 % less and keeps 0.1 to 0.2 points fewer of the names that are needed.
	remainderTokens = 40
	remainderShare  = 0.15
	// Of a command's output at most so many characters of the first line, which says what ran, and of the last,
	// which says how it ended, stay: a line of a terminal and two.
	remainderHeadChars = 80
	remainderTailChars = 160
	// An edit that leaves more than this share is not worth what the model no longer sees.
	mostRemainder = 0.75
	// Tokens of the frame around the names.
	remainderFrame = 20
)

func remainderRoom(tokens int) int { return remainderTokens + int(remainderShare*float64(tokens)) }

// dropped is a stale part with the message that is sent instead of its own.
type dropped struct {
	stale   // its saving is exact
	message Message
	tokens  int
}

// drop puts remainders in the place of stale parts.
func (d *draft) drop(list []stale) { d.replace(d.remainders(list)) }

func (d *draft) replace(parts []dropped) {
	for k := range parts {
		p, op := &parts[k], OpClear
		if p.arguments {
			op = OpTrim
		}
		d.project(p.index, p.message, p.tokens, op, p.reason)
	}
}

// remainders returns what stays of stale parts, in their order, without those that are not worth an edit.
func (d *draft) remainders(list []stale) []dropped {
	if len(list) == 0 {
		return nil
	}
	o, v := d.manager.opts, d.view
	match := newToolMatcher(o.Prune.AllowTools, o.Prune.DenyTools)
	names := d.namesKept(list, &match)
	parts := make([]dropped, 0, len(list))
	for _, s := range slices.Backward(list) { // a name that several hold stays in the newest
		var out Message
		ok := true
		if m := &v.messages[s.index]; s.arguments {
			out, ok = shortenArguments(m, &match, names)
		} else {
			out = *m
			text := remainder(joinedText(m), remainderRoom(v.tokens[s.index]), !s.isRead, names)
			out.Parts, out.Source = []Part{{Text: text}}, nil
		}
		if !ok {
			continue
		}
		if after := max(0, o.Estimator.Estimate(out)); isWorthIt(after, v.tokens[s.index]) {
			s.saving = v.tokens[s.index] - after
			parts = append(parts, dropped{s, out, after})
		}
	}
	slices.Reverse(parts)
	return parts
}

// isWorthIt says that an edit leaves little enough of so many tokens.
func isWorthIt(after, before int) bool { return float64(after) <= mostRemainder*float64(before) }

// nameSet holds the names that a request has somewhere.
type nameSet map[string]bool

// add adds the names in s.
func (n nameSet) add(s string) {
	identifier.Cover(n, s)
}

// namesKept returns the names in what is not dropped. Thinking does not count where an epoch leaves it out.
func (d *draft) namesKept(list []stale, match *toolMatcher) nameSet {
	names := nameSet{}
	thinks := d.manager.opts.Thinking == ThinkingKept
	next := 0
	for i := range d.view.messages {
		var dropped *stale
		if next < len(list) && list[next].index == i {
			dropped = &list[next]
			next++
		}
		if dropped != nil && !dropped.arguments {
			continue
		}
		for k := range d.view.messages[i].Parts {
			p := &d.view.messages[i].Parts[k]
			if thinks || !isThinking(*p) {
				names.add(p.Text)
			}
			if dropped == nil || !shortens(p, match) {
				names.add(mem.String(p.Arguments))
			}
		}
	}
	return names
}

// remainder returns what stays of a text in at most about room tokens: the first and the last line, where
// they report something, and its names.
func remainder(text string, room int, reports bool, names nameSet) string {
	head, tail := "", ""
	if reports {
		head, tail = firstLine(text), lastLine(text)
		if tokencount.Cautious(head)+tokencount.Cautious(tail) > room/2 {
			head, tail = "", ""
		}
	}
	names.add(head)
	names.add(tail)
	var b strings.Builder
	if head != "" {
		b.WriteString(head + "\n")
	}
	left := text[len(head) : len(text)-len(tail)]
	fmt.Fprintf(&b, "[%d characters of an old result left out.", runes.Count(left))
	names.write(&b, left, room-remainderFrame-tokencount.Cautious(head)-tokencount.Cautious(tail))
	b.WriteByte(']')
	if tail != "" {
		b.WriteString("\n" + tail)
	}
	return b.String()
}

// firstLine returns the beginning of s: a line, or what of it fits.
func firstLine(s string) string {
	s = s[:runes.Head(s, remainderHeadChars)]
	if k := strings.IndexByte(s, '\n'); k > 0 {
		return s[:k]
	}
	return s
}

// lastLine returns the end of s, if it reports something and nothing of it is in the first line.
func lastLine(s string) string {
	if !tailMatters(s[runes.Tail(s, remainderTailChars):]) {
		return ""
	}
	tail := s[max(len(firstLine(s)), runes.Tail(s, remainderTailChars)):]
	if k := strings.LastIndexByte(strings.TrimRight(tail, "\n"), '\n'); k >= 0 {
		return tail[k+1:]
	}
	return tail
}

// What a name is worth, for the choice of those that fit: how often names of its kind were used again by the
// model after ten messages in the recorded sessions, once for each mention in a result, divided by its
// tokens. A result that is full of names is a listing, and each of its names is used less often.
const (
	leastNameWorth = 0.0007 // below, the tokens cost more than asking again now and then
	namePower      = 0.35   // n mentions count as n to this power
	listingNames   = 160    // from so many names on a result is a listing
)

var nameWorth = [identifier.Kinds]float64{identifier.Path: 0.027, identifier.URL: 0.015, identifier.Hash: 0.017, identifier.Number: 0.012, identifier.Error: 0.04, identifier.Symbol: 0.05, identifier.Name: 0.05}

// foundName is a name in a text.
type foundName struct {
	id       string
	kind     identifier.Kind
	mentions int
	order    int // of the first mention
	tokens   int
	worth    float64
}

// write appends the names of s that are not known yet and worth the most, in their order, in at most room
// tokens. They are known then.
func (n nameSet) write(b io.StringWriter, s string, room int) {
	var chosen []foundName
	for _, f := range n.find(s) {
		if f.worth < leastNameWorth {
			break
		}
		if f.tokens > room || n[f.id] {
			continue
		}
		room -= f.tokens
		chosen = append(chosen, f)
		identifier.CoverID(n, f.id)
	}
	if len(chosen) == 0 {
		return
	}
	slices.SortFunc(chosen, func(a, b foundName) int { return a.order - b.order })
	b.WriteString(" Names in it:")
	for _, f := range chosen {
		b.WriteString(" " + f.id)
	}
}

// find returns the names of s that are not known yet, the most worth first.
func (n nameSet) find(s string) []foundName {
	at := map[string]int{}
	var found []foundName
	identifier.Scan(s, func(id string, kind identifier.Kind) {
		if n[id] {
			return
		}
		k, ok := at[id]
		if !ok {
			k = len(found)
			at[id] = k
			found = append(found, foundName{id: id, kind: kind, order: k})
		}
		found[k].mentions++
	})
	crowd := min(1, listingNames/float64(max(1, len(found))))
	for k := range found {
		f := &found[k]
		f.tokens = tokencount.Cautious(f.id) + 1
		f.worth = nameWorth[f.kind] * math.Pow(float64(f.mentions), namePower) * crowd / float64(f.tokens)
	}
	slices.SortStableFunc(found, func(a, b foundName) int {
		switch {
		case a.worth > b.worth:
			return -1
		case a.worth < b.worth:
			return 1
		}
		return 0
	})
	return found
}

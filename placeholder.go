package winnow

import (
	"slices"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/mem"
)

// What stays of a stale part: what it reports, in a line or two, and the names in it that occur nowhere else. So the
// model still knows these names and what it can ask for again.

// replacement is a stale part with the message that is sent instead of its own.
type replacement struct {
	part    // its saving is exact
	message Message
	tokens  int
	record  *runRecord // sent instead of a run; nil: message is sent
}

// drop replaces the stale parts of list by their remainders.
func (d *draft) drop(list []part) { d.replace(d.remainders(list, false)) }

func (d *draft) replace(parts []replacement) {
	var runs []recordedRun
	for k := range parts {
		switch p := &parts[k]; {
		case p.record != nil:
			runs = append(runs, recordedRun{p.index, p.end, p.record})
		default:
			d.project(p.index, p.message, p.tokens, OpClear, p.reason)
		}
	}
	d.putNew(runs) // after the edits, because records change the positions of messages
	d.settleRepeats()
}

// putNew puts records that were not sent before in the place of their runs in the view.
func (d *draft) putNew(runs []recordedRun) {
	if len(runs) == 0 {
		return
	}
	if d.why == "" {
		d.why = d.cause
	}
	d.unchangedPrefix = min(d.unchangedPrefix, runs[0].from)
	d.newRecords += len(runs)
	d.putRecords(runs)
}

// remainders returns what replaces each stale part of list, in the same order, without those that are not worth an
// edit. With mayLean, a record that leanRecords would then reduce to its leanest form is written in that form at once.
func (d *draft) remainders(list []part, mayLean bool) []replacement {
	o, v := d.opts, d.view
	list = runsOf(list)
	if len(list) == 0 { // else everything that is kept would be read for its names in vain
		return nil
	}
	names := d.namesKept(list)
	parts := make([]replacement, 0, len(list))
	var lean *leanest
	if mayLean {
		lean = d.leanestOf(list)
	}
	for k, s := range slices.Backward(list) { // newest first: a name that several hold stays in the newest
		if s.end > 0 {
			if r, ok := d.recordOf(k, s, names, lean); ok {
				s.saving = count.Sum(v.tokens[s.index:s.end]) - r.fact.tokens
				parts = append(parts, replacement{part: s, record: r})
			}
			continue
		}
		if s.images {
			out, after, ok := d.withoutImages(s.index)
			if s.saving = v.tokens[s.index] - after; ok {
				parts = append(parts, replacement{part: s, message: out, tokens: after})
			}
			continue
		}
		m := &v.messages[s.index]
		out := *m
		if v.edited[s.index].isRepeat() {
			m, _ = d.beforeCut(s.index)
		}
		text := excerpt.Remainder(joinedText(m), excerpt.Room(v.tokens[s.index]), !s.isRead, names,
			d.recallNote(s.index))
		out.Parts, out.Source = []Part{{Text: text}}, nil
		if after := estimateWith(o.Estimator, out); isWorthIt(after, v.tokens[s.index]) {
			s.saving = v.tokens[s.index] - after
			parts = append(parts, replacement{part: s, message: out, tokens: after})
		}
	}
	slices.Reverse(parts)
	return parts
}

// In the recorded sessions, what a request keeps has one name per 27 tokens. The set of names gets room for that many
// at first. The number is bounded because a host's own counts may be absurd.
const tokensPerName, mostExpectedNames = 27, 10_000

// namesKept returns the names in what the view keeps when the parts of list are dropped. Thinking counts only if every
// epoch keeps it.
func (d *draft) namesKept(list []part) *excerpt.Names {
	names := excerpt.NewNames(min(d.tokensKept(list)/tokensPerName, mostExpectedNames))
	keepsThinking := d.opts.Thinking == ThinkingKept
	next := 0
	for i := range d.view.messages {
		for next < len(list) && list[next].end > 0 && list[next].end <= i {
			next++
		}
		if next < len(list) && list[next].end > 0 && list[next].index <= i {
			continue // of a run
		}
		if next < len(list) && list[next].index == i {
			next++
			continue
		}
		for k := range d.view.messages[i].Parts {
			p := &d.view.messages[i].Parts[k]
			if keepsThinking || !isThinking(*p) {
				names.Add(p.Text)
			}
			names.Add(mem.String(p.Arguments))
		}
	}
	return names
}

// tokensKept estimates how many tokens the view keeps when the parts of list are dropped.
func (d *draft) tokensKept(list []part) int {
	kept := d.view.total
	for k := range list {
		switch p := &list[k]; {
		case p.end > 0:
			kept -= count.Sum(d.view.tokens[p.index:p.end])
		default:
			kept -= d.view.tokens[p.index]
		}
	}
	return max(0, kept)
}

package winnow

import (
	"context"
	"errors"
	"fmt"

	"github.com/winnowgo/winnow/internal/cut"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/sections"
	"github.com/winnowgo/winnow/internal/summarysize"
)

// The text of a summary: the summarizer writes it, in the room that the sections behind it leave.

// run has s write the summary, and returns its checkpoint and its report. It does not touch the manager, and with an
// error nothing has happened.
func (c *compaction) run(ctx context.Context, s Summarizer) (*checkpoint, *Compaction, error) {
	behind := c.carried.LayOut(c.tokens, c.rules, summarysize.Sections(c.cap))
	most, asked := summarysize.Text(c.cap, c.tokens(behind.String()))
	room := most // a digest counts cautiously and lists identifiers itself
	if !isDigest(s) {
		room = asked
	}
	sum, err := c.summarize(ctx, s, room)
	if err != nil {
		return nil, nil, err
	}
	body, _ := sections.Split(sum.Text) // code knows failures and files: the model's sections of them are dropped
	if runes.IsBlank(body) {
		return nil, nil, refusedSummary("it holds no summary")
	}
	cp := &checkpoint{boundary: c.boundary, carried: c.carried, degraded: sum.Degraded}
	if sum.Degraded {
		cp.healthy = c.healthy // a later summary goes on from that one, and covers what only a digest stands for
	}
	// Models write more than they are asked for. The excess is cut from the text here, and not from the sections behind
	// it.
	if cp.body = c.cutTo(body, most); runes.IsBlank(cp.body) { // sections alone say nothing of the conversation
		return nil, nil, refusedSummary("there is no room for a summary")
	}
	filled := !sum.Degraded && c.tokens(cp.body) < asked/skeletonShare && c.fill(cp, most)
	text, repaired := c.audit(cp, behind)
	text += c.inForce
	if filled {
		repaired = append(repaired, "sections")
	}
	if sum.Degraded && c.standsForNoMore() {
		cp.body = c.previous // only the request has fewer words: the next summary goes on from all of them
	}
	framed := sections.Begin + text + sections.End + c.recall
	cp.message = Message{Role: RoleUser, Summary: true, Parts: []Part{{Text: framed}}}
	return cp, &Compaction{
		Summary: text, FirstKept: c.index, TokensBefore: c.requestTokens, Degraded: sum.Degraded, Repaired: repaired,
		Calls: sum.Calls, Usage: sum.Usage,
	}, nil
}

// standsForNoMore reports whether the summary stands for nothing that the last one did not stand for.
func (c *compaction) standsForNoMore() bool {
	return c.previous != "" && len(c.older) == 0
}

// cutTo cuts text to most tokens. A host's estimator may charge so much for each message that not even a word has room.
// A summary is one message, so that charge is then subtracted.
func (c *compaction) cutTo(text string, most int) string {
	short := cut.ToTokens(c.tokens, text, most)
	if !runes.IsBlank(short) {
		return short
	}
	charge := textTokens(c.opts.Estimator, "")
	return cut.ToTokens(func(s string) int { return max(0, c.tokens(s)-charge) }, text, most)
}

func refusedSummary(reason string) error {
	return fmt.Errorf("%w: %w", ErrCompaction, &badAnswer{reason})
}

// summarize asks s for a text of at most room tokens.
func (c *compaction) summarize(ctx context.Context, s Summarizer, room int) (*Summary, error) {
	run := newSummaryRun(ctx, SummarizeOptions{
		Summarizer: s, Window: c.opts.Compact.SummarizerWindow, MaxTokens: room, Parts: 1,
		Previous: c.previous, Instructions: c.instructions, Estimator: c.opts.Estimator,
	})
	if isDigest(s) { // it reads all messages as they are, and at no cost
		n := c.notes(run.Previous)
		c.ids = n.IDs
		return &Summary{Text: n.Text(run.MaxTokens), Degraded: true, Calls: 1}, nil
	}
	run.timeout, run.once, run.noDigest = c.opts.Compact.Timeout, c.once, true
	return run.run(c.read())
}

// makeUnique sets the key of the summary of cp. A summarizer may give the same answer twice. If v has the summary
// already, makeUnique adds a line to the text of the new one, so that the two are told apart.
func (m *Manager) makeUnique(cp *checkpoint, v *view) {
	summaries := make(map[key]bool)
	for i := range v.messages {
		if v.messages[i].Summary {
			summaries[v.facts[i].key] = true
		}
	}
	text := cp.message.Parts[0].Text
	for n := 2; ; n++ {
		if cp.summaryKeys = m.ledger.index.hasher.summaryKeys(&cp.message); !summaries[cp.key] {
			return
		}
		cp.message.Parts[0].Text = fmt.Sprintf("%s\n(no. %d of the same text)", text, n)
	}
}

// errNoGain: the summary is not smaller than what it stands for.
var errNoGain = errors.New("the summary does not make the request smaller")

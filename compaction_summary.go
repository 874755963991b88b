package winnow

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/winnowgo/winnow/internal/chunks"
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/cut"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/sections"
	"github.com/winnowgo/winnow/internal/summarysize"
	"github.com/winnowgo/winnow/internal/summarytext"
)

// The text of a summary: the summarizer writes it, in the room that the sections behind it leave.

// run has s write the summary, and returns its checkpoint and its report. It does not touch the manager, and with an
// error nothing has happened.
func (c *compaction) run(ctx context.Context, s Summarizer) (*checkpoint, *Compaction, error) {
	behind := c.carried.LayOut(c.tokens, c.rules, summarysize.Sections(c.cap))
	most, asked := summarysize.Text(c.cap, c.tokens(behind.String()))
	room := most // a digest counts cautiously and lists identifiers itself
	if !isDigest(s) {
		room = c.cache.SameRoom(asked, most)
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
	return c.previous != "" && len(c.older.messages)+len(c.prefix.messages) == 0
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
	return fmt.Errorf("%w: %w", ErrCompaction, &badAnswer{summarytext.Refusal{Reason: reason}})
}

// summarize asks s for a text of at most room tokens. If complete turns come before the prefix of a divided turn, the
// prefix gets a summary of its own. Else its summary continues the previous one.
func (c *compaction) summarize(ctx context.Context, s Summarizer, room int) (*Summary, error) {
	config := summarizeConfig{
		SummarizeOptions: SummarizeOptions{
			Summarizer: s, Window: c.opts.Compact.SummarizerWindow, MaxTokens: room,
			Previous: c.previous, Instructions: c.instructions, Estimator: c.opts.Estimator,
		},
		attempts: c.attempts, timeout: c.opts.Compact.Timeout, oneAttempt: c.oneAttempt, fewest: c.fewest,
		noDigest: true, cache: c.cache,
	}
	inStages := func(r sizedMessages, config summarizeConfig) (*Summary, error) {
		config.sizes = r.tokens
		return summarizeInStages(ctx, r.messages, config)
	}
	if isDigest(s) { // reads all of it at once, and at no cost
		config = config.normal()
		n := c.notes(config.Previous)
		c.ids = n.IDs
		return &Summary{Text: n.Text(config.MaxTokens), Degraded: true, Calls: 1}, nil
	}
	older, prefix := c.read()
	// The calls of a run that is repeated have to be the same, so the limits of its first try stay.
	ofOlder, ofPrefixes := c.cache.SameExcerpts(c.excerptLimit(older), c.excerptLimit(prefix))
	older, prefix = c.excerpts(older, ofOlder), c.excerpts(prefix, ofPrefixes)
	ofPrefix := config
	ofPrefix.Instructions = strings.TrimSpace(summarytext.Prefix + "\n\n" + c.instructions)
	if len(older.messages) == 0 {
		return inStages(prefix, ofPrefix)
	}
	if len(prefix.messages) > 0 {
		config.MaxTokens = room * 2 / 3 // the rest is for the beginning of the divided turn
	}
	sum, err := c.summarizeTurns(older, config, inStages)
	if err != nil || len(prefix.messages) == 0 {
		return sum, err
	}
	// The second text gets the room that the first one left. The previous summary is in the first text already.
	ofPrefix.MaxTokens, ofPrefix.Previous = max(room/3, room-c.tokens(sum.Text)), ""
	turn, err := inStages(prefix, ofPrefix)
	if err != nil {
		return nil, err
	}
	return sum.with(turn, sum.Text+sections.TurnHeading+turn.Text), nil
}

// summarizeTurns summarizes older, which are complete turns. If new content fills the window, the messages beyond the
// history's share are summarized first, and the summary of the rest continues theirs.
func (c *compaction) summarizeTurns(
	older sizedMessages, config summarizeConfig, inStages func(sizedMessages, summarizeConfig) (*Summary, error),
) (*Summary, error) {
	ahead := 0
	if c.share > 0 {
		ahead = beyondShare(older, c.share)
	}
	if ahead == 0 {
		return inStages(older, config)
	}
	first, err := inStages(sizedMessages{older.messages[:ahead], older.tokens[:ahead]}, config)
	if err != nil {
		return nil, err
	}
	config.Previous = first.Text
	sum, err := inStages(sizedMessages{older.messages[ahead:], older.tokens[ahead:]}, config)
	if err != nil {
		return nil, err
	}
	return first.with(sum, sum.Text), nil
}

// beyondShare returns how many messages of r come before the newest atoms that have at most share tokens together.
func beyondShare(r sizedMessages, share int) int {
	lengths := atomsOf(r.messages)
	sizes := make([]int, len(lengths))
	first := 0
	for i, n := range lengths {
		sizes[i] = count.Sum(r.tokens[first : first+n])
		first += n
	}
	return count.Sum(lengths[:chunks.Beyond(sizes, share)])
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

package winnow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/digest"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/sections"
	"github.com/winnowgo/winnow/internal/summarysize"
)

// The text of a summary: the summarizer writes it, in the room that the sections behind it leave.

// run has the summary written, and returns its checkpoint and its report. It does not touch the manager, and with an
// error nothing has happened.
func (c *compaction) run(ctx context.Context) (*checkpoint, *Compaction, error) {
	behind := c.carried.Behind(c.tokens, c.rules, summarysize.Sections(c.cap))
	most, asked := summarysize.Text(c.cap, c.tokens(behind))
	room := most // a digest counts cautiously and lists identifiers itself
	if !isDigest(c.by) {
		room = asked
	}
	timed, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	sum, err := c.summarize(timed, room)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrCompaction, err)
	}
	body, _ := sections.Split(sum.Text) // code knows failures and files: the model's sections of them are dropped
	if runes.IsBlank(body) {
		return nil, nil, refusedSummary("it holds no summary")
	}
	cp := &checkpoint{boundary: c.boundary, carried: c.carried, degraded: sum.Degraded}
	if sum.Degraded != "" {
		cp.byModel = c.byModel // a later summary goes on from that one, and covers what only a digest stands for
	}
	// Models write more than they are asked for. The excess is cut from the text here, and not from the sections behind
	// it.
	cp.body = excerpt.ToTokens(c.tokens, body, most)
	if sum.Degraded != "" && runes.IsBlank(cp.body) {
		cp.body = noWords
	}
	if runes.IsBlank(cp.body) { // sections alone say nothing of the conversation
		return nil, nil, refusedSummary("there is no room for a summary")
	}
	text, repaired := c.audit(cp, behind)
	text = c.said + text + c.inForce
	if sum.Degraded != "" && c.previous != "" && len(c.older) == 0 { // it stands for no more than the last one did
		cp.body = c.previous // only the request has fewer words: the next summary goes on from all of them
	}
	framed := sections.Begin + text + sections.End + c.note
	cp.message = Message{Role: RoleUser, Summary: true, Parts: []Part{{Text: framed}}}
	return cp, &Compaction{
		Summary: text, FirstKept: c.index, TokensBefore: c.requestTokens, Repaired: repaired, Calls: sum.Calls,
		Usage: sum.Usage,
	}, nil
}

// noWords stands for all that a digest has no room to say. The person gets an answer.
const noWords = "(cut short)"

func refusedSummary(reason string) error {
	return fmt.Errorf("%w: %w", ErrCompaction, &badAnswer{reason})
}

// summarize asks for a text of at most room tokens.
func (c *compaction) summarize(ctx context.Context, room int) (*Summary, error) {
	run := newSummaryRun(ctx, SummarizeOptions{
		Summarizer: c.by, Window: c.opts.Compact.SummarizerWindow, MaxTokens: room, Parts: 1,
		Previous: c.previous, Said: c.said, Instructions: c.instructions, Estimator: c.opts.Estimator,
	})
	if isDigest(c.by) { // it reads all messages as they are, and at no cost
		n := c.notes(run.Previous)
		c.ids = n.Table
		return &Summary{Text: n.Text(run.MaxTokens), Degraded: c.because, Calls: 1}, nil
	}
	run.timeout, run.once, run.noDigest = c.opts.Compact.Timeout, c.once, true
	return run.run(c.read())
}

// makeUnique sets the key of the summary of cp. A summarizer may give the same answer twice. If d has the summary
// already, makeUnique adds a line to the text of the new one, so that the two are told apart.
func (d *draft) makeUnique(cp *checkpoint) {
	summaries := make(map[key]bool)
	for _, x := range d.items {
		if x.own.Summary {
			summaries[x.fact.key] = true
		}
	}
	text := cp.message.Parts[0].Text
	for n := 2; ; n++ {
		if cp.summaryKeys = d.index.hasher.summaryKeys(&cp.message); !summaries[cp.key] {
			return
		}
		cp.message.Parts[0].Text = fmt.Sprintf("%s\n(no. %d of the same text)", text, n)
	}
}

// errNoGain: the summary is not smaller than what it stands for.
var errNoGain = errors.New("the summary does not make the request smaller")

// mostExcerptTokens is how much a summarizer reads of one result, of the arguments of one call, and of one thought:
// 2 000 characters, which is what pi shows of a result. What a file held does not belong in a summary, but how a
// command ended does. Code collects the identifiers in the rest. Reading everything would cost as much again as all the
// requests of the conversation, at the price of input that is not cached.
const mostExcerptTokens = 500

// read returns what a summarizer reads: older with long results, arguments and thoughts cut to their two ends, and of a
// result also the lines with errors. The open request stands in front of the work on it, which would seem to belong to
// the request before it otherwise. A message that is not cut shares its memory with older.
func (c *compaction) read() []Message {
	out := make([]Message, 0, len(c.older)+1)
	for i := range c.older {
		if c.open != nil && i == c.openAt {
			out = append(out, c.excerpt(c.open, true))
		}
		m := &c.older[i]
		out = append(out, c.excerpt(m, returnsContent(m)))
	}
	return out
}

// excerpt returns m with its long arguments and thoughts cut, and if its texts are cut as well, those together.
func (c *compaction) excerpt(m *Message, cutsTexts bool) Message {
	switch {
	case cutsTexts:
		return excerptTexts(c.opts.Estimator, *m)
	case m.Role == RoleAssistant:
		return excerptParts(c.opts.Estimator, *m)
	}
	return *m
}

// excerptTexts returns m with its texts cut to about mostExcerptTokens together. The cut need not be exact, because
// only a summarizer reads it.
func excerptTexts(e Estimator, m Message) Message {
	texts := m
	texts.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p Part) bool { return p.Kind != KindText })
	tokens := min(estimateWith(e, texts), textBytes(&m)) // a host's own count may be absurd
	if tokens <= mostExcerptTokens {
		return m
	}
	share := float64(mostExcerptTokens) / float64(tokens)
	m.Parts = slices.Clone(m.Parts)
	for k := range m.Parts {
		p := &m.Parts[k]
		if p.Kind != KindText {
			continue
		}
		chars := utf8.RuneCountInString(p.Text)
		if cut := excerpt.ForSummary(p.Text, int(share*float64(chars))); len(cut) < len(p.Text) {
			*p = Part{Text: cut}
		}
	}
	return m
}

// excerptParts returns m with the long arguments of its calls and its long thoughts cut to mostExcerptTokens each.
func excerptParts(e Estimator, m Message) Message {
	long := m
	m.Parts = slices.Clone(m.Parts)
	for k := range m.Parts {
		if p := &m.Parts[k]; p.Kind == KindToolCall || isThinking(*p) {
			cutMiddle(p, min(partTokens(e, &long, k), len(p.Arguments)+len(p.Text)), mostExcerptTokens)
		}
	}
	return m
}

// notes returns what a digest may say of previous, an earlier summary, and of the messages that are summarized. It
// prepares these one by one: a copy of them all would take as much memory as the history, which may be many times as
// long as the window.
func (c *compaction) notes(previous string) *digest.Notes {
	return notesOf(previous, func(yield func(*Message) bool) {
		messages := c.older
		calls := answered{messages: listed(messages)}
		var shown Message
		for i := range messages {
			m := &messages[i]
			if shown = summaryMessage(m, calls.tool(i), shown.Parts[:0]); !yield(&shown) {
				return
			}
		}
	})
}

// The audit of a summary. Code checks whether the text, as it will be stored, has everything that a summary must carry.
// What is missing it takes from the history. The model is not asked again: what it left out once, it would leave out
// twice, and refusing the summary for that would help nobody.

// audit returns the text of cp, with the sections behind it, as it is stored. repaired names what audit had to add. It
// also sets the identifiers of cp.
func (c *compaction) audit(cp *checkpoint, behind string) (stored string, repaired []string) {
	stored = sections.Escape(cp.body) + behind
	add, ids := c.missingIdentifiers(stored, c.filled-c.tokens(stored))
	if add != "" {
		stored, repaired = stored+add, append(repaired, "identifiers")
	}
	for i := range ids {
		ids[i] = strings.Clone(strings.ToValidUTF8(ids[i], "\uFFFD")) // as a snapshot keeps it, and not in its text
	}
	cp.carried.Identifiers = ids
	return stored, repaired
}

// missingIdentifiers returns the paths, URLs, hashes, ids, numbers and names of the summarized history that text lacks:
// as a section of at most room tokens, and as a list. Those that are likeliest to be used again have precedence.
func (c *compaction) missingIdentifiers(text string, room int) (section string, ids []string) {
	t := c.ids
	if t == nil {
		t = digest.NewTable()
		t.Scan(c.previous, digest.FromPrevious)
		eachMentionIn(t, c.older, t.Scan)
	}
	// Earlier compactions found these in messages that are gone.
	t.Recall(c.carried.Identifiers)
	return sections.Identifiers(t, c.said+text, room, c.filled+c.tokens(c.said), c.tokens)
}

// eachMentionIn calls f for the texts and the arguments of messages, and tells t where each message begins.
func eachMentionIn(t *digest.Table, messages []Message, f func(s string, from digest.Source)) {
	for i := range messages {
		t.Next()
		eachMention(&messages[i], f)
	}
}

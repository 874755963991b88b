package winnow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/digest"
	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/place"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/saved"
	"github.com/winnowgo/winnow/internal/sections"
	"github.com/winnowgo/winnow/internal/summary"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// Pass 9, and the only one that waits: the compaction.

// A compaction replaces the messages before a cut point by a summary. What must not be lost is not left to the model:
// system messages, pins and the newest user request stay as messages, and code owns the sections behind the summary's
// text.

// unsummarized returns the index in items of the first message that no model has summarized; request is that of a user
// request before it that no model has summarized either, or -1.
func (c *checkpoint) unsummarized(items []*item) (from, request int) {
	if c.ByModel == nil {
		return 0, -1
	}
	places := placesIn(items)
	return max(0, c.ByModel.FirstKept.Find(places)), c.ByModel.Request.Find(places)
}

// compaction is one compaction of a draft: what is summarized, what is kept, and how the summarizer is asked. It runs
// without the manager's lock, and therefore writes to nothing that the manager or the host can see.
type compaction struct {
	opts Options
	compactCall
	summarySizes
	summarizedPart
	saved.Boundary
	index int           // of firstKept in the history passed in
	once  bool          // the summarizer is called once: it failed before, or no more calls are left
	limit time.Duration // time that all calls of the summarizer may still take
	meter *meter        // of the manager
	calls int           // of the summarizer, once it has run

	said    string // the section of what people said
	hasRoom bool   // for the newest of that
	rules   string // the section of the host's rules
	inForce string // the section of what is in force
	note    string // behind the summary: what it leaves out, and how to recall it
}

// summarySizes are the limits of a summary, and what it is measured against, all in tokens.
type summarySizes struct {
	cap           int // of the whole summary
	least         int // that it must have to say anything
	filled        int // of the summary, up to which code adds names that the text left out
	free          int // what the rest of the request leaves for the text and for what is in force
	leastGain     int // what the summary stands for must have more than this and the frame around the summary
	replaced      summary.Replaced
	requestTokens int // of the request before the compaction
}

// summarizedPart is what a compaction replaces by a summary.
type summarizedPart struct {
	older        []Message
	open         *Message // the open request, which stays a message, if older has messages of its turn; else nil
	openAt       int      // how many messages of older come before it
	previous     string
	carried      sections.Carried  // from the history that is summarized, and from the previous summary
	byModel      *saved.Checkpoint // the newest one that a model wrote
	ids          *digest.Table     // identifiers of older, if the digest read them; nil: not yet known
	replacedKeys []key             // of the messages that are summarized, as they stand in the history
}

// compactCall is the order for a summary: who writes it, who asked for it, and how.
type compactCall struct {
	by           Summarizer
	isAsked      bool   // the host called Compact: a short history is summarized too, and its summary may be longer
	instructions string // of that call, for this summary only; in a compaction, behind those of CompactOptions
	because      string // of a digest: why it stands in
	brevity      brevity
	overrun      int // tokens by which the request may exceed the budget before the newest words of people are cut
}

// brevity is what may be given up for a shorter summary, as a last resort.
type brevity uint8

const (
	nothingGiven brevity = iota
	rewritten            // the last summary is made again in fewer words, though nothing is new
	wordsCut             // that, and the newest words of people are cut, which are quoted whole otherwise
)

// newCompaction plans the compaction of d that call asks for. The error is ErrNothingToCompact.
func newCompaction(d *draft, call compactCall) (*compaction, error) {
	o, s := d.opts, d.span()
	if !s.hasNews(0) && !(call.brevity >= rewritten && s.canShorten()) {
		return nil, ErrNothingToCompact
	}
	least, leastGain := summary.Least, summary.LeastGain
	if isDigest(call.by) {
		least, leastGain = summary.LeastWords, summary.LeastWords
		call.because = cmp.Or(call.because, noSummarizer)
	}
	c := &compaction{
		opts: o, compactCall: call,
		summarySizes: summarySizes{
			cap: s.summaryCap(least), free: d.roomWithoutMargin() - s.restAtLeast - s.summaryFrame(),
			least: least, leastGain: leastGain, requestTokens: d.tokens(), replaced: s.replaced,
		},
		once: d.ledger.Breaker.Failures >= summary.MostFailures && !call.isAsked, limit: o.Compact.TotalTimeout,
		meter: d.meter,
	}
	c.instructions = strings.TrimSpace(o.Compact.Instructions + "\n\n" + call.instructions)
	c.collect(d, s)
	return c, nil
}

var errRules = errors.New("CompactOptions.Rules")

// askRules asks the host for its rules, if it has any, and sets the limits of a summary that has them. No summary is
// made without them, so a panic in the host's function is an error, like a panic in a summarizer. The error is
// ErrNothingToCompact if that summary would not be smaller than what it stands for, unless the host asked for it.
func (c *compaction) askRules() error {
	if rules := c.opts.Compact.Rules; rules != nil {
		err := safely("Rules", func() error { c.rules = sections.Rules(rules()); return nil })
		if err != nil {
			return fmt.Errorf("%w: %w: %w", ErrCompaction, errRules, err)
		}
	}
	if !c.setLimits() {
		return ErrNothingToCompact
	}
	return nil
}

// setLimits sets the limits of the summary, and reports whether it can be smaller than what it stands for, with the
// newest words of people.
func (c *compaction) setLimits() (isGain bool) {
	frame := c.tokens(sections.Begin + c.said + c.inForce + sections.End + c.note)
	c.cap = max(summary.LeastWords, min(c.cap, c.free-c.tokens(c.said+c.inForce)))
	c.cap, c.filled, isGain = c.replaced.Limit(c.cap, frame, c.tokens(c.rules), c.leastGain, c.isAsked)
	return isGain && c.hasRoom
}

// inheritSummary has c update the summary of cp; nil: there is none. It returns the text of that summary as it stands
// in the request.
func (c *compaction) inheritSummary(d *draft, cp *checkpoint) string {
	switch {
	case cp == nil:
		return ""
	case cp.isByDigest() && len(d.digested) > 0: // the messages that the digest stands for are still there
		for i := range d.digested {
			n := estimateWith(c.opts.Estimator, d.digested[i])
			c.older = append(c.older, d.digested[i])
			c.replaced.Digested = count.Add(c.replaced.Digested, n)
		}
		if c.byModel = cp.ByModel; c.byModel != nil {
			c.previous, c.carried = string(c.byModel.Body), c.byModel.Carried
		}
	default:
		c.previous, c.carried = string(cp.Body), cp.Carried
		if !cp.isByDigest() {
			c.byModel = &cp.Checkpoint
		}
	}
	return joinedText(&cp.message)
}

// collect divides the history of d at the cut of s, into what is summarized and what is kept.
func (c *compaction) collect(d *draft, s *span) {
	cp := d.checkpoint
	previous := c.inheritSummary(d, cp)
	older, first, stays := s.before()
	c.older = slices.Grow(c.older, len(older))
	var request *item // of the person, once it is passed
	for _, x := range older {
		if stays[x] {
			if s.request >= 0 && x == d.items[s.request] {
				request, c.Leads = x, len(c.replacedKeys) == 0
			}
			continue
		}
		c.replacedKeys = append(c.replacedKeys, x.fact.key)
		switch {
		case x.own.Summary && cp == nil: // it stands for what is in front of it
			previous = joinedText(x.own)
			c.previous, c.carried = sections.Read(previous)
		case x.own.Summary && !d.isOfHost(x):
		default:
			if request != nil && c.open == nil && len(d.digested) == 0 {
				c.open, c.openAt = request.own, len(c.older) // a digest does not say where turns began
			}
			c.older = append(c.older, *x.own)
		}
	}
	c.quote(d, older, first, stays)
	c.inForce = c.carryInForce(d, previous, older, stays, d.total-s.replaced.Sent+c.cap+c.tokens(c.said))
	c.carried = carry(c.carried, d.minifier.files, c.older)
	c.FirstKept, c.index = place.At(placesIn(unfolded(d.items)), len(older)), max(0, first.index)
	c.Front = s.front
	if c.Limited = d.limitedAt; c.Limited == (position{}) && cp != nil {
		c.Limited = cp.Limited
	}
	if request != nil {
		c.Request = request.position()
	}
}

// quote quotes what people said in older, and notes what else the summary leaves out: it stands in front of `first`.
func (c *compaction) quote(d *draft, older []*item, first *item, stays map[*item]bool) {
	end := 0
	inRequest := map[int]bool{} // messages of the history
	for _, x := range older {
		end = max(end, x.index+1)
		if x.own.Summary && x.index < 0 { // it stands for all that is in front of the first message behind it
			end = max(end, first.index)
		}
		if stays[x] {
			inRequest[x.index] = true
		}
	}
	for _, x := range unfolded(d.items)[len(older):] { // one of older may stand behind these in the history
		inRequest[x.index] = true
	}
	limited := map[int]bool{}
	for _, e := range d.reported {
		if e.Op == OpLimit {
			limited[e.Index] = true
		}
	}
	said := d.dialogue()
	said.stays = func(i int) bool { return inRequest[i] }
	said.isLimited = func(i int) bool { return limited[i] }
	var quoted sections.Dialogue
	said.add(&quoted, end)
	room := sections.Room{
		Old:  count.Share(count.Least(d.window, d.cliff), saidShare),
		Free: max(c.free/4, min(c.free/2, leastSaid)), Behind: said.behind(end),
	}
	if most := count.Add(c.free, c.overrun); c.brevity < wordsCut {
		room.Whole, room.Most = most-c.least, most-summary.LeastWords
	}
	c.said, c.hasRoom = quoted.Section(c.tokens, room)
	c.note = spanNote(&c.opts, first, said.attachmentsBefore(end))
	plain := ""
	if d.opts.Recall {
		plain = spanNote(&c.opts, first, "") // summaryFrame counts it
	}
	names := c.tokens(c.note) - c.tokens(plain)
	if names > (c.free-c.tokens(c.said))/4 {
		c.note, names = plain, 0
	}
	c.free -= names
}

// saidShare is how much of the window, or of the cliff that the request stays below, the words of people may take in
// front of a summary. A tenth of 200 000 tokens has room for all words in 99 of 100 recorded sessions, and a tenth of
// 64 000 in 96.
const saidShare = 0.1

// leastSaid is how many tokens the words of people may take where little is free, up to half of that: the frame of the
// section and a few short messages.
const leastSaid = 200

// tokens estimates text. An empty text costs nothing, though an estimator may charge for a message without text.
func (c *compaction) tokens(text string) int {
	if text == "" {
		return 0
	}
	return textTokens(c.opts.Estimator, text)
}

// What code carries from a history into its summary.

// carry returns c with the failures and the files of messages, which are newer. tools says which calls show a file.
func carry(c sections.Carried, tools *toolcall.Files, messages []Message) sections.Carried {
	into := c.Collect()
	calls := answered{messages: listed(messages)}
	for i := range messages {
		m := &messages[i]
		switch m.Role {
		case RoleTool:
			text := resultText(m)
			call := tools.Call(calls.tool(i), calls.of(i).arguments())
			if saysFailed(m, call.Failed) && !isRefusedRecall(m, calls.tool(i)) {
				if call.Runs {
					text = text[excerpt.Reason(text, sections.MaxFailureChars):]
				}
				into.AddFailure(m.ToolCallID, calls.tool(i), text, m.Details)
			}
		case RoleUser:
			if isLaterResult(m) && m.IsError {
				into.AddFailure(m.ToolCallID, m.ToolName, resultText(m), m.Details)
			}
		case RoleAssistant:
			results := resultsBehind(messages, i)
			for p := range callsOf(m) {
				if call := tools.Call(p.Name, p.Arguments); !saysFailed(results[p.ID], call.Failed) {
					into.AddFiles(tools.Of(p.Name, p.Arguments))
				}
			}
		}
	}
	return into.Done()
}

// resultsBehind returns the results behind message i and before the next answer, by the ids of their calls.
func resultsBehind(messages []Message, i int) map[string]*Message {
	var results map[string]*Message
	for k := i + 1; k < len(messages) && messages[k].Role != RoleAssistant; k++ {
		if m := &messages[k]; m.Role == RoleTool {
			if results == nil {
				results = map[string]*Message{}
			}
			results[m.ToolCallID] = m
		}
	}
	return results
}

// saysFailed reports whether r says that its call failed, by what such a text says. A call without a result (nil) may
// have done its work.
func saysFailed(r *Message, says func(text string) bool) bool {
	return r != nil && !isMissingResult(r) && (r.IsError || says(resultText(r)))
}

// The text of a summary: the summarizer writes it, in the room that the sections behind it leave.

// run has the summary written, and returns its checkpoint and its report. It does not touch the manager, and with an
// error nothing has happened.
func (c *compaction) run(ctx context.Context) (*checkpoint, *Compaction, error) {
	behind := c.carried.Behind(c.tokens, c.rules, summary.Sections(c.cap))
	most, asked := summary.Text(c.cap, c.tokens(behind))
	room := most // a digest counts cautiously and lists identifiers itself
	if !isDigest(c.by) {
		room = asked
	}
	timed, cancel := context.WithTimeout(meteredBy(ctx, c.meter), c.limit)
	defer cancel()
	sum, err := c.summarize(timed, room)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrCompaction, err)
	}
	c.calls = sum.Calls
	body, _ := sections.Split(sum.Text) // code knows failures and files: the model's sections of them are dropped
	if sum.Degraded == "" && runes.IsBlank(body) {
		return nil, nil, refusedSummary("it holds no summary")
	}
	cp := &checkpoint{Checkpoint: saved.Checkpoint{Boundary: c.Boundary, Carried: c.carried, Degraded: sum.Degraded}}
	if sum.Degraded != "" {
		cp.ByModel = c.byModel // a later summary goes on from that one, and covers what only a digest stands for
	}
	// Models write more than they are asked for. The excess is cut from the text here, and not from the sections behind
	// it.
	body = excerpt.ToTokens(c.tokens, body, most)
	if sum.Degraded != "" && runes.IsBlank(body) {
		body = noWords
	}
	if runes.IsBlank(body) { // sections alone say nothing of the conversation
		return nil, nil, refusedSummary("there is no room for a summary")
	}
	text, repaired, ids := c.audit(body, behind)
	text = c.said + text + c.inForce
	if sum.Degraded != "" && c.previous != "" && len(c.older) == 0 { // it stands for no more than the last one did
		body = c.previous // only the request has fewer words: the next summary goes on from all of them
	}
	cp.Body, cp.Carried.Identifiers = saved.Text(body), ids
	cp.Text = saved.Text(sections.Begin + text + sections.End + c.note)
	return cp, &Compaction{
		Summary: text, FirstKept: c.index, TokensBefore: c.requestTokens, Repaired: repaired,
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
		return &Summary{Text: n.Text(run.MaxTokens), Degraded: c.because}, nil
	}
	run.timeout, run.once, run.noDigest = c.opts.Compact.Timeout, c.once, true
	return run.run(c.read())
}

// makeUnique sets the message of c and its keys. A summarizer may give the same answer twice. If d has the summary
// already, makeUnique adds a line to the text of the new one, so that the two are told apart.
func (c *checkpoint) makeUnique(d *draft) {
	summaries := make(map[key]bool)
	for _, x := range d.items {
		if x.own.Summary {
			summaries[x.fact.key] = true
		}
	}
	text := string(c.Text)
	c.setText(&d.index.hasher, text)
	for n := 2; summaries[c.Key]; n++ {
		c.setText(&d.index.hasher, fmt.Sprintf("%s\n(no. %d of the same text)", text, n))
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

// audit returns body with the sections behind it, as it is stored. repaired names what audit had to add, and ids are
// the identifiers to carry on.
func (c *compaction) audit(body, behind string) (stored string, repaired, ids []string) {
	stored = sections.Escape(body) + behind
	add, ids := c.missingIdentifiers(stored, c.filled-c.tokens(stored))
	if add != "" {
		stored, repaired = stored+add, append(repaired, "identifiers")
	}
	for i := range ids {
		ids[i] = strings.Clone(strings.ToValidUTF8(ids[i], "\uFFFD")) // as a snapshot keeps it, and not in its text
	}
	return stored, repaired, ids
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

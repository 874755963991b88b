package winnow

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/winnowgo/winnow/internal/breaker"
	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/digest"
	"github.com/winnowgo/winnow/internal/sections"
	"github.com/winnowgo/winnow/internal/summarysize"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// A compaction replaces the messages before a cut point by a summary. What must not be lost is not left to
// the model: system messages, pins and the newest user request stay as messages, and code owns the
// sections behind the summary's text.

// unsummarized returns the position in items of the first message that no model has summarized. request is the position
// of a user request before it that no model has summarized either, or -1.
func (c *checkpoint) unsummarized(items []*item) (from, request int) {
	if c.byModel == nil {
		return 0, -1
	}
	places := placesIn(items)
	return max(0, c.byModel.firstKept.Find(places)), c.byModel.request.Find(places)
}

// compaction is one compaction of a draft: what is summarized, what is kept, and how the summarizer is asked. It runs
// without the manager's lock, and therefore writes to nothing that the manager or the host can see.
type compaction struct {
	opts Options
	compactCall
	summarySizes
	summarizedPart
	boundary
	index int           // of firstKept in the history passed in
	once  bool          // the summarizer is called once: it failed before, or no more calls are left
	limit time.Duration // for all calls of the summarizer together

	said    string // the section of what people said
	rules   string // the section of the host's rules
	inForce string // the section of what is in force
	note    string // behind the summary: what it leaves out, and how to recall it
}

// summarySizes are the limits of a summary, and what it is measured against, all in tokens.
type summarySizes struct {
	cap           int // of the whole summary
	filled        int // of the summary, up to which code adds names that the text left out
	free          int // what the rest of the request leaves for the text and for what is in force
	leastGain     int // what the summary stands for must have more
	replaced      summarysize.Replaced
	requestTokens int // of the request before the compaction
}

// summarizedPart is what a compaction replaces by a summary.
type summarizedPart struct {
	older        []Message
	open         *Message // the open request, which stays a message, if older has messages of its turn; else nil
	openAt       int      // how many messages of older come before it
	previous     string
	carried      sections.Carried // from the history that is summarized, and from the previous summary
	byModel      *checkpoint      // see checkpoint
	ids          *digest.Table    // identifiers of older, if the digest read them; nil: not yet known
	replacedKeys []key            // of the messages that are summarized, as they stand in the history
}

// compactCall says who writes the summary of a compaction, and why.
type compactCall struct {
	by           Summarizer
	isAsked      bool   // the host called Compact: a short history is summarized too, and its summary may be longer
	instructions string // of that call, for this summary only; in a compaction, behind those of CompactOptions
	shortens     bool   // a summary is written again in fewer words, although nothing new is to be summarized
	because      string // of a digest: why it stands in
}

// newCompaction plans the compaction of d that call asks for. The error is ErrNothingToCompact.
func (d *draft) newCompaction(call compactCall) (*compaction, error) {
	o, s := d.opts, d.span()
	if !d.hasNews(&s, 0) && !(call.shortens && d.canShorten(&s)) {
		return nil, ErrNothingToCompact
	}
	least, leastGain := summarysize.Least, summarysize.LeastGain
	if isDigest(call.by) {
		least, leastGain = summarysize.LeastWords, summarysize.LeastWords
		call.because = cmp.Or(call.because, noSummarizer)
	}
	c := &compaction{
		opts: o, compactCall: call,
		summarySizes: summarySizes{
			cap: d.summaryCap(&s, least), free: d.roomWithoutMargin() - s.restAtLeast - d.summaryFrame(),
			leastGain: leastGain, requestTokens: d.tokens(), replaced: s.replaced,
		},
		once: d.ledger.breaker.Failures >= breaker.Limit && !call.isAsked, limit: o.Compact.TotalTimeout,
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

// setLimits sets the limits of the summary, and reports whether it can be smaller than what it stands for.
func (c *compaction) setLimits() (isGain bool) {
	frame := c.tokens(sections.Begin + c.said + c.inForce + sections.End + c.note)
	c.cap = max(summarysize.LeastWords, min(c.cap, c.free-c.tokens(c.said+c.inForce)))
	c.cap, c.filled, isGain = c.replaced.Limit(c.cap, frame, c.tokens(c.rules), c.leastGain, c.isAsked)
	return isGain
}

// inheritSummary has c update the summary of cp; nil: there is none. It returns the text of that summary as it stands
// in the request.
func (c *compaction) inheritSummary(d *draft, cp *checkpoint) string {
	switch {
	case cp == nil:
		return ""
	case cp.degraded != "" && len(d.digested) > 0: // the messages that the digest stands for are still there
		for i := range d.digested {
			n := estimateWith(c.opts.Estimator, d.digested[i])
			c.older = append(c.older, d.digested[i])
			c.replaced.Digested = count.Add(c.replaced.Digested, n)
		}
		if c.byModel = cp.byModel; c.byModel != nil {
			c.previous, c.carried = c.byModel.body, c.byModel.carried
		}
	default:
		c.previous, c.carried = cp.body, cp.carried
		if cp.degraded == "" {
			c.byModel = cp
		}
	}
	return joinedText(&cp.message)
}

// collect divides the history of d at the cut of s, into what is summarized and what is kept.
func (c *compaction) collect(d *draft, s span) {
	cp := d.checkpoint
	previous := c.inheritSummary(d, cp)
	older, first, stays := d.before(&s)
	c.older = slices.Grow(c.older, len(older))
	var request *item // of the person, once it is passed
	for _, x := range older {
		if stays[x] {
			if s.request >= 0 && x == d.items[s.request] {
				request, c.requestLeads = x, len(c.replacedKeys) == 0
			}
			continue
		}
		c.replacedKeys = append(c.replacedKeys, x.fact.key)
		switch {
		case x.own.Summary:
			if cp == nil { // of another manager, or of the host
				previous = joinedText(x.own)
				c.previous, c.carried = sections.Read(previous)
			}
		default:
			if request != nil && c.open == nil && len(d.digested) == 0 {
				c.open, c.openAt = request.own, len(c.older) // a digest does not say where turns began
			}
			c.older = append(c.older, *x.own)
		}
	}
	c.quote(d, older, first, stays)
	c.inForce = d.carryInForce(previous, older, stays, d.total-s.replaced.Sent+c.cap+c.tokens(c.said))
	c.carried = carry(c.carried, d.minifier.files, c.older)
	c.firstKept, c.index = bookmarkIn(unfolded(d.items), len(older)), max(0, first.index)
	c.front = s.front
	if c.limited = d.limitedAt; c.limited == (position{}) && cp != nil {
		c.limited = cp.limited
	}
	if request != nil {
		c.request = request.position()
	}
}

// before returns the messages of the history before the cut of s, the first one behind it, and which of the former
// stay. The messages that a record stands for are summarized, and not the record.
func (d *draft) before(s *span) (older []*item, first *item, stays map[*item]bool) {
	all := unfolded(d.items)
	older = unfolded(d.items[:s.cut])
	stays = map[*item]bool{}
	for i, x := range d.items[:s.cut] {
		if !s.replaces(i) {
			stays[x] = true
		}
	}
	return older, all[len(older)], stays
}

// quote quotes what people said in older, and notes what else the summary leaves out: it stands in front of `first`.
func (c *compaction) quote(d *draft, older []*item, first *item, stays map[*item]bool) {
	end := 0
	inRequest := map[int]bool{} // messages of the history, and those that the turn limit has dropped
	for _, x := range older {
		end = max(end, x.index+1)
		if stays[x] {
			inRequest[x.index] = true
		}
	}
	for _, e := range d.edits {
		if e.Op == OpLimit {
			inRequest[e.Index] = true
		}
	}
	var quoted sections.Dialogue
	said := dialogue{
		messages: d.history, from: max(0, d.compactedAt), tools: &d.minifier, note: d.noteOf,
		stays: func(i int) bool { return inRequest[i] },
		summary: func(i int) string {
			if cp := d.checkpoint; cp != nil && cp.isOf(d.facts[i].key) { // the host may keep the text alone
				return joinedText(&cp.message)
			}
			return joinedText(&d.history[i])
		},
	}
	said.add(&quoted, end)
	c.said = quoted.Section(c.tokens, count.Share(d.window, saidShare), max(c.free/4, min(c.free/2, leastSaid)))
	c.note = d.spanNote(first, said.attachmentsBefore(end))
	plain := ""
	if d.opts.Recall {
		plain = d.spanNote(first, "") // summaryFrame counts it
	}
	names := c.tokens(c.note) - c.tokens(plain)
	if names > c.free/4 {
		c.note, names = plain, 0
	}
	c.free -= names
}

// saidShare is how much of the window the words of people may take in front of a summary. A tenth of 200 000 tokens has
// room for all words in 99 of 100 recorded sessions, and a tenth of 64 000 in 96.
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

// carry returns c with the failures and the files of messages, which are newer. tools says which calls show
// a file.
func carry(c sections.Carried, tools *toolcall.Files, messages []Message) sections.Carried {
	into := c.Collect()
	calls := answered{messages: listed(messages)}
	for i := range messages {
		m := &messages[i]
		switch m.Role {
		case RoleTool:
			if m.IsError && !isMissingResult(m) && !isRefusedRecall(m, calls.tool(i)) {
				into.AddFailure(m.ToolCallID, calls.tool(i), messageParts(m), m.Details)
			}
		case RoleUser:
			if isLaterResult(m) && m.IsError {
				into.AddFailure(m.ToolCallID, m.ToolName, messageParts(m), m.Details)
			}
		case RoleAssistant:
			results := resultsBehind(messages, i)
			for p := range callsOf(m) {
				if call := tools.Call(p.Name, p.Arguments); !saysFailed(results[p.ID], &call) {
					into.AddFiles(tools.Of(p.Name, p.Arguments))
				}
			}
		}
	}
	return into.Done()
}

// resultsBehind returns the results that stand directly behind message i, by the ids of their calls.
func resultsBehind(messages []Message, i int) map[string]*Message {
	var results map[string]*Message
	for k := i + 1; k < len(messages) && messages[k].Role == RoleTool; k++ {
		if results == nil {
			results = map[string]*Message{}
		}
		results[messages[k].ToolCallID] = &messages[k]
	}
	return results
}

// saysFailed reports whether r, the result of call, says that the call failed. A call without a result (nil) may have
// done its work.
func saysFailed(r *Message, call *toolcall.Call) bool {
	return r != nil && !isMissingResult(r) && (r.IsError || call.Failed(messageParts(r)))
}

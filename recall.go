package winnow

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/count"
	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/recall"
)

// Recall answers a call of [RecallTool], one of the newest without a result: it returns the result to append to the
// history, which quotes the history as data, in at most 5 % of the window, or 1 000 tokens. IsError is set for an
// unknown handle or an invalid pattern. The error is that of ctx, or says that Options.Recall is not set.
func (m *Manager) Recall(ctx context.Context, history []Message, arguments json.RawMessage) (Message, error) {
	if !m.opts.Recall {
		return Message{}, errors.New("winnow: Recall: Options.Recall is not set")
	}
	if err := ctx.Err(); err != nil {
		return Message{}, fmt.Errorf("winnow: Recall: %w", context.Cause(ctx))
	}
	wanted := recall.ReadCall(arguments)
	answer, images := m.newRecall(history, wanted)
	text, ok, err := answer.Text(ctx)
	if err != nil {
		return Message{}, fmt.Errorf("winnow: Recall: %w", err)
	}
	id := openCall(history, recall.Name, func(p *Part) bool {
		return recall.ReadCall(p.Arguments) == wanted // by meaning: the host may have written them anew
	})
	return Message{
		Role: RoleTool, ToolCallID: id, ToolName: recall.Name, IsError: !ok,
		Parts: append([]Part{{Text: text}}, images...),
	}, nil
}

// RecallText answers a call of [RecallTool] with a handle of the host's own, as Recall does: text stands outside of the
// history, and from says whose it is. The result has no ToolCallID.
func (m *Manager) RecallText(ctx context.Context, handle, from, text string,
	arguments json.RawMessage) (Message, error) {
	call := recall.ReadCall(arguments)
	call.Handle = markup.Value(handle, maxHostHandle)
	m.mu.Lock()
	answer, _ := m.newAnswer(call)
	m.mu.Unlock()
	answer.Target = &recall.Target{Text: text, Origin: markup.Value(from, maxHostHandle)}
	shown, ok, err := answer.Text(ctx)
	if err != nil {
		return Message{}, fmt.Errorf("winnow: RecallText: %w", err)
	}
	return Message{Role: RoleTool, ToolName: recall.Name, IsError: !ok, Parts: []Part{{Text: shown}}}, nil
}

// maxHostHandle is how many characters of a host's handle an answer repeats.
const maxHostHandle = 100

// imagesToRecall returns the images of a message that the answer to call has: a quarter of the window at most. Only
// those of results are known to be in a form that the provider takes in a result.
func (m *Manager) imagesToRecall(from *Message, call *recall.Call, window int) (images []Part) {
	asksForAll := call.Words == "" && call.Pattern == "" && call.From <= 1
	if !m.opts.RecallImages || !asksForAll || from.Role != RoleTool {
		return nil
	}
	room := count.Share(window, maxDefaultShare)
	for i := range from.Parts {
		if !isOptionalImage(&from.Parts[i]) {
			continue
		}
		if room -= partTokens(m.opts.Estimator, from, i); room < 0 {
			break
		}
		images = append(images, from.Parts[i])
	}
	return images
}

const (
	// recallShare of the window is what an answer may take. Of 200 000 tokens that is several hundred lines: a model
	// that recalls a few times does not fill the window again.
	recallShare = 0.05
	// leastRecallTokens is what an answer may take in a small window too, up to a quarter of it: room for some lines.
	leastRecallTokens = 1_000
)

// newAnswer returns the answer to call, without what it is about, and the window that bounds it. The lock is held.
func (m *Manager) newAnswer(call recall.Call) (a *recall.Answer, window int) {
	window = count.Least(m.window, m.state.Accounting.Window)
	room := min(max(leastRecallTokens, count.Share(window, recallShare)), max(1, count.Share(window, maxDefaultShare)))
	tokens := func(text string) int { return textTokens(m.opts.Estimator, text) }
	return &recall.Answer{Call: call, Room: room, Tokens: tokens}, window
}

// newRecall returns the answer to call, without its text, and the images behind that. The caller writes the text
// without the lock, because a search may take a while.
func (m *Manager) newRecall(history []Message, call recall.Call) (a *recall.Answer, images []Part) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, window := m.newAnswer(call)
	out := m.leftOut(history)
	a.Source, a.LeftOut = out, out.list
	switch named, isSpan := out.handles.Find(call.Handle); {
	case named < 0:
	case isSpan:
		a.IsSpan, a.Before = true, out.before(m.spanEnd(call.Handle, out))
	case m.mayRecall(history, named): // a message that may not be shown counts as absent
		a.Target = &recall.Target{
			Text: out.Text(named), Origin: out.Origin(named), Back: len(history) - 1 - named, IsWhole: !out.has(named),
		}
		if !a.Target.IsWhole {
			images = m.imagesToRecall(&history[named], &call, window)
		}
	}
	return a, images
}

// spanEnd returns the end of the span that handle names: the index of the first message behind its summary. That text
// may stand several times in the history. The checkpoint tells the place if the request has the summary. Otherwise the
// last one is taken: too much is better than too little.
func (m *Manager) spanEnd(handle string, out *leftOut) int {
	c := m.state.checkpoint
	if c != nil && out.firstKept >= 0 && handle == recall.SpanHandle(c.FirstKept.Key) {
		return out.firstKept
	}
	i := len(out.facts) - 1
	for i >= 0 && recall.SpanHandle(out.facts[i].key) != handle {
		i--
	}
	return i
}

// openCall returns the id of a call of a tool among the newest calls of history that have no result yet: of the first
// one that is the wanted one, else of the first one, or "".
func openCall(history []Message, tool string, isWanted func(*Part) bool) string {
	answered := map[string]bool{}
	i := len(history) - 1
	for ; i >= 0 && history[i].Role == RoleTool; i-- {
		answered[history[i].ToolCallID] = true
	}
	if i < 0 {
		return ""
	}
	open := ""
	for p := range callsOf(&history[i]) {
		if p.Name != tool || answered[p.ID] {
			continue
		}
		if isWanted(p) {
			return p.ID
		}
		open = cmp.Or(open, p.ID) // for when none is: the host may have put defaults into the arguments
	}
	return open
}

// Which messages of a history are not whole in the request. The request itself shows it, whatever left them out.

// leftOut lists the messages of a history that the model does not see whole.
type leftOut struct {
	history []Message
	facts   []*fact
	calls   answered
	list    []int // indexes of the messages that are not whole and may be shown, oldest first
	handles *recall.Handles

	firstKept int // index of the first message behind the newest summary; -1: none is found
}

// leftOut compares history with its request: what was sent, with what is new behind it. The caller holds the lock.
// Nothing changes but what the manager knows of messages. If the manager has sent nothing, an earlier process may have
// sent requests, and its state is gone. Then nobody knows what the model was sent, so every message counts as left out.
func (m *Manager) leftOut(history []Message) *leftOut {
	b := &m.begin(history, (*basis).settle).basis
	// These are only the steps that repeat what was sent. What the next epoch would do is not done here.
	d := beginDraft(b, b.ledger.checkpoint, b.ledger.records, map[key]*edit{})
	newReading(d).read()
	firstKept := -1
	if c := d.checkpoint; c != nil {
		if i := d.firstKept(c, d.items); i >= 0 {
			firstKept = d.items[i].index
		}
	}
	d.replayHistory()

	facts := d.facts
	whole := make(map[key]bool, len(d.items))
	for _, x := range d.items {
		i := x.index
		if len(b.ledger.Sent) == 0 || i < 0 {
			continue
		}
		sent := *x.sent
		if isLaterResult(&sent) && history[i].Role == RoleTool {
			sent.Role, sent.Parts = RoleTool, sent.Parts[1:] // without the line that names its call
		}
		if sent.Role != history[i].Role { // made by the library
			continue
		}
		isUntouched := x.edit == nil && x.fact == b.index.facts[i]
		if isUntouched || showsAll(&sent, &history[i]) {
			whole[facts[i].key] = true
		}
	}
	l := &leftOut{history: history, facts: slices.Clone(facts), firstKept: firstKept}
	l.calls.messages, l.handles = listed(history), handlesOf(l.facts)
	for i := range history {
		if !whole[facts[i].key] && m.mayRecall(history, i) {
			l.list = append(l.list, i)
		}
	}
	return l
}

// mayRecall reports whether message i of history may be shown: it is not an answer of recall, and it has something to
// show.
func (m *Manager) mayRecall(history []Message, i int) bool {
	isBlank := func(p *Part) bool { return isThinking(*p) && p.Text == "" || isEmptyPart(p, true) }
	_, isCopy := recalledIn(listed(history), i)
	return !isCopy && hasPart(&history[i], func(p *Part) bool { return !isBlank(p) })
}

// Text, Origin and Handle make it a [recall.Source].
func (l *leftOut) Text(i int) string   { return shownText(&l.history[i]) }
func (l *leftOut) Origin(i int) string { return originOf(&l.history[i], l.calls.tool(i)) }
func (l *leftOut) Handle(i int) string { return l.handles.Of(i) }

// has reports whether message i is left out.
func (l *leftOut) has(i int) bool {
	_, ok := slices.BinarySearch(l.list, i)
	return ok
}

// before returns how many messages before message i are left out.
func (l *leftOut) before(i int) int {
	n, _ := slices.BinarySearch(l.list, i)
	return n
}

// What an answer of recall shows of a message: its texts and its calls, in lines, and behind them the model's thinking
// as far as it is text. Details are not shown, because they are the host's. A part without a text is only named.

// shownText returns what an answer of recall shows of m. Most results are one text, which is not copied.
func shownText(m *Message) string {
	if len(m.Parts) == 1 && m.Parts[0].Kind == KindText {
		return m.Parts[0].Text
	}
	var b strings.Builder
	// Thoughts come last, so that they do not move the lines of the texts.
	for _, isThought := range [2]bool{false, true} {
		for i := range m.Parts {
			p := &m.Parts[i]
			if isThinking(*p) != isThought || isThought && p.Text == "" {
				continue
			}
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			writeShown(&b, p)
		}
	}
	return b.String()
}

// writeShown writes p to b as the model reads it in an answer of recall.
func writeShown(b *strings.Builder, p *Part) {
	switch p.Kind {
	case KindText:
		b.WriteString(p.Text)
	case KindThinking:
		b.WriteString("thinking: " + p.Text)
	case KindToolCall:
		b.WriteString("call of " + markup.Attribute(p.Name) + ": ")
		recall.WriteArguments(b, p.Arguments)
	case KindImage:
		fmt.Fprintf(b, "[an image, %d×%d pixels: not text, so it is not quoted]", p.Width, p.Height)
	default:
		fmt.Fprintf(b, "[%s, %d bytes: not text, so it is not shown]", markup.Attribute(p.MediaType), p.Bytes)
	}
}

// showsAll reports whether sent, which is sent in the place of m, shows all that m does. Thinking does not count.
func showsAll(sent, m *Message) bool {
	shown, all := shownParts(sent), shownParts(m)
	return len(shown) >= len(all) && slices.EqualFunc(shown[:len(all)], all, showsSame)
}

// shownParts returns the parts of m in which a model reads something, without its thinking.
func shownParts(m *Message) (parts []*Part) {
	for i := range m.Parts {
		if p := &m.Parts[i]; !isThinking(*p) && !isEmptyPart(p, true) {
			parts = append(parts, p)
		}
	}
	return parts
}

// showsSame reports whether a model reads the same in a and b. A signature or the size of an image makes no difference.
func showsSame(a, b *Part) bool {
	return a.Kind == b.Kind && a.Text == b.Text && a.Name == b.Name && bytes.Equal(a.Arguments, b.Arguments)
}

// originOf says where m comes from: who wrote it or, if it is a result, of which tool and whether the call failed.
func originOf(m *Message, tool string) string {
	switch {
	case m.Role == RoleTool && m.IsError && tool != "":
		return "result of " + markup.Attribute(tool) + ", which failed"
	case m.Role == RoleTool && m.IsError:
		return "a result that failed"
	case m.Role == RoleTool && tool != "":
		return "result of " + markup.Attribute(tool)
	case m.Role == RoleTool:
		return "a result"
	case m.Summary:
		return "an earlier summary"
	case m.Role == RoleUser && m.Injected:
		return "the host"
	case m.Role == RoleAssistant:
		return "you"
	}
	return string(m.Role)
}

// The notes in placeholders say how to recall what was left out. This file also recognizes the answers of recall.

func handlesOf(facts []*fact) *recall.Handles {
	return recall.NewHandles(len(facts), func(i int) [16]byte { return facts[i].key })
}

// recallNote returns the note that says how to recall message i. It is "" if the message cannot be recalled.
func (c shortening) recallNote(i int) string { return c.recallNoteIn(c.items, i) }

// recallNoteIn is recallNote for message i of items, such as those that a record stands for.
func (c shortening) recallNoteIn(items []*item, i int) string {
	if !c.opts.Recall {
		return ""
	}
	k := c.recallable(items[i])
	if k < 0 {
		return ""
	}
	if handle, ok := recalledIn(asOwn(items), i); ok {
		return recall.Note(handle) // the original, and not this copy of it
	}
	return c.noteOf(k)
}

// noteOf returns the note that says how to recall message k of the history. It is "" if no message can be recalled.
func (c shortening) noteOf(k int) string {
	if !c.opts.Recall {
		return ""
	}
	if c.handles == nil {
		c.handles = handlesOf(c.facts)
	}
	return recall.Note(c.handles.Of(k))
}

// recallable returns the index in the history of x, or -1 if x cannot be recalled.
func (c shortening) recallable(x *item) int {
	if x.index < 0 || c.history[x.index].Role != x.own.Role {
		return -1 // made by the library: a result that stands in has the index of its call
	}
	return x.index
}

// spanNote returns the note behind a summary, which stands for all messages before `first`: that it leaves out details,
// how to recall them, and what else it stands for.
func spanNote(o *Options, first *item, attachments string) string {
	handle := ""
	if o.Recall {
		handle = recall.SpanHandle(first.fact.key)
	}
	return recall.SpanNote(handle, attachments)
}

// isRecalled reports whether message i is an answer of [Manager.Recall]: a copy of what the history has.
func (c shortening) isRecalled(i int) bool {
	if !c.opts.Recall || c.items[i].sent.Role != RoleTool {
		return false
	}
	_, ok := recalledIn(c.own(), i)
	return ok
}

// recalledIn returns the handle that message i shows as an answer of [Manager.Recall], "" if it shows several messages.
// ok is false if it is no such answer. A result without a tool name is of the tool of its call.
func recalledIn(messages sequence, i int) (handle string, ok bool) {
	m := messages.at(i)
	if m.Role != RoleTool || len(m.Parts) == 0 {
		return "", false
	}
	for k := range m.Parts[1:] { // images of what it shows
		if m.Parts[1+k].Kind != KindImage {
			return "", false
		}
	}
	handle, ok = recall.ShownHandle(m.Parts[0].Text)
	return handle, ok && (&answered{messages: messages}).tool(i) == recall.Name
}

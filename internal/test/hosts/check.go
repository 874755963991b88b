package hosts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/histories"
	"github.com/winnowgo/winnow/internal/test/wire"
)

// checkRequest checks a request against all promises.
func (w *world) checkRequest(q *question, r *winnow.Request) {
	w.see(r)
	if r.Tokens > r.Budget {
		w.fail("it fits, or there is an error", "%d tokens, and a budget of %d", r.Tokens, r.Budget)
	}
	if n := w.options.MaxBytes; n > 0 && r.Bytes > n {
		w.fail("it fits, or there is an error", "%d bytes, and %d are allowed", r.Bytes, n)
	}
	if sum := w.estimate(r.Messages) + w.overhead(); !w.usage && r.Tokens != sum {
		w.fail("Tokens is what the messages are estimated to", "%d, and it should be %d", r.Tokens, sum)
	}
	if r.Cached < 0 || r.Cached > r.Tokens || r.Cost < 0 {
		w.fail("costs are sane", "%d cached of %d, cost %g", r.Cached, r.Tokens, r.Cost)
	}
	for i, messages := range [][]winnow.Message{r.Messages, r.History} {
		what := []string{"Messages", "History"}[i]
		w.checkWire(q.in, messages, what)
		w.checkVerbatim(q.in, messages, what)
		w.checkOwn(q.in, messages)
	}
	w.checkEdits(q.in, r)
	w.checkSum(q.in, r)
	w.checkRecords(q.in, r)
	w.checkDialogue(q.in, r)
	w.checkQuoted(q.in, r)
	w.checkSeen(q.in, r)
	w.checkFloor(r)
	w.checkMinified(q.in, r)
	w.checkThinking(q.in, r.Messages)
	w.checkSummaries(r.Messages)
	w.checkSnapshot(q.in, r)
	w.checkFirstChanged(r)
}

// see counts what happened.
func (w *world) see(r *winnow.Request) {
	w.seen["request"]++
	if r.Compaction != nil {
		w.seen["compaction"]++
	}
	if r.Degraded != "" {
		w.seen["digest"]++
	}
	if r.FirstChanged < len(w.sent) {
		w.seen["epoch"]++
	}
	for _, e := range r.Edits {
		w.seen[string(e.Op)]++
	}
}

// overhead returns the size of a request without its messages.
func (w *world) overhead() int {
	if !w.options.Recall {
		return w.options.Overhead
	}
	schema, err := json.Marshal(winnow.RecallTool())
	if err != nil {
		panic(err) // constants
	}
	return w.options.Overhead + w.estimate([]winnow.Message{histories.User(string(schema))})
}

func (w *world) estimate(messages []winnow.Message) int {
	e, n := w.estimator(), 0
	for i := range messages {
		n += e.Estimate(messages[i])
	}
	return n
}

// checkWire: a provider accepts it.
func (w *world) checkWire(in, out []winnow.Message, what string) {
	rules := wire.Rules{Lead: histories.Leads(in), Blank: true,
		Bytes: !histories.ValidText(in) || w.damaged || w.summarizer.mood == "bytes"}
	if err := rules.Check(out); err != nil {
		w.fail("a provider accepts it", "%s: %v\n of %s\nfrom %s", what, err, sketch(out), sketch(in))
	}
}

// places returns the indexes of messages by ID.
func places(messages []winnow.Message) map[string][]int {
	out := map[string][]int{}
	for i := range messages {
		if id := messages[i].ID; id != "" {
			out[id] = append(out[id], i)
		}
	}
	return out
}

// newestRequest returns the newest message that a person wrote, or -1.
func newestRequest(h []winnow.Message) int {
	for i := len(h) - 1; i >= 0; i-- {
		if h[i].Role == winnow.RoleUser && !h[i].Injected && !h[i].Summary {
			return i
		}
	}
	return -1
}

// isBlankPart reports whether p is blank, so that no provider accepts it.
func isBlankPart(p winnow.Part) bool {
	switch p.Kind {
	case winnow.KindText:
		return !strings.ContainsFunc(p.Text, func(r rune) bool { return unicode.IsPrint(r) && !unicode.IsSpace(r) })
	case winnow.KindThinking:
		return p.Text == "" && p.Signature == ""
	}
	return false
}

// checkVerbatim: the newest user request, the pins and the system messages are there, once and unchanged.
func (w *world) checkVerbatim(in, out []winnow.Message, what string) {
	at := places(out)
	newest := newestRequest(in)
	for i := range in {
		m := &in[i]
		if !m.Pinned && m.Role != winnow.RoleSystem && i != newest || m.Summary || m.ID == "" {
			continue
		}
		if slices.ContainsFunc(m.Parts, isBlankPart) || !histories.IsSound(in, i) || w.hasGivenName(in, m) {
			continue // a provider would not accept it unchanged
		}
		switch k := at[m.ID]; {
		case len(k) != 1:
			w.fail("pins, system messages and the newest request are there once",
				"%s: message %d (%s, pinned %v) is there %d times: %s\nfrom %s", what, i, m.Role, m.Pinned, len(k),
				sketch(out), sketch(in))
		case !reflect.DeepEqual(*m, out[k[0]]) && !w.isWithoutThinking(m, &out[k[0]]):
			w.fail("pins, system messages and the newest request are verbatim",
				"%s: message %d (%s, pinned %v)\nis  %s\nwas %s", what, i, m.Role, m.Pinned, show(&out[k[0]]), show(m))
		}
	}
}

var givenName = regexp.MustCompile(`_\d+$`)

// hasGivenName reports whether m has an id that an earlier call may have been named with: one whose id is used again,
// or empty. What was named first keeps its name, and m may be named itself if the call that had its id before is gone.
func (w *world) hasGivenName(in []winnow.Message, m *winnow.Message) bool {
	if w.isMixed {
		return m.ToolCallID != "" || toolCalls(m) > 0
	}
	seen, isAgain := map[string]bool{}, false
	for i := range in {
		for _, p := range in[i].Parts {
			if p.Kind == winnow.KindToolCall {
				isAgain = isAgain || p.ID == "" || seen[p.ID]
				seen[p.ID] = true
			}
		}
	}
	isNamed := func(p winnow.Part) bool { return p.Kind == winnow.KindToolCall && givenName.MatchString(p.ID) }
	return isAgain && (givenName.MatchString(m.ToolCallID) || slices.ContainsFunc(m.Parts, isNamed))
}

// isWithoutThinking reports whether out is the pinned message m without its thinking. A provider would refuse thinking
// whose context has changed, and a valid request is more important than a pin.
func (w *world) isWithoutThinking(m, out *winnow.Message) bool {
	isRefused := w.isOther || w.options.Thinking == string(winnow.ThinkingBound)
	if !isRefused || m.Role != winnow.RoleAssistant {
		return false
	}
	if w.damaged { // an edit whose bytes were damaged looks like one that was sent
		return true
	}
	bare := *m
	bare.Source = nil
	bare.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p winnow.Part) bool {
		return p.Kind == winnow.KindThinking
	})
	if len(bare.Parts) == 0 { // a text replaces it
		bare.Parts = out.Parts
	}
	return reflect.DeepEqual(bare, *out)
}

// checkOwn: an unchanged message is the host's current message, and a changed one has no Source.
func (w *world) checkOwn(in, out []winnow.Message) {
	at := places(in)
	for k := range out {
		m := &out[k]
		if m.ID == "" {
			if !w.setting.NoIDs && m.Source != nil {
				w.fail("what the library made has no Source", "message %d: %s", k, show(m))
			}
			continue
		}
		i, ok := at[m.ID]
		if !ok {
			w.fail("a message is one that the host has now", "message %d has the ID %s, which none has", k, m.ID)
			continue
		}
		old := &in[i[0]]
		same := wireForm(old) == wireForm(m)
		if same && !reflect.DeepEqual(*old, *m) {
			w.fail("a message is as the host has it now", "message %d\nis  %s\nhas %s", k, show(m), show(old))
		}
		if !same && m.Source != nil {
			w.fail("what was changed has no Source", "message %d: %s\nfrom %s", k, show(m), show(old))
		}
		if !same && (m.Usage != nil != (old.Usage != nil) || m.Pinned != old.Pinned ||
			!bytes.Equal(m.Details, old.Details)) {
			w.fail("a message is as the host has it now", "message %d, which was changed,\nis  %s\nhas %s", k, show(m),
				show(old))
		}
	}
}

// checkFirstChanged: it is the first message that differs from the last request.
func (w *world) checkFirstChanged(r *winnow.Request) {
	if w.unknown {
		w.unknown = false
		return
	}
	now := wireForms(r.Messages)
	n := 0
	for n < min(len(now), len(w.sent)) && now[n] == w.sent[n] {
		n++
	}
	if r.FirstChanged != n {
		w.fail("FirstChanged is right", "%d, and message %d is the first that differs", r.FirstChanged, n)
	}
}

// checkWritten: the history and the memory after its end are unchanged.
func (w *world) checkWritten(q *question, what string) {
	if !reflect.DeepEqual(q.before, q.in[:cap(q.in)]) {
		w.fail("the history is not written", "%s wrote to it", what)
	}
}

// checkEarlier: a request never changes once it is made.
func (w *world) checkEarlier() {
	for _, k := range w.earlier {
		if !slices.Equal(wireForms(k.messages), k.wire) {
			w.fail("an earlier request stays as it is", "%s", sketch(k.messages))
		}
	}
}

// checkState: the manager's state is unchanged.
func (w *world) checkState(q *question, what string) {
	before, now := asked.ReplaceAll(q.state, nil), asked.ReplaceAll(w.snapshot(), nil)
	if !w.damaged && !w.recount && !w.isUsed && !bytes.Equal(before, now) {
		w.fail("what fails changes nothing", "%s:\nbefore %s\nafter  %s", what, clip(string(before)), clip(string(now)))
	}
}

// asked is what the manager remembers of a failed call, so that the next one does not pay again: that the host's
// BeforeCompact ran, how often a summarizer was called in vain, and when, for the part that a digest covers. The number
// of a delta whose writing failed is not used again.
var asked = regexp.MustCompile(`,"(digestAt":\d+|deltas":\d+|flushed":true|breaker":\{[^}]*\})`)

// checkError: Prepare fails only because the request cannot fit, or because ctx has ended.
func (w *world) checkError(q *question, err error) {
	var full *winnow.OverflowError
	switch {
	case errors.As(err, &full):
		w.seen["overflow"]++
		// After refusals, the smallest request may be one that was refused, whatever its size.
		if !w.usage && full.Tokens <= full.Budget && (full.MaxBytes == 0 || full.Bytes <= full.MaxBytes) {
			w.fail("an overflow is one", "%+v", full)
		}
		if least := w.least(q.in); !w.usage && !w.options.Off && full.MaxBytes == 0 && least <= full.Budget {
			w.fail("no request is refused that can be made", "%d tokens would do: %+v\nof %s", least, full,
				sketch(q.in))
		}
		if full.Overhead+full.Pinned+full.Summary+full.Protected > full.Tokens ||
			min(full.Pinned, full.Summary, full.Protected) < 0 {
			w.fail("an overflow says what fills the window", "%+v", full)
		}
	case errors.Is(err, winnow.ErrNothingToSend): // by Do, after a Prepare that made an empty request
		return
	case !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, errDisk):
		w.fail("an error is one to branch on", "%v", err)
	}
	w.checkState(q, "a Prepare that failed")
}

// least returns about how many tokens a request for in must have: those of what is always sent, of the newest step with
// its results cut and what follows it, and of a summary with its frame and a line of each section.
func (w *world) least(in []winnow.Message) int {
	const summary, result, lost = 200, 400, 40 // of a result, 400 characters and a note may stay
	n := w.overhead() + summary
	in = slices.DeleteFunc(slices.Clone(in), func(m winnow.Message) bool { // no such message is sent
		return !slices.ContainsFunc(m.Parts, func(p winnow.Part) bool {
			return !isBlankPart(p) && p.Kind != winnow.KindThinking
		})
	})
	newest, step := newestRequest(in), len(in)-1
	for step > 0 && (in[step].Role != winnow.RoleAssistant || in[step].Summary || histories.Failed(&in[step])) {
		step-- // a summary that nothing follows is no step: no other one can take its place
	}
	for from := 0; from < len(in); {
		to := from + 1 // the end of the step that begins at from
		for to < len(in) && in[to].Role == winnow.RoleTool {
			to++
		}
		stays := from >= step || slices.ContainsFunc(in[from:to], func(m winnow.Message) bool { return m.Pinned }) ||
			callsKept(in, from, step)
		if stays { // a repair says of each other call that its result is lost
			n += lost * max(0, toolCalls(&in[from])-(to-from-1))
		}
		for i := from; i < to; i++ {
			size, m := w.estimate(in[i:i+1]), &in[i]
			switch {
			case m.Role == winnow.RoleTool && !m.Pinned && stays:
				n += min(size, result)
			case stays || m.Role == winnow.RoleSystem || i == newest:
				n += size
			}
		}
		from = to
	}
	return n
}

// callsKept reports whether message i has the call of a result that stays: one that is pinned, which may stand anywhere
// behind it, or one behind the newest step, which comes late.
func callsKept(in []winnow.Message, i, step int) bool {
	return slices.ContainsFunc(in[i].Parts, func(p winnow.Part) bool {
		isIts := func(m winnow.Message) bool { return m.Role == winnow.RoleTool && m.ToolCallID == p.ID }
		isPinned := func(m winnow.Message) bool { return m.Pinned && isIts(m) }
		return p.Kind == winnow.KindToolCall &&
			(slices.ContainsFunc(in[i:], isPinned) || slices.ContainsFunc(in[max(i, step):], isIts))
	})
}

// toolCalls returns how many calls m has.
func toolCalls(m *winnow.Message) (n int) {
	for k := range m.Parts {
		if m.Parts[k].Kind == winnow.KindToolCall {
			n++
		}
	}
	return n
}

// checkSnapshot: the state does not grow for ever. It holds at most two summaries, and while a recovery is open
// those before it as well. Of messages that are gone it may hold 16 KB of edits and 16 KB of records, and twice as
// much while a recovery is open.
func (w *world) checkSnapshot(in []winnow.Message, r *winnow.Request) {
	most := 4*16<<10 + 8_000 + 4*body(in) + 4*body(r.Messages) + 400*(len(in)+len(r.Messages))
	if n := len(w.snapshot()); n > most {
		w.fail("a snapshot is bounded", "%d bytes for a history of %d messages", n, len(in))
	}
}

package hosts

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/histories"
)

// A model asks for what was left out, correctly and incorrectly.

const recallTool = "recall"

// recalled holds the handles that a model can know, and what was shown for them.
type recalled struct {
	handles []string          // that the last request names
	seen    string            // all texts of it
	shown   map[string]string // letters of what a handle showed, by handle and by what it is of
}

var namedHandle = regexp.MustCompile(`recall (\d{8,11})\b`)

// noteHandles reads the handles in a request.
func (w *world) noteHandles(messages []winnow.Message) {
	w.recalled.handles, w.recalled.seen = nil, ""
	for i := range messages {
		w.recalled.seen += joined(&messages[i]) + "\n"
		for _, p := range messages[i].Parts {
			for _, found := range namedHandle.FindAllStringSubmatch(p.Text+" "+string(p.Arguments), -1) {
				w.recalled.handles = append(w.recalled.handles, found[1])
			}
		}
	}
}

// recall plays a call of the recall tool, with the manager's result.
func (w *world) recall(s *Step) {
	if !w.options.Recall || isOpen(w.history) {
		return
	}
	target := w.at(s)
	wasSent := w.sentAt == w.version
	arguments := w.recallArguments(s, target)
	id := "recall_" + itoa(w.serial)
	call := histories.Model(histories.Call(id, recallTool))
	if call.Parts[0].Arguments = arguments; !json.Valid(arguments) {
		call.Parts[0].Arguments = json.RawMessage(`{}`)
	}
	call.StopReason = "toolUse"
	w.add(call)
	q := w.ask()
	ctx, cancel := w.context(s)
	defer cancel()
	got, err := w.manager.Recall(ctx, q.in, arguments)
	w.checkWritten(q, "Recall")
	w.checkState(q, "Recall")
	if err != nil {
		if ctx.Err() == nil {
			w.fail("an error is one to branch on", "Recall: %v", err)
		}
		w.cut(1)
		return
	}
	w.seen["recall"]++
	if got.IsError {
		w.seen["recall refused"]++
	}
	if got.Role != winnow.RoleTool || got.ToolCallID != id || len(got.Parts) != 1 ||
		strings.TrimSpace(got.Parts[0].Text) == "" {
		w.fail("Recall answers its call", "%s", show(&got))
		return
	}
	if !w.recount {
		twin, _ := w.twin(q.state)
		again, err := twin.Recall(ctx, deepCopy(q.in), arguments)
		twin.Close()
		if err != nil || !reflect.DeepEqual(got, again) {
			w.fail("a restored manager recalls the same", "%v\nwant %s\ngot  %s", err, show(&got), show(&again))
		}
	}
	w.checkRecalled(s, q.in, target, wasSent, arguments, &got)
	w.add(got)
}

// recallArguments returns the arguments of a call: depending on the words of the step, a handle, some of its lines,
// words, a pattern, or something invalid.
func (w *world) recallArguments(s *Step, target int) json.RawMessage {
	handle := ""
	if n := len(w.recalled.handles); n > 0 {
		handle = w.recalled.handles[abs(s.Seed)%n]
	}
	line := ""
	if target >= 0 {
		line = searchable(&w.history[target])
	}
	fields := map[string]any{}
	switch {
	case s.is("forged"):
		fields["handle"] = []any{
			"12345678", handle + "0", strings.Repeat("9", 11), hostileText(s.Seed), -1, nil, "０" + handle,
			"recall " + handle, []string{handle}, 12345678901.5,
		}[abs(s.Seed)%10]
	case s.is("raw"):
		return json.RawMessage([]string{``, `null`, `[]`, `"` + handle + `"`, handle, `{"handle":`, `{"words":{"a":1}}`,
			"\xff", `{"from":1e99,"handle":"` + handle + `"}`}[abs(s.Seed)%9])
	case s.is("find"):
		fields["pattern"] = regexp.QuoteMeta(line)
	case s.is("words"):
		fields["words"] = []string{line, hostileText(s.Seed), "file", strings.Repeat("x ", 500)}[abs(s.Seed)%4]
	case s.is("pattern"):
		fields["pattern"] = []string{"(", `(a+)+$`, ".*", `(?i)\bfile_\d`, `\xff`, "^$", hostileText(s.Seed),
			strings.Repeat("(a?){50}", 30)}[abs(s.Seed)%8]
	default:
		fields["handle"] = handle
	}
	if s.is("lines") {
		fields["handle"], fields["from"], fields["to"] = handle, s.Seed%40-3, s.N
	}
	out, err := json.Marshal(fields)
	if err != nil {
		panic(err) // texts and numbers
	}
	return out
}

// searchable returns the beginning of a line of m that is plain text, or "".
func searchable(m *winnow.Message) string {
	for i := range m.Parts {
		if m.Parts[i].Kind != winnow.KindText {
			continue
		}
		for line := range strings.SplitSeq(m.Parts[i].Text, "\n") {
			if word := plainWords.FindString(line); word != "" {
				return word
			}
		}
	}
	return ""
}

var plainWords = regexp.MustCompile(`[a-zA-Z][a-zA-Z ]{9,40}[a-zA-Z]`)

// recalledFrame is an answer that quotes one message: its handle, what of it, and the quotation.
var (
	recalledFrame = regexp.MustCompile(`(?s)^<recalled handle="(\d+)" from="[^"]*" lines="(\d+)-(\d+) of ` +
		`(\d+)">\n(.*)\n</recalled>\n\[[^\n]*\]$`)
	noMatch = regexp.MustCompile(`^\[recall: no line of the \d+ messages`)
)

// checkRecalled checks an answer against all promises.
func (w *world) checkRecalled(s *Step, in []winnow.Message, target int, wasSent bool, arguments json.RawMessage,
	got *winnow.Message) {
	text := got.Parts[0].Text
	if n, most := w.estimate([]winnow.Message{*got}), min(max(1_000, w.window()/20), w.window()/4)+200; n > most {
		w.fail("an answer of Recall has its share", "%d tokens, and %d are the most: %s", n, most, clip(text))
	}
	for _, tag := range tags {
		if strings.Contains(text, tag) {
			w.fail("what is recalled is data", "%q stands in %s", tag, clip(text))
		}
	}
	if line := ""; target >= 0 && s.is("find") {
		m := &in[target]
		line = searchable(m)
		isGone := wasSent && !strings.Contains(w.recalled.seen, line)
		if line != "" && isGone && m.ToolName != recallTool &&
			(got.IsError || noMatch.MatchString(text)) {
			w.fail("nothing is out of reach", "message %d has %q and is not in the request: %s\n%s", target, line,
				clip(text), show(m))
		}
	}
	f := recalledFrame.FindStringSubmatch(text)
	if f == nil || f[2] != "1" || f[3] != f[4] {
		return
	}
	var a struct{ Handle string }
	if json.Unmarshal(arguments, &a) != nil || a.Handle != f[1] {
		return
	}
	w.seen["recall whole"]++
	if !w.isMixed && !usesMadeName(in) { // else the name of its call may rest on another history
		w.checkFork(in[:len(in)-1:len(in)-1], f[1], arguments)
	}
	quoted := letters(unescaped(f[5]))
	isOf := func(m winnow.Message) bool {
		return strings.Contains(quoted, letters(joined(&m))) && len(letters(joined(&m))) > 0
	}
	i := slices.IndexFunc(in, isOf)
	if i < 0 && quoted != "" && !strings.Contains(f[5], "not text, so it is not") {
		w.fail("what is recalled is of the history", "%s", clip(text))
		return
	}
	if w.recalled.shown == nil {
		w.recalled.shown = map[string]string{}
	}
	if before, ok := w.recalled.shown[f[1]]; ok && before != quoted {
		w.fail("a handle stays that of its message", "%s\nwas %s\nis  %s", f[1], clip(before), clip(quoted))
	}
	w.recalled.shown[f[1]] = quoted
}

// usesMadeName reports whether a call has an id like the one that is made for another call, which has none or one that
// is used again. That call keeps its name only as long as it is remembered.
func usesMadeName(in []winnow.Message) bool {
	seen, bases := map[string]bool{}, map[string]bool{}
	for i := range in {
		for _, p := range in[i].Parts {
			if p.Kind != winnow.KindToolCall {
				continue
			}
			if p.ID == "" {
				bases["call"] = true
			} else if seen[p.ID] {
				bases[p.ID] = true
			}
			seen[p.ID] = true
		}
	}
	for id := range seen {
		if number := givenName.FindString(id); number != "" && bases[strings.TrimSuffix(id, number)] {
			return true
		}
	}
	return false
}

// checkFork: a manager that knows nothing but the history in finds the handle.
func (w *world) checkFork(in []winnow.Message, handle string, arguments json.RawMessage) {
	fork := w.newManager(&summarizer{world: w})
	if again, err := fork.Recall(context.Background(), in, arguments); err != nil || again.IsError {
		w.fail("a handle stays that of its message", "%s, of a fork that has lost its state: %v, %s", handle, err,
			show(&again))
	}
	fork.Close()
}

// joined returns the texts and the arguments of m that a model may see again.
func joined(m *winnow.Message) string {
	var b bytes.Buffer
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case winnow.KindText:
			b.WriteString(p.Text)
		case winnow.KindToolCall:
			fmt.Fprintf(&b, "call of %s: %s", p.Name, p.Arguments)
		}
	}
	return b.String()
}

func unescaped(s string) string { return htmlEscapes.Replace(s) }

var htmlEscapes = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

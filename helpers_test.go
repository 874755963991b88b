package winnow_test

import (
	"bytes"
	"context"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/histories"
	"github.com/winnowgo/winnow/internal/test/wire"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// ---- messages, short to write -----------------------------------------------------------------

var (
	textPart   = histories.Text
	imagePart  = histories.Image
	thinkPart  = histories.Think
	callPart   = histories.Call
	systemSays = histories.System
	userSays   = histories.User

	summarySays = histories.Summary
	modelSends  = histories.Model
	modelCalls  = histories.Calls
	toolSays    = histories.Tool

	named    = histories.Named
	deepCopy = histories.Copy
)

// hostSays is a user message that the host put there.
func hostSays(s string) winnow.Message {
	m := userSays(s)
	m.Injected = true
	return m
}

// callWith is a call with its arguments.
func callWith(id, tool, arguments string) winnow.Part {
	p := callPart(id, tool)
	p.Arguments = []byte(arguments)
	return p
}

// callOf is a call with its result.
func callOf(id, tool, arguments, result string) []winnow.Message {
	return list(modelSends(callWith(id, tool, arguments)), toolOf(id, tool, result))
}

// toolOf is a result with the name of its tool.
func toolOf(id, tool, text string) winnow.Message {
	m := toolSays(id, text)
	m.ToolName = tool
	return m
}

func erroneous(m winnow.Message) winnow.Message {
	m.IsError = true
	return m
}

func modelSays(s string) winnow.Message { return modelSends(textPart(s)) }

func pinned(m winnow.Message) winnow.Message {
	m.Pinned = true
	return m
}

func failed(m winnow.Message, reason string) winnow.Message {
	m.StopReason = reason
	return m
}

func withParts(m winnow.Message, more ...winnow.Part) winnow.Message {
	m.Parts = append(slices.Clip(m.Parts), more...)
	return m
}

func list(m ...winnow.Message) []winnow.Message { return m }

func nameOf(i int) string { return "m" + itoa(i) }

func itoa(i int) string { return strconv.Itoa(i) }

// ---- copies and comparison --------------------------------------------------------------------

// sameMessages fails with a readable difference. Sources count.
func sameMessages(t testing.TB, want, got []winnow.Message, note string) {
	t.Helper()
	if len(want) == 0 && len(got) == 0 || reflect.DeepEqual(want, got) {
		return
	}
	diff := cmp.Diff(want, got)
	require.Failf(t, note, "(-want +got)\n%s", diff[:min(len(diff), 4000)])
}

// sameContent compares without Sources.
func sameContent(a, b *winnow.Message) bool {
	if len(a.Parts) != len(b.Parts) || len(a.Parts) > 0 && len(a.Parts[0].Text) != len(b.Parts[0].Text) {
		return false
	}
	x, y := *a, *b
	x.Source, y.Source = nil, nil
	x.Parts, y.Parts = withoutSources(x.Parts), withoutSources(y.Parts)
	return reflect.DeepEqual(x, y)
}

func withoutSources(parts []winnow.Part) []winnow.Part {
	out := append([]winnow.Part{}, parts...)
	for k := range out {
		out[k].Source = nil
	}
	return out
}

// sketch is a history in one line: the first letter of each role, calls and results with their ids; * a
// pinned message, ! a failed turn, + one that the host put there, - one without content.
func sketch(h []winnow.Message) string {
	var b strings.Builder
	for i := range h {
		m := &h[i]
		b.WriteString(" " + string(m.Role)[:min(1, len(m.Role))])
		if m.Summary {
			b.WriteString("(summary)")
		}
		if m.Role == winnow.RoleTool {
			b.WriteString(":" + m.ToolCallID)
		}
		for _, p := range m.Parts {
			if p.Kind == winnow.KindToolCall {
				b.WriteString("[" + p.ID + "]")
			}
		}
		for mark, on := range map[string]bool{"*": m.Pinned, "!": failedTurn(m), "+": m.Injected, "-": !hasContent(m)} {
			if on {
				b.WriteString(mark)
			}
		}
	}
	return b.String()
}

// sharesMemory reports whether two lists begin at the same element.
func sharesMemory(a, b []winnow.Message) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// ---- texts ------------------------------------------------------------------------------------

func fullText(m winnow.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// messageText is all that a message says, arguments of its calls included.
func messageText(m *winnow.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		b.WriteString(p.Text + string(p.Arguments) + "\n")
	}
	return b.String()
}

// toldIn is everything that a request says.
func toldIn(r *winnow.Request) string {
	var b strings.Builder
	for i := range r.Messages {
		b.WriteString(messageText(&r.Messages[i]))
	}
	return b.String()
}

func chars(m winnow.Message) int { return utf8.RuneCountInString(fullText(m)) }

// numbered is lines of text of which no two are alike.
func numbered(lines int) string {
	var b strings.Builder
	for i := range lines {
		b.WriteString("line " + itoa(i) + " of the output, which says nothing that matters\n")
	}
	return b.String()
}

// ---- files ------------------------------------------------------------------------------------

func readFile(t testing.TB, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, path...)...))
	require.NoError(t, err)
	return string(b)
}

// golden compares got with a file below testdata/golden.
func golden(t testing.TB, name, got string) {
	t.Helper()
	goldenFile(t, filepath.Join("testdata", "golden", name), got)
}

// goldenFile compares got with a file; with -update it writes it.
func goldenFile(t testing.TB, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run go test -run %s -update to make it", t.Name())
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got)\n%s", path, diff)
	}
}

// What the tests of the manager share: a clock, scripted summarizers, and the checks that every request
// has to pass. They use the public API alone.

// clock is a clock that goes when it is told to.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

var estimatorOf, newManager, prepare, compact = winnow.EstimatorOf, winnow.ManagerOf, winnow.RequestOf, winnow.CompactedBy

// recovered is a request in the place of one that was refused.
func recovered(t testing.TB, m *winnow.Manager, h []winnow.Message, refusal error) *winnow.Request {
	t.Helper()
	r, err := m.Recover(t.Context(), h, refusal)
	require.NoError(t, err)
	return r
}

func snapshotOf(t testing.TB, m *winnow.Manager) string {
	t.Helper()
	b, err := m.Snapshot()
	require.NoError(t, err)
	return string(b)
}

// restarted is a manager that goes on from a state and what was written to a journal since, as in another process.
func restarted(t testing.TB, window int, o *winnow.Options, state string, deltas ...[]byte) *winnow.Manager {
	t.Helper()
	m := newManager(t, window, o)
	require.NoError(t, m.Restore([]byte(state), deltas...))
	return m
}

// fakeSummarizer records its requests and answers by rule.
type fakeSummarizer struct {
	mu     sync.Mutex
	calls  []winnow.SummaryRequest
	answer func(n int, req winnow.SummaryRequest) (string, error) // n counts from 1
}

func (s *fakeSummarizer) Summarize(_ context.Context, req winnow.SummaryRequest) (string, error) {
	s.mu.Lock()
	s.calls = append(s.calls, req)
	n, answer := len(s.calls), s.answer
	s.mu.Unlock()
	return answer(n, req)
}

func (s *fakeSummarizer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls)
}

// says answers the same whatever it is asked.
func says(text string) *fakeSummarizer {
	return &fakeSummarizer{answer: func(int, winnow.SummaryRequest) (string, error) { return text, nil }}
}

// fails answers nothing.
func fails(err error) *fakeSummarizer {
	return &fakeSummarizer{answer: func(int, winnow.SummaryRequest) (string, error) { return "", err }}
}

// byChars counts a token for four bytes: tests that talk of sizes can be read with it.
var byChars = winnow.EstimatorFunc(func(m winnow.Message) int { return 1 + messageBytes(&m)/4 })

func messageBytes(m *winnow.Message) (n int) {
	for i := range m.Parts {
		n += len(m.Parts[i].Text) + len(m.Parts[i].Arguments)
	}
	return n
}

// estimateAll is what e says of the messages together.
func estimateAll(e winnow.Estimator, messages []winnow.Message) (n int) {
	for i := range messages {
		n += e.Estimate(messages[i])
	}
	return n
}

// sameOnWire reports whether a provider is sent the same bytes of both.
func sameOnWire(a, b *winnow.Message) bool {
	return a.Role == b.Role && a.ToolCallID == b.ToolCallID && a.ToolName == b.ToolName && a.IsError == b.IsError &&
		slices.EqualFunc(a.Parts, b.Parts, func(p, q winnow.Part) bool {
			return p.Kind == q.Kind && p.Text == q.Text && p.Signature == q.Signature && p.ID == q.ID && p.Name == q.Name &&
				bytes.Equal(p.Arguments, q.Arguments) && p.MediaType == q.MediaType && p.Bytes == q.Bytes
		})
}

// firstDifference returns the index of the first message that is not the same on the wire.
func firstDifference(before, after []winnow.Message) int {
	n := min(len(before), len(after))
	for i := range n {
		if !sameOnWire(&before[i], &after[i]) {
			return i
		}
	}
	return n
}

// sameWire fails if two requests differ in what a provider is sent.
func sameWire(t testing.TB, want, got []winnow.Message, note string, args ...any) {
	t.Helper()
	if i := firstDifference(want, got); i < max(len(want), len(got)) {
		require.Failf(t, "requests differ", note+": at message %d\nwant%s\ngot %s", append(args, i, sketch(want), sketch(got))...)
	}
}

// newestRequest returns the index of the newest user message that a person wrote, or -1.
func newestRequest(h []winnow.Message) int {
	for i := len(h) - 1; i >= 0; i-- {
		if h[i].Role == winnow.RoleUser && !h[i].Injected && !h[i].Summary {
			return i
		}
	}
	return -1
}

// hasBlankPart reports whether m holds a text that providers refuse: Prepare leaves such parts out, pinned or not.
func hasBlankPart(m *winnow.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p winnow.Part) bool { return p.Kind == winnow.KindText && visible(p.Text) == "" })
}

// visible is s without what shows nothing at its ends.
func visible(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Cf) })
}

// requestCheck is what a request is held against.
type requestCheck struct {
	estimator winnow.Estimator
	overhead  int
}

// check fails where r breaks an invariant as the request for in, a history whose messages have the IDs that
// named gives them.
func (c requestCheck) check(t testing.TB, in []winnow.Message, r *winnow.Request) {
	t.Helper()
	require.LessOrEqual(t, r.Tokens, r.Budget, "above the budget, and no error")
	if !slices.ContainsFunc(in, func(m winnow.Message) bool { return m.Usage != nil }) {
		require.Equal(t, c.overhead+estimateAll(c.estimator, r.Messages), r.Tokens, "Tokens is not what the messages and the overhead are estimated to")
	}
	if validText(in) {
		rules := wire.Rules{Lead: leads(in), Blank: true}
		if err := rules.Check(r.Messages); err != nil {
			require.NoError(t, err, "a provider refuses the request %s of the history %s", sketch(r.Messages), sketch(in))
		}
		require.NoError(t, rules.Check(r.History), "a provider refuses Request.History")
	}
	require.Len(t, r.Counts, len(r.Messages))
	for i := range r.Messages {
		if n := c.estimator.Estimate(r.Messages[i]); n != r.Counts[i] {
			require.Equal(t, n, r.Counts[i], "the count of message %d", i)
		}
	}
	checkSources(t, stage{name: "Prepare"}, in, r.Messages)
	checkVerbatim(t, in, r.Messages)
	checkVerbatim(t, in, r.History)
	checkEdits(t, in, r)
}

// checkVerbatim: the newest user request, the pins and the system messages are there, once and as they were.
func checkVerbatim(t testing.TB, in, out []winnow.Message) {
	t.Helper()
	places := map[string][]int{}
	for k := range out {
		places[out[k].ID] = append(places[out[k].ID], k)
	}
	newest := newestRequest(in)
	for i := range in {
		m := &in[i]
		if !m.Pinned && m.Role != winnow.RoleSystem && i != newest || hasBlankPart(m) || !m.Pinned && !isSound(in, i) {
			continue
		}
		if m.Summary {
			continue // the next one replaces it
		}
		at := places[m.ID]
		if len(at) != 1 {
			require.Len(t, at, 1, "message %d (%s, pinned %v): how often it is in%s", i, m.Role, m.Pinned, sketch(out))
		}
		require.True(t, reflect.DeepEqual(*m, out[at[0]]), "message %d (%s, pinned %v) was changed", i, m.Role, m.Pinned)
	}
}

// checkEdits: kept + edited + dropped = input, by position, and the edits say which is which. A message may
// have several edits, one for each step that it went through. Edits without an ID are of messages that the
// library made. It looks at every message of every request, where an assertion that holds costs more than the look.
func checkEdits(t testing.TB, in []winnow.Message, r *winnow.Request) {
	t.Helper()
	out := r.Messages
	at := map[int]int{} // input -> output
	var order []int
	made := 0
	for k := range out {
		i, ok := originOf(&out[k])
		switch {
		case ok:
			if _, twice := at[i]; twice {
				require.Fail(t, "there twice", "message %d", i)
			}
			at[i] = k
			order = append(order, i)
		case !out[k].Summary:
			made++
		}
	}
	inserted := 0
	dropped, changed := map[int]bool{}, map[int]winnow.Op{}
	for _, e := range r.Edits {
		if e.Reason == "" || e.Op == "" || e.Before <= 0 && e.After <= 0 {
			require.Fail(t, "an edit says nothing", "%+v", e)
		}
		if e.Before == 0 {
			inserted++
			continue
		}
		if e.ID == "" {
			continue
		}
		if in[e.Index].ID != e.ID {
			require.Equal(t, in[e.Index].ID, e.ID, "%+v", e)
		}
		if e.After == 0 {
			require.False(t, dropped[e.Index], "message %d is dropped twice: %+v", e.Index, r.Edits)
			dropped[e.Index] = true
		} else {
			changed[e.Index] = e.Op
		}
	}
	require.LessOrEqual(t, made, inserted, "messages that were made and no edit says so")
	moved := misplaced(order)
	for i := range in {
		k, there := at[i]
		if !there {
			if !dropped[i] {
				require.Fail(t, "gone, and no edit says so", "message %d: %+v", i, r.Edits)
			}
			continue
		}
		different, op := !sameContent(&in[i], &out[k]) || moved[i], changed[i]
		switch {
		case dropped[i]:
			require.Fail(t, "there, and an edit says that it is gone", "message %d: %+v", i, r.Edits)
		case different && op == "":
			require.Fail(t, "changed or moved, and no edit says so", "message %d: %+v", i, r.Edits)
		// It may have moved ahead of messages that are gone: then nothing is left to be seen of it.
		case !different && op != "" && op != winnow.OpRepair:
			require.Fail(t, "as it was, and an edit says otherwise", "message %d: %+v", i, r.Edits)
		}
	}
}

func overflowOf(t testing.TB, err error) *winnow.OverflowError {
	t.Helper()
	var e *winnow.OverflowError
	require.ErrorAs(t, err, &e)
	return e
}

// checkOverflow: the error says what fills the window, and its parts are no more than the whole.
func checkOverflow(t testing.TB, err error, budget, overhead int) *winnow.OverflowError {
	t.Helper()
	require.ErrorIs(t, err, winnow.ErrOverflow)
	e := overflowOf(t, err)
	require.Greater(t, e.Tokens, e.Budget, "it fits")
	require.Equal(t, budget, e.Budget)
	require.GreaterOrEqual(t, e.Overhead, min(overhead, 0), "it may have been learned from the usage of an answer")
	require.GreaterOrEqual(t, min(e.Pinned, e.Summary, e.Protected), 0)
	require.LessOrEqual(t, e.Overhead+e.Pinned+e.Summary+e.Protected, e.Tokens, "the parts are more than the whole: %+v", e)
	return e
}

// agentSession is the history of an agent that works: turns of a request, two calls with results of about
// the given number of characters, and an answer. No two messages are alike.
func agentSession(turns, size int) []winnow.Message {
	var h []winnow.Message
	text := func(n int) string {
		mark := "mark" + itoa(100_000+len(h)) + " "
		own := make([]byte, 4) // each message has lines of its own
		for i, k := 0, len(h); i < len(own); i, k = i+1, k/26 {
			own[i] = 'a' + byte(k%26)
		}
		return mark + strings.ReplaceAll(asciiText[len(h)*37%10_000:][:n], "line", string(own))
	}
	for i := range turns {
		h = append(h, userSays("Request "+itoa(i)+": "+text(size/10)))
		for k := range 2 {
			id := "call_" + itoa(2*i+k)
			h = append(h, modelSends(textPart(text(size/20)), callPart(id, toolNames[(i+k)%len(toolNames)])))
			h = append(h, toolOf(id, toolNames[(i+k)%len(toolNames)], text(size)))
		}
		h = append(h, modelSays(text(size/5)))
	}
	return named(h)
}

// transcript returns the transcript of an agent of about n messages: for each 2 000 of them 600 calls and
// results of 0.2 to 40 KB, 5 MB of text in all. The same n gives the same messages.
func transcript(n int) []winnow.Message {
	r := rand.New(rand.NewPCG(uint64(n), 5))
	calls := n * 3 / 10
	// 10 messages: 3 steps of a call and its result in a turn of a question, and an answer; and a short chat.
	var h []winnow.Message
	for c := 0; c < calls; c += 3 {
		h = append(h, userSays(prose(r, 400)))
		for k := c; k < min(c+3, calls); k++ {
			id := "toolu_" + itoa(100_000+k)
			h = append(h, modelSends(textPart(prose(r, 150)), callPart(id, toolNames[k%len(toolNames)])))
			h = append(h, winnow.Message{Role: winnow.RoleTool, ToolCallID: id, ToolName: toolNames[k%len(toolNames)], Parts: []winnow.Part{textPart(prose(r, resultBytes(r)))}})
		}
		h = append(h, modelSays(prose(r, 600)), userSays(prose(r, 100)), modelSays(prose(r, 300)))
	}
	return h
}

// variedTranscript gives each message a text of its own, of the same length. All texts of the other transcript are cut
// from one: most of what a result says, an earlier one has said, and nearly nothing in it is a name. In a varied one, as
// in the results of recorded sessions, there are 15 names in a kilobyte, and each is mentioned 5 times on average.
func variedTranscript(n int) []winnow.Message {
	h := transcript(n)
	v := vocabulary{rand.New(rand.NewPCG(uint64(len(h)), 6)), 8 * len(h)}
	for i := range h {
		for k := range h[i].Parts {
			switch p := &h[i].Parts[k]; {
			case p.Kind == winnow.KindToolCall:
				p.Arguments = []byte(`{"path":"` + v.path() + `"}`)
			case h[i].Role == winnow.RoleTool:
				p.Text = v.text(len(p.Text), v.r.IntN(7))
			default:
				p.Text = v.text(len(p.Text), 0)
			}
		}
	}
	return h
}

// vocabulary writes texts with a number of names, of which some are mentioned far more often than others.
type vocabulary struct {
	r     *rand.Rand
	names int
}

// text returns n bytes of lines: of prose, of a numbered file, of a log, or of a listing.
func (v vocabulary) text(n, kind int) string {
	var b strings.Builder
	for k := 1; b.Len() < n; k++ {
		switch kind {
		case 1:
			b.WriteString("  " + itoa(k) + "\tif " + v.word() + ", err := s.Load(ctx, " + v.name() + "); err != nil { // " + v.word() + " " + v.word() + "\n")
		case 2:
			b.WriteString("2026-03-01T12:00:" + itoa(10+k%50) + "Z INFO " + v.path() + ":" + itoa(v.r.IntN(900)) + ": served " + v.name() + " in " + itoa(v.r.IntN(90)) + "ms\n")
		case 3:
			b.WriteString("-rw-r--r-- 1 root root " + itoa(v.r.IntN(9000)) + " Mar  1 12:00 " + v.path() + "\n")
		default:
			b.WriteString("The " + v.word() + " of the " + v.word() + " is not what " + v.name() + " expects, so " + v.word() + " tells why " + v.word() + " is one.\n")
		}
	}
	return strings.Clone(b.String()[:n])
}

// number returns that of a name: the first ones are the most frequent.
func (v vocabulary) number() int {
	f := v.r.Float64()
	return int(float64(v.names) * f * f * f)
}

func (v vocabulary) name() string {
	k := v.number()
	return wordOf(k) + "_" + wordOf(k>>12)
}

func (v vocabulary) path() string {
	k := v.number()
	return "src/" + wordOf(k>>5) + "/" + wordOf(k*37) + ".go"
}

func (v vocabulary) word() string { return wordOf(v.r.IntN(1 << 12)) }

// wordOf is one of 4 096 words.
func wordOf(n int) string {
	const syllables = "ba co di fu ge ha ki lo me nu pa ro si te vu za"
	return syllables[3*(n&15):][:2] + syllables[3*(n>>4&15):][:2] + syllables[3*(n>>8&15):][:2]
}

// resultBytes is 200 to 40 000, and 7 800 on average: many short ones and few long ones.
func resultBytes(r *rand.Rand) int {
	f := r.Float64()
	return 200 + int(39_800*f*f*f*f)
}

// prose is n bytes of lines such as tools print, in ASCII.
func prose(r *rand.Rand, n int) string {
	from := r.IntN(len(asciiText) - 40_001)
	return strings.Clone(asciiText[from : from+n]) // as long in memory as it is
}

var asciiText = numbered(2000)

package winnow

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow/internal/jsontext"
)

// How the time of an operation grows with its input, on inputs that are made to be slow. It is measured and reported
// on request, on a machine that does nothing else; a test never fails because a machine is busy:
//
//	go test -run TestGrowth -growth -v -timeout 0 .
//	go test -run TestGrowth/pins -growth -v .
//
// An operation is run on 8 inputs of n and on one of 8n: the same work twice, in as much memory. The least of several
// such rounds counts. Rows above 1.3 are logged, with the figure of writing the same inputs as JSON Lines. Where that
// grows about as much, the input outgrows the processor's caches; else the operation is superlinear, which is a fault,
// or something sets in between n and 8n.
var growth = flag.Bool("growth", false, "measure how time grows with hostile inputs")

const (
	growthFactor = 8
	growthMost   = 1.3
	growthRounds = 3
	// A small window, and the tokens that an input has at least: enough that it is compacted at n already.
	growthWindow = 2_000
	growthTokens = 4 * growthWindow
	// From here on the garbage collector may disturb a measurement.
	growthMemory = 3 << 30
	// What takes less cannot be measured.
	growthLeast = time.Millisecond
)

// growthOperations are what is measured. Each is made for one input and run on it once.
var growthOperations = map[string]func(h []Message){
	"RepairToolPairing":   func(h []Message) { RepairToolPairing(h) },
	"LimitHistoryTurns":   func(h []Message) { LimitHistoryTurns(h, 2) },
	"PruneContext":        func(h []Message) { PruneContext(h, 1_000, nil) },
	"TruncateToolResults": func(h []Message) { TruncateToolResults(h, 1_000, nil) },
	"Estimate": func(h []Message) {
		e := CharsPerToken(4)
		for i := range h {
			sink += e.Estimate(h[i])
		}
	},
	"Prepare":           func(h []Message) { _, _ = growthManager(1<<30).Prepare(context.Background(), h) },
	"Prepare, limited":  func(h []Message) { _, _ = growthManager(1<<30, limitedTurns).Prepare(context.Background(), h) },
	"Prepare, small":    func(h []Message) { _, _ = growthManager(growthWindow).Prepare(context.Background(), h) },
	"Prepare, again":    prepareAgain,
	"Plan":              func(h []Message) { growthManager(growthWindow).Plan(h) },
	"Compact":           func(h []Message) { _, _ = growthManager(1<<30).Compact(context.Background(), h, "") },
	"Recover":           recoverGrown,
	"Snapshot, Restore": snapshotGrown,
	"Digest":            func(h []Message) { _, _ = Digest().Summarize(context.Background(), SummaryRequest{Messages: h}) },
	"SummarizeInStages": func(h []Message) {
		_, _ = SummarizeInStages(context.Background(), h, &SummarizeOptions{Summarizer: Digest(), Window: 32_000})
	},
	"Prompt":        func(h []Message) { sink += len(SummaryRequest{Messages: h}.Prompt()) },
	"WriteMessages": func(h []Message) { _ = WriteMessages(new(bytes.Buffer), h) },
	"ClassifyError": func(h []Message) {
		for i := range h {
			ClassifyError(errors.New(joinedText(&h[i])))
		}
	},
}

func limitedTurns(o *Options) { o.HistoryTurns = 2 }

func growthManager(window int, set ...func(*Options)) *Manager {
	o := Options{Estimator: CharsPerToken(4), Compact: &CompactOptions{KeepRecent: growthWindow / 4}}
	for _, f := range set {
		f(&o)
	}
	m, err := New(window, &o)
	if err != nil {
		panic(err)
	}
	return m
}

func prepareAgain(h []Message) {
	m := growthManager(2 * growthWindow)
	for _, n := range []int{len(h) / 2, len(h) * 3 / 4, len(h)} {
		_, _ = m.Prepare(context.Background(), h[:n])
	}
}

func recoverGrown(h []Message) {
	m := growthManager(2 * growthWindow)
	_, _ = m.Prepare(context.Background(), h)
	_, _ = m.Recover(context.Background(), h, errors.New("prompt is too long: 3500 tokens > 3000 maximum"))
}

func snapshotGrown(h []Message) {
	m := growthManager(2 * growthWindow)
	_, _ = m.Prepare(context.Background(), h)
	if state, err := m.Snapshot(); err == nil {
		_ = growthManager(2 * growthWindow).Restore(state)
	}
}

func TestGrowth(t *testing.T) {
	if !*growth {
		t.Skip("measures on request: -growth")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // its share depends on the heap, and the heap on the input
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(growthMemory))
	fillHeap()
	inputs, above, rows := growthInputs(), 0, 0
	for _, input := range sortedKeys(inputs) {
		t.Run(input, func(t *testing.T) {
			const smallest, largest = 250, 4_000
			n := smallest
			for n < largest && charTokens(inputs[input](n)) < growthTokens {
				n *= 2
			}
			for _, name := range sortedKeys(growthOperations) {
				ratio, took := growthOf(inputs[input], n, growthOperations[name])
				if rows++; ratio > growthMost && took >= growthLeast {
					above++
					bare, _ := growthOf(inputs[input], n, growthOperations["WriteMessages"])
					t.Logf("%-28s × %-20s %7d → %7d: %5.2f × n, %8v; to write it %.2f × n", input, name, n, growthFactor*n, ratio, took, bare)
				}
			}
		})
	}
	t.Logf("%d inputs, %d rows, %d above %.1f × n", len(inputs), rows, above, growthMost)
}

func sortedKeys[V any](m map[string]V) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// fillHeap has the runtime take memory from the system, and gives it back to the runtime: to be given a page by the
// system takes longer than most operations need to fill it.
func fillHeap() {
	const most = 512 << 20
	pages := make([]byte, most)
	for i := 0; i < most; i += 1 << 12 {
		pages[i] = 1
	}
	runtime.GC()
}

// growthOf is by how much more than its input the time of an operation grows from n to 8n, and its time at 8n.
func growthOf(input func(int) []Message, n int, operation func([]Message)) (ratio float64, most time.Duration) {
	least := map[int]time.Duration{} // by the size of an input
	for range growthRounds {
		for _, size := range []int{n, growthFactor * n} {
			inputs := make([][]Message, growthFactor*n/size)
			for i := range inputs {
				inputs[i] = input(size)
			}
			runtime.GC()
			operation(inputs[0]) // what the garbage collector took from pools is there again
			start := time.Now()
			for _, h := range inputs {
				operation(h)
			}
			if took := time.Since(start); least[size] == 0 || took < least[size] {
				least[size] = took
			}
		}
		most = least[growthFactor*n]
		if ratio = float64(most) / float64(max(1, least[n])); ratio <= growthMost {
			break
		}
	}
	return ratio, most
}

// What once took time that grew with the square of the input ends at sizes at which it did not: it would take some
// minutes, and takes some tenths of a second. No machine is so busy that the one is taken for the other.
func TestHugeInputsEnd(t *testing.T) {
	const most = 30 * time.Second
	for _, tt := range []struct {
		name string
		n    int
		run  func(n int)
	}{
		{"thinking at the end of one message", 300_000, func(n int) {
			out, _ := RepairToolPairing(manyParts(n, growthMessages["answer"], growthParts["thinking"])[:3])
			assert.Len(t, out, 2)
		}},
		{"texts of one answer", 300_000, func(n int) {
			h := manyParts(n, growthMessages["answer"], growthParts["texts"])
			for _, window := range []int{growthWindow, 1 << 30} {
				_, err := growthManager(window).Prepare(context.Background(), h)
				assert.NoError(t, err)
				_, err = growthManager(window).Compact(context.Background(), h, "")
				assert.NoError(t, err)
			}
		}},
		{"pinned results without a call", 120_000, func(n int) { keptBefore(listed(orphans(n, true)), 3*n, nil) }},
		{"pinned results of one message", 120_000, func(n int) { keptBefore(listed(oneBatch(n, true)), n+2, nil) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				tt.run(tt.n)
			}()
			select {
			case <-done:
			case <-time.After(most):
				t.Fatalf("it has not ended in %v", most)
			}
		})
	}
}

// growthInputs are inputs of about n units each, by what is many or long in them: lists of messages, parts of each kind
// of message, and each text at each place where a message has one.
func growthInputs() map[string]func(n int) []Message {
	inputs := maps.Clone(growthLists)
	for name, id := range growthIDs {
		inputs[name] = func(n int) []Message { return calls(n, func(i int) string { return id(i, n) }) }
	}
	for name, m := range growthMessages {
		one := m
		one.Parts = []Part{{Text: "x"}}
		inputs["many: "+name] = func(n int) []Message { return slices.Repeat([]Message{one}, n) }
		for part, write := range growthParts {
			inputs["many parts: "+part+", "+name] = func(n int) []Message { return manyParts(n, m, write) }
		}
	}
	for name, change := range growthChanges {
		inputs[name] = func(n int) []Message {
			h := calls(n, longID)
			for i := 1; i < len(h)-1; i += 2 {
				change(i/2, &h[i], &h[i+1])
			}
			return h
		}
	}
	for _, unit := range growthTexts {
		for place, put := range growthPlaces {
			inputs[fmt.Sprintf("%q, %s", unit[:min(len(unit), 20)], place)] = func(n int) []Message { return put(repeated(unit, n)) }
		}
	}
	return inputs
}

var growthIDs = map[string]func(i, n int) string{
	"long ids that repeat":    func(i, n int) string { return longID(i % max(1, n/2)) },
	"long ids":                func(i, _ int) string { return longID(i) },
	"one id":                  func(int, int) string { return "x" },
	"one long id":             func(int, int) string { return longID(0) },
	"empty ids":               func(int, int) string { return "" },
	"ids that look numbered":  func(i, _ int) string { return fmt.Sprintf("x_%d", i/2) },
	"ids of other characters": func(i, _ int) string { return fmt.Sprintf("日本%d", i/2) },
}

var growthLists = map[string]func(n int) []Message{
	"messages of only thinking": func(n int) []Message {
		return slices.Repeat([]Message{{Role: RoleAssistant, Parts: []Part{{Kind: KindThinking, Text: "x"}}}}, n)
	},
	"empty messages":              func(n int) []Message { return slices.Repeat([]Message{{Role: RoleUser}}, n) },
	"pinned results without call": func(n int) []Message { return orphans(n, true) },
	"results without call":        func(n int) []Message { return orphans(n, false) },
	"pins of one message":         func(n int) []Message { return oneBatch(n, true) },
	"calls without results":       func(n int) []Message { return oneBatch(n, false)[:2] },
	"late results": func(n int) (h []Message) {
		var late []Message
		for i := range n {
			step := calls(1, func(int) string { return longID(i / 2) })
			h, late = append(h, step[1], step[0]), append(late, step[2])
		}
		return append(append(h, late...), userSays("and now?"))
	},
	"doubled results": func(n int) []Message {
		h := calls(n, longID)
		for i := 2; i < 2*n; i += 2 {
			h = append(h, h[i])
		}
		return h
	},
	"results in reverse": func(n int) []Message {
		h := oneBatch(n, false)
		slices.Reverse(h[2 : 2+n])
		return h
	},
	"rules and answers": func(n int) (h []Message) {
		for i := range n {
			h = append(h, userSays(fmt.Sprintf("Never do %d.", i)), Message{Role: RoleAssistant, Parts: []Part{{Text: "answer"}}})
		}
		return h
	},
}

// growthChanges are of step i of an agent.
var growthChanges = map[string]func(i int, call, result *Message){
	"failed turns":  func(_ int, call, _ *Message) { call.StopReason = "error" },
	"pinned calls":  func(_ int, call, _ *Message) { call.Pinned = true },
	"usage":         func(i int, call, _ *Message) { call.Usage = &Usage{Input: 10 + 20*i, Output: 5} },
	"files":         func(i int, call, _ *Message) { asks(call, "edit", fmt.Sprintf(`{"path":"src/f%d.go"}`, i)) },
	"the same call": func(_ int, call, _ *Message) { asks(call, "exec", `{"path":"a.go"}`) },
	"failures": func(_ int, _, result *Message) {
		result.IsError, result.Details = true, json.RawMessage(`{"status":"failed","exitCode":1}`)
	},
}

func asks(call *Message, tool, arguments string) {
	call.Parts[0].Name, call.Parts[0].Arguments = tool, json.RawMessage(arguments)
}

// growthParts are parts of one message. Part i of many is about what the others are, too.
var growthParts = map[string]func(i int) Part{
	"texts":           func(int) Part { return Part{Text: "x"} },
	"lines":           func(i int) Part { return Part{Text: fmt.Sprintf("Line %d says that the build has failed.\n", i)} },
	"empty":           func(int) Part { return Part{} },
	"thinking":        func(int) Part { return Part{Kind: KindThinking, Text: "so it is"} },
	"signed thinking": func(int) Part { return Part{Kind: KindThinking, Text: "so it is", Signature: "s"} },
	"images":          func(int) Part { return Part{Kind: KindImage, MediaType: "image/png", Bytes: 1 << 10} },
	"opaque":          func(int) Part { return Part{Kind: KindOpaque, MediaType: "a/b", Bytes: 10} },
	"calls": func(i int) Part {
		return Part{Kind: KindToolCall, ID: longID(i), Name: "read", Arguments: json.RawMessage(fmt.Sprintf(`{"path":"src/f%d.go"}`, i))}
	},
	"texts, calls and images": func(i int) Part {
		return []Part{{Text: "I look."}, {Kind: KindToolCall, ID: longID(i), Name: "exec"}, {Kind: KindImage, Bytes: 1 << 10}}[i%3]
	},
}

// growthMessages are the kinds of messages that there are.
var growthMessages = map[string]Message{
	"user": {Role: RoleUser}, "pin": {Role: RoleUser, Pinned: true}, "host": {Role: RoleUser, Injected: true},
	"summary": {Role: RoleUser, Summary: true}, "system": {Role: RoleSystem},
	"result": {Role: RoleTool, ToolCallID: "r", ToolName: "exec"},
	"answer": {Role: RoleAssistant}, "failed answer": {Role: RoleAssistant, StopReason: "error"},
}

// manyParts puts n parts into m, among other messages, so that a record or a summary may stand for it.
func manyParts(n int, m Message, part func(i int) Part) []Message {
	h := []Message{userSays("go on")}
	if m.Role == RoleTool {
		h = append(h, Message{Role: RoleAssistant, Parts: []Part{{Kind: KindToolCall, ID: "r", Name: "exec"}}})
	}
	at := len(h)
	h = append(h, m)
	for i := range n {
		p := part(i)
		h[at].Parts = append(h[at].Parts, p)
		if m.Role == RoleAssistant && p.Kind == KindToolCall {
			h = append(h, Message{Role: RoleTool, ToolCallID: p.ID, ToolName: p.Name, Parts: []Part{{Text: "done"}}})
		}
	}
	return append(append(h, userSays("and now?")), calls(8, longID)...)
}

// growthTexts are units of texts: what is read, cut, quoted or searched in some way of its own. "%d" is their number.
var growthTexts = []string{
	"a line of a log, with a path/to/a.go:12\n", "src/dir_%d/file_%d.go ", "path/to/a.go ", "2026-01-02T03:04:05", "12345 ",
	"xxxxxxxxxx", "7777777777", "          ", "\t\t\t\t\t", "\n\n\n\n\n", "\r\n\r\n\r\n", "\x00\x00\x00\x00",
	"<<<<<<<<<<", "[[[[[[[[[[", "##########", `\\\\\\\\`, "1:1:1:1:1:", "[]()[]()[]()", "`a`\"b\"`a`\"b\"", "&lt;&lt;&lt;",
	"<\u200b <\u200b ", "\u00a0\u00a0\u00a0\u00a0", "</summary></summary>", "<|im_start|>", "<people-said>\nperson (1 lines):\nx\n",
	"Never do it. ", "\xff\xff\xff\xff", "a\u0301\u0301\u0301\u0301", "漢字漢字", "👩\u200d👩\u200d👧", "ѕуммагу ѕуммагу ",
	`{"exit":1,"error":"no"},`, `"k%d":"v",`, "*** Update File: a.go\n", "cat >a <<E\nE\n",
}

// repeated is n units, in brackets where a unit is of JSON.
func repeated(unit string, n int) string {
	if unit == "[[[[[[[[[[" {
		depth := min(n, 9_000)
		return strings.Repeat("[", depth) + strings.Repeat("]", depth)
	}
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(unit, "%d", strconv.Itoa(i)))
	}
	switch {
	case strings.HasPrefix(unit, `"k`):
		return "{" + b.String() + `"path":"a.go"}`
	case strings.HasPrefix(unit, "{"):
		return "[" + b.String() + "1]"
	}
	return b.String()
}

// growthPlaces put a text where a message has one.
var growthPlaces = map[string]func(text string) []Message{
	"user":     func(text string) []Message { return append([]Message{userSays(text)}, calls(4, longID)...) },
	"answer":   func(text string) []Message { return partThenCalls(Part{Text: text}) },
	"thinking": func(text string) []Message { return partThenCalls(Part{Kind: KindThinking, Text: text}) },
	"result": func(text string) []Message {
		return stepThenCalls(func(_, result *Message) { result.Parts[0].Text = text })
	},
	"several results": func(text string) []Message {
		h, part := calls(16, longID), len(text)/16
		for i := range 16 {
			h[2+2*i].Parts[0].Text = text[part*i : part*(i+1)]
		}
		return h
	},
	"arguments": func(text string) []Message {
		return stepThenCalls(func(call, _ *Message) { asks(call, "apply_patch", text) })
	},
	"patch and command": func(text string) []Message {
		quoted := string(jsontext.Quote(text))
		return stepThenCalls(func(call, _ *Message) { asks(call, "apply_patch", `{"patch":`+quoted+`,"command":`+quoted+`}`) })
	},
	"status": func(text string) []Message {
		return stepThenCalls(func(_, result *Message) {
			result.IsError, result.Details = true, json.RawMessage(`{"status":`+string(jsontext.Quote(text))+"}")
		})
	},
}

func partThenCalls(p Part) []Message {
	h := []Message{userSays("go on"), {Role: RoleAssistant, Parts: []Part{p, {Text: "so it is"}}}}
	return append(h, calls(4, longID)...)
}

func stepThenCalls(change func(call, result *Message)) []Message {
	h := calls(5, longID)
	change(&h[1], &h[2])
	return h
}

func longID(i int) string { return strings.Repeat("call", 15) + fmt.Sprintf("%06d", i) }

func calls(n int, id func(i int) string) []Message {
	h := []Message{userSays("go on")}
	for i := range n {
		h = append(h, Message{Role: RoleAssistant, Parts: []Part{{Kind: KindToolCall, ID: id(i), Name: "exec"}}},
			Message{Role: RoleTool, ToolCallID: id(i), ToolName: "exec", Parts: []Part{{Text: "done"}}})
	}
	return append(h, userSays("and now?"))
}

func orphans(n int, pinned bool) (h []Message) {
	for i := range n {
		h = append(h, userSays("go on"), Message{Role: RoleAssistant, Parts: []Part{{Text: "x"}}},
			Message{Role: RoleTool, ToolCallID: fmt.Sprint(i), Pinned: pinned, Parts: []Part{{Text: "done"}}})
	}
	return append(h, userSays("a"), userSays("b"))
}

func oneBatch(n int, pinned bool) []Message {
	h := manyParts(n, growthMessages["answer"], growthParts["calls"])[:n+2]
	for i := range h[2:] {
		h[i+2].Pinned = pinned
	}
	return append(h, userSays("a"), userSays("b"))
}

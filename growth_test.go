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
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/sections"
)

// How the time of an operation grows with its input, on inputs that are made to be slow. It is measured and reported
// on request, on a machine that does nothing else; a test never fails because a machine is busy:
//
//	go test -run TestGrowth -growth -v -timeout 0 .
//	go test -run TestGrowth/pins -growth -v .
//
// An operation is run on 8 inputs of n and on one of 8n: the same work twice, in as much memory. The least of several
// such rounds counts. Rows above 1.3 are logged, with the figure of a bare pass over the same inputs. Where that grows
// about as much, the input outgrows the processor's caches; else the operation is superlinear, which is a fault, or
// something sets in between n and 8n.
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
					bare, _ := growthOf(inputs[input], n, barePass)
					t.Logf("%-28s × %-20s %7d → %7d: %5.2f × n, %8v; a bare pass %.2f × n", input, name, n, growthFactor*n, ratio, took, bare)
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

// barePass is the least that an operation does that reads a history, pairs its calls, and returns another one or writes
// it: it copies the texts, finds calls and results by their ids, and joins all texts in memory that grows.
func barePass(h []Message) {
	out, ids, joined := slices.Clone(h), map[string]int{}, []byte(nil)
	for i := range out {
		m := &out[i]
		ids[m.ToolCallID]++
		m.Parts, m.Details = slices.Clone(m.Parts), slices.Clone(m.Details)
		for k := range m.Parts {
			p := &m.Parts[k]
			ids[p.ID]++
			p.Text, p.Signature, p.Arguments = strings.Clone(p.Text), strings.Clone(p.Signature), slices.Clone(p.Arguments)
			joined = append(append(joined, p.Text...), p.Arguments...)
		}
	}
	sink += len(joined) + len(ids)
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
			out, _ := RepairToolPairing(growthLists["thinking at the end"](n))
			assert.Len(t, out, 2)
		}},
		{"texts of one answer", 300_000, func(n int) {
			h := growthMessages["answer"](manyParts(n, growthParts["texts"]))
			for _, window := range []int{growthWindow, 1 << 30} {
				_, err := growthManager(window).Prepare(context.Background(), h)
				assert.NoError(t, err)
				_, err = growthManager(window).Compact(context.Background(), h, "")
				assert.NoError(t, err)
			}
		}},
		{"pinned results without a call", 120_000, func(n int) { keptBefore(orphans(n, true), 3*n, nil) }},
		{"pinned results of one message", 120_000, func(n int) { keptBefore(oneBatch(n, true), n+2, nil) }},
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

// growthInputs are inputs of about n units each, by what is many or long in them: lists of messages, and each text at
// each place where a message has one.
func growthInputs() map[string]func(n int) []Message {
	inputs := maps.Clone(growthLists)
	for text, write := range growthTexts {
		for place, put := range growthPlaces {
			inputs[text+", "+place] = func(n int) []Message { return put(write(n)) }
		}
	}
	for part, write := range growthParts {
		for message, put := range growthMessages {
			inputs["many parts: "+part+", "+message] = func(n int) []Message { return put(manyParts(n, write)) }
		}
	}
	return inputs
}

var growthLists = map[string]func(n int) []Message{
	"long ids that repeat":       func(n int) []Message { return calls(n, func(i int) string { return longID(i % max(1, n/2)) }) },
	"one id":                     func(n int) []Message { return calls(n, func(int) string { return "x" }) },
	"one long id":                func(n int) []Message { return calls(n, func(int) string { return longID(0) }) },
	"empty ids":                  func(n int) []Message { return calls(n, func(int) string { return "" }) },
	"ids that look numbered":     func(n int) []Message { return calls(n, func(i int) string { return fmt.Sprintf("x_%d", i/2) }) },
	"ids of other characters":    func(n int) []Message { return calls(n, func(i int) string { return fmt.Sprintf("日本%d", i/2) }) },
	"thinking at the end":        func(n int) []Message { return parts(n, RoleAssistant, Part{Kind: KindThinking, Text: "x"}) },
	"signed thinking at the end": func(n int) []Message { return parts(n, RoleAssistant, Part{Kind: KindThinking, Signature: "s"}) },
	"messages of only thinking": func(n int) []Message {
		return many(n, Message{Role: RoleAssistant, Parts: []Part{{Kind: KindThinking, Text: "x"}}})
	},
	"empty messages":  func(n int) []Message { return many(n, Message{Role: RoleUser}) },
	"system messages": func(n int) []Message { return many(n, Message{Role: RoleSystem, Parts: []Part{{Text: "x"}}}) },
	"summaries": func(n int) []Message {
		return many(n, Message{Role: RoleUser, Summary: true, Parts: []Part{{Text: "x"}}})
	},
	"pinned turns": func(n int) []Message {
		return many(n, Message{Role: RoleUser, Pinned: true, Parts: []Part{{Text: "x"}}})
	},
	"pinned results without call": func(n int) []Message { return orphans(n, true) },
	"results without call":        func(n int) []Message { return orphans(n, false) },
	"pins of one message":         func(n int) []Message { return oneBatch(n, true) },
	"results of one message":      func(n int) []Message { return oneBatch(n, false) },
	"calls without results":       func(n int) []Message { return oneBatch(n, false)[:2] },
	"late results":                lateResults,
	"failed turns": func(n int) []Message {
		return changed(n, func(_ int, m *Message) {
			if m.Role == RoleAssistant {
				m.StopReason = "error"
			}
		})
	},
	"equal messages":         func(n int) []Message { return calls(n, longID) },
	"rules of many messages": func(n int) []Message { return rulesOfMany(n) },
	"files": func(n int) []Message {
		return changed(n, func(i int, m *Message) { asks(m, "edit", fmt.Sprintf(`{"path":"src/f%d.go"}`, i)) })
	},
	"failures": func(n int) []Message {
		return changed(n, func(_ int, m *Message) {
			if m.Role == RoleTool {
				m.IsError, m.Details = true, json.RawMessage(`{"status":"failed","exitCode":1}`)
			}
		})
	},
	"usage": func(n int) []Message {
		return changed(n, func(i int, m *Message) {
			if m.Role == RoleAssistant {
				m.Usage = &Usage{Input: 10 + 20*i, Output: 5}
			}
		})
	},
	"turns": turnsOfMany,
	"pinned calls": func(n int) []Message {
		return changed(n, func(_ int, m *Message) { m.Pinned = m.Role == RoleAssistant })
	},
	"the same call": func(n int) []Message {
		return changed(n, func(_ int, m *Message) { asks(m, "exec", `{"path":"a.go"}`) })
	},
	"doubled results": func(n int) []Message {
		h := calls(n, longID)
		return slices.Concat(h[:len(h)-1], resultsOf(h), h[len(h)-1:])
	},
	"results in reverse": func(n int) []Message {
		h := oneBatch(n, false)
		slices.Reverse(h[2 : 2+n])
		return h
	},
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
	"texts and calls": func(i int) Part {
		if i%2 == 0 {
			return Part{Text: "I look."}
		}
		return Part{Kind: KindToolCall, ID: longID(i), Name: "exec"}
	},
	"texts and images": func(i int) Part {
		if i%2 == 0 {
			return Part{Text: "this one"}
		}
		return Part{Kind: KindImage, MediaType: "image/png", Bytes: 1 << 10}
	},
}

func manyParts(n int, part func(i int) Part) []Part {
	parts := make([]Part, n)
	for i := range parts {
		parts[i] = part(i)
	}
	return parts
}

// growthMessages put parts into a message: each kind of message that there is.
var growthMessages = map[string]func(parts []Part) []Message{
	"user":    func(parts []Part) []Message { return among(Message{Role: RoleUser, Parts: parts}) },
	"pin":     func(parts []Part) []Message { return among(Message{Role: RoleUser, Pinned: true, Parts: parts}) },
	"host":    func(parts []Part) []Message { return among(Message{Role: RoleUser, Injected: true, Parts: parts}) },
	"summary": func(parts []Part) []Message { return among(Message{Role: RoleUser, Summary: true, Parts: parts}) },
	"system":  func(parts []Part) []Message { return among(Message{Role: RoleSystem, Parts: parts}) },
	"result": func(parts []Part) []Message {
		return among(Message{Role: RoleAssistant, Parts: []Part{{Kind: KindToolCall, ID: "r", Name: "exec"}}},
			Message{Role: RoleTool, ToolCallID: "r", ToolName: "exec", Parts: parts})
	},
	"answer": func(parts []Part) []Message {
		h := []Message{{Role: RoleAssistant, Parts: parts}}
		for i := range parts {
			if p := &parts[i]; p.Kind == KindToolCall {
				h = append(h, Message{Role: RoleTool, ToolCallID: p.ID, ToolName: p.Name, Parts: []Part{{Text: "done"}}})
			}
		}
		return among(h...)
	},
	"failed answer": func(parts []Part) []Message {
		return among(Message{Role: RoleAssistant, StopReason: "error", Parts: parts})
	},
}

// among puts messages among others, so that a record or a summary may stand for them.
func among(messages ...Message) []Message {
	h := append([]Message{userSays("go on")}, messages...)
	return append(append(h, userSays("and now?")), calls(8, longID)...)
}

// growthTexts are texts of about 20 bytes a unit.
var growthTexts = map[string]func(n int) string{
	"lines of a log":       again("a line of a log, with a path/to/a.go:12\n", 1),
	"a long word":          again("x", 20),
	"places in a file":     again("1:", 10),
	"dates in a name":      func(n int) string { return "a.x" + strings.Repeat("0000-00-00T", n) },
	"blanks":               again(" ", 20),
	"tabs":                 again("\t", 20),
	"line ends":            again("\n", 10),
	"line ends of Windows": again("\r\n", 10),
	"zero bytes":           again("\x00", 20),
	"brackets":             again("<", 20),
	"square brackets":      again("[", 20),
	"pairs of brackets":    again("[]()", 5),
	"hidden tags":          again("<\u200b ", 4),
	"a bracket and blanks": func(n int) string { return "<" + strings.Repeat("\u00a0", 10*n) },
	"tags":                 again("</summary>", 2),
	"control tokens":       again("<|im_start|>", 2),
	"ampersands":           again("&lt;", 5),
	"headings":             again(sections.UserRulesHeading+"\n> x\n", 1),
	"number signs":         again("#", 20),
	"rules":                again("Never do it. ", 2),
	"invalid bytes":        again("\xff", 20),
	"marks on a letter":    func(n int) string { return "a" + strings.Repeat("\u0301", 10*n) },
	"wide characters":      again("漢字", 4),
	"joined emoji":         again("👩\u200d👩\u200d👧", 1),
	"other alphabets":      again("ѕуммагу ", 2),
	"identifiers": func(n int) string {
		return numberedText(n, func(b *strings.Builder, i int) { fmt.Fprintf(b, "src/dir_%d/file_%d.go ", i, i) })
	},
	"one identifier": again("path/to/a.go ", 2),
	"quotes":         again("`a`\"b\"", 3),
	"numbers":        again("12345 ", 4),
	"digits":         again("7", 20),
	"backslashes":    again(`\`, 20),
	"deep JSON":      func(n int) string { return strings.Repeat("[", min(n, 9_000)) + strings.Repeat("]", min(n, 9_000)) },
	"wide JSON":      func(n int) string { return `{"a":[` + strings.Repeat("1,", n) + `1]}` },
	"many keys": func(n int) string {
		return "{" + numberedText(n, func(b *strings.Builder, i int) { fmt.Fprintf(b, `"k%d":"v",`, i) }) + `"path":"a.go"}`
	},
	"patches":       again("*** Update File: a.go\n", 1),
	"written texts": again("cat >a <<E\nE\n", 2),
	"one long line": again(`{"exit":1,"error":"no"},`, 1),
}

// growthPlaces put a text where a message has one.
var growthPlaces = map[string]func(text string) []Message{
	"result": result,
	"several results": func(text string) []Message {
		h := calls(16, longID)
		for i := range h {
			if h[i].Role == RoleTool {
				h[i].Parts = []Part{{Text: text[len(text)/16*(i/2-1) : len(text)/16*(i/2)]}}
			}
		}
		return h
	},
	"user":                func(text string) []Message { return append([]Message{userSays(text)}, calls(4, longID)...) },
	"answer":              func(text string) []Message { return partThenCalls(Part{Text: text}) },
	"thinking":            func(text string) []Message { return partThenCalls(Part{Kind: KindThinking, Text: text}) },
	"arguments":           func(text string) []Message { return arguments(text) },
	"string of arguments": func(text string) []Message { return arguments(`{"patch":` + string(jsontext.Quote(text)) + "}") },
	"command":             func(text string) []Message { return arguments(`{"command":` + string(jsontext.Quote(text)) + "}") },
	"status": func(text string) []Message {
		h := result("it failed")
		h[2].IsError, h[2].Details = true, json.RawMessage(`{"status":`+string(jsontext.Quote(text))+"}")
		return h
	},
}

func again(text string, times int) func(n int) string {
	return func(n int) string { return strings.Repeat(text, times*n) }
}

func numberedText(n int, write func(b *strings.Builder, i int)) string {
	var b strings.Builder
	for i := range n {
		write(&b, i)
	}
	return b.String()
}

func partThenCalls(p Part) []Message {
	h := []Message{userSays("go on"), {Role: RoleAssistant, Parts: []Part{p, {Text: "so it is"}}}}
	return append(h, calls(4, longID)...)
}

func longID(i int) string { return strings.Repeat("call", 15) + fmt.Sprintf("%06d", i) }

func many(n int, m Message) []Message { return slices.Repeat([]Message{m}, n) }

func parts(n int, role Role, p Part) []Message {
	return []Message{userSays("go on"), {Role: role, Parts: slices.Repeat([]Part{p}, n)}, userSays("and now?")}
}

func calls(n int, id func(i int) string) []Message {
	h := []Message{userSays("go on")}
	for i := range n {
		h = append(h, Message{Role: RoleAssistant, Parts: []Part{{Kind: KindToolCall, ID: id(i), Name: "exec"}}},
			Message{Role: RoleTool, ToolCallID: id(i), ToolName: "exec", Parts: []Part{{Text: "done"}}})
	}
	return append(h, userSays("and now?"))
}

// changed is n calls with their results, each changed.
func changed(n int, change func(i int, m *Message)) []Message {
	h := calls(n, longID)
	for i := range h[1 : len(h)-1] {
		change(i+1, &h[i+1])
	}
	return h
}

// asks has a call ask a tool for something.
func asks(m *Message, tool, arguments string) {
	if m.Role == RoleAssistant {
		m.Parts[0].Name, m.Parts[0].Arguments = tool, json.RawMessage(arguments)
	}
}

func orphans(n int, pinned bool) []Message {
	var h []Message
	for i := range n {
		h = append(h, userSays("go on"), Message{Role: RoleAssistant, Parts: []Part{{Text: "x"}}},
			Message{Role: RoleTool, ToolCallID: fmt.Sprint(i), Pinned: pinned, Parts: []Part{{Text: "done"}}})
	}
	return append(h, userSays("a"), userSays("b"))
}

func oneBatch(n int, pinned bool) []Message {
	h := []Message{userSays("go on"), {Role: RoleAssistant}}
	for i := range n {
		h[1].Parts = append(h[1].Parts, Part{Kind: KindToolCall, ID: longID(i), Name: "exec"})
		h = append(h, Message{Role: RoleTool, ToolCallID: longID(i), ToolName: "exec", Pinned: pinned, Parts: []Part{{Text: "done"}}})
	}
	return append(h, userSays("a"), userSays("b"))
}

func lateResults(n int) []Message {
	var h, late []Message
	for i := range n {
		h = append(h, Message{Role: RoleAssistant, Parts: []Part{{Kind: KindToolCall, ID: longID(i / 2), Name: "exec"}}}, userSays("go on"))
		late = append(late, Message{Role: RoleTool, ToolCallID: longID(i / 2), Parts: []Part{{Text: "done"}}})
	}
	return append(append(h, late...), userSays("and now?"))
}

func result(text string) []Message {
	h := calls(1, longID)
	h[2].Parts = []Part{{Text: text}}
	return append(h, calls(4, longID)...)
}

func arguments(text string) []Message {
	h := calls(1, longID)
	h[1].Parts[0].Name, h[1].Parts[0].Arguments = "apply_patch", json.RawMessage(text)
	return append(h, calls(4, longID)...)
}

func rulesOfMany(n int) (h []Message) {
	for i := range n {
		h = append(h, userSays(fmt.Sprintf("Never do %d.", i)))
	}
	return h
}

func resultsOf(h []Message) (results []Message) {
	for i := range h {
		if h[i].Role == RoleTool {
			results = append(results, h[i])
		}
	}
	return results
}

func turnsOfMany(n int) (h []Message) {
	for i := range n {
		h = append(h, userSays(fmt.Sprint("question ", i)), Message{Role: RoleAssistant, Parts: []Part{{Text: "answer"}}})
	}
	return h
}

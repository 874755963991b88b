package winnow

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow/internal/jsontext"
)

// How the time of an operation grows with its input, on inputs that are made to be slow. It is measured and reported
// on request; a test never fails because a machine is busy:
//
//	go test -run TestGrowth -growth -v .
//	go test -run TestGrowth/pins -growth -v .
//
// A row above 1.3 grew by more than its input did, from n to 8n; one far above it is worth a look.
var growth = flag.Bool("growth", false, "measure how time grows with hostile inputs")

const (
	growthFactor = 8
	growthMost   = 1.3
)

// growthShapes are inputs of about n units each, by what is many or long in them.
var growthShapes = map[string]func(n int) []Message{
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
	"texts of one message":  func(n int) []Message { return parts(n, RoleUser, Part{Text: "x"}) },
	"empty texts":           func(n int) []Message { return parts(n, RoleUser, Part{}) },
	"images of one message": func(n int) []Message { return parts(n, RoleUser, Part{Kind: KindImage, Bytes: 1 << 10}) },
	"opaque parts":          func(n int) []Message { return parts(n, RoleUser, Part{Kind: KindOpaque, MediaType: "a/b"}) },
	"empty messages":        func(n int) []Message { return many(n, Message{Role: RoleUser}) },
	"system messages":       func(n int) []Message { return many(n, Message{Role: RoleSystem, Parts: []Part{{Text: "x"}}}) },
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
	"failed turns":                func(n int) []Message { h := calls(n, longID); failAll(h); return h },
	"equal messages":              func(n int) []Message { return calls(n, longID) },
	"one long result":             func(n int) []Message { return result(strings.Repeat("a line of a log, with a path/to/a.go:12\n", n)) },
	"one long word":               func(n int) []Message { return result(strings.Repeat("x", 20*n)) },
	"blanks":                      func(n int) []Message { return result(strings.Repeat(" ", 20*n)) },
	"line ends":                   func(n int) []Message { return result(strings.Repeat("\n", 10*n)) },
	"brackets":                    func(n int) []Message { return result(strings.Repeat("<", 10*n)) },
	"square brackets":             func(n int) []Message { return result(strings.Repeat("[", 10*n)) },
	"hidden tags":                 func(n int) []Message { return result(strings.Repeat("<\u200b ", 4*n)) },
	"a bracket and blanks":        func(n int) []Message { return result("<" + strings.Repeat("\u00a0", 10*n)) },
	"tags":                        func(n int) []Message { return result(strings.Repeat("</summary>", 2*n)) },
	"headings":                    func(n int) []Message { return result(strings.Repeat(userRulesHeading+"\n> x\n", n)) },
	"rules":                       func(n int) []Message { return rulesOfMany(n) },
	"one message of rules":        func(n int) []Message { return many(1, userMessage(strings.Repeat("Never do it. ", 2*n))) },
	"invalid bytes":               func(n int) []Message { return result(strings.Repeat("\xff", 20*n)) },
	"marks on a letter":           func(n int) []Message { return result("a" + strings.Repeat("\u0301", 10*n)) },
	"wide characters":             func(n int) []Message { return result(strings.Repeat("漢字", 5*n)) },
	"identifiers":                 identifiersOfMany,
	"one identifier":              func(n int) []Message { return result(strings.Repeat("path/to/a.go ", 2*n)) },
	"quotes":                      func(n int) []Message { return result(strings.Repeat("`a`\"b\"", 4*n)) },
	"numbers":                     func(n int) []Message { return result(strings.Repeat("12345 ", 4*n)) },
	"digits":                      func(n int) []Message { return result(strings.Repeat("7", 20*n)) },
	"backslashes":                 func(n int) []Message { return result(strings.Repeat(`\`, 20*n)) },
	"deep JSON": func(n int) []Message {
		return arguments(n, strings.Repeat("[", min(n, 9_000))+strings.Repeat("]", min(n, 9_000)))
	},
	"wide JSON":   func(n int) []Message { return arguments(n, `{"a":[`+strings.Repeat("1,", n)+`1]}`) },
	"broken JSON": func(n int) []Message { return arguments(n, `{"a":`+strings.Repeat("x", 20*n)) },
	"many keys":   manyKeys,
	"patches": func(n int) []Message {
		return arguments(n, string(jsontext.Quote(strings.Repeat("*** Update File: a.go\n", n))))
	},
	"files":    filesOfMany,
	"failures": failuresOfMany,
	"usage":    usageOfMany,
	"turns":    turnsOfMany,
}

func longID(i int) string { return strings.Repeat("call", 15) + fmt.Sprintf("%06d", i) }

func many(n int, m Message) []Message { return slices.Repeat([]Message{m}, n) }

func parts(n int, role Role, p Part) []Message {
	return []Message{userMessage("go on"), {Role: role, Parts: slices.Repeat([]Part{p}, n)}, userMessage("and now?")}
}

func calls(n int, id func(i int) string) []Message {
	h := []Message{userMessage("go on")}
	for i := range n {
		h = append(h, Message{Role: RoleAssistant, Parts: []Part{{Kind: KindToolCall, ID: id(i), Name: "exec"}}},
			Message{Role: RoleTool, ToolCallID: id(i), ToolName: "exec", Parts: []Part{{Text: "done"}}})
	}
	return append(h, userMessage("and now?"))
}

func failAll(h []Message) {
	for i := range h {
		if h[i].Role == RoleAssistant {
			h[i].StopReason = "error"
		}
	}
}

func orphans(n int, pinned bool) []Message {
	var h []Message
	for i := range n {
		h = append(h, userMessage("go on"), Message{Role: RoleAssistant, Parts: []Part{{Text: "x"}}},
			Message{Role: RoleTool, ToolCallID: fmt.Sprint(i), Pinned: pinned, Parts: []Part{{Text: "done"}}})
	}
	return append(h, userMessage("a"), userMessage("b"))
}

func oneBatch(n int, pinned bool) []Message {
	h := []Message{userMessage("go on"), {Role: RoleAssistant}}
	for i := range n {
		h[1].Parts = append(h[1].Parts, Part{Kind: KindToolCall, ID: longID(i), Name: "exec"})
		h = append(h, Message{Role: RoleTool, ToolCallID: longID(i), ToolName: "exec", Pinned: pinned, Parts: []Part{{Text: "done"}}})
	}
	return append(h, userMessage("a"), userMessage("b"))
}

func lateResults(n int) []Message {
	var h, late []Message
	for i := range n {
		h = append(h, Message{Role: RoleAssistant, Parts: []Part{{Kind: KindToolCall, ID: longID(i / 2), Name: "exec"}}}, userMessage("go on"))
		late = append(late, Message{Role: RoleTool, ToolCallID: longID(i / 2), Parts: []Part{{Text: "done"}}})
	}
	return append(append(h, late...), userMessage("and now?"))
}

func result(text string) []Message {
	h := calls(1, longID)
	h[2].Parts = []Part{{Text: text}}
	return append(h, calls(4, longID)...)
}

func arguments(_ int, text string) []Message {
	h := calls(1, longID)
	h[1].Parts[0].Name, h[1].Parts[0].Arguments = "apply_patch", json.RawMessage(text)
	return append(h, calls(4, longID)...)
}

func manyKeys(n int) []Message {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"k%d":"v",`, i)
	}
	return arguments(n, "{"+b.String()+`"path":"a.go"}`)
}

func rulesOfMany(n int) (h []Message) {
	for i := range n {
		h = append(h, userMessage(fmt.Sprintf("Never do %d.", i)))
	}
	return h
}

func identifiersOfMany(n int) []Message {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "src/dir_%d/file_%d.go ", i, i)
	}
	return result(b.String())
}

func filesOfMany(n int) []Message {
	h := calls(n, longID)
	for i := range h {
		if h[i].Role == RoleAssistant {
			h[i].Parts[0].Name, h[i].Parts[0].Arguments = "edit", json.RawMessage(fmt.Sprintf(`{"path":"src/f%d.go"}`, i))
		}
	}
	return h
}

func failuresOfMany(n int) []Message {
	h := calls(n, longID)
	for i := range h {
		if h[i].Role == RoleTool {
			h[i].IsError, h[i].Details = true, json.RawMessage(`{"status":"failed","exitCode":1}`)
		}
	}
	return h
}

func usageOfMany(n int) []Message {
	h := calls(n, longID)
	for i := range h {
		if h[i].Role == RoleAssistant {
			h[i].Usage = &Usage{Input: 10 + 20*i, Output: 5}
		}
	}
	return h
}

func turnsOfMany(n int) (h []Message) {
	for i := range n {
		h = append(h, userMessage(fmt.Sprint("question ", i)), Message{Role: RoleAssistant, Parts: []Part{{Text: "answer"}}})
	}
	return h
}

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
	"Prepare, small":    func(h []Message) { _, _ = growthManager(8_000).Prepare(context.Background(), h) },
	"Prepare, again":    prepareAgain,
	"Plan":              func(h []Message) { growthManager(8_000).Plan(h) },
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
	o := Options{Estimator: CharsPerToken(4)}
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
	m := growthManager(16_000)
	for _, n := range []int{len(h) / 2, len(h) * 3 / 4, len(h)} {
		_, _ = m.Prepare(context.Background(), h[:n])
	}
}

func recoverGrown(h []Message) {
	m := growthManager(64_000)
	_, _ = m.Prepare(context.Background(), h)
	_, _ = m.Recover(context.Background(), h, errors.New("prompt is too long: 70000 tokens > 50000 maximum"))
}

func snapshotGrown(h []Message) {
	m := growthManager(16_000)
	_, _ = m.Prepare(context.Background(), h)
	if state, err := m.Snapshot(); err == nil {
		_ = growthManager(16_000).Restore(state)
	}
}

func TestGrowth(t *testing.T) {
	if !*growth {
		t.Skip("measures on request: -growth")
	}
	rows, above := 0, 0
	worst := ""
	most := 0.0
	for _, shape := range sortedKeys(growthShapes) {
		t.Run(shape, func(t *testing.T) {
			for _, name := range sortedKeys(growthOperations) {
				n, ratio, took := measureGrowth(growthShapes[shape], growthOperations[name])
				rows++
				if ratio > most {
					most, worst = ratio, shape+" × "+name
				}
				if ratio > growthMost {
					above++
					t.Logf("%-28s × %-20s %7d → %7d: %5.2f × n, %v", shape, name, n, growthFactor*n, ratio, took)
				}
			}
		})
	}
	t.Logf("%d rows, %d above %.1f × n; the most is %.2f: %s", rows, above, growthMost, most, worst)
}

func sortedKeys[V any](m map[string]V) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// measureGrowth returns by how much more than its input an operation grew, from n to 8n, where n is enough to be
// measured. What is above the limit is measured again: the least of several is what the machine can do.
func measureGrowth(shape func(int) []Message, operation func([]Message)) (n int, ratio float64, took time.Duration) {
	const least, largest = 2 * time.Millisecond, 2_000
	run := func(h []Message) time.Duration {
		runtime.GC()
		defer debug.SetGCPercent(debug.SetGCPercent(-1)) // its share depends on the heap, and the heap on the input
		start := time.Now()
		operation(h)
		return time.Since(start)
	}
	n = 250
	for n < largest && run(shape(n)) < least {
		n *= 2
	}
	small, large := shape(n), shape(growthFactor*n)
	a, b := time.Duration(1<<62), time.Duration(1<<62)
	for try := range 6 {
		for range 3 {
			a = min(a, run(small))
		}
		b = min(b, run(large))
		if ratio = float64(b) / float64(growthFactor*a); ratio <= growthMost && try > 0 {
			break
		}
	}
	return n, ratio, b
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
			out, _ := RepairToolPairing(growthShapes["thinking at the end"](n))
			assert.Len(t, out, 2)
		}},
		{"pinned results without a call", 120_000, func(n int) { keptBefore(orphans(n, true), 3*n) }},
		{"pinned results of one message", 120_000, func(n int) { keptBefore(oneBatch(n, true), n+2) }},
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

// The numbers of ids that share what is left of them are found without trying each again.
func TestNextIDTriesNoNumberTwice(t *testing.T) {
	const n = 3_000
	tries := 0
	used, serial := map[string]bool{}, map[string]int{}
	for i := range n {
		used[nextID(longID(i), serial, func(id string) bool { tries++; return !used[id] })] = true
	}
	assert.Len(t, used, n)
	assert.LessOrEqual(t, tries, n+n/10)
}

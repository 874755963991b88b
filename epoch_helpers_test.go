package winnow

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Histories of agents, and drafts of requests for them, for the tests of what an epoch does.

// agentScript writes the history of an agent, call by call.
type agentScript struct {
	history []Message
	calls   int
}

func newScript() *agentScript { return &agentScript{history: []Message{userSays("begin")}} }

// call adds a call with its result and returns the index of the result; that of the call is one less.
func (s *agentScript) call(tool, arguments, result string) int {
	id := "call" + strconv.Itoa(s.calls)
	s.calls++
	s.history = append(s.history, Message{Role: RoleAssistant, Parts: []Part{toolCall(id, tool, arguments)}}, resultOf(id, tool, result, false))
	return len(s.history) - 1
}

// answers adds n calls. No two are alike and none is stale, so n more requests carry what is in front of them.
func (s *agentScript) answers(n int) {
	for range n {
		s.call("step", `{"n":`+strconv.Itoa(s.calls)+`}`, "done")
	}
}

// output is n lines of forty characters, ten tokens each.
func output(lines int) string {
	return strings.Repeat("a line of output which is not very long\n", lines)
}

// written are the arguments of a call that writes a file.
func written(path string, lines int) string {
	return `{"path":"` + path + `","content":"` + strings.Repeat(`a line of the file which is forty long\n`, lines) + `"}`
}

// replayed is the draft of a request before anything is rewritten in it, and has counted by characters.
func replayed(t testing.TB, o Options, history []Message) *draft {
	t.Helper()
	o.Estimator = CharsPerToken(4)
	return replay(newOfAnySize(t, 1_000_000, &o), history)
}

// newOfAnySize is New, for a manager that folds what is stale in short histories too.
func newOfAnySize(t testing.TB, window int, o *Options) *Manager {
	t.Helper()
	c := Options{}
	if o != nil {
		c = *o
	}
	c.FoldAbove = cmp.Or(c.FoldAbove, -1)
	m, err := New(window, &c)
	require.NoError(t, err)
	return m
}

// replay is the draft of the manager's next request before anything is rewritten in it.
func replay(m *Manager, history []Message) *draft {
	d := newDraft(&m.settings, &m.ledger, history, m.ledger.checkpoint, nil, map[key]*projection{})
	d.indexAndRepair()
	d.limitAndReplay()
	return d
}

// isPart reports whether a part of list begins at message index.
func isPart(list []part, index int) bool {
	return slices.ContainsFunc(list, func(p part) bool { return p.index == index })
}

// randomScript is the history of an agent that reads, writes and runs, some of it again and some of it in vain.
func randomScript(r *rand.Rand, calls int) *agentScript {
	s := newScript()
	for range calls {
		n := strings.Repeat("x", r.IntN(3)*r.IntN(200))
		var i int
		switch r.IntN(6) {
		case 0:
			i = s.call("read", `{"path":"`+strconv.Itoa(r.IntN(5))+`"}`, output(r.IntN(100)))
		case 1:
			i = s.call("write", written("f"+strconv.Itoa(r.IntN(5))+n, r.IntN(60)), "ok")
		case 2:
			i = s.call("exec", `{"command":"`+strconv.Itoa(r.IntN(4))+`"}`, output(r.IntN(100)))
		case 3:
			s.history = append(s.history, userSays("go on "+n))
			continue
		case 4:
			s.history = append(s.history, assistantSays("well "+n))
			continue
		default:
			i = s.call("exec", `{"command":"`+strconv.Itoa(s.calls)+n+`"}`, output(r.IntN(300)))
		}
		s.history[i].IsError = r.IntN(8) == 0
		s.history[i].Pinned = r.IntN(30) == 0
		if r.IntN(20) == 0 {
			s.history[i].Parts = append(s.history[i].Parts, Part{Kind: KindImage, Bytes: 500})
		}
		if r.IntN(10) == 0 {
			s.history[i-1].Parts[0].Signature = "sig"
		}
	}
	return s
}

// longWork is the history of an agent that works without a pause: files, commands and what it writes, of random
// sizes. No call is made twice.
func longWork(r *rand.Rand, calls int) []Message {
	s := newScript()
	scale := 1 + r.IntN(4)
	for i := range calls {
		n := r.IntN(20) * r.IntN(20) * scale / 2 // lines: many short results and few long ones
		number := strconv.Itoa(i)
		switch r.IntN(5) {
		case 0:
			s.call("read", `{"path":"file_`+number+`.go"}`, "file "+number+"\n"+output(n))
		case 1:
			s.call("write", written("file_"+number+".go", n/2), "ok")
		case 2:
			s.history = append(s.history, userSays("request "+number+" "+output(r.IntN(3))))
		case 3:
			s.history = append(s.history, assistantSays("answer "+number+" "+output(r.IntN(9))))
		default:
			s.call("exec", `{"command":"run `+number+`"}`, "ran it\n"+output(n)+"name_"+number+"\n")
		}
	}
	return s.history
}

// inPlaceWork is h with calls that no record may stand for, so that old results are cleared in their place. Nobody knows
// its tools, so no file is in work.
func inPlaceWork(h []Message) []Message {
	s := agentScript{history: h}
	for i := range h {
		if hasCalls(&h[i]) {
			h[i].Parts[0].Name = "my_" + h[i].Parts[0].Name
			h[i+1].ToolName = h[i].Parts[0].Name
			s.inPlace(i + 1)
		}
	}
	return h
}

// eachRequest calls f with each prefix of h that a model would be sent.
func eachRequest(h []Message, f func(in []Message)) {
	for n := 1; n <= len(h); n++ {
		if n == len(h) || h[n].Role == RoleAssistant {
			f(h[:n])
		}
	}
}

// BenchmarkEpoch is the first request of a conversation most of whose results are stale; see BenchmarkEstimator for
// one pass over the text.
func BenchmarkEpoch(b *testing.B) {
	for _, kind := range []string{"prose", "names"} {
		for _, n := range []int{2_000, 20_000} {
			h := benchWork(n, kind == "names")
			standard, err := NewEstimator("")
			require.NoError(b, err)
			b.Run(kind+"/estimate/"+strconv.Itoa(n), func(b *testing.B) {
				for b.Loop() {
					for i := range h {
						standard.Estimate(h[i])
					}
				}
			})
			b.Run(kind+"/prepare/"+strconv.Itoa(n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					m, err := New(1_000_000_000, nil)
					require.NoError(b, err)
					r, err := m.Prepare(b.Context(), h)
					require.NoError(b, err)
					require.NotEmpty(b, r.Edits)
				}
			})
		}
	}
}

// benchWork is n messages with results of 8 KB on average: plain words, or a program, in which a word in six is a name.
func benchWork(n int, names bool) []Message {
	r := rand.New(rand.NewPCG(uint64(n), 9))
	s := newScript()
	for len(s.history) < n {
		size := r.IntN(16_000)
		text := output(size / 40)
		if names {
			var b strings.Builder
			for b.Len() < size {
				k := r.IntN(2_000)
				b.WriteString("\tresult, err := parser.scanToken" + strconv.Itoa(k) + "(input[:width], modeFlags) // see internal/parse/file_" + strconv.Itoa(k%97) + ".go:12\n\tif err != nil {\n\t\treturn nil, err\n\t}\n")
			}
			text = b.String()
		}
		s.call("exec", `{"command":"run `+strconv.Itoa(len(s.history))+`"}`, text)
	}
	return s.history
}

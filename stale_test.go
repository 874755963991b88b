package winnow

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inPlace puts something into the call of result i that no record may stand for, so that only the result may go.
func (s *agentScript) inPlace(i int) int {
	s.history[i-1].Parts = append(s.history[i-1].Parts, Part{Kind: KindOpaque, Bytes: 9})
	return i
}

// When an old step becomes a record, and when a result of a step that may not become one is cleared.
func TestStaleWork(t *testing.T) {
	plain := func(s *agentScript) int { return s.call("exec", `{"command":"go test"}`, output(50)) - 1 }
	result := func(s *agentScript) int { return s.inPlace(plain(s) + 1) }
	with := func(build func(s *agentScript) int, at int, change func(m *Message)) func(s *agentScript) int {
		return func(s *agentScript) int {
			i := build(s)
			change(&s.history[i+at])
			return i
		}
	}
	image := func(m *Message) { m.Parts = append(m.Parts, Part{Kind: KindOpaque, Bytes: 900}) }
	text := func(n int) func(m *Message) {
		return func(m *Message) { m.Parts[0].Text = strings.Repeat("x", n) }
	}
	keep := func(names ...string) ToolOptions { return ToolOptions{Keep: names} }
	for _, tt := range []struct {
		name   string
		build  func(s *agentScript) int
		behind int // answers behind it
		tools  ToolOptions
		steps  int
		want   bool // it may go
		reason string
	}{
		{"three answers behind it", plain, 3, ToolOptions{}, warmSteps, false, "the newest four steps stay"},
		{"four", plain, warmSteps, ToolOptions{}, warmSteps, true, "four requests carried it"},
		{"nine", plain, 9, ToolOptions{}, warmSteps, true, "nine did"},
		{"cold, one", plain, 1, ToolOptions{}, coldSteps, false, "the newest two stay"},
		{"cold, two", plain, coldSteps, ToolOptions{}, coldSteps, true, "folding costs nothing then"},
		{"a result in its place, three", result, 3, ToolOptions{}, warmSteps, false, "it is as old as its step"},
		{"a result in its place, four", result, warmSteps, ToolOptions{}, warmSteps, true, "likewise"},

		{"pinned call", with(plain, 0, func(m *Message) { m.Pinned = true }), 9, ToolOptions{}, coldSteps, false, "a pin keeps its results"},
		{"pinned result", with(plain, 1, func(m *Message) { m.Pinned = true }), 9, ToolOptions{}, coldSteps, false, "a pin keeps its call"},
		{"pinned result in its place", with(result, 0, func(m *Message) { m.Pinned = true }), 9, ToolOptions{}, coldSteps, false, "a pin survives every stage"},
		{"opaque", with(result, 0, image), 9, ToolOptions{}, coldSteps, false, "nobody knows what it holds"},
		{"two texts", with(result, 0, func(m *Message) { m.Parts = append(m.Parts, m.Parts[0]) }), warmSteps,
			ToolOptions{}, warmSteps, true, "they are joined"},
		{"99 tokens", with(result, 0, text(4*99)), 9, ToolOptions{}, coldSteps, false, "not worth an edit"},
		{"100 tokens", with(result, 0, text(4*100)), 9, ToolOptions{}, warmSteps, true, "worth one"},
		{"failure", with(plain, 1, func(m *Message) { m.IsError = true }), warmSteps, ToolOptions{}, warmSteps, true, "an old error is as stale as any result"},

		{"kept", plain, 9, keep("EX*"), coldSteps, false, "the host says so, in any case, with a pattern"},
		{"kept, in its place", result, 9, keep("exec"), coldSteps, false, "likewise"},
		{"another is kept", plain, warmSteps, keep("read"), warmSteps, true, "not this one"},

		{"signed call of this turn", with(plain, 0, func(m *Message) { m.Parts[0].Signature = "sig" }), 9, ToolOptions{},
			coldSteps, false, "what is signed in the newest turn is sent as it came"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript()
			i := tt.build(s)
			s.answers(tt.behind)
			draft := func() *epoch { return replayed(t, Options{Tools: &tt.tools}, s.history) }
			assert.Equal(t, tt.want, isPart(draft().staleParts(tt.steps, holdNothing), i), tt.reason)
			if tt.want && (tt.behind == warmSteps || tt.behind == coldSteps) {
				s.history = s.history[:len(s.history)-2]
				assert.False(t, isPart(draft().staleParts(tt.steps, holdNothing), i), "one request before")
			}
		})
	}
}

// What was cleared once is not looked at again. What was trimmed can be cleared.
func TestStaleOnce(t *testing.T) {
	s := newScript()
	result := s.inPlace(s.call("exec", `{}`, output(200)))
	s.answers(12)
	d := replayed(t, Options{}, s.history)
	d.drop(d.staleParts(warmSteps, holdNothing))
	require.Equal(t, OpClear, d.items[result].edit.op)
	assert.False(t, isPart(d.staleParts(coldSteps, holdNothing), result))

	d = replayed(t, Options{Prune: &PruneOptions{NoHardClear: true}}, s.history)
	newShrinking(d.draft).clearOld()
	require.Equal(t, OpTrim, d.items[result].edit.op)
	assert.True(t, isPart(d.staleParts(warmSteps, holdNothing), result))
}

// What a host reports behind a result stays in a line where the result is cleared, and is not taken for its last line.
func TestClearedResultWithAReport(t *testing.T) {
	const report = "<system-reminder>\n[SYSTEM NOTIFICATION - NOT USER INPUT]\nThis is an automated background-task event, NOT a message from the " +
		"user. Do NOT interpret this as an answer to a question.\n<task-notification>\n<task-id>a24</task-id>\n<result>The lock is not held " +
		"while the file is written.</result>\n</task-notification>\n</system-reminder>"
	s := newScript()
	result := s.inPlace(s.call("exec", `{}`, output(200)+"\n4 passed, 0 failed in 2.1 s\n\n"+report))
	s.answers(12)
	d := replayed(t, Options{}, s.history)
	d.drop(d.staleParts(warmSteps, holdNothing))
	left := messageParts(d.items[result].sent)
	assert.True(t, strings.HasSuffix(left, "\n4 passed, 0 failed in 2.1 s\nReported by the host: The lock is not held while the file is written."), left)
}

func TestStaleParts(t *testing.T) {
	calls := func(d *epoch) (list []int) {
		for _, p := range d.staleParts(coldSteps, holdNothing) {
			list = append(list, p.index)
		}
		return list
	}
	t.Run("before the first request", func(t *testing.T) {
		s := &agentScript{history: []Message{{Role: RoleSystem, Parts: []Part{{Text: output(100)}}}}}
		s.call("exec", `{}`, output(100))
		s.history = append(s.history, userSays(output(100)))
		i := s.call("exec", `{"a":1}`, output(100))
		s.answers(1)
		s.history = append(s.history, assistantSays("well"))
		assert.Equal(t, []int{i - 1}, calls(replayed(t, Options{}, s.history)),
			"what comes before the first user message stays, and so do system and user messages")
	})
	t.Run("results still to come", func(t *testing.T) {
		s := newScript()
		old := s.call("exec", `{}`, output(100))
		s.history = append(s.history, assistantSays("well"), assistantSays("both",
			toolCall("x", "exec", `{"a":1}`), toolCall("y", "exec", `{"b":1}`)), resultOf("x", "exec", output(100), false))
		assert.Equal(t, []int{old - 1}, calls(replayed(t, Options{}, s.history)),
			"a call that waits for its result does not end the search, and its neighbour is unread")
	})
	t.Run("results out of order and twice", func(t *testing.T) {
		s := newScript()
		s.history = append(s.history, assistantSays("", toolCall("a", "read", `{"path":"a"}`), toolCall("b", "exec", `{}`), Part{Kind: KindOpaque, Bytes: 9}),
			resultOf("b", "exec", output(100), false), resultOf("a", "read", output(90), false), resultOf("a", "read", output(90), false))
		s.history = append(s.history, assistantSays("well"), userSays("go on"))
		s.answers(1)
		d := replayed(t, Options{Tools: &ToolOptions{Keep: []string{"read"}}}, s.history)
		list := calls(d)
		require.Len(t, list, 1)
		assert.Equal(t, "exec", d.items[list[0]].sent.ToolName, "results are told apart behind the repair")
	})
}

// Whatever a history holds: the list is in order, each part is in it once, of what is protected nothing is; a cold
// cache only adds to it.
func TestStalePartsProperties(t *testing.T) {
	found := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		d := replayed(t, Options{}, randomScript(r, 5+r.IntN(60)).history)
		for _, steps := range []int{warmSteps, coldSteps} {
			list := d.staleParts(steps, holdNothing)
			end := 0
			for _, p := range list {
				found++
				require.GreaterOrEqual(t, p.index, end, "seed %d: not in order", seed)
				require.Positive(t, p.saving)
				end = max(p.index+1, p.end)
				for i := p.index; i < end; i++ {
					m := d.items[i].sent
					require.False(t, m.Pinned)
					require.NotEqual(t, RoleUser, m.Role, "seed %d: the dialogue stays", seed)
					require.True(t, m.Role == RoleTool || hasCalls(m), "seed %d: the dialogue stays", seed)
				}
				if steps == warmSteps {
					require.True(t, isPart(d.staleParts(coldSteps, holdNothing), p.index), "seed %d: cold, less is protected", seed)
				}
				require.GreaterOrEqual(t, countAnswers(asOwn(d.items[end:])), steps-1, "seed %d: message %d is one of the newest", seed, p.index)
			}
		}
	}
	require.Greater(t, found, 1_000, "hardly anything was stale")
}

// No result gets longer than it was, nor than mostRemainder of it, whatever counts its tokens.
func TestDropShrinks(t *testing.T) {
	standard := estimatorOf(t, "")
	dropped, refused := 0, 0
	for name, e := range map[string]Estimator{
		"characters": CharsPerToken(4), "standard": standard,
		"each the same": EstimatorFunc(func(Message) int { return 1_000 }),
		"nothing":       EstimatorFunc(func(Message) int { return 0 }),
		"below zero":    EstimatorFunc(func(Message) int { return -1_000 }),
		"short is dear": EstimatorFunc(func(m Message) int { return 5_000 - len(joinedText(&m))/10 }),
	} {
		for seed := range uint64(40) {
			r := rand.New(rand.NewPCG(seed, 3))
			s := randomScript(r, 20)
			for i := range s.history {
				m := &s.history[i]
				if m.Role == RoleTool && r.IntN(3) == 0 {
					m.Parts = []Part{{Text: strings.Repeat(randomText(r), r.IntN(40))}}
				}
				if hasCalls(m) {
					s.inPlace(i + 1)
				}
			}
			m := newManager(t, 1_000_000, &Options{FoldAbove: -1, Estimator: e, Compact: &CompactOptions{Off: true}})
			d := replay(m, s.history)
			before := d.counts()
			list := d.staleParts(coldSteps, holdNothing)
			d.drop(list)
			for _, p := range list {
				if d.items[p.index].edit == nil {
					refused++
					continue
				}
				dropped++
				require.LessOrEqual(t, float64(d.items[p.index].tokens()), mostRemainder*float64(before[p.index]), "%s, seed %d", name, seed)
			}
		}
	}
	assert.Greater(t, dropped, 500)
	assert.Greater(t, refused, 50)
}

// A name that several results hold stays in the newest of them, and nowhere if it stands in what is not dropped.
func TestNamesStayOnce(t *testing.T) {
	filler := strings.Repeat("some words that name nothing at all\n", 30)
	s := newScript()
	s.history[0].Parts[0].Text = "please look at ask_for_this"
	oldest := s.inPlace(s.call("exec", `{"n":1}`, "ran\n"+filler+"in_all in_both in_oldest ask_for_this said_by_model in_arguments in_thinking\n"+filler))
	s.history[oldest-1].Parts = append([]Part{{Kind: KindThinking, Text: "in_thinking"}}, s.history[oldest-1].Parts...)
	middle := s.inPlace(s.call("exec", `{"n":2,"x":"in_arguments"}`, "ran\n"+filler+"in_all in_both in_middle\n"+filler))
	newest := s.inPlace(s.call("exec", `{"n":3}`, "ran\n"+filler+"in_all in_newest\n"+filler))
	s.history = append(s.history, assistantSays("said_by_model"))
	s.answers(4)
	remains := func(o Options) (texts [3]string) {
		d := replayed(t, o, s.history)
		d.drop(d.staleParts(coldSteps, holdNothing))
		for k, i := range []int{oldest, middle, newest} {
			texts[k] = joinedText(d.items[i].sent)
		}
		return texts
	}
	texts := remains(Options{})
	assert.Contains(t, texts[2], "Names in it: in_all in_newest]")
	assert.Contains(t, texts[1], "Names in it: in_both in_middle]", "in_all stands in a newer one")
	assert.Contains(t, texts[0], "Names in it: in_oldest]", "the others stand in newer ones, or in what is not dropped")

	texts = remains(Options{Thinking: ThinkingDropped})
	assert.Contains(t, texts[0], "Names in it: in_oldest in_thinking]", "thinking is left out as well: what is named there alone is lost")
}

func randomText(r *rand.Rand) string {
	pieces := []string{"word ", "Ж", "世", "\xff", "é", "\n", "    ", "123", "};", "QxZ", "😀", "\xf0\x9f", "ا", "का", "\x00", "AAAA", "ꙮ", "𠄌", "\u0301"}
	var b strings.Builder
	for range r.IntN(40) {
		b.WriteString(strings.Repeat(pieces[r.IntN(len(pieces))], 1+r.IntN(5)))
	}
	return b.String()
}

// A run whose record would hardly be shorter stays whole, and takes nothing of the records' share of the room.
func TestARecordThatIsNotWorthIt(t *testing.T) {
	for _, words := range []int{16, 17} {
		s := newScript()
		for k := range 20 {
			s.call("exec", `{"command":"old step number `+strconv.Itoa(k)+`"}`, output(20))
		}
		s.history = append(s.history, userSays("go on"))
		for k := range 20 { // nearly all of it would stay in its record
			s.call("x", `{"path":"`+strings.Repeat("abc"+strconv.Itoa(k)+"/", words)+`"}`, strings.Repeat("k", 10))
		}
		s.answers(5)
		d := replay(newOfAnySize(t, 2_400, &Options{Estimator: CharsPerToken(4)}), s.history)
		d.drop(d.staleParts(warmSteps, holdNothing))
		require.NotNil(t, d.items[1].record)
		assert.False(t, d.items[1].record.Bare, "%d: no other record takes any room", words)
		assert.Nil(t, d.items[3].record, "%d: a run that is not worth a record stays", words)
	}
}

package winnow

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStaleResults(t *testing.T) {
	plain := func(s *agentScript) int { return s.call("exec", `{"command":"go test"}`, output(50)) }
	with := func(change func(m *Message)) func(s *agentScript) int {
		return func(s *agentScript) int {
			i := plain(s)
			change(&s.history[i])
			return i
		}
	}
	read := func(s *agentScript) int { return s.call("read", `{"path":"a.go"}`, output(50)) }
	times := func(n int, call func(s *agentScript) int) func(s *agentScript) int {
		return func(s *agentScript) (i int) {
			for range n {
				i = call(s)
			}
			return i
		}
	}
	first := func(calls ...func(s *agentScript) int) func(s *agentScript) int {
		return func(s *agentScript) int {
			i := calls[0](s)
			for _, call := range calls[1:] {
				call(s)
			}
			return i
		}
	}
	failure := with(func(m *Message) { m.IsError = true })
	for _, tt := range []struct {
		name    string
		build   func(s *agentScript) int
		behind  int // answers behind it
		options PruneOptions
		compact CompactOptions
		early   bool
		want    int // overdue
		reason  string
	}{
		{"two answers behind it", plain, 2, PruneOptions{}, CompactOptions{}, false, protected,
			"the newest three assistant messages protect what is behind them"},
		{"three", plain, 3, PruneOptions{}, CompactOptions{}, false, 0, "it was carried by three requests"},
		{"nine", plain, 9, PruneOptions{}, CompactOptions{}, false, 6, "each request more is one overdue"},
		{"KeepLastAssistants 5 and four", plain, 4, PruneOptions{KeepLastAssistants: 5}, CompactOptions{}, false,
			protected, "the option says so"},
		{"KeepLastAssistants 5 and five", plain, 5, PruneOptions{KeepLastAssistants: 5}, CompactOptions{}, false, 0,
			"the option says so"},
		{"KeepLastAssistants 5, early", plain, 4, PruneOptions{KeepLastAssistants: 5}, CompactOptions{}, true,
			protected, "the option holds in a cold cache too"},
		{"KeepLastAssistants none", plain, 1, PruneOptions{KeepLastAssistants: -1}, CompactOptions{}, false, 0,
			"one request carried it"},
		{"KeepLastAssistants none, unread", plain, 0, PruneOptions{KeepLastAssistants: -1}, CompactOptions{}, false,
			protected, "the model has not seen it yet"},
		{"KeepLastAssistants all", plain, 99, PruneOptions{KeepLastAssistants: math.MaxInt}, CompactOptions{}, false,
			protected, "nothing is older"},
		{"KeepLastAssistants all, asked again", times(3, plain), 99, PruneOptions{KeepLastAssistants: math.MaxInt},
			CompactOptions{}, false, protected, "twice as long as for ever is for ever"},
		{"KeepLastAssistants half of all, asked again", times(3, plain), 99,
			PruneOptions{KeepLastAssistants: math.MaxInt / 2}, CompactOptions{}, false, protected, "likewise"},

		{"pinned", with(func(m *Message) { m.Pinned = true }), 9, PruneOptions{}, CompactOptions{}, true, protected,
			"a pin survives every stage"},
		{"image", with(func(m *Message) { m.Parts = append(m.Parts, Part{Kind: KindImage, Bytes: 900}) }), 9,
			PruneOptions{}, CompactOptions{}, true, protected, "an image has no names to keep"},
		{"opaque", with(func(m *Message) { m.Parts = append(m.Parts, Part{Kind: KindOpaque, Bytes: 900}) }), 9,
			PruneOptions{}, CompactOptions{}, true, protected, "nobody knows what it holds"},
		{"two texts", with(func(m *Message) { m.Parts = append(m.Parts, m.Parts[0]) }), 3, PruneOptions{},
			CompactOptions{}, false, 0, "they are joined"},
		{"99 tokens", with(func(m *Message) { m.Parts[0].Text = strings.Repeat("x", 4*99) }), 9, PruneOptions{},
			CompactOptions{}, true, protected, "not worth an edit"},
		{"100 tokens", with(func(m *Message) { m.Parts[0].Text = strings.Repeat("x", 4*100) }), 9, PruneOptions{},
			CompactOptions{}, false, 6, "worth one"},
		{"failure", failure, 3, PruneOptions{}, CompactOptions{}, false, 0, "an old error is as stale as any result"},

		{"denied", plain, 9, PruneOptions{DenyTools: []string{"EX*"}}, CompactOptions{}, true, protected,
			"the host denies it"},
		{"another is denied", plain, 3, PruneOptions{DenyTools: []string{"read"}}, CompactOptions{}, false, 0,
			"not this one"},
		{"allowed", plain, 3, PruneOptions{AllowTools: []string{"exec"}}, CompactOptions{}, false, 0,
			"it is on the list"},
		{"not allowed", plain, 9, PruneOptions{AllowTools: []string{"read"}}, CompactOptions{}, true, protected,
			"it is not on the list"},
		{"allowed and denied", plain, 9, PruneOptions{AllowTools: []string{"*"}, DenyTools: []string{"exec"}},
			CompactOptions{}, true, protected, "a denial wins"},
		{"NoHardClear", plain, 9, PruneOptions{NoHardClear: true}, CompactOptions{}, true, protected,
			"the host wants results trimmed and never cleared"},

		{"file, six answers behind it", read, 6, PruneOptions{}, CompactOptions{}, false, protected,
			"a file is used for longer"},
		{"file, seven", read, carriedReads, PruneOptions{}, CompactOptions{}, false, 0, "seven requests carried it"},
		{"file, cold", read, 3, PruneOptions{}, CompactOptions{}, true, 0,
			"when all is written again the longer protection is off"},
		{"file by a server's tool", func(s *agentScript) int {
			return s.call("mcp__files__Read_File", `{}`,
				output(50))
		}, 6, PruneOptions{}, CompactOptions{}, false, protected,
			"the name behind the server's counts"},
		{"file by the host's tool", func(s *agentScript) int { return s.call("slurp", `{}`, output(50)) }, 6,
			PruneOptions{}, CompactOptions{ReadTools: []string{"Slurp"}}, false, protected, "the host names it"},
		{"file, KeepLastAssistants 9", read, 8, PruneOptions{KeepLastAssistants: 9}, CompactOptions{}, false, protected,
			"the longer of the two counts"},

		{"file read again", first(read, read), 2, PruneOptions{}, CompactOptions{}, false, 0,
			"the same call was made again: the older one is worth nothing"},
		{"file read again, one answer behind", first(read, read), 1, PruneOptions{}, CompactOptions{}, false, protected,
			"the newest three still protect"},
		{"another file", first(read, func(s *agentScript) int { return s.call("read", `{"path":"b.go"}`, output(50)) }),
			3, PruneOptions{}, CompactOptions{}, false, protected, "it is another call"},
		{"same arguments, another tool", first(read,
			func(s *agentScript) int { return s.call("cat", `{"path":"a.go"}`, output(50)) }), 3, PruneOptions{},
			CompactOptions{}, false, protected, "it is another call"},
		{"again, and that failed", first(plain, failure), 4, PruneOptions{}, CompactOptions{}, false, protected,
			"a failure stands for nothing, and what is asked for again is carried twice as long"},
		{"again, and that failed, later", first(plain, failure), 5, PruneOptions{}, CompactOptions{}, false, 0,
			"twice three requests carried it"},
		{"failed, and again", first(failure, plain), 2, PruneOptions{}, CompactOptions{}, false, 0,
			"the newer result stands for it"},
		{"twice", times(2, plain), 5, PruneOptions{}, CompactOptions{}, false, protected,
			"it was missed once: carried twice as long"},
		{"twice, six answers behind", times(2, plain), 6, PruneOptions{}, CompactOptions{}, false, 0, "twice three"},
		{"twice, cold", times(2, plain), 3, PruneOptions{}, CompactOptions{}, true, 0,
			"when all is written again the longer protection is off"},
		{"four times", times(4, plain), 24, PruneOptions{}, CompactOptions{}, false, 0, "2³ times as long"},
		{"nine times", times(9, plain), 24, PruneOptions{}, CompactOptions{}, false, 0, "and no longer"},
		{"file, twice", times(2, read), 2*carriedReads - 1, PruneOptions{}, CompactOptions{}, false, protected,
			"twice seven"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript()
			i := tt.build(s)
			s.answers(tt.behind)
			d := replayed(t, Options{Prune: &tt.options, Compact: &tt.compact}, s.history)
			assert.Equal(t, tt.want, overdueOf(d.staleParts(tt.early, 0), i), tt.reason)
			if tt.want == 0 {
				s.history = s.history[:len(s.history)-2]
				d = replayed(t, Options{Prune: &tt.options, Compact: &tt.compact}, s.history)
				assert.Equal(t, protected, overdueOf(d.staleParts(tt.early, 0), i), "one request before")
				assert.Equal(t, -1, overdueOf(d.staleParts(tt.early, 1), i), "one request before, and one ahead")
			}
		})
	}
}

func TestStaleArguments(t *testing.T) {
	write := func(s *agentScript) int { return s.call("write", written("a.go", 60), "ok") - 1 }
	with := func(change func(m *Message)) func(s *agentScript) int {
		return func(s *agentScript) int {
			i := write(s)
			change(&s.history[i])
			return i
		}
	}
	call := func(arguments string) func(s *agentScript) int {
		return func(s *agentScript) int { return s.call("edit", arguments, "ok") - 1 }
	}
	signedCall := with(func(m *Message) { m.Parts[0].Signature = "sig" })
	signedThinking := with(func(m *Message) {
		m.Parts = slices.Insert(m.Parts, 0, Part{Kind: KindThinking, Text: "hm", Signature: "sig"})
	})
	for _, tt := range []struct {
		name    string
		build   func(s *agentScript) int
		behind  int
		options PruneOptions
		early   bool
		request bool // a person said something in the meantime
		want    int
		reason  string
	}{
		{"nine answers behind it", write, 9, PruneOptions{}, false, false, protected,
			"what the model wrote is used for longer"},
		{"ten", write, carriedArguments, PruneOptions{}, false, false, 0, "ten requests carried it"},
		{"cold, two", write, 2, PruneOptions{}, true, false, protected,
			"it is one of the newest three assistant messages"},
		{"cold, three", write, 3, PruneOptions{}, true, false, 0, "it is not one of the newest three"},
		{"KeepLastAssistants 12", write, 11, PruneOptions{KeepLastAssistants: 12}, false, false, protected,
			"the longer of the two counts"},
		{"NoHardClear", write, 10, PruneOptions{NoHardClear: true}, false, false, 0,
			"arguments are shortened, not cleared"},
		{"denied", write, 20, PruneOptions{DenyTools: []string{"write"}}, true, false, protected,
			"the pattern holds for the arguments of its calls too"},
		{"not allowed", write, 20, PruneOptions{AllowTools: []string{"exec"}}, true, false, protected, "likewise"},
		{"pinned", with(func(m *Message) { m.Pinned = true }), 20, PruneOptions{}, true, false, protected,
			"a pin survives every stage"},
		{"short", call(`{"path":"a.go","content":"` + strings.Repeat("x", 380) + `"}`), 20, PruneOptions{}, true, false,
			protected, "there is nothing to gain"},
		{"many short texts", call(`{"edits":[` + strings.Repeat(`"a text of a line",`, 200) + `""]}`), 20,
			PruneOptions{}, true, false, protected, "none of them is long"},
		{"long key", call(`{"` + strings.Repeat("k", 4_000) + `":1}`), 20, PruneOptions{}, true, false, protected,
			"keys stay"},
		{"no string", call(`[` + strings.Repeat("1,", 2_000) + `1]`), 20, PruneOptions{}, true, false, protected,
			"only texts are shortened"},
		{"mostly text", with(func(m *Message) { m.Parts = append(m.Parts, Part{Text: output(1_000)}) }), 20,
			PruneOptions{}, true, false, protected, "the edit would leave most of the message"},
		{"two calls", with(func(m *Message) {
			m.Parts = append([]Part{toolCall("first", "noop", `{}`)}, m.Parts...)
		}), 10, PruneOptions{}, false, false, 0, "each call is looked at"},
		{"signed call", signedCall, 20, PruneOptions{}, true, true, protected, "a signed call is sent as it came"},
		{"signed thinking in the newest turn", signedThinking, 20, PruneOptions{}, true, false, protected,
			"what is signed in the newest turn stays as it is"},
		{"signed thinking in an older turn", signedThinking, 20, PruneOptions{}, false, true, 10,
			"providers do not check older turns"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript()
			i := tt.build(s)
			if tt.request {
				s.history = append(s.history, userSays("go on"))
			}
			s.answers(tt.behind)
			d := replayed(t, Options{Prune: &tt.options}, s.history)
			list := d.staleParts(tt.early, 0)
			assert.Equal(t, tt.want, overdueOf(list, i), tt.reason)
			d.drop(list)
			assert.Equal(t, tt.want != protected, d.view.edited[i] != nil,
				"what is listed is worth its edit, and nothing else is edited")
		})
	}
}

// KeepLittle carries a file and the arguments of a call for half as long, where no record can stand for the step.
func TestStaleOfKeepLittle(t *testing.T) {
	for keep, share := range map[KeepPolicy]int{KeepCalls: 1, KeepLittle: 2} {
		s := newScript()
		read := s.call("read", `{"path":"a.go"}`, output(50))
		write := s.call("write", written("b.go", 60), "ok") - 1
		for _, i := range []int{read - 1, write} {
			s.history[i].Parts = append(s.history[i].Parts, Part{Kind: KindOpaque, Bytes: 900})
		}
		s.answers(20)
		list := replayed(t, Options{Keep: keep}, s.history).staleParts(false, 0)
		assert.Equal(t, 21-carriedReads/share, overdueOf(list, read), "%s: a file, read one answer earlier", keep)
		assert.Equal(t, 20-carriedArguments/share, overdueOf(list, write), "%s: arguments", keep)
	}
}

// What was dropped once is not looked at again, unless there is more to drop.
func TestStaleOnce(t *testing.T) {
	s := newScript()
	result := s.call("exec", `{}`, output(200))
	arguments := s.call("write", written("a.go", 200), "ok") - 1
	s.answers(12)
	d := replayed(t, Options{}, s.history)
	list := d.staleParts(false, 0)
	require.Len(t, list, 2)
	d.drop(list)
	require.Empty(t, d.staleParts(true, 100), "all that is stale was dropped")
	require.Equal(t, OpClear, d.view.edited[result].op)
	require.Equal(t, OpTrim, d.view.edited[arguments].op)

	d = replayed(t, Options{}, s.history)
	d.prune(PruneOptions{KeepLastAssistants: 3, SoftTrimMaxChars: 4_000, SoftTrimHeadChars: 1_500,
		SoftTrimTailChars: 1_500, NoHardClear: true, Estimator: CharsPerToken(4)}, 100)
	require.Equal(t, OpTrim, d.view.edited[result].op)
	assert.Equal(t, 10, overdueOf(d.staleParts(false, 0), result), "what was trimmed can be dropped")

	m := s.history[arguments]
	m.Parts = append([]Part{{Kind: KindThinking, Text: "let me write it"}}, m.Parts...)
	s.history[arguments] = m
	d = replayed(t, Options{}, s.history)
	short := m
	short.Parts = m.Parts[1:]
	d.project(arguments, short, d.view.tokens[arguments]-1, OpTrim, "thinking")
	assert.Equal(t, 2, overdueOf(d.staleParts(false, 0), arguments),
		"arguments are stale whether the thinking in front of them was left out or not")
}

func TestStaleParts(t *testing.T) {
	t.Run("share of the window", func(t *testing.T) {
		s := newScript()
		s.call("exec", `{}`, output(60_000)) // 600 000 tokens
		s.answers(5)
		for _, tt := range []struct {
			ratio  float64
			want   int
			reason string
		}{
			{0, 1, "the default does not hold where nothing is lost"},
			{0.5, 1, "the request is above half of the window"},
			{0.7, 0, "the host wants nothing touched below 70 % of the window"},
			{-1, 1, "a negative number is 0"},
		} {
			o := Options{Prune: &PruneOptions{SoftTrimRatio: tt.ratio}}
			if tt.ratio < 0 {
				o.Prune.SoftTrimRatio = 0
			}
			assert.Len(t, replayed(t, o, s.history).staleParts(true, 0), tt.want, tt.reason)
		}
	})
	t.Run("before the first request", func(t *testing.T) {
		s := &agentScript{history: []Message{{Role: RoleSystem, Parts: []Part{{Text: output(100)}}}}}
		s.call("exec", `{}`, output(100))
		s.history = append(s.history, userSays(output(100)))
		i := s.call("exec", `{"a":1}`, output(100))
		s.answers(20)
		list := replayed(t, Options{}, s.history).staleParts(true, 0)
		require.Len(t, list, 1, "what comes before the first user message stays, and so do system and user messages")
		assert.Equal(t, i, list[0].Index)
	})
	t.Run("nobody spoke", func(t *testing.T) {
		s := &agentScript{}
		s.call("exec", `{}`, output(100))
		s.answers(20)
		assert.Empty(t, replayed(t, Options{}, s.history).staleParts(true, 0))
	})
	t.Run("nothing", func(t *testing.T) {
		assert.Empty(t, replayed(t, Options{}, nil).staleParts(true, 9))
	})
	t.Run("results still to come", func(t *testing.T) {
		s := newScript()
		old := s.call("exec", `{}`, output(100))
		s.answers(5)
		s.history = append(s.history, assistantSays("both", toolCall("x", "read", `{"path":"a"}`),
			toolCall("y", "read", `{"path":"b"}`)), resultOf("x", "read", output(100), false))
		list := replayed(t, Options{}, s.history).staleParts(true, 0)
		require.Len(t, list, 1, "a call that waits for its result does not end the search, and its neighbour is unread")
		assert.Equal(t, old, list[0].Index)
	})
	t.Run("calls in one message", func(t *testing.T) {
		s := newScript()
		s.history = append(s.history, assistantSays("", toolCall("a", "read", `{"path":"a"}`),
			toolCall("b", "exec", `{}`)), resultOf("a", "read", output(100), false),
			resultOf("b", "exec", output(100), false))
		s.answers(3)
		list := replayed(t, Options{}, s.history).staleParts(false, 0)
		require.Len(t, list, 1, "the n-th result is that of the n-th call")
		assert.Equal(t, 3, list[0].Index, "the file is carried for longer")
	})
	t.Run("results out of order and twice", func(t *testing.T) {
		s := newScript()
		s.history = append(s.history, assistantSays("", toolCall("a", "read", `{"path":"a"}`),
			toolCall("b", "exec", `{}`)),
			resultOf("b", "exec", output(100), false), resultOf("a", "read", output(90), false),
			resultOf("a", "read", output(90), false))
		s.answers(3)
		d := replayed(t, Options{}, s.history)
		list := d.staleParts(false, 0)
		require.Len(t, list, 1)
		assert.Equal(t, "exec", d.view.messages[list[0].Index].ToolName, "results are told apart behind the repair")
	})
	t.Run("call ids used again", func(t *testing.T) {
		s := newScript()
		for range 3 {
			s.calls = 0
			s.call("read", `{"path":"a"}`, output(100))
		}
		s.calls = 100
		s.answers(2)
		list := replayed(t, Options{}, s.history).staleParts(false, 0)
		require.Len(t, list, 2, "the same call was made twice more: both older ones are stale, whatever their ids")
		assert.Equal(t, []int{2, 4}, []int{list[0].Index, list[1].Index})
	})
}

// Whatever a history holds: the list is in order, each part is in it once, of what is protected nothing is; a look
// ahead and a cold cache only add to it.
func TestStalePartsProperties(t *testing.T) {
	found := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		o := PruneOptions{KeepLastAssistants: r.IntN(6) - 1, NoHardClear: r.IntN(8) == 0}
		d := replayed(t, Options{Prune: &o}, randomScript(r, 5+r.IntN(60)).history)
		v := d.view
		for _, early := range []bool{false, true} {
			list := d.staleParts(early, 0)
			ahead := d.staleParts(early, 4)
			for k, p := range list {
				found++
				m := &v.messages[p.Index]
				require.True(t, k == 0 || list[k-1].Index < p.Index, "seed %d: not in order", seed)
				require.Positive(t, p.Saving)
				require.GreaterOrEqual(t, p.Overdue, 0)
				require.False(t, m.Pinned)
				require.Equal(t, p.Arguments, m.Role == RoleAssistant)
				require.Contains(t, ahead, p, "seed %d: a look ahead loses nothing", seed)
				if !early {
					require.NotEqual(t, protected, overdueOf(d.staleParts(true, 0), p.Index),
						"seed %d: cold, less is protected", seed)
				}
				kept := max(1, d.opts.Prune.KeepLastAssistants)
				require.GreaterOrEqual(t, countAnswers(v.messages[p.Index+1:]), kept,
					"seed %d: message %d is one of the newest", seed, p.Index)
			}
		}
	}
	require.Greater(t, found, 1_000, "hardly anything was stale")
}

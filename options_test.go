package winnow_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

func TestManagerNewRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, tt := range []struct {
		name   string
		window int
		opts   winnow.Options
		named  string // by the error
		reason string
	}{
		{"no window", 0, winnow.Options{}, "window is 0", "a host that does not know it asks ResolveWindow"},
		{"negative window", -8_000, winnow.Options{}, "-8000", "a count of tokens cannot be negative"},
		{"negative window of a model", -1, winnow.Options{Model: "gpt-5"}, "window", "it is a mistake, and no request for the model's"},
		{"window of an unknown model", 0, winnow.Options{Model: "house-model"}, `"house-model"`, "nobody knows it"},
		{"smallest window", math.MinInt, winnow.Options{}, "window", "a count of tokens cannot be negative"},
		{"fold above", 8_000, winnow.Options{FoldAbove: nan}, "FoldAbove", "no comparison with NaN is true"},
		{"fold above all", 8_000, winnow.Options{FoldAbove: 20}, "FoldAbove", "per cent were meant"},
		{"fold above infinity", 8_000, winnow.Options{FoldAbove: inf}, "FoldAbove", "it would never be reached"},
		{"fold above below 0", 8_000, winnow.Options{FoldAbove: -0.2}, "FoldAlways", "a sign too many is no wish for records everywhere"},
		{"thinking", 8_000, winnow.Options{Thinking: "Bound"}, `want "kept", "dropped", "bound" or ""`, "the provider would refuse what was meant to be left out"},
		{"truncate", 8_000, winnow.Options{Truncate: &winnow.TruncateOptions{MaxShare: nan}}, "Truncate.MaxShare", "no comparison with NaN is true"},
		{"truncate above 1", 8_000, winnow.Options{Truncate: &winnow.TruncateOptions{MaxShare: 2}}, "Truncate.MaxShare", "a result above the window never fits"},
		{"read price", 8_000, winnow.Options{Cache: &winnow.CacheOptions{ReadPrice: nan}}, "Cache.ReadPrice", "prices are compared"},
		{"write price", 8_000, winnow.Options{Cache: &winnow.CacheOptions{WritePrice: inf}}, "Cache.WritePrice", "prices are compared"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := winnow.New(tt.window, &tt.opts)
			assert.Nil(t, m)
			require.Error(t, err, tt.reason)
			assert.Contains(t, err.Error(), tt.named, "the error says what is wrong")
		})
	}
}

func TestManagerNewAccepts(t *testing.T) {
	for _, tt := range []struct {
		name   string
		opts   *winnow.Options
		reason string
	}{
		{"nil", nil, "nil means the defaults"},
		{"zero", &winnow.Options{}, "the zero value means the defaults"},
		{"prices above 1", &winnow.Options{Cache: &winnow.CacheOptions{ReadPrice: 0.5, WritePrice: 2}}, "a price is not a share"},
		{"a share below 0", &winnow.Options{Truncate: &winnow.TruncateOptions{MaxShare: -1}}, "negative numbers mean 0"},
		{"shares of 1", &winnow.Options{FoldAbove: 1, Truncate: &winnow.TruncateOptions{MaxShare: 1}}, "all of the window is a share"},
		{"reserve above the window", &winnow.Options{Reserve: 1 << 40}, "hosts pass the output limit of the model, which may be the window"},
		{"negative numbers", &winnow.Options{
			FoldAbove: -1, HistoryTurns: -1, Reserve: -1, Overhead: -1, MaxBytes: -1,
			Compact: &winnow.CompactOptions{KeepRecent: -1, Timeout: -1, SummarizerWindow: -1},
			Cache:   &winnow.CacheOptions{TTL: -1},
		}, "negative numbers mean 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, window := range []int{1, 2, 10, 1_000, 8_000, 2_000_000, math.MaxInt32, math.MaxInt} {
				m := newManager(t, window, tt.opts)
				r := prepare(t, m, nil)
				require.Empty(t, r.Messages)
				require.LessOrEqual(t, r.Budget, window)
				require.Positive(t, r.Budget, "window %d: something is always left for the prompt", window)
				if _, err := m.Prepare(t.Context(), agentSession(3, 400)); err != nil {
					require.ErrorIs(t, err, winnow.ErrOverflow, "window %d", window)
				}
			}
		})
	}
}

// A negative number means 0, and 0 the default: with -1 a host switches off what would otherwise be on.
func TestManagerNegativeNumbers(t *testing.T) {
	h := agentSession(12, 6_000)
	budget := func(o winnow.Options) int { return prepare(t, newManager(t, 100_000, &o), h[:1]).Budget }
	assert.Equal(t, 100_000, budget(winnow.Options{Reserve: -1}), "nothing is kept free")
	assert.Equal(t, 80_000, budget(winnow.Options{}), "20 000 tokens are")
	assert.Equal(t, 25_000, budget(winnow.Options{Reserve: 99_000}), "a quarter is always left")
	assert.Equal(t, prepare(t, newManager(t, 100_000, &winnow.Options{}), h).Tokens, prepare(t, newManager(t, 100_000, &winnow.Options{Overhead: -5_000}), h).Tokens, "no overhead makes a request smaller")
	assert.Len(t, prepare(t, newManager(t, 100_000, &winnow.Options{FoldAbove: 1, HistoryTurns: -3}), h).Messages, len(h), "no limit")

	c := newClock()
	m := newManager(t, 128_000, &winnow.Options{FoldAbove: -1, Now: c.Now, Estimator: winnow.CharsPerToken(4), Cache: &winnow.CacheOptions{TTL: -1}})
	prepare(t, m, h[:8])
	assert.NotEmpty(t, prepare(t, m, h).Edits, "a cache that keeps nothing for no time is cold at once")
}

// What a host writes to its options after New reaches no manager, and New writes nothing to them.
func TestManagerCopiesOptions(t *testing.T) {
	h := agentSession(20, 6_000)
	passed := func() *winnow.Options {
		return &winnow.Options{
			HistoryTurns: 15, Reserve: 5_000, Overhead: 500, Estimator: winnow.CharsPerToken(4), Now: newClock().Now,
			FoldAbove: 0.1,
			Tools:     &winnow.ToolOptions{Keep: []string{"read", "exec"}, Plan: []string{"steps"}},
			Truncate:  &winnow.TruncateOptions{MaxShare: 0.2},
			Compact:   &winnow.CompactOptions{KeepRecent: 3_000},
			Cache:     &winnow.CacheOptions{TTL: time.Hour},
		}
	}
	o := passed()
	m := newManager(t, 40_000, o)
	fresh := passed()
	fresh.Estimator, fresh.Now, o.Estimator, o.Now = nil, nil, nil, nil
	require.Equal(t, fresh, o, "New writes no defaults into what was passed")

	*o.Tools = winnow.ToolOptions{Keep: []string{"*"}}
	*o.Truncate = winnow.TruncateOptions{MaxShare: 0.001}
	*o.Compact = winnow.CompactOptions{Off: true}
	*o.Cache = winnow.CacheOptions{None: true}
	o.HistoryTurns, o.Overhead = 1, 39_000

	other := passed()
	twin := newManager(t, 40_000, other)
	other.Tools.Keep[0], other.Tools.Keep[1], other.Tools.Plan[0] = "*", "*", "exec"
	want := prepare(t, newManager(t, 40_000, passed()), h)
	require.NotEmpty(t, want.Edits)
	assert.Equal(t, want, prepare(t, m, h), "after the options were overwritten")
	assert.Equal(t, want, prepare(t, twin, h), "after the patterns were overwritten")
}

// A ctx that has ended is an error only where Prepare would have had to wait for a summary.
func TestManagerEndedContext(t *testing.T) {
	cause := errors.New("the user closed the window")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	h := agentSession(40, 2_000)
	for i := range h {
		if h[i].Role == winnow.RoleUser {
			h[i].Parts[0].Text += strings.Repeat(" and this", 200)
		}
	}
	s := says("## Goal\nnothing")
	m := newManager(t, 16_000, &winnow.Options{Summarizer: s, Now: newClock().Now})
	r, err := m.Prepare(ctx, h[:8])
	require.NoError(t, err, "nothing had to be waited for")
	assert.Len(t, r.Messages, 8)
	before := snapshotOf(t, m)

	require.True(t, m.Plan(h).NeedsCompaction)
	r, err = m.Prepare(ctx, h)
	assert.Nil(t, r)
	require.ErrorIs(t, err, cause, "the cause says why")
	assert.NotErrorIs(t, err, winnow.ErrOverflow, "it might well fit")
	assert.Equal(t, before, snapshotOf(t, m), "nothing happened")

	_, err = m.Compact(ctx, h, "")
	require.ErrorIs(t, err, winnow.ErrCompaction)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, before, snapshotOf(t, m), "nothing happened")
	assert.Zero(t, s.count(), "no summarizer is asked when nobody waits for the answer")

	r, err = m.Prepare(t.Context(), h)
	require.NoError(t, err, "the manager works on")
	assert.NotNil(t, r.Compaction)
}

// A stage may decide by an estimator of its own. What it leaves counts in a request by the manager's, in a restored one
// too.
func TestStagesWithTheirOwnEstimators(t *testing.T) {
	one, two := winnow.CharsPerToken(1), winnow.CharsPerToken(2)
	result := strings.Repeat("line of a result\n", 300) // 5 100 characters
	h := list(userSays("Go."))
	for i := range 6 {
		h = append(h, callOf("call_"+itoa(i), "exec", `{}`, result)...)
	}
	o := &winnow.Options{
		Estimator: one, Truncate: &winnow.TruncateOptions{Estimator: two, MaxChars: 1_000, MinKeepChars: 10},
		Compact: &winnow.CompactOptions{Off: true},
	}
	m := newManager(t, 60_000, o)
	r := prepare(t, m, h)
	require.NotEmpty(t, r.Edits)
	assert.Equal(t, estimateAll(one, r.Messages), r.Tokens)
	assert.Equal(t, r.Tokens, prepare(t, restarted(t, 60_000, o, snapshotOf(t, m)), h).Tokens)
}

// questions is a conversation of n turns with long answers.
func questions(n int) (history []winnow.Message) {
	for i := range n {
		history = append(history, user(fmt.Sprint("Question ", i)), assistant(fmt.Sprintf("Answer %d. %s", i, strings.Repeat("And so on. ", 60))))
	}
	return append(history, user("Go on."))
}

// A plan for another history, which shows that a recovery came to nothing, changes nothing.
func TestPlanHasNoEffect(t *testing.T) {
	flushes := 0
	m := newManager(t, 4_000, &winnow.Options{
		Compact: &winnow.CompactOptions{KeepRecent: 500, BeforeCompact: func(context.Context, []winnow.Message) error {
			flushes++
			return nil
		}},
		Summarizer: answers("## Goal\nAnswer the questions."),
	})
	history := questions(9)
	r := prepare(t, m, history)
	require.Nil(t, r.Compaction)
	require.Equal(t, 1, flushes, "a compaction is near")
	r = recovered(t, m, history, errors.New("400 prompt is too long: 2600 tokens > 2000 maximum"))
	require.NotNil(t, r.Compaction)
	before := snapshotOf(t, m)
	m.Plan(append(history[:len(history):len(history)], user("And another thing.")))
	m.Plan([]winnow.Message{user("Another conversation.")})
	assert.Equal(t, before, snapshotOf(t, m))
	was := flushes
	history = append(history, assistant("Yes."))
	for i := 0; i < 20 && flushes == was; i++ {
		history = append(history, questions(3)[:6]...)
		if _, err := m.Prepare(t.Context(), append(history[:len(history):len(history)], user("Go on."))); err != nil {
			break
		}
	}
	assert.Greater(t, flushes, was, "the next compaction has a flush of its own")
}

// A name tells what the table knows of the model; each option that is set wins over that, one by one.
func TestModelDescribes(t *testing.T) {
	t.Parallel()
	defaults := winnow.CacheOptions{TTL: 5 * time.Minute, ReadPrice: 0.1, WritePrice: 1.25}
	sol := winnow.CacheOptions{TTL: 30 * time.Minute, ReadPrice: 0.05, WritePrice: 1.25}
	flash := winnow.CacheOptions{TTL: 5 * time.Minute, ReadPrice: 0.1, WritePrice: 1}
	opus := winnow.CacheOptions{TTL: 5 * time.Minute, ReadPrice: 0.05, WritePrice: 1.25}
	for _, tt := range []struct {
		reason   string
		window   int
		options  winnow.Options
		tokens   int
		family   string
		cache    winnow.CacheOptions
		thinking winnow.ThinkingPolicy
	}{
		{"no name", 50_000, winnow.Options{}, 50_000, "", defaults, winnow.ThinkingKept},
		{"an unknown name changes nothing", 50_000, winnow.Options{Model: "house-model"}, 50_000, "", defaults, winnow.ThinkingKept},
		{"of an unknown model the family may be known", 50_000, winnow.Options{Model: "qwen9-coder"}, 50_000, "qwen", defaults, winnow.ThinkingKept},
		{"OpenAI", 0, winnow.Options{Model: "openai:gpt-6.1-sol"}, 272_000, "o200k", sol, winnow.ThinkingKept},
		{"OpenRouter's window is larger", 0, winnow.Options{Model: "openrouter/openai/gpt-6.1-sol:nitro"}, 1_050_000, "o200k", sol, winnow.ThinkingKept},
		{"Gemini", 0, winnow.Options{Model: "models/gemini-2.5-flash"}, 1_048_576, "gemini", flash, winnow.ThinkingKept},
		{"prefix-bound thinking", 0, winnow.Options{Model: "us.anthropic.claude-opus-5-5"}, 1_000_000, "claude-next", opus, winnow.ThinkingBound},
		{"the window wins", 90_000, winnow.Options{Model: "gpt-6.1-sol"}, 90_000, "o200k", sol, winnow.ThinkingKept},
		{"thinking wins", 0, winnow.Options{Model: "claude-opus-5-5", Thinking: winnow.ThinkingKept}, 1_000_000, "claude-next", opus, winnow.ThinkingKept},
		{"a price wins, the others stay", 0, winnow.Options{Model: "gpt-6.1-sol", Cache: &winnow.CacheOptions{ReadPrice: 0.5}}, 272_000, "o200k",
			winnow.CacheOptions{TTL: 30 * time.Minute, ReadPrice: 0.5, WritePrice: 1.25}, winnow.ThinkingKept},
		{"the TTL wins, the others stay", 0, winnow.Options{Model: "gpt-6.1-sol", Cache: &winnow.CacheOptions{TTL: time.Hour, None: true}}, 272_000, "o200k",
			winnow.CacheOptions{None: true, TTL: time.Hour, ReadPrice: 0.05, WritePrice: 1.25}, winnow.ThinkingKept},
	} {
		asked := tt.options
		m := newManager(t, tt.window, &asked)
		got, window := m.Settings()
		assert.Equal(t, tt.tokens, window, tt.reason)
		assert.Equal(t, tt.cache, *got.Cache, tt.reason)
		assert.Equal(t, tt.thinking, got.Thinking, tt.reason)
		family := estimatorOf(t, tt.family)
		assert.Equal(t, family, got.Estimator, tt.reason)
		assert.Equal(t, tt.options, asked, "%s: the host's options are written to", tt.reason)
	}
	byFour := newManager(t, 0, &winnow.Options{Model: "gpt-5", Estimator: winnow.CharsPerToken(4)})
	got, _ := byFour.Settings()
	assert.Equal(t, winnow.CharsPerToken(4), got.Estimator, "the estimator wins")
}

// What is bound to nothing needs no care: a model with bound thinking that does not think has its old results dropped
// like any other.
func TestModelThatDoesNotThink(t *testing.T) {
	t.Parallel()
	requests := func(policy winnow.ThinkingPolicy) (sizes []int) {
		m := newManager(t, 200_000, &winnow.Options{Estimator: winnow.CharsPerToken(4), Now: newClock().Now, Thinking: policy})
		steps(agentSession(40, 6_000), func(in []winnow.Message) { sizes = append(sizes, prepare(t, m, in).Tokens) })
		return sizes
	}
	assert.Equal(t, requests(winnow.ThinkingKept), requests(winnow.ThinkingBound))
}

// otherModels is a conversation that a model with a small window had, with an overflow behind it.
func otherModels(t *testing.T, c *clock) (state string, h []winnow.Message) {
	t.Helper()
	h = thinkingSession(60, 10, 1800)
	m := newManager(t, 40_000, &winnow.Options{Model: "small-model", Estimator: winnow.CharsPerToken(4), Now: c.Now})
	last := 0
	for n := range h {
		if n == 0 || h[n].Role != winnow.RoleAssistant {
			continue
		}
		r := prepare(t, m, h[:n])
		h[n].Usage = &winnow.Usage{Input: estimateAll(winnow.CharsPerToken(3), r.Messages)} // its own tokenizer
		last = n
	}
	r := recovered(t, m, h[:last], errors.New("prompt is too long: 20000 tokens > 19500 maximum"))
	require.Less(t, r.Budget, 19_500)
	require.Nil(t, r.Compaction, "edits are what this is about")
	r = prepare(t, m, h)
	require.Less(t, r.Budget, 19_500, "the limit is remembered")
	state = snapshotOf(t, m)
	require.Contains(t, state, `"model":"small-model"`)
	return state, h
}

// A conversation goes on with another model: what the old one's provider taught is gone, what was edited stays edited.
func TestRestoreIntoAnotherModel(t *testing.T) {
	t.Parallel()
	c := newClock()
	state, h := otherModels(t, c)
	options := func(model string) *winnow.Options {
		return &winnow.Options{Model: model, Estimator: winnow.CharsPerToken(2), Now: c.Now, Logger: nil}
	}
	same := restarted(t, 50_000, &winnow.Options{Model: " Small-Model", Estimator: winnow.CharsPerToken(4), Now: c.Now}, state)
	kept := same.Plan(h)
	require.Less(t, kept.Budget, 19_500, "of the same model everything is known")
	require.False(t, same.Cold())

	var journal [][]byte
	o := options("large-model")
	o.Journal = func(delta []byte) error { journal = append(journal, delta); return nil }
	m := restarted(t, 200_000, o, state)
	assert.True(t, m.Cold(), "its provider has nothing of it in a cache")
	r := prepare(t, m, h)
	assert.Equal(t, 180_000, r.Budget, "the limit of the old model no longer holds")
	assert.Less(t, r.Tokens, 180_000)
	assert.Equal(t, estimateAll(winnow.CharsPerToken(2), r.Messages), r.Tokens, "counted anew, and not from the other model's usage")
	cleared, signed := 0, 0
	for _, sent := range r.Messages {
		if sent.Role == winnow.RoleTool && len(sent.Parts[0].Text) < 2_500 {
			cleared++
		}
		signed += len(thoughtsOf(sent))
	}
	assert.Positive(t, cleared, "the old edits")
	assert.Zero(t, signed, "thinking that only the old model can read")
	assert.Equal(t, r.Messages[:2], prepare(t, m, h).Messages[:2])

	// Its own thinking is sent back, and what was decided once stays decided, in this process and in the next one.
	h = append(h, modelSends(thinkPart("mine", "new"), textPart("well")), userSays("and?"))
	want := prepare(t, m, h)
	assert.True(t, thinks(want.Messages[len(want.Messages)-2]))
	assert.GreaterOrEqual(t, want.FirstChanged, len(r.Messages), "only appended")
	next := restarted(t, 200_000, options("large-model"), state, journal...)
	sameMessages(t, want.Messages, next.Plan(h).Messages, "from the journal")
	assert.Equal(t, want.Tokens, next.Plan(h).Tokens)
}

// A pin does not bring back what no other model takes: not in the first request to it, and not in those that follow.
func TestRestoreIntoAnotherModelWithPins(t *testing.T) {
	h := thinkingSession(4, 2, 200)
	for i := range h {
		h[i].Pinned = h[i].Role == winnow.RoleAssistant
	}
	was := newManager(t, 100_000, &winnow.Options{Model: "claude-opus-4-1"})
	prepare(t, was, h)
	m := restarted(t, 100_000, &winnow.Options{Model: "gpt-4o"}, snapshotOf(t, was))
	for n := range 3 {
		for i, sent := range prepare(t, m, h).Messages {
			require.False(t, thinks(sent), "request %d, message %d", n, i)
		}
		h = append(slices.Clone(h), modelSays("well"), userSays("and now?"))
	}
}

// A name that is not known, on either side, is not another model.
func TestRestoreWithoutModel(t *testing.T) {
	t.Parallel()
	c := newClock()
	state, h := otherModels(t, c)
	m := restarted(t, 50_000, &winnow.Options{Estimator: winnow.CharsPerToken(4), Now: c.Now}, state)
	assert.Less(t, m.Plan(h).Budget, 19_500)
	again := snapshotOf(t, m)
	assert.Contains(t, again, `"small-model"`, "it is still that model's")

	nameless := strings.Replace(state, `"model":"small-model",`, "", 1)
	m = restarted(t, 40_000, &winnow.Options{Model: "large-model", Estimator: winnow.CharsPerToken(4), Now: c.Now}, nameless)
	assert.Less(t, m.Plan(h).Budget, 19_500)
}

// A refusal may be the first thing that a manager for another model hears of it.
func TestRecoverAtOnceWithAnotherModel(t *testing.T) {
	t.Parallel()
	c := newClock()
	state, h := otherModels(t, c)
	m := restarted(t, 200_000, &winnow.Options{Model: "large-model", Estimator: winnow.CharsPerToken(4), Now: c.Now}, state)
	whole := m.Plan(h)
	r := recovered(t, m, h, errors.New("prompt is too long: 18000 tokens > 9000 maximum"))
	assert.Less(t, r.Tokens, min(9_000, whole.Tokens))
}

func TestCheckWindow(t *testing.T) {
	for _, tt := range []struct {
		tokens int
		want   winnow.WindowStatus
		reason string
	}{
		{math.MinInt, winnow.WindowOK, "an unknown window causes no warning"},
		{0, winnow.WindowOK, "an unknown window causes no warning"},
		{1, winnow.WindowBlock, "the smallest window that is known"},
		{15_999, winnow.WindowBlock, "just too small"},
		{16_000, winnow.WindowWarn, "just large enough to work"},
		{31_999, winnow.WindowWarn, "little history"},
		{32_000, winnow.WindowOK, "just large enough"},
		{math.MaxInt, winnow.WindowOK, "no upper end"},
	} {
		assert.Equal(t, tt.want, winnow.CheckWindow(tt.tokens), "%d: %s", tt.tokens, tt.reason)
	}
}

// TestUnknownModel: a typo in the model is an error where the window has to come from it, and one warning elsewhere. So is
// a model without a price.
func TestUnknownModel(t *testing.T) {
	for _, tt := range []struct {
		model    string
		window   int
		warnings int
		warning  string
		reason   string
	}{
		{"claude-opsu-5", 0, -1, "", "nothing says how large the window is"},
		{"claude-opsu-5", 200_000, 1, "the model is unknown", "its cache, its tokenizer and its thinking are not known"},
		{"c4ai-aya-vision-8b", 0, 1, "no price is known", "only its window is"},
		{"anthropic/claude-opus-4.6-fast", 0, 1, "no price is known", "a variant whose price is another one"},
		{"claude-opus-4-6", 200_000, 0, "level=", "known"},
		{"", 200_000, 0, "level=", "the host does not say"},
	} {
		var log bytes.Buffer
		_, err := winnow.New(tt.window, &winnow.Options{Model: tt.model, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if tt.warnings < 0 {
			require.ErrorContains(t, err, tt.model, tt.reason)
			continue
		}
		require.NoError(t, err, tt.reason)
		assert.Equal(t, tt.warnings, strings.Count(log.String(), tt.warning), tt.reason)
	}
}

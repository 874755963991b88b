package winnow_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

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
		m, err := winnow.New(tt.window, &asked)
		require.NoError(t, err, tt.reason)
		got, window := m.Settings()
		assert.Equal(t, tt.tokens, window, tt.reason)
		assert.Equal(t, tt.cache, *got.Cache, tt.reason)
		assert.Equal(t, tt.thinking, got.Thinking, tt.reason)
		family, err := winnow.NewEstimator(tt.family)
		require.NoError(t, err)
		assert.Equal(t, family, got.Estimator, tt.reason)
		assert.Equal(t, tt.options, asked, "%s: the host's options are written to", tt.reason)
	}
	byFour, err := winnow.New(0, &winnow.Options{Model: "gpt-5", Estimator: winnow.CharsPerToken(4)})
	require.NoError(t, err)
	got, _ := byFour.Settings()
	assert.Equal(t, winnow.CharsPerToken(4), got.Estimator, "the estimator wins")
}

func TestModelBindsThinking(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]winnow.ThinkingPolicy{
		"claude-fable-5-1": winnow.ThinkingBound, "claude-fable-5.2": winnow.ThinkingBound, "anthropic/claude-sonnet-5.5:beta": winnow.ThinkingBound,
		"claude-opus-6": winnow.ThinkingBound, "claude-sonnet-7-20280101": winnow.ThinkingBound, // to come: "5.1 and later"
		"claude-opus-5": winnow.ThinkingKept, "claude-opus-5-20260801": winnow.ThinkingKept, "claude-opus-4-8": winnow.ThinkingKept,
		"claude-sonnet-latest": winnow.ThinkingKept, "gpt-5.5": winnow.ThinkingKept, "": winnow.ThinkingKept,
	} {
		m, err := winnow.New(200_000, &winnow.Options{Model: name})
		require.NoError(t, err)
		got, _ := m.Settings()
		assert.Equal(t, want, got.Thinking, name)
	}
}

func TestModelWindowUnknown(t *testing.T) {
	t.Parallel()
	_, err := winnow.New(0, &winnow.Options{Model: "house-model"})
	assert.ErrorContains(t, err, `"house-model"`)
	assert.ErrorContains(t, err, "pass the model's context window in tokens", "what to do")
	for _, window := range []int{0, -1} {
		_, err := winnow.New(window, nil)
		assert.ErrorContains(t, err, fmt.Sprint(window))
	}
	_, err = winnow.New(-1, &winnow.Options{Model: "gpt-5"})
	assert.Error(t, err, "a negative window is a mistake, and no request for the model's")
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
func otherModels(t *testing.T, c *clock) (state []byte, h []winnow.Message) {
	t.Helper()
	h = thinkingSession(60, 10, 1800)
	m := newManager(t, 40_000, &winnow.Options{Model: "small-model", Estimator: winnow.CharsPerToken(4), Now: c.Now})
	last := 0
	for n := range h {
		if n == 0 || h[n].Role != winnow.RoleAssistant {
			continue
		}
		r := prepare(t, m, h[:n])
		h[n].Usage = &winnow.Usage{Input: sumOf(winnow.CharsPerToken(3), r.Messages)} // its own tokenizer
		last = n
	}
	r, err := m.Recover(t.Context(), h[:last], errors.New("prompt is too long: 20000 tokens > 19500 maximum"))
	require.NoError(t, err)
	require.Less(t, r.Budget, 19_500)
	require.Nil(t, r.Compaction, "edits are what this is about")
	r = prepare(t, m, h)
	require.Less(t, r.Budget, 19_500, "the limit is remembered")
	state, err = m.Snapshot()
	require.NoError(t, err)
	require.Contains(t, string(state), `"model":"small-model"`)
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
	same := newManager(t, 50_000, &winnow.Options{Model: " Small-Model", Estimator: winnow.CharsPerToken(4), Now: c.Now})
	require.NoError(t, same.Restore(state))
	kept := same.Plan(h)
	require.Less(t, kept.Budget, 19_500, "of the same model everything is known")
	require.False(t, same.Cold())

	m := newManager(t, 200_000, options("large-model"))
	require.NoError(t, m.Restore(state))
	assert.True(t, m.Cold(), "its provider has nothing of it in a cache")
	var journal [][]byte
	o := options("large-model")
	o.Journal = func(delta []byte) error { journal = append(journal, delta); return nil }
	m = newManager(t, 200_000, o)
	require.NoError(t, m.Restore(state))
	r := prepare(t, m, h)
	assert.Equal(t, 180_000, r.Budget, "the limit of the old model no longer holds")
	assert.Less(t, r.Tokens, 180_000)
	assert.Equal(t, sumOf(winnow.CharsPerToken(2), r.Messages), r.Tokens, "counted anew, and not from the other model's usage")
	cleared, signed := 0, 0
	for i, sent := range r.Messages {
		if sent.Role == winnow.RoleTool && len(sent.Parts[0].Text) < 2_500 {
			cleared++
		}
		if thinks(r.Messages[i]) {
			signed++
		}
	}
	assert.Positive(t, cleared, "the old edits")
	assert.Zero(t, signed, "thinking that only the old model can read")
	assert.Equal(t, r.Messages[:2], prepare(t, m, h).Messages[:2])

	// Its own thinking is sent back, and what was decided once stays decided, in this process and in the next one.
	h = append(h, modelSends(thinkPart("mine", "new"), textPart("well")), userSays("and?"))
	want := prepare(t, m, h)
	assert.True(t, thinks(want.Messages[len(want.Messages)-2]))
	assert.GreaterOrEqual(t, want.FirstChanged, len(r.Messages), "only appended")
	next := newManager(t, 200_000, options("large-model"))
	require.NoError(t, next.Restore(state, journal...))
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
	m := newManager(t, 100_000, &winnow.Options{Model: "gpt-4o"})
	require.NoError(t, m.Restore([]byte(snapshotOf(t, was))))
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
	m := newManager(t, 50_000, &winnow.Options{Estimator: winnow.CharsPerToken(4), Now: c.Now})
	require.NoError(t, m.Restore(state))
	assert.Less(t, m.Plan(h).Budget, 19_500)
	again, err := m.Snapshot()
	require.NoError(t, err)
	assert.Contains(t, string(again), `"small-model"`, "it is still that model's")

	nameless := []byte(strings.Replace(string(state), `"model":"small-model",`, "", 1))
	m = newManager(t, 40_000, &winnow.Options{Model: "large-model", Estimator: winnow.CharsPerToken(4), Now: c.Now})
	require.NoError(t, m.Restore(nameless))
	assert.Less(t, m.Plan(h).Budget, 19_500)
}

// An open run of Recover was for the old model's limit: a host that falls back to a model with a larger window gets
// back what was cut.
func TestRestoreIntoAnotherModelAfterOverflow(t *testing.T) {
	t.Parallel()
	c := newClock()
	h := agentSession(8, 8_000)
	m := newManager(t, 100_000, &winnow.Options{Model: "small-model", Estimator: winnow.CharsPerToken(4), Now: c.Now})
	whole := prepare(t, m, h)
	shrunk, err := m.Recover(t.Context(), h, errors.New("prompt is too long: 18000 tokens > 9000 maximum"))
	require.NoError(t, err)
	e := winnow.CharsPerToken(4) // Tokens are what the provider would count: of these it was told after the refusal
	require.Less(t, sumOf(e, shrunk.Messages), sumOf(e, whole.Messages))
	state, err := m.Snapshot()
	require.NoError(t, err)
	other := newManager(t, 100_000, &winnow.Options{Model: "large-model", Estimator: winnow.CharsPerToken(4), Now: c.Now})
	require.NoError(t, other.Restore(state))
	assert.Equal(t, whole.Tokens, prepare(t, other, h).Tokens)
}

// A refusal may be the first thing that a manager for another model hears of it.
func TestRecoverAtOnceWithAnotherModel(t *testing.T) {
	t.Parallel()
	c := newClock()
	state, h := otherModels(t, c)
	m := newManager(t, 200_000, &winnow.Options{Model: "large-model", Estimator: winnow.CharsPerToken(4), Now: c.Now})
	require.NoError(t, m.Restore(state))
	whole := m.Plan(h)
	r, err := m.Recover(t.Context(), h, errors.New("prompt is too long: 18000 tokens > 9000 maximum"))
	require.NoError(t, err)
	assert.Less(t, r.Tokens, min(9_000, whole.Tokens))
}

func sumOf(e winnow.Estimator, messages []winnow.Message) (n int) {
	for _, m := range messages {
		n += e.Estimate(m)
	}
	return n
}

func TestResolveWindow(t *testing.T) {
	for _, tt := range []struct {
		config winnow.WindowConfig
		tokens int
		source string
		reason string
	}{
		{winnow.WindowConfig{}, 200_000, "default", "nothing is known"},
		{winnow.WindowConfig{Default: 8_000}, 8_000, "default", "the host's own default"},
		{winnow.WindowConfig{Model: 128_000, Default: 8_000}, 128_000, "model", "the model's metadata is better than a default"},
		{winnow.WindowConfig{Configured: 64_000, Model: 128_000}, 64_000, "configured", "the configuration wins"},
		{winnow.WindowConfig{Configured: 1_000_000, Model: 128_000}, 1_000_000, "configured", "even where it says more"},
		{winnow.WindowConfig{Model: 128_000, Cap: 100_000}, 100_000, "cap", "the cap is smaller"},
		{winnow.WindowConfig{Model: 128_000, Cap: 128_000}, 128_000, "model", "a cap that changes nothing is not the source"},
		{winnow.WindowConfig{Model: 128_000, Cap: 150_000}, 128_000, "model", "a cap never makes it larger"},
		{winnow.WindowConfig{Cap: 50_000}, 50_000, "cap", "it holds for the default too"},
		{winnow.WindowConfig{Configured: -1, Model: -1, Cap: -1, Default: -1}, 200_000, "default", "negative numbers mean not set"},
	} {
		tokens, source := winnow.ResolveWindow(tt.config)
		assert.Equal(t, tt.tokens, tokens, "%+v: %s", tt.config, tt.reason)
		assert.Equal(t, tt.source, source, "%+v: %s", tt.config, tt.reason)
	}
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

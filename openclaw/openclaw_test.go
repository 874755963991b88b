package openclaw_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/openclaw"
	"github.com/winnowgo/winnow/prompt"
)

// eachVector reads inputs and outputs of the reference system, which were made by running it.
func eachVector[V any](t *testing.T, group string, check func(t *testing.T, v V)) {
	t.Helper()
	file, err := os.Open("testdata/conformance/" + group + ".jsonl.gz")
	require.NoError(t, err)
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	require.NoError(t, err)
	data, err := io.ReadAll(unpacked)
	require.NoError(t, err)
	require.NotEmpty(t, data)
	for line := range bytes.Lines(data) {
		var v struct{ Name string }
		var x V
		require.NoError(t, json.Unmarshal(line, &v))
		require.NoError(t, json.Unmarshal(line, &x), v.Name)
		t.Run(v.Name, func(t *testing.T) { check(t, x) })
	}
}

func TestConformanceSessionKey(t *testing.T) {
	type vector struct {
		SessionKey string
		Config     struct{ Channels openclaw.HistoryLimits }
		Want       *int
	}
	eachVector(t, "sessionkey", func(t *testing.T, v vector) {
		limit, ok := v.Config.Channels.ForSession(v.SessionKey)
		require.Equal(t, v.Want != nil, ok, "%q", v.SessionKey)
		if ok {
			assert.Equal(t, *v.Want, limit, "%q", v.SessionKey)
		}
	})
}

func TestConformanceWindow(t *testing.T) {
	type vector struct {
		Args struct {
			Cfg struct {
				Agents struct {
					Defaults struct{ ContextTokens int }
				}
				Models struct {
					Providers map[string]struct {
						Models []struct {
							ID            string
							ContextWindow int
						}
					}
				}
			}
			Provider, ModelID                 string
			ModelContextWindow, DefaultTokens int
		}
		Want struct {
			Tokens int
			Source string
		}
	}
	sources := map[string]string{"modelsConfig": "configured", "model": "model", "default": "default", "agentContextTokens": "cap"}
	eachVector(t, "window", func(t *testing.T, v vector) {
		c := openclaw.WindowConfig{Model: v.Args.ModelContextWindow, Cap: v.Args.Cfg.Agents.Defaults.ContextTokens, Default: v.Args.DefaultTokens}
		for _, m := range v.Args.Cfg.Models.Providers[v.Args.Provider].Models {
			if m.ID == v.Args.ModelID {
				c.Configured = m.ContextWindow
			}
		}
		tokens, source := openclaw.ResolveWindow(c)
		assert.Equal(t, v.Want.Tokens, tokens)
		assert.Equal(t, sources[v.Want.Source], source)
	})
}

func TestExtractRulesConformance(t *testing.T) {
	type vector struct{ Name, AgentsMd, Want string }
	eachVector(t, "rules", func(t *testing.T, v vector) {
		want := strings.TrimPrefix(v.Want, "\n\n<workspace-critical-rules>\n")
		want = strings.TrimSuffix(want, "\n</workspace-critical-rules>")
		got := prompt.ExtractRules(v.AgentsMd, openclaw.RuleHeadings()...)
		if head, cut := strings.CutSuffix(want, "\n...[truncated]..."); cut { // the length is the section's affair
			assert.True(t, strings.HasPrefix(got, head), v.Name)
			return
		}
		assert.Equal(t, want, got, v.Name)
	})
}

func TestResolveWindow(t *testing.T) {
	for _, tt := range []struct {
		config openclaw.WindowConfig
		tokens int
		source string
		reason string
	}{
		{openclaw.WindowConfig{}, 200_000, "default", "nothing is known"},
		{openclaw.WindowConfig{Default: 8_000}, 8_000, "default", "the host's own default"},
		{openclaw.WindowConfig{Model: 128_000, Default: 8_000}, 128_000, "model", "the model's metadata is better than a default"},
		{openclaw.WindowConfig{Configured: 64_000, Model: 128_000}, 64_000, "configured", "the configuration wins"},
		{openclaw.WindowConfig{Configured: 1_000_000, Model: 128_000}, 1_000_000, "configured", "even where it says more"},
		{openclaw.WindowConfig{Model: 128_000, Cap: 100_000}, 100_000, "cap", "the cap is smaller"},
		{openclaw.WindowConfig{Model: 128_000, Cap: 128_000}, 128_000, "model", "a cap that changes nothing is not the source"},
		{openclaw.WindowConfig{Model: 128_000, Cap: 150_000}, 128_000, "model", "a cap never makes it larger"},
		{openclaw.WindowConfig{Cap: 50_000}, 50_000, "cap", "it holds for the default too"},
		{openclaw.WindowConfig{Configured: -1, Model: -1, Cap: -1, Default: -1}, 200_000, "default", "negative numbers mean not set"},
	} {
		tokens, source := openclaw.ResolveWindow(tt.config)
		assert.Equal(t, tt.tokens, tokens, "%+v: %s", tt.config, tt.reason)
		assert.Equal(t, tt.source, source, "%+v: %s", tt.config, tt.reason)
	}
}

// The vectors of TestConformanceSessionKey have the other forms of a key.
func TestForSession(t *testing.T) {
	n := func(n int) *int { return &n }
	limits := openclaw.HistoryLimits{
		"telegram": {DMHistoryLimit: n(20), HistoryLimit: n(50), DMs: map[string]openclaw.DMLimits{
			"123": {HistoryLimit: n(5)}, "vip": {HistoryLimit: n(0)}, "a:b": {HistoryLimit: n(7)}, "plain": {},
		}},
		"slack": {HistoryLimit: n(8)},
	}
	for _, tt := range []struct {
		key    string
		limit  int
		ok     bool
		reason string
	}{
		{"telegram:dm:plain", 20, true, "a user without a limit has the channel's"},
		{"telegram:dm:123:THREAD:42", 5, true, "in any case"},
		{"telegram:dm:VIP", 20, true, "ids are case-sensitive"},
		{"telegram:dm", 20, true, "no id"},
		{"::telegram::dm::123", 5, true, "empty segments do not count"},
		{"slack:dm:u1", 0, false, "no limit of direct messages is set"},
		{"slack:group:g1", 8, true, "one of groups is"},
		{"telegram:unknown:1", 0, false, "a kind that has no limits"},
	} {
		limit, ok := limits.ForSession(tt.key)
		assert.Equal(t, tt.ok, ok, "%q: %s", tt.key, tt.reason)
		assert.Equal(t, tt.limit, limit, "%q: %s", tt.key, tt.reason)
	}
	_, ok := openclaw.HistoryLimits(nil).ForSession("telegram:dm:1")
	assert.False(t, ok, "no limits at all")

	long := strings.Repeat("x:", 1<<20) + "y" // a million segments that were joined one by one would never end
	limits["telegram"].DMs[long] = openclaw.DMLimits{HistoryLimit: n(3)}
	limit, ok := limits.ForSession("telegram:dm:" + long + ":topic:1")
	assert.True(t, ok)
	assert.Equal(t, 3, limit, "an id of a million segments")
}

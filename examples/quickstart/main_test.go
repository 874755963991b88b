package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
	"github.com/winnowgo/winnow/internal/test/wire"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

func TestReplay(t *testing.T) {
	for _, tt := range []struct {
		name, session string
		window        int
		refused       bool
		why           string
	}{
		{"default", "english", 32_000, false, "what a newcomer runs first"},
		{"chinese", "chinese", 32_000, false, "Chinese text is twice as wide, and ids repeat"},
		{"tiny", "chinese", 500, true, "what does not fit is said"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			history, err := load(tt.session)
			require.NoError(t, err)
			var out strings.Builder
			err = replay(&out, history, tt.window)
			assert.Equal(t, tt.refused, err != nil, "%s: %v", tt.why, err)
			for line := range strings.Lines(out.String()) {
				columns := 0
				for _, r := range strings.TrimSuffix(line, "\n") {
					columns += recording.Width(r)
				}
				assert.LessOrEqual(t, columns, 100, "too wide for a terminal: %s", line)
			}
			path := filepath.Join("testdata", tt.name+".golden")
			if *update {
				require.NoError(t, os.WriteFile(path, []byte(out.String()), 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(string(want), out.String()), "is it better? then: go test ./examples/quickstart -update")
		})
	}
}

// A user's own file may be an array, and may end with a question that nobody answered.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct{ why, content, want string }{
		{"an array", `[{"role":"user","parts":[{"text":"hi"}]},{"role":"assistant","parts":[{"text":"hello"}]},{"role":"user","parts":[{"text":"bye"}]}]`, ""},
		{"a bad role: the line and the field are named", "{\"role\":\"user\",\"parts\":[]}\n{\"role\":\"usr\"}", `line 2: winnow: invalid message 1: role is "usr"`},
		{"no JSON", "hello", "line 1: syntax"},
		{"a broken gzip header", "\x1f\x8bnothing", "gzip"},
		{"an answer without a question", `{"role":"assistant","parts":[{"text":"yes"}]}`, "no request"},
	} {
		path := filepath.Join(dir, "mine")
		require.NoError(t, os.WriteFile(path, []byte(tt.content), 0o644))
		history, err := load(path)
		var out strings.Builder
		if err == nil {
			err = replay(&out, history, 32_000)
		}
		if tt.want != "" {
			assert.ErrorContains(t, err, tt.want, tt.why)
			continue
		}
		assert.NoError(t, err, tt.why)
		assert.Contains(t, out.String(), "1 requests to the model")
	}
	_, err := load(filepath.Join(dir, "nowhere"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// The recorded sessions have neutral names, and their faults.
func TestSessions(t *testing.T) {
	private := regexp.MustCompile(`(?i)/(work|tmp|root|home|users|usr|private)/|goproxy|proxy\.|registry\.|@[a-z0-9.-]+\.(com|example)`)
	for _, name := range []string{"english", "chinese"} {
		history, err := load(name)
		require.NoError(t, err)
		var text strings.Builder
		for _, m := range history {
			assert.False(t, m.Time.IsZero(), "when it was recorded")
		}
		require.NoError(t, winnow.WriteMessages(&text, history))
		assert.Empty(t, private.FindString(text.String()), name)
		assert.Error(t, wire.Rules{Blank: true}.Check(history), "%s is not valid until it is repaired", name)
	}
}

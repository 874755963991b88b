package transport_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/transport"
)

// grown returns a body of n turns that fill a small window.
func grown(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"role":"user","content":"Read %[1]d."},{"role":"assistant","content":[{"type":"tool_use","id":"c%[1]d","name":"read","input":{}}]},`+
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%[1]d","content":%[2]q}]},{"role":"assistant","content":"Done."},`, i, strings.Repeat(fmt.Sprintf("chapter %d ", i), 200))
	}
	return `{"model":"claude-opus-4-5","max_tokens":50,"messages":[` + b.String() + fmt.Sprintf(`{"role":"user","content":"Read %d."}]}`, n)
}

// A request that was answered by an error, and is sent again, is the same one: of the same conversation, with the same
// bytes, in the same file. One that was answered is perhaps another.
func TestRetries(t *testing.T) {
	for _, tt := range []struct{ status, want int }{{429, 1}, {529, 1}, {500, 1}, {200, 9}} {
		var got []string
		names := map[string]bool{}
		dir := t.TempDir()
		tr, err := transport.New(roundTrip(func(r *http.Request) (*http.Response, error) {
			b, _ := io.ReadAll(r.Body)
			status := tt.status
			if got = append(got, string(b)); len(got)%3 == 0 {
				status = http.StatusOK
			}
			return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
		}), &transport.Options{Dir: dir, Done: func(x transport.Exchange) { names[x.Conversation] = true },
			Manager: func(*http.Request, string) (int, *winnow.Options) { return 12_000, nil }})
		require.NoError(t, err)
		for turns := 10; turns < 14; turns++ {
			for range 3 {
				r, err := http.NewRequest(http.MethodPost, "http://x/v1/messages", strings.NewReader(grown(turns)))
				require.NoError(t, err)
				res, err := tr.RoundTrip(r)
				require.NoError(t, err)
				require.NoError(t, res.Body.Close())
			}
			n := len(got)
			assert.Equal(t, got[n-3], got[n-1], tt.status)
			assert.Less(t, len(got[n-1]), len(grown(turns)))
		}
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		assert.Len(t, names, tt.want, tt.status)
		assert.Len(t, files, tt.want, tt.status)
	}
}

// What does not fit is said once of a conversation, under its name, however the sizes grow.
func TestOverflowIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	var seen []transport.Exchange
	tr, err := transport.New(roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
	}), &transport.Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), Done: func(x transport.Exchange) { seen = append(seen, x) },
		Manager: func(*http.Request, string) (int, *winnow.Options) { return 12, nil }})
	require.NoError(t, err)
	for turns := range 3 {
		r, err := http.NewRequest(http.MethodPost, "http://x/v1/messages", strings.NewReader(grown(turns+1)))
		require.NoError(t, err)
		res, err := tr.RoundTrip(r)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
	}
	require.Len(t, seen, 3)
	for _, text := range []string{seen[2].Conversation, "not managed"} {
		assert.Equal(t, 1, strings.Count(log.String(), text), "%s", &log)
	}
	assert.Contains(t, seen[0].Passed, "tokens and")
}

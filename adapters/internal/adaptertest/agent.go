package adaptertest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
	"github.com/winnowgo/winnow/internal/test/provider"
	"github.com/winnowgo/winnow/session"
)

// Agent is what the loop of the README needs to call a model through an SDK.
type Agent struct {
	Codec session.Codec
	Send  Send
	List  string // the member of a request that holds the messages
	Keeps string // signed or encrypted data of the model that each later request sends back
}

// CheckAgent runs the loop of the README in three successive processes on one directory. The second is killed with open
// calls. The strict provider must refuse nothing, and each request must begin with the values of the previous one: a
// restart restores what was sent.
func CheckAgent(t *testing.T, a Agent, front ...Front) {
	t.Helper()
	options := provider.Options{Window: 200_000, Model: reader}
	p := provider.New(options)
	handler := http.Handler(p)
	for _, f := range front {
		handler = f.handler(t, handler)
	}
	var requests [][]string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		r.Body = io.NopCloser(bytes.NewReader(body))
		requests = append(requests, valuesOf(t, body, a.List))
		handler.ServeHTTP(w, r)
	}))
	defer server.Close()
	dir := t.TempDir()
	for _, steps := range []int{100, 3, 100} {
		runAgent(t, dir, a, server.URL, steps)
	}
	for i, x := range p.Exchanges() {
		assert.Nil(t, x.Error, "request %d", i)
	}
	require.Greater(t, len(requests), 12)
	for i := 1; i < len(requests); i++ {
		require.Contains(t, strings.Join(requests[i], ""), a.Keeps, "request %d", i)
		same(t, fmt.Sprintf("request %d", i), requests[i-1], requests[i][:min(len(requests[i]), len(requests[i-1]))])
	}
}

// runAgent is a process that answers one question and is killed after a given number of answers, with one of two
// results on disk.
func runAgent(t *testing.T, dir string, a Agent, url string, steps int) {
	t.Helper()
	store, err := session.OpenDirectory(dir,
		&session.Options{Codec: a.Codec, Manager: func(string) (int, *winnow.Options) {
			return 200_000, &winnow.Options{FoldAbove: 1, NoMinify: true}
		}})
	require.NoError(t, err)
	defer store.Close()
	s, err := store.Open(t.Context(), "chat")
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.Abandon(t.Context()))
	require.NoError(t, s.Append(t.Context(), session.User("Read the notes and tell me what they say.")))
	ask := func(ctx context.Context, messages []winnow.Message) (winnow.Message, error) {
		return a.Send(ctx, url, messages)
	}
	for step := range steps {
		answer, err := s.Do(t.Context(), ask)
		require.NoError(t, err)
		calls := answer.Calls()
		if len(calls) == 0 {
			return
		}
		for i, call := range calls {
			if i > 0 && step == steps-1 {
				return
			}
			require.NoError(t, s.Append(t.Context(), session.Result(call.ID, call.Name, page(step))))
		}
	}
}

// markers are those of the prompt cache, which move, in JSON.
var markers = regexp.MustCompile(
	`"cache_control":\{[^}]*\},|,"cache_control":\{[^}]*\}|,\{"cachePoint":\{[^}]*\}\}`)

// valuesOf returns the values of a list in a request, without markers.
func valuesOf(t *testing.T, body []byte, member string) []string {
	t.Helper()
	var values []any
	require.NoError(t, json.Unmarshal(jsonedit.Value(body).Get(member), &values))
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = markers.ReplaceAllString(JSON(t, v), "")
	}
	return texts
}

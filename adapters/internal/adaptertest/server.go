package adaptertest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Server answers every request with status and answer, in JSON. It returns its URL and the body of the last
// request.
func Server(t testing.TB, status int, answer string) (url string, body *map[string]any) {
	return serve[map[string]any](t, status, answer)
}

// Answers is the URL of a server that answers every request so, in JSON.
func Answers(t testing.TB, answer string) (url string) {
	t.Helper()
	url, _ = Server(t, http.StatusOK, answer)
	return url
}

func serve[T any](t testing.TB, status int, answer string) (url string, body *T) {
	t.Helper()
	body = new(T)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var sent T
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&sent), "the request is no JSON")
		*body = sent
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return server.URL, body
}

// Sent starts a server that answers every request with answer, in JSON. got returns the elements of a list in the body
// of the last request.
func Sent(t testing.TB, answer string) (url string, got func(t *testing.T, member string) []json.RawMessage) {
	t.Helper()
	url, body := serve[map[string]json.RawMessage](t, http.StatusOK, answer)
	return url, func(t *testing.T, member string) (list []json.RawMessage) {
		t.Helper()
		require.NoError(t, json.Unmarshal((*body)[member], &list))
		return list
	}
}

// Streaming starts a server that writes events, with status 200, and then ends the stream; with cut it breaks the
// connection instead.
func Streaming(t testing.TB, cut bool, events ...string) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		for _, e := range events {
			_, _ = io.WriteString(w, e)
		}
		if cut {
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// SSE is one event of a stream, whose data is given as JSON.
func SSE(name, data string) string {
	if name != "" {
		name = "event: " + name + "\n"
	}
	return name + "data: " + data + "\n\n"
}

// Event is one event of a stream.
func Event(name string, data any) []byte {
	b, err := json.Marshal(data)
	if err != nil {
		panic(err) // tests pass only encodable data
	}
	return []byte(SSE(name, string(b)))
}

// Valid makes a rule for the JSON of a list one for its values.
func Valid[T any](of func([]byte) error) func([]T) error {
	return func(values []T) error {
		b, err := json.Marshal(values)
		if err != nil {
			return err
		}
		return of(b)
	}
}

package adaptertest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Server answers every request with status and answer, in JSON. It returns its URL and the body of the last
// request.
func Server(t testing.TB, status int, answer string) (url string, body *map[string]any) {
	t.Helper()
	body = new(map[string]any)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*body = nil
		if err := json.NewDecoder(r.Body).Decode(body); err != nil {
			t.Errorf("the request is no JSON: %v", err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return server.URL, body
}

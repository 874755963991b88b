package adaptertest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/winnowtest"
)

// Case is a conversation of a host, and what a server gets for it.
type Case struct {
	Name    string
	Imports []string // concatenated JSON values; each list is imported separately
	Want    string   // the same for what the server gets; "": everything imported
	Reason  string
	Forms   string // the only form of the case, if the SDK's decoder drops what the case tests; "": all forms
}

// Form is a form in which hosts hold values. Each is made from JSON.
type Form[T any] struct {
	Name string
	Read func(raw json.RawMessage) (T, error)
}

// importsOf imports the values of a case in one form.
func importsOf[T any](t *testing.T, a winnowtest.Adapter[T], form Form[T], c Case) [][]winnow.Message {
	t.Helper()
	var imports [][]winnow.Message
	for _, list := range c.Imports {
		var values []T
		for _, raw := range split(t, list) {
			value, err := form.Read(raw)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, value)
		}
		imports = append(imports, a.Import(values))
	}
	return imports
}

// CheckCases sends each case in each form through a manager, the adapter and the SDK to a local server. send sends
// messages with the SDK's client and returns what the server got. A second request must be the same.
func CheckCases[T any](t *testing.T, a winnowtest.Adapter[T], forms []Form[T],
	send func(t *testing.T, values []T) []json.RawMessage, cases []Case) {
	t.Helper()
	for _, c := range cases {
		for _, form := range forms {
			if c.Forms != "" && c.Forms != form.Name {
				continue
			}
			t.Run(c.Name+"/"+form.Name, func(t *testing.T) {
				history := slices.Concat(importsOf(t, a, form, c)...)
				want := c.Want
				if want == "" {
					want = strings.Join(c.Imports, "")
				}
				m, err := winnow.New(200_000, nil)
				if err != nil {
					t.Fatal(err)
				}
				for range 2 {
					request, err := m.Prepare(t.Context(), history)
					if err != nil {
						t.Fatal(err)
					}
					values := a.Export(request.Messages)
					got := send(t, values)
					if g, w := canonical(t, got), canonical(t, split(t, want)); g != w {
						t.Errorf("%s:\nthe server got %s\nwant           %s", c.Reason, g, w)
					}
				}
			})
		}
	}
}

// split returns the values in a text of concatenated JSON values.
func split(t *testing.T, text string) []json.RawMessage {
	t.Helper()
	var out []json.RawMessage
	for d := json.NewDecoder(strings.NewReader(text)); d.More(); {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		out = append(out, raw)
	}
	return out
}

// canonical returns values with sorted keys.
func canonical(t *testing.T, values []json.RawMessage) string {
	t.Helper()
	var b strings.Builder
	for _, raw := range values {
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		sorted, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(sorted)
		b.WriteByte('\n')
	}
	return b.String()
}

// Sent starts a server that answers every request with answer, in JSON. got returns the elements of a list in the body
// of the last request.
func Sent(t testing.TB, answer string) (url string, got func(t *testing.T, member string) []json.RawMessage) {
	t.Helper()
	var body map[string]json.RawMessage
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body = nil
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Errorf("the request is no JSON: %v", err)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	return server.URL, func(t *testing.T, member string) []json.RawMessage {
		t.Helper()
		var list []json.RawMessage
		if err := json.Unmarshal(body[member], &list); err != nil {
			t.Fatal(err)
		}
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
			_, _ = w.Write([]byte(e))
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

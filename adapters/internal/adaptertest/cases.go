package adaptertest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
			require.NoError(t, err)
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
				require.NoError(t, err)
				for range 2 {
					request, err := m.Prepare(t.Context(), history)
					require.NoError(t, err)
					got := send(t, a.Export(request.Messages))
					assert.JSONEq(t, list(split(t, want)), list(got), c.Reason)
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

// list returns a JSON list of values.
func list(values []json.RawMessage) string {
	texts := make([]string, len(values))
	for i := range values {
		texts[i] = string(values[i])
	}
	return "[" + strings.Join(texts, ",") + "]"
}

package transport_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/anthropic"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/adapters/transport"
	"github.com/winnowgo/winnow/internal/test/provider"
)

// Recorded sessions, as a client sends them: the whole history each time. Each request is valid, and has the messages
// that a host would send which uses the library itself.
func TestRecordedSessions(t *testing.T) {
	t.Parallel()
	const window = 64_000
	requests, smaller := 0, 0
	adaptertest.EachSession(t, func(t *testing.T, history []winnow.Message) {
		strict := provider.New(provider.Options{Window: adaptertest.HugeWindow, Prefill: true})
		var sent json.RawMessage
		o := options(window, 0)
		tr, err := transport.New(roundTrip(func(r *http.Request) (*http.Response, error) {
			body := read(r)
			w, again := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/v1/messages", strings.NewReader(string(body)))
			again.Header.Set("X-Api-Key", "k")
			again.Header.Set("Anthropic-Version", "2023-06-01")
			strict.ServeHTTP(w, again)
			assert.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
			var q struct{ Messages json.RawMessage }
			require.NoError(t, json.Unmarshal(body, &q))
			sent = q.Messages
			return answer(http.StatusOK, "application/json", "{}"), nil
		}), o)
		require.NoError(t, err)
		library, err := winnow.New(window, &winnow.Options{Reserve: 8_000, Model: "m"})
		require.NoError(t, err)
		for i := range history { // the strict provider has not signed the thinking
			history[i].Parts = slices.DeleteFunc(history[i].Parts, func(p winnow.Part) bool { return p.Kind == winnow.KindThinking })
		}
		n := 0
		for i := range history {
			isAsked := i+1 == len(history) || history[i+1].Role == winnow.RoleAssistant
			if history[i].Role == winnow.RoleAssistant || history[i].Role == winnow.RoleSystem || !isAsked {
				continue
			}
			if n++; n > 40 && n%10 != 0 { // a client need not have asked each time
				continue
			}
			values := anthropic.Export(history[:i+1])
			text, err := json.Marshal(values)
			require.NoError(t, err)
			body := `{"model":"m","max_tokens":8000,"tools":[{"name":"read","input_schema":{"type":"object"}}],"messages":` + string(text) + `}`
			status, _ := post(t, tr, "/v1/messages", body)
			require.Equal(t, http.StatusOK, status)
			want, err := library.Prepare(t.Context(), anthropic.Import(values))
			require.NoError(t, err)
			wanted, err := json.Marshal(anthropic.Export(want.Messages))
			require.NoError(t, err)
			require.JSONEq(t, string(wanted), string(sent), "request %d", n)
			if requests++; len(sent) < len(text) {
				smaller++
			}
		}
	})
	t.Logf("%d requests, %d of them smaller than the client's", requests, smaller)
	assert.Positive(t, smaller)
}

package transport_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/transport"
)

func options(window int, foldAbove float64) *transport.Options {
	return &transport.Options{
		Logger: slog.New(slog.DiscardHandler),
		Manager: func(*http.Request, string) (int, *winnow.Options) {
			return window, &winnow.Options{FoldAbove: foldAbove}
		},
	}
}

func transportFor(t *testing.T, o *transport.Options) *http.Client {
	t.Helper()
	tr, err := transport.New(nil, o)
	require.NoError(t, err)
	return &http.Client{Transport: tr}
}

// turn lets an agent ask, and answers its calls.
func turn(ctx context.Context, a *agent, text, result string) error {
	_, calls, err := a.ask(ctx, text, nil)
	for err == nil && calls > 0 {
		results := make([]string, calls)
		for i := range results {
			results[i] = result
		}
		_, calls, err = a.ask(ctx, "", results)
	}
	return err
}

func page(name string, n int) string {
	return fmt.Sprintf("%s chapter %d\n", name, n) + strings.Repeat(fmt.Sprintf("line %d of %s is well.\n", n, name), 100)
}

// An agent that sends its whole history goes on for ever: with the right window nothing is refused, and with one that
// is too large what is refused is recovered from before the client sees it.
func TestConversations(t *testing.T) {
	for _, assumed := range []int{window, 3 * window} {
		for _, stream := range []bool{false, true} {
			for _, name := range []string{"anthropic", "chat", "responses", "gemini"} {
				t.Run(fmt.Sprint(name, "/", assumed, "/", stream), func(t *testing.T) {
					t.Parallel()
					s := newServer(t)
					h := httptest.NewServer(s)
					defer h.Close()
					var seen []transport.Exchange
					o := options(assumed, float64(assumed/window/3)) // with records the larger window would never be full
					o.Done = func(x transport.Exchange) { seen = append(seen, x) }
					a := clients(h.URL, transportFor(t, o))[name](stream)
					for n := range 40 {
						require.NoError(t, turn(t.Context(), a, fmt.Sprintf("Read chapter %d.", n), page("book", n)), "turn %d", n)
					}
					h.Close() // the server has noted all
					assert.Len(t, s.bodies, 80)
					assert.Equal(t, assumed > window, s.refusals > 0, "%d refusals", s.refusals)
					require.Len(t, seen, 80)
					last := seen[79]
					assert.Equal(t, seen[0].Conversation, last.Conversation, "one conversation")
					assert.Positive(t, last.Usage.Prompt())
					assert.Positive(t, last.Usage.Output)
					assert.Greater(t, last.History, window)
				})
			}
		}
	}
}

// What is not changed stays as it came, to the byte: a request below the window, and all members but the history.
func TestBytesStay(t *testing.T) {
	const short = `{ "stream":false,"messages" : [ {"role":"user","content":"hi"} ], "x-unknown": [1, 2.50, "\u00e9"],"model":"m" , "max_tokens":5}`
	var got []byte
	tr, err := transport.New(roundTrip(func(r *http.Request) (*http.Response, error) {
		got = read(r)
		return answer(200, "application/json", `{"usage":{"input_tokens":7}}`), nil
	}), options(window, 0))
	require.NoError(t, err)
	post(t, tr, "/v1/messages", short)
	assert.Equal(t, short, string(got))

	var long strings.Builder
	for n := range 60 {
		fmt.Fprintf(&long, `{"role":"user","content":"Read %d."},{"role":"assistant","content":[{"type":"tool_use","id":"c%d","name":"read","input":{"z":1,"a":2}}]},`+
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":%q}]},{"role":"assistant","content":"Done."},`, n, n, n, page("book", n))
	}
	before := `{"system":[{"type":"text","text":"S","cache_control":{"type":"ephemeral"}}] ,"messages":[`
	after := `{"role":"user","content":"go on"}], "x-unknown": [1, 2.50, "\u00e9"],"model":"m" , "max_tokens":5}`
	post(t, tr, "/v1/messages", before+long.String()+after)
	require.Less(t, len(got), 4*window)
	from := strings.Index(string(got), `"messages":[`)
	assert.Equal(t, strings.TrimSuffix(before, "["), string(got[:from])+`"messages":`)
	assert.True(t, strings.HasSuffix(string(got), after[strings.Index(after, `],`):]), "%.200s", got[len(got)-200:])
	assert.Contains(t, string(got), `{"z":1,"a":2}`, "the newest call is as it was")
}

// No request has a text of another conversation, however alike they begin and however they interleave, fork and retry.
func TestConversationsStayApart(t *testing.T) {
	for _, name := range []string{"anthropic", "chat", "gemini"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			h := httptest.NewServer(s)
			defer h.Close()
			o := options(window, 0)
			o.Conversations = 150 // fewer than there are
			c := transportFor(t, o)
			n := 200
			if testing.Short() {
				n = 40
			}
			var wait sync.WaitGroup
			for k := range n {
				wait.Go(func() {
					r := rand.New(rand.NewPCG(uint64(k), 1))
					mine := fmt.Sprintf("canary-%d", k)
					a := clients(h.URL, c)[name](k%2 == 0)
					assert.NoError(t, turn(t.Context(), a, "Hello.", "the same for all")) // equal beginnings
					assert.NoError(t, turn(t.Context(), a, "go on", "the same for all"))
					for i := range 8 {
						if r.IntN(4) == 0 { // a fork goes on a little, with a text of its own
							f := a.fork()
							assert.NoError(t, turn(t.Context(), f, "Other question", page(mine, 100+i)))
						}
						assert.NoError(t, turn(t.Context(), a, "go on", page(mine, i)))
						if r.IntN(4) == 0 { // an answered request is asked again, and both go on
							f := a.fork()
							assert.NoError(t, turn(t.Context(), f, "and then?", page(mine, 200+i)))
							assert.NoError(t, turn(t.Context(), a, "and then?", page(mine, 200+i)))
						}
					}
				})
			}
			wait.Wait()
		})
	}
}

package anthropic

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/internal/test/provider"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
)

// searcher is a model whose tools the server runs. It pauses twice in a turn, and fails after the first pause of a turn
// in which a person asks for that.
func searcher() func(*provider.Request) provider.Answer {
	answers := 0
	search := func() any {
		return map[string]any{"type": "server_tool_use", "id": fmt.Sprint("srvtoolu_", answers), "name": "web_search", "input": map[string]any{"query": "q"}}
	}
	found := func() any {
		return map[string]any{"type": "web_search_tool_result", "tool_use_id": fmt.Sprint("srvtoolu_", answers-1), "content": []any{}}
	}
	return func(r *provider.Request) provider.Answer {
		answers++
		a := provider.Answer{Thinking: []string{fmt.Sprint("thought ", answers)}, Text: fmt.Sprint("text ", answers), StopReason: "pause_turn"}
		last := r.Messages[len(r.Messages)-1]
		behind := 0 // answers behind the newest message of the user
		for i := len(r.Messages) - 1; i >= 0 && r.Messages[i].Role == "assistant"; i-- {
			behind++
		}
		asked := r.Messages[len(r.Messages)-1-behind]
		switch {
		case len(last.Results) > 0:
			a.Text, a.Served, a.StopReason = "found", []any{found()}, ""
		case strings.Contains(asked.Text, "read too"):
			a.Served, a.StopReason = []any{search()}, ""
			a.Calls = []provider.ToolCall{{Name: "read", Arguments: json.RawMessage(`{}`)}}
		case behind == 0:
			a.Served = []any{search()}
		case strings.Contains(asked.Text, "fail"):
			a = provider.Answer{Error: &provider.Error{Status: 529, Type: "overloaded_error", Message: "Overloaded"}}
		case behind == 1:
			a.Text, a.Served = "", []any{found(), search()}
		default:
			a.Text, a.Served, a.StopReason = "", []any{found()}, ""
			a.Served = append(a.Served, map[string]any{"type": "text", "text": "found"})
		}
		return a
	}
}

// TestPairsThatTheServerRuns: the strict provider accepts every request of a conversation that pauses, is interrupted,
// goes on after a restart, and is forked and rewound within a turn. Thinking is on, and its signatures are checked.
func TestPairsThatTheServerRuns(t *testing.T) {
	p := provider.New(provider.Options{Model: searcher()})
	server := httptest.NewServer(p)
	defer server.Close()
	store, err := session.OpenDirectory(t.TempDir(), &session.Options{Codec: Codec()})
	require.NoError(t, err)
	defer store.Close()
	ask := func(key, text string, call session.Call) (session.Answer, error) {
		s, err := store.Open(t.Context(), key) // each time a restart
		require.NoError(t, err)
		defer s.Close()
		require.NoError(t, s.Append(t.Context(), session.User(text)))
		for {
			answer, err := s.Do(t.Context(), call)
			if err != nil || len(answer.Calls()) == 0 {
				return answer, err
			}
			for _, c := range answer.Calls() {
				require.NoError(t, s.Append(t.Context(), session.Result(c.ID, c.Name, "the file")))
			}
		}
	}
	for name, send := range map[string]adaptertest.Send{"streamed": streamed, "whole": whole} {
		call := func(ctx context.Context, messages []winnow.Message) (winnow.Message, error) {
			return send(ctx, server.URL, messages)
		}
		t.Run(name, func(t *testing.T) {
			answer, err := ask(name, "look", call)
			require.NoError(t, err)
			assert.Len(t, answer.More, 2, "two pauses")
			assert.True(t, strings.HasSuffix(answer.Text(), "found"))
			_, err = ask(name, "look, and fail", call)
			require.ErrorContains(t, err, "Overloaded")
			_, err = ask(name, "look again", call)
			require.NoError(t, err, "the open search of the turn that failed is left out")
			_, err = ask(name, "look, and read too", call)
			require.NoError(t, err)

			// From each place in the first and the last turn.
			var entries []string
			for e, err := range store.Entries(t.Context(), name) {
				require.NoError(t, err)
				if e.Type == entry.TypeMessage {
					entries = append(entries, e.ID)
				}
			}
			for i, entry := range entries {
				fork := fmt.Sprint(name, " fork ", i)
				require.NoError(t, store.Fork(t.Context(), name, entry, fork))
				_, err := ask(fork, "look elsewhere", call)
				require.NoError(t, err, "from entry %d", i)
				s, err := store.Open(t.Context(), fork)
				require.NoError(t, err)
				require.NoError(t, s.Rewind(t.Context(), entry))
				require.NoError(t, s.Close())
				_, err = ask(fork, "look there too", call)
				require.NoError(t, err, "back at entry %d", i)
			}
		})
	}
	for i, x := range p.Exchanges() {
		if x.Error != nil && x.Status == 400 {
			t.Errorf("request %d: %v", i, x.Error)
		}
	}
}

package anthropic

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/provider"
)

// compactAbove is from how many tokens on the model of TestCompactionOnTheServer compacts.
const compactAbove = 6_000

// TestCompactionOnTheServer talks to a model that compacts on the server whenever a request is large, in the beta API:
// thinking is on, and bound to what stands before it. Requests begin at the newest compaction, and none is refused.
func TestCompactionOnTheServer(t *testing.T) {
	for _, streams := range []bool{false, true} {
		compactions := 0
		p := provider.New(provider.Options{Window: 20_000, BindThinking: true, Model: func(r *provider.Request) provider.Answer {
			a := provider.Answer{Thinking: []string{"Hm."}, Text: "I read on.", Calls: []provider.ToolCall{{Name: "read"}}}
			if r.Tokens > compactAbove {
				compactions++
				a.Compaction = fmt.Sprintf("SUMMARY %d of all so far.", compactions)
			}
			return a
		}})
		server := httptest.NewServer(p)
		client := clientOf(server.URL)
		m, err := winnow.New(20_000, &winnow.Options{Model: "claude-opus-4-6", FoldAbove: 1})
		require.NoError(t, err)
		h := ImportBeta([]sdk.BetaMessageParam{sdk.NewBetaUserMessage(sdk.NewBetaTextBlock("FIRST"))})
		for range 60 {
			r, err := m.Prepare(t.Context(), h)
			require.NoError(t, err)
			answer, err := askBeta(t.Context(), client, ExportBeta(r.Messages), streams)
			require.NoError(t, err)
			h = append(h, ResponseBeta(answer))
			for _, call := range h[len(h)-1].Parts {
				if call.Kind == winnow.KindToolCall {
					h = append(h, winnow.Message{Role: winnow.RoleTool, ToolCallID: call.ID, Parts: []winnow.Part{{Text: strings.Repeat("a line of a file\n", 60)}}})
				}
			}
		}
		assert.Greater(t, compactions, 1)
		for i, x := range p.Exchanges() {
			require.Nil(t, x.Error, "request %d", i)
			var sent struct{ Messages []json.RawMessage }
			require.NoError(t, json.Unmarshal(x.Body, &sent))
			begins := strings.Contains(string(sent.Messages[0]), `{"content":[{"content":"SUMMARY `)
			assert.Equal(t, i > 0 && strings.Contains(string(x.Body), "SUMMARY"), begins, "request %d: %.200s", i, x.Body)
			assert.LessOrEqual(t, strings.Count(string(x.Body), `"type":"compaction"`), 1)
		}
		server.Close()
	}
}

func askBeta(ctx context.Context, client *sdk.Client, messages []sdk.BetaMessageParam, streams bool) (*sdk.BetaMessage, error) {
	params := sdk.BetaMessageNewParams{
		Model: "claude-opus-4-6", MaxTokens: 2_000, Messages: messages, Betas: []sdk.AnthropicBeta{"compact-2026-01-12"},
		Tools:             []sdk.BetaToolUnionParam{{OfTool: &sdk.BetaToolParam{Name: "read"}}},
		Thinking:          sdk.BetaThinkingConfigParamUnion{OfAdaptive: &sdk.BetaThinkingConfigAdaptiveParam{}},
		ContextManagement: sdk.BetaContextManagementConfigParam{Edits: []sdk.BetaContextManagementConfigEditUnionParam{{OfCompact20260112: &sdk.BetaCompact20260112EditParam{}}}},
	}
	if !streams {
		return client.Beta.Messages.New(ctx, params)
	}
	return CollectBeta(client.Beta.Messages.NewStreaming(ctx, params), nil)
}

// TestBeginsAtCompaction: messages with a block of compaction are prepared as those from it on, and what it stands for
// is in front of it also in its own message.
func TestBeginsAtCompaction(t *testing.T) {
	answer := func(blocks ...any) any { return map[string]any{"role": "assistant", "content": blocks} }
	type block = map[string]any
	text := func(s string) block { return block{"type": "text", "text": s} }
	said := func(s string) any { return map[string]any{"role": "user", "content": []any{text(s)}} }
	call := func(id string) block { return block{"type": "tool_use", "id": id, "name": "read", "input": block{}} }
	result := func(id string) any {
		return map[string]any{"role": "user", "content": []any{block{"type": "tool_result", "tool_use_id": id, "content": []any{text(strings.Repeat("a line\n", 90))}}}}
	}
	var before []any
	for i := range 40 {
		id := fmt.Sprint("toolu_", i)
		before = append(before, said("go on"), answer(text("I look."), call(id)), result(id))
	}
	before = append(before, said("and on"))
	compacted := block{"type": "compaction", "content": "So far.", "encrypted_content": "abc"}
	thought := block{"type": "thinking", "thinking": "Hm.", "signature": "abc"}
	behind := []any{result("toolu_x"), answer(text("Found.")), said("And?")}
	for _, tt := range []struct {
		name      string
		at, begin any // the message with it, and the first that is sent
	}{
		{"at the beginning of an answer", answer(compacted, thought, text("On."), call("toolu_x")), answer(compacted, thought, text("On."), call("toolu_x"))},
		{"within an answer", answer(text("Earlier."), compacted, thought, text("On."), call("toolu_x")), answer(compacted, thought, text("On."), call("toolu_x"))},
		{"the newest of two", answer(block{"type": "compaction", "content": "Old."}, compacted, call("toolu_x")), answer(compacted, call("toolu_x"))},
		{"made on demand", answer(block{"type": "compaction", "content": "So far.", "signature": "abc"}, call("toolu_x")), answer(block{"type": "compaction", "content": "So far.", "signature": "abc"}, call("toolu_x"))},
		{"the API could not", answer(block{"type": "compaction", "content": nil}, text("On."), call("toolu_x")), nil},
	} {
		all := append(append(append([]any{}, before...), tt.at), behind...)
		want := append([]any{tt.begin}, behind...)
		if tt.begin == nil {
			want = all
		}
		for _, typed := range []bool{false, true} {
			prepared := func(messages []any) (*winnow.Request, string) {
				var list []sdk.BetaMessageParam
				for _, m := range messages {
					raw, err := json.Marshal(m)
					require.NoError(t, err)
					given := param.Override[sdk.BetaMessageParam](json.RawMessage(raw))
					if typed {
						given = sdk.BetaMessageParam{}
						require.NoError(t, json.Unmarshal(raw, &given))
					}
					list = append(list, given)
				}
				m, err := winnow.New(400_000, &winnow.Options{FoldAbove: 1})
				require.NoError(t, err)
				r, err := m.Prepare(t.Context(), ImportBeta(list))
				require.NoError(t, err)
				return r, jsonOf(t, ExportBeta(r.Messages))
			}
			got, sent := prepared(all)
			from, wanted := prepared(want)
			assert.JSONEq(t, wanted, sent, tt.name)
			assert.JSONEq(t, jsonOf(t, want), sent, tt.name)
			assert.Equal(t, []any{from.Tokens, from.Bytes, from.Counts}, []any{got.Tokens, got.Bytes, got.Counts}, tt.name)
		}
	}
}

// TestHiddenSystemMessages: system messages that the API does not show are sent as they came and do not count, and none
// stands in front of a block of compaction with which a request begins.
func TestHiddenSystemMessages(t *testing.T) {
	cleared := `{"role":"system","clear_at":"next_user_message","content":[{"type":"text","text":"` + strings.Repeat("CLEARED ", 500) + `"}]}`
	added := `{"role":"system","content":[{"type":"tool_addition","tool":{"type":"tool_reference","name":"read"}}]}`
	before := []string{`{"role":"user","content":"q"}`, cleared, `{"role":"assistant","content":[{"type":"text","text":"a"}]}`, `{"role":"user","content":"And?"}`, added}
	compacted := []string{`{"role":"assistant","content":[{"type":"compaction","content":"So far."},{"type":"text","text":"On."}]}`, `{"role":"user","content":"Go on."}`}
	read := func(list ...string) (messages []sdk.BetaMessageParam) {
		for _, m := range list {
			messages = append(messages, param.Override[sdk.BetaMessageParam](json.RawMessage(m)))
		}
		return messages
	}
	for _, tt := range []struct {
		name       string
		list, want []string
	}{
		{"cleared", before, before},
		{"shown until the user goes on", before[:2], before[:2]},
		{"behind a compaction", append(before, compacted...), compacted},
	} {
		m, err := winnow.New(2_500, &winnow.Options{Reserve: 500})
		require.NoError(t, err)
		history := ImportBeta(read(tt.list...))
		assert.Equal(t, "["+strings.Join(tt.list, ",")+"]", jsonOf(t, ExportBeta(history)))
		r, err := m.Prepare(t.Context(), history)
		require.NoError(t, err)
		assert.Equal(t, "["+strings.Join(tt.want, ",")+"]", jsonOf(t, ExportBeta(r.Messages)), tt.name)
		assert.Equal(t, tt.name == "shown until the user goes on", r.Tokens > 800, "%s: %d tokens", tt.name, r.Tokens)
	}
}

package transport_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/adapters/transport"
)

// recalling is a model that recalls chapter 1 as often as it is asked to, and beside another tool if it is asked to.
func recalling(said string, isResult bool) (text string, calls []string) {
	asked := regexp.MustCompile(`Recall it (\d+) times`).FindAllStringSubmatchIndex(said, -1)
	if len(asked) == 0 {
		return answerTo(said, isResult)
	}
	last := asked[len(asked)-1]
	since, times := said[last[0]:], said[last[2]:last[3]]
	n := strings.Count(since, "Quoted from earlier in this conversation")
	switch {
	case isResult && strings.Contains(since, "a new page"):
		return "I read the new page.", nil
	case fmt.Sprint(n) < times && strings.Contains(since, "and read"):
		return "I do both.", []string{"recall", "read"}
	case fmt.Sprint(n) < times:
		return fmt.Sprintf("I look, %d.", n), []string{"recall"}
	}
	return fmt.Sprintf("Found after %d: %t.", n, strings.Contains(since, "line 1 of book is well")), nil
}

// The model recalls, and its client sees one answer: it never gets a call of a tool that it does not have.
func TestRecall(t *testing.T) {
	for _, stream := range []bool{false, true} {
		for _, name := range []string{"anthropic", "anthropic thinking", "chat", "responses", "gemini"} {
			t.Run(fmt.Sprint(name, "/", stream), func(t *testing.T) {
				t.Parallel()
				s := newServer(t)
				s.model = recalling
				h := httptest.NewServer(s)
				defer h.Close()
				var seen []transport.Exchange
				o := options(window, 0)
				o.Recall, o.Dir = true, t.TempDir()
				o.Done = func(x transport.Exchange) { seen = append(seen, x) }
				a := clients(h.URL, transportFor(t, o))[name](stream)
				for n := range 20 {
					require.NoError(t, turn(t.Context(), a, fmt.Sprintf("Read chapter %d.", n), page("book", n)), "turn %d", n)
				}
				for _, times := range []int{1, 3} {
					answer, calls, err := a.ask(t.Context(), fmt.Sprintf("Recall it %d times.", times), nil)
					require.NoError(t, err)
					assert.Zero(t, calls)
					want := ""
					for i := range times {
						want += fmt.Sprintf("I look, %d.", i)
					}
					assert.Equal(t, want+fmt.Sprintf("Found after %d: true.", times), answer)
					assert.Equal(t, times, seen[len(seen)-1].Recalls)
				}
				answer, calls, err := a.ask(t.Context(), "Recall it 9 times.", nil)
				require.NoError(t, err, "after six answers the tool is not offered any more, and this model calls it all the same")
				require.Equal(t, 1, calls, "the client answers it as any tool that it does not know")
				assert.NotContains(t, answer, "Found")
				_, _, err = a.ask(t.Context(), "", []string{"there is no such tool, but a new page"})
				require.NoError(t, err)

				answer, calls, err = a.ask(t.Context(), "Recall it 1 times, and read.", nil)
				require.NoError(t, err)
				assert.Equal(t, 1, calls, "the client answers its own call alone")
				assert.Equal(t, "I do both.", answer)
				_, _, err = a.ask(t.Context(), "", []string{"a new page"})
				require.NoError(t, err)
				for n := range 20 {
					require.NoError(t, turn(t.Context(), a, fmt.Sprintf("Read chapter %d.", n), page("book", n)), "turn %d", n)
				}
				names := map[string]bool{}
				for _, x := range seen {
					names[x.Conversation] = true
				}
				assert.Len(t, names, 1, "one conversation")
				assert.Zero(t, s.refusals)
				assert.Equal(t, strings.HasSuffix(name, "thinking"), strings.Contains(string(s.bodies[len(s.bodies)-1]), `"Hm."`))
			})
		}
	}
}

// The tool is offered behind the client's own, to models that have tools, and every other byte stays.
func TestRecallIsOffered(t *testing.T) {
	const mine = `,{"name":"read","input_schema":{"type":"object"}}`
	for _, tt := range []struct {
		path, before, after string
		want                int
		reason              string
	}{
		{"/v1/messages", `{"tools":[` + mine[1:], `],"messages":[{"role":"user","content":"hi"}]}`, 1, "in front of the history"},
		{"/v1/messages", `{"messages":[{"role":"user","content":"hi"}], "tools":[` + mine[1:], ` ], "x":1}`, 1, "behind it"},
		{"/v1/messages", `{"messages":[{"role":"user","content":"hi"}], "tools":[`, `]}`, 0, "no tools"},
		{"/v1/messages", `{"messages":[{"role":"user","content":"hi"}]`, `}`, 0, "no tools at all"},
		{"/v1/messages", `{"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"recall"}`, `]}`, 0, "the client has its own"},
		{"/v1/chat/completions", `{"n":2,"tools":[{"type":"function","function":{"name":"read"}}`, `],"messages":[{"role":"user","content":"hi"}]}`, 0, "two answers"},
		{"/v1/chat/completions", `{"tools":[{"type":"function","function":{"name":"read"}}`, `],"messages":[{"role":"user","content":"hi"}]}`, 1, ""},
		{"/v1/responses", `{"tools":[{"type":"function","name":"read"}`, `],"input":[{"role":"user","content":"hi"}]}`, 1, ""},
		{"/v1beta/models/m:generateContent", `{"tools":[{"googleSearch":{}},{"functionDeclarations":[{"name":"read"}`, `]}],"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`, 1, "among the functions"},
		{"/v1beta/models/m:generateContent", `{"tools":[{"googleSearch":{}}`, `],"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`, 0, "no functions"},
		{"/v1beta/models/m:streamGenerateContent", `{"tools":[{"functionDeclarations":[{"name":"read"}`, `]}],"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`, 0, "no events"},
		{"/v1beta/models/m:streamGenerateContent?alt=sse", `{"tools":[{"functionDeclarations":[{"name":"read"}`, `]}],"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`, 1, ""},
	} {
		var got string
		o := options(window, 0)
		o.Recall = true
		tr, err := transport.New(roundTrip(func(r *http.Request) (*http.Response, error) {
			got = string(read(r))
			return answer(200, "application/json", "{}"), nil
		}), o)
		require.NoError(t, err)
		_, body := post(t, tr, tt.path, tt.before+tt.after)
		assert.Equal(t, "{}", body)
		assert.True(t, strings.HasPrefix(got, tt.before) && strings.HasSuffix(got, tt.after), got)
		added := got[len(tt.before) : len(got)-len(tt.after)]
		assert.Equal(t, tt.want, strings.Count(added, `"name":"recall"`), "%s: %s", tt.reason, added)
		if tt.want > 0 {
			assert.True(t, strings.HasPrefix(added, ",{"), added)
		}
	}
}

// stream is a stream of events, one a line.
func stream(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		if name, data, ok := strings.Cut(e, " {"); ok && name != "" {
			fmt.Fprintf(&b, "event: %s\n", name)
			e = "{" + data
		}
		fmt.Fprintf(&b, "data: %s\n\n", e)
	}
	return b.String()
}

// What streams become, event by event.
func TestRecallStreams(t *testing.T) {
	const (
		messages  = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"read","input_schema":{}}]}`
		chat      = `{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"read"}}]}`
		response  = `{"model":"m","input":[{"role":"user","content":"hi"}],"tools":[{"type":"function","name":"read"}]}`
		gemini    = `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"tools":[{"functionDeclarations":[{"name":"read"}]}]}`
		toMessage = "/v1/messages"
		toChat    = "/v1/chat/completions"
		toItems   = "/v1/responses"
		toGemini  = "/v1beta/models/m:streamGenerateContent?alt=sse"

		thought = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e"}`
		recall  = `{"type":"function_call","id":"fc_1","call_id":"c1","name":"recall","arguments":"{\"words\":\"x\"}"}`
		item    = `{"type":"message","id":"m_1","role":"assistant","content":[{"type":"output_text","text":"So."}]}`
		call    = `{"type":"function_call","id":"fc_2","call_id":"c2","name":"read","arguments":"{}"}`

		refused = `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`
	)
	added := func(number, at int, item string) string {
		return fmt.Sprintf(`response.output_item.added {"type":"response.output_item.added","sequence_number":%d,"output_index":%d,"item":%s}`, number, at, item)
	}
	completed := func(number int, items ...string) string {
		return fmt.Sprintf(`response.completed {"type":"response.completed","sequence_number":%d,"response":{"id":"r","status":"completed","output":[%s]}}`,
			number, strings.Join(items, ","))
	}
	const begun = `response.created {"type":"response.created","sequence_number":0,"response":{"id":"r"}}`
	block := func(at int, block string) string {
		return fmt.Sprintf(`content_block_start {"type":"content_block_start","index":%d,"content_block":%s}`, at, block)
	}
	const (
		opened  = `message_start {"type":"message_start","message":{"id":"m","role":"assistant","content":[],"usage":{"input_tokens":5,"output_tokens":1}}}`
		closed  = `message_delta {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7}}`
		ended   = `message_delta {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}`
		limited = `message_delta {"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":9}}`
		stop    = `message_stop {"type":"message_stop"}`
		use     = `{"type":"tool_use","id":"t1","name":"recall","input":{}}`
		useRead = `{"type":"tool_use","id":"t2","name":"read","input":{}}`
		think   = `{"type":"thinking","thinking":"hm","signature":"s"}`
		say     = `{"type":"text","text":"So."}`
	)
	halt := func(at int) string {
		return fmt.Sprintf(`content_block_stop {"type":"content_block_stop","index":%d}`, at)
	}
	chunk := func(id, delta, reason string) string {
		return fmt.Sprintf(`{"id":%q,"choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`, id, delta, reason)
	}
	const usage = `{"id":"a","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2}}`
	part := func(parts, reason string) string {
		return `{"candidates":[{"content":{"role":"model","parts":[` + parts + `]}` + reason + `}]}`
	}
	const finish = `,"finishReason":"STOP"`
	const recallPart = `{"functionCall":{"name":"recall","args":{"words":"x"}},"thoughtSignature":"cw=="}`

	for _, tt := range []struct {
		reason     string
		path, body string
		streams    []string
		want       string
	}{
		{"a call alone, with its thought; the numbers go on", toItems, response, []string{
			stream(begun, added(1, 0, thought), added(2, 1, recall), completed(3, thought, recall)),
			stream(begun, added(1, 0, strings.Replace(thought, "rs_1", "rs_2", 1)), added(2, 1, item), completed(3, strings.Replace(thought, "rs_1", "rs_2", 1), item)),
		}, stream(begun, added(1, 0, strings.Replace(thought, "rs_1", "rs_2", 1)), added(2, 1, item), completed(3, strings.Replace(thought, "rs_1", "rs_2", 1), item))},
		{"a call behind a text", toItems, response, []string{
			stream(begun, added(1, 0, item), added(2, 1, recall), completed(3, item, recall)),
			stream(begun, added(1, 0, call), completed(2, call)),
		}, stream(begun, added(1, 0, item), added(2, 1, call), completed(3, item, call))},
		{"beside a call of the client's", toItems, response, []string{
			stream(begun, added(1, 0, recall), added(2, 1, call), completed(3, recall, call)),
		}, stream(begun, added(1, 0, call), completed(2, call))},
		{"nothing to do", toItems, response, []string{
			stream(begun, added(1, 0, thought), added(2, 1, item), completed(3, thought, item)),
		}, stream(begun, added(1, 0, thought), added(2, 1, item), completed(3, thought, item))},

		{"the first thought stays, a later one may not stand behind a text", toMessage, messages, []string{
			stream(opened, block(0, think), halt(0), block(1, say), halt(1), block(2, use), halt(2), closed, stop),
			stream(opened, block(0, think), halt(0), block(1, say), halt(1), ended, stop),
		}, stream(opened, block(0, think), halt(0), block(1, say), halt(1), block(2, say), halt(2), ended, stop)},
		{"beside a call of the client's", toMessage, messages, []string{
			stream(opened, block(0, use), halt(0), block(1, useRead), halt(1), closed, stop),
		}, stream(opened, block(0, useRead), halt(0), closed, stop)},
		{"a call that was cut", toMessage, messages, []string{
			stream(opened, block(0, say), halt(0), block(1, use), limited, stop),
		}, stream(opened, block(0, say), halt(0), limited, stop)},
		{"a refusal comes as an event", toMessage, messages, []string{
			stream(opened, block(0, say), halt(0), block(1, use), halt(1), closed, stop), refused,
		}, stream(opened, block(0, say), halt(0), "error "+refused)},

		{"numbers and ids are those of one answer", toChat, chat, []string{
			stream(chunk("a", `{"role":"assistant","content":"Hm."}`, "null"),
				chunk("a", `{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"recall","arguments":""}}]}`, "null"),
				chunk("a", `{"tool_calls":[{"index":0,"function":{"arguments":"{\"words\":\"x\"}"}}]}`, "null"),
				chunk("a", `{}`, `"tool_calls"`), usage, "[DONE]"),
			stream(chunk("b", `{"role":"assistant","content":"So."}`, "null"),
				chunk("b", `{"tool_calls":[{"index":0,"id":"c2","type":"function","function":{"name":"read","arguments":"{}"}}]}`, "null"),
				chunk("b", `{}`, `"tool_calls"`), usage, "[DONE]"),
		}, stream(chunk("a", `{"role":"assistant","content":"Hm."}`, "null"), chunk("a", `{"content":"So."}`, "null"),
			chunk("a", `{"tool_calls":[{"index":0,"id":"c2","type":"function","function":{"name":"read","arguments":"{}"}}]}`, "null"),
			chunk("a", `{}`, `"tool_calls"`), usage, "[DONE]")},
		{"all in one chunk", toChat, chat, []string{
			stream(chunk("a", `{"content":"Hm.","tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"recall","arguments":"{}"}}]}`, `"tool_calls"`), "[DONE]"),
			stream(chunk("b", `{"content":"So."}`, `"stop"`), "[DONE]"),
		}, stream(chunk("a", `{"content":"Hm."}`, "null"), chunk("a", `{"content":"So."}`, `"stop"`), "[DONE]")},
		{"beside a call of the client's", toChat, chat, []string{
			stream(chunk("a", `{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"recall","arguments":"{}"}}]}`, "null"),
				chunk("a", `{"tool_calls":[{"index":1,"id":"c2","type":"function","function":{"name":"read","arguments":"{}"}}]}`, "null"),
				chunk("a", `{}`, `"tool_calls"`), "[DONE]"),
		}, stream(chunk("a", `{"tool_calls":[{"index":0,"id":"c2","type":"function","function":{"name":"read","arguments":"{}"}}]}`, "null"),
			chunk("a", `{}`, `"tool_calls"`), "[DONE]")},

		{"a part among others", toGemini, gemini, []string{
			stream(part(`{"text":"Hm."}`, ""), part(`{"text":"I look."},`+recallPart, finish)),
			stream(part(`{"text":"So."}`, finish)),
		}, stream(part(`{"text":"Hm."}`, ""), part(`{"text":"I look."}`, ""), part(`{"text":"So."}`, finish))},
		{"beside a call of the client's", toGemini, gemini, []string{
			stream(part(recallPart, ""), part(`{"functionCall":{"name":"read","args":{}}}`, ""), part("", finish)),
		}, stream(part(`{"functionCall":{"name":"read","args":{}}}`, ""), part("", finish))},
	} {
		n := 0
		o := options(window, 0)
		o.Recall = true
		tr, err := transport.New(roundTrip(func(r *http.Request) (*http.Response, error) {
			n++
			if text := tt.streams[n-1]; text != refused {
				return answer(200, "text/event-stream", text), nil
			}
			return answer(529, "application/json", refused), nil
		}), o)
		require.NoError(t, err)
		_, got := post(t, tr, tt.path, tt.body)
		assert.Equal(t, tt.want, got, "%s: %s", tt.path, tt.reason)
		assert.Equal(t, len(tt.streams), n, "%s: %s", tt.path, tt.reason)
	}
}

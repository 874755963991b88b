package transport_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/adapters/transport"
)

const (
	oddMessages = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"read","input_schema":{}}]}`
	oddChat     = `{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"read"}}]}`
	oddItems    = `{"model":"m","input":[{"role":"user","content":"hi"}],"tools":[{"type":"function","name":"read"}]}`
	oddGemini   = `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"tools":[{"functionDeclarations":[{"name":"read"}]}]}`
	geminiPath  = "/v1beta/models/m:streamGenerateContent?alt=sse"
)

// spliced returns what the client gets of streams, and the bodies that the provider got.
func spliced(t *testing.T, path, body string, streams ...string) (got string, sent []string) {
	t.Helper()
	o := options(window, 0)
	o.Recall = true
	tr, err := transport.New(roundTrip(func(r *http.Request) (*http.Response, error) {
		sent = append(sent, string(read(r)))
		if len(sent) > len(streams) {
			return answer(500, "text/plain", "one request too many"), nil
		}
		kind := "text/event-stream"
		if strings.HasPrefix(streams[len(sent)-1], "{") {
			kind = "application/json"
		}
		return answer(200, kind, streams[len(sent)-1]), nil
	}), o)
	require.NoError(t, err)
	_, got = post(t, tr, path, body)
	return got, sent
}

func oddChunk(delta, reason string) string {
	return `{"id":"a","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + reason + `}]}`
}

func oddCall(index, id, name, arguments string) string {
	return `{"tool_calls":[{"index":` + index + `,"id":"` + id + `","type":"function","function":{"name":"` + name + `","arguments":"` + arguments + `"}}]}`
}

// Without a call of the tool every byte passes, whatever else the stream has.
func TestRecallLeavesStreams(t *testing.T) {
	for _, tt := range []struct{ reason, path, body, text string }{
		{"line ends of two bytes, comments, ids, data in several lines", "/v1/messages", oddMessages,
			": hello\r\n\r\nid: 7\r\nretry: 10\r\nevent: message_start\r\ndata: {\"type\":\r\ndata: \"message_start\",\"message\":{\"id\":\"m\",\"content\":[]}}\r\n\r\n" +
				"event: ping\r\ndata: {\"type\": \"ping\"}\r\n\r\n: x\r\n\r\nevent: message_stop\r\ndata: {\"type\":\"message_stop\"}\r\n\r\n"},
		{"an id for each chunk", "/v1/chat/completions", oddChat,
			stream(`{"id":"a","choices":[{"index":0,"delta":{"content":"x"}}]}`, `{"id":"b","choices":[{"index":0,"delta":{"content":"y"}, "finish_reason":"stop"}]}`, "[DONE]")},
		{"Azure", "/v1/chat/completions", oddChat,
			stream(`{"choices":[],"id":"","prompt_filter_results":[]}`, `{"id":"b","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`,
				`{"id":"b","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `{"id":"","choices":[{"index":0,"finish_reason":null,"content_filter_offsets":{}}]}`, "[DONE]")},
		{"numbers that begin at one, with a gap", "/v1/responses", oddItems,
			stream(`response.created {"type":"response.created","sequence_number":1,"response":{"id":"r"}}`,
				`response.output_item.added {"type":"response.output_item.added","sequence_number":4,"output_index":1,"item":{"type":"message","id":"m","content":[]}}`,
				`response.output_text.delta {"type":"response.output_text.delta","sequence_number":5,"item_id":"m","output_index":1,"content_index":0,"delta":"x"}`,
				`response.completed {"type":"response.completed","sequence_number":9,"response":{"id":"r","status":"completed","output":[]}}`)},
		{"reasoning with a summary", "/v1/responses", oddItems,
			stream(`response.created {"type":"response.created","sequence_number":0,"response":{"id":"r"}}`,
				`response.output_item.added {"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"type":"reasoning","id":"r1","summary":[]}}`,
				`response.reasoning_summary_part.added {"type":"response.reasoning_summary_part.added","sequence_number":2,"item_id":"r1","output_index":0,"summary_index":0}`,
				`response.output_item.done {"type":"response.output_item.done","sequence_number":3,"output_index":0,"item":{"type":"reasoning","id":"r1","summary":[]}}`,
				`response.incomplete {"type":"response.incomplete","sequence_number":4,"response":{"id":"r","status":"incomplete","output":[{"type":"reasoning","id":"r1","summary":[]}]}}`)},
		{"no JSON", "/v1/chat/completions", oddChat, "data: {\"choices\"[{\"delta\"{\"tool_calls\"[{\"name\"\"recall\"\n\ndata:{\"choices\"[{\"finish_reason\"\"tool_calls\"\n\n"},
		{"broken off in a thought", "/v1/responses", oddItems,
			stream(`response.output_item.added {"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"type":"reasoning","id":"r1","summary":[]}}`) + "event: resp"},
	} {
		got, sent := spliced(t, tt.path, tt.body, tt.text)
		assert.Equal(t, tt.text, got, tt.reason)
		assert.Len(t, sent, 1, tt.reason)
	}
}

// What stands between the pieces of a call, and behind the end of an answer, does not lose any of it.
func TestRecallInOddStreams(t *testing.T) {
	const (
		finish = `{"id":"a","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
		usage  = `{"id":"a","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2}}`
		more   = `{"id":"a","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"s\":\"x\"}"}}]},"finish_reason":null}]}`
	)
	said := stream(oddChunk(`{"content":"So."}`, "null"), oddChunk(`{}`, `"stop"`), "[DONE]")
	begun := stream(oddChunk(oddCall("0", "c1", "recall", `{\"word`), "null"))

	t.Run("a comment in the middle of a call", func(t *testing.T) {
		got, sent := spliced(t, "/v1/chat/completions", oddChat, begun+": ping\n\n"+stream(more, finish, usage, "[DONE]"), said)
		assert.Equal(t, ": ping\n\n"+said, got)
		require.Len(t, sent, 2)
		assert.Contains(t, sent[1], `"{\"words\":\"x\"}"`)
	})
	t.Run("usage in the middle of a call, and another call behind it", func(t *testing.T) {
		got, sent := spliced(t, "/v1/chat/completions", oddChat, begun+stream(usage, more, oddChunk(oddCall("1", "c2", "read", `{}`), "null"), finish, "[DONE]"))
		assert.Equal(t, stream(usage, oddChunk(oddCall("0", "c2", "read", `{}`), "null"), finish, "[DONE]"), got)
		assert.Len(t, sent, 1)
	})
	t.Run("an error in the middle of a call", func(t *testing.T) {
		const failed = `{"error":{"message":"Overloaded"}}`
		got, sent := spliced(t, "/v1/chat/completions", oddChat, begun+stream(failed))
		assert.Equal(t, stream(failed), got)
		assert.Len(t, sent, 1)
	})
	t.Run("calls that all have the number 0, as Gemini writes them", func(t *testing.T) {
		got, sent := spliced(t, "/v1/chat/completions", oddChat, stream(oddChunk(oddCall("0", "c1", "recall", `{}`), "null"), oddChunk(oddCall("0", "c2", "read", `{}`), "null"), finish, "[DONE]"))
		assert.Equal(t, stream(oddChunk(oddCall("0", "c2", "read", `{}`), "null"), finish, "[DONE]"), got)
		assert.Len(t, sent, 1)
	})
	t.Run("interleaved", func(t *testing.T) {
		got, sent := spliced(t, "/v1/chat/completions", oddChat, stream(oddChunk(oddCall("0", "c1", "read", `{`), "null"), oddChunk(oddCall("1", "c2", "recall", `{`), "null"),
			oddChunk(`{"tool_calls":[{"index":0,"function":{"arguments":"}"}},{"index":1,"function":{"arguments":"}"}}]}`, "null"), finish, "[DONE]"))
		assert.Equal(t, stream(oddChunk(oddCall("0", "c1", "read", `{`), "null"), oddChunk(`{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}`, "null"), finish, "[DONE]"), got)
		assert.Len(t, sent, 1)
	})
	for _, reason := range []string{"content_filter", "length"} {
		t.Run(reason, func(t *testing.T) {
			end := stream(oddChunk(`{}`, `"`+reason+`"`), "[DONE]")
			got, sent := spliced(t, "/v1/chat/completions", oddChat, begun+end)
			assert.Equal(t, end, got)
			assert.Len(t, sent, 1)
		})
	}
}

// Anthropic's other ends and blocks.
func TestRecallInOddMessages(t *testing.T) {
	const (
		opened = `message_start {"type":"message_start","message":{"id":"m","role":"assistant","content":[]}}`
		use    = `content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"recall","input":{}}}`
		halt   = `content_block_stop {"type":"content_block_stop","index":0}`
		stop   = `message_stop {"type":"message_stop"}`
		text   = `content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"So."}}`
	)
	ended := func(reason string) string {
		return `message_delta {"type":"message_delta","delta":{"stop_reason":"` + reason + `"},"usage":{"output_tokens":7}}`
	}
	for _, reason := range []string{"refusal", "pause_turn", "max_tokens", "model_context_window_exceeded"} {
		t.Run(reason, func(t *testing.T) {
			got, sent := spliced(t, "/v1/messages", oddMessages, stream(opened, use, halt, ended(reason), stop))
			assert.Equal(t, stream(opened, ended(reason), stop), got)
			assert.Len(t, sent, 1)
			got, sent = spliced(t, "/v1/messages", oddMessages, `{"content":[{"type":"tool_use","id":"t1","name":"recall","input":{}}],"stop_reason":"`+reason+`"}`)
			assert.Equal(t, `{"content":[],"stop_reason":"`+reason+`"}`, got)
			assert.Len(t, sent, 1)
		})
	}
	t.Run("a last line as of OpenAI", func(t *testing.T) {
		got, _ := spliced(t, "/v1/messages", oddMessages, stream(opened, use, halt, ended("tool_use"), stop, "[DONE]"), stream(opened, text, halt, ended("end_turn"), stop, "[DONE]"))
		assert.Equal(t, stream(opened, text, halt, ended("end_turn"), stop, "[DONE]"), got)
	})
	t.Run("arguments that are no JSON", func(t *testing.T) {
		got, sent := spliced(t, "/v1/messages", oddMessages, stream(opened, use,
			`content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"words\":"}}`, halt, ended("tool_use"), stop),
			stream(opened, text, halt, ended("end_turn"), stop))
		assert.Equal(t, stream(opened, text, halt, ended("end_turn"), stop), got)
		require.Len(t, sent, 2)
		assert.Contains(t, sent[1], `"tool_use_id":"t1"`)
	})
	t.Run("a search and citations", func(t *testing.T) {
		const (
			search = `{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}`
			found  = `{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"type":"web_search_result","url":"u","title":"t","encrypted_content":"e","page_age":null}]}`
			cite   = `{"type":"web_search_result_location","url":"u","title":"t","encrypted_index":"i","cited_text":"c"}`
			news   = `{"type":"new_block","data":{"a":1}}`
		)
		at := func(i, block string) string {
			return `content_block_start {"type":"content_block_start","index":` + i + `,"content_block":` + block + `}`
		}
		got, sent := spliced(t, "/v1/messages", oddMessages, stream(opened, at("0", search), at("1", found), at("2", news), at("3", `{"type":"text","text":""}`),
			`content_block_delta {"type":"content_block_delta","index":3,"delta":{"type":"citations_delta","citation":`+cite+`}}`,
			`content_block_delta {"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"It is."}}`,
			strings.Replace(use, `"index":0`, `"index":4`, 1), strings.Replace(halt, "0", "4", 1), ended("tool_use"), stop),
			stream(opened, text, halt, ended("end_turn"), stop))
		require.Len(t, sent, 2)
		for _, want := range []string{`"encrypted_content":"e"`, `"encrypted_index":"i"`, news, `"id":"s1"`, "It is."} {
			assert.Contains(t, sent[1], want)
		}
		assert.Contains(t, got, strings.TrimPrefix(strings.Replace(text, `"index":0`, `"index":4`, 1), "content_block_start "))
	})
}

// Reasoning stays with the calls and texts of its answer that the client gets: without it OpenAI refuses them.
func TestRecallInOddItems(t *testing.T) {
	const (
		thought = `{"type":"reasoning","id":"rs_1","summary":[]}`
		recall  = `{"type":"function_call","id":"fc_1","call_id":"c1","name":"recall","arguments":"{}"}`
		call    = `{"type":"function_call","id":"fc_2","call_id":"c2","name":"read","arguments":"{}"}`
		message = `{"type":"message","id":"m_1","role":"assistant","content":[{"type":"output_text","text":"So."}]}`
	)
	added := func(at, item string) string {
		return `response.output_item.added {"type":"response.output_item.added","output_index":` + at + `,"item":` + item + `}`
	}
	end := func(kind, items string) string {
		return `response.` + kind + ` {"type":"response.` + kind + `","response":{"id":"r","status":"` + kind + `","output":[` + items + `]}}`
	}
	t.Run("beside a call of the client's", func(t *testing.T) {
		want := thought + "," + call
		got, _ := spliced(t, "/v1/responses", oddItems, stream(added("0", thought), added("1", recall), added("2", call), end("completed", thought+","+recall+","+call)))
		assert.Equal(t, stream(added("0", thought), added("1", call), end("completed", want)), got)
		got, _ = spliced(t, "/v1/responses", oddItems, `{"status":"completed","output":[`+thought+","+recall+","+call+`]}`)
		assert.Equal(t, `{"status":"completed","output":[`+want+`]}`, got)
	})
	t.Run("the end lists nothing", func(t *testing.T) {
		done := strings.ReplaceAll(added("0", recall), "item.added", "item.done")
		got, sent := spliced(t, "/v1/responses", oddItems, stream(added("0", recall), done, end("completed", "")), stream(added("0", message), end("completed", "")))
		assert.Len(t, sent, 2)
		assert.Equal(t, stream(added("0", message), end("completed", "")), got)
	})
	t.Run("failed", func(t *testing.T) {
		got, sent := spliced(t, "/v1/responses", oddItems, stream(added("0", recall), end("failed", recall)))
		assert.Len(t, sent, 1)
		assert.Equal(t, stream(end("failed", "")), got)
	})
	t.Run("a last line", func(t *testing.T) {
		got, _ := spliced(t, "/v1/responses", oddItems, stream(added("0", recall), end("completed", recall), "[DONE]"), stream(added("0", message), end("completed", message), "[DONE]"))
		assert.Equal(t, stream(added("0", message), end("completed", message), "[DONE]"), got)
	})
	t.Run("in the background", func(t *testing.T) {
		_, sent := spliced(t, "/v1/responses", `{"background":true,`+oddItems[1:], `{"status":"queued","output":[]}`)
		assert.NotContains(t, sent[0], "recall", "its answer is fetched later")
	})
}

// Gemini's empty parts and arguments.
func TestRecallInOddContents(t *testing.T) {
	part := func(parts, reason string) string {
		return `{"candidates":[{"content":{"role":"model","parts":[` + parts + `]}` + reason + `}]}`
	}
	const finish = `,"finishReason":"STOP"`
	const recall = `{"functionCall":{"name":"recall","args":{}}}`
	said := stream(part(`{"text":"So."}`, finish))
	for _, tt := range []struct{ reason, first string }{
		{"an empty text behind the call", stream(part(recall, ""), part(`{"text":""}`, finish))},
		{"no parts behind the call", stream(part(recall, ""), `{"candidates":[{"finishReason":"STOP"}]}`)},
		{"two calls in one", stream(part(recall+","+recall, finish))},
		{"members that the SDK does not know", stream(part(`{"functionCall":{"name":"recall","args":{"words":"x"},"new":1}}`, finish))},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			got, sent := spliced(t, geminiPath, oddGemini, tt.first, said)
			assert.Len(t, sent, 2)
			assert.True(t, strings.HasSuffix(got, said), got)
			assert.NotContains(t, got, "recall")
		})
	}
	t.Run("a client's call without arguments", func(t *testing.T) {
		body := `{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"name":"read","args":{}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"x"}}}]}],"tools":[{"functionDeclarations":[{"name":"read"}]}]}`
		_, sent := spliced(t, geminiPath, body, said)
		assert.Contains(t, sent[0], `"recall"`)
	})
}

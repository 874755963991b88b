package openai

import (
	"encoding/json"
	"fmt"
	"slices"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Check returns an error if a server sent one with status 200, which the SDK takes for an answer without choices. Put
// it around the call: return adapter.Check(client.Chat.Completions.New(ctx, params)).
func Check(answer *sdk.ChatCompletion, err error) (*sdk.ChatCompletion, error) {
	if err != nil || answer == nil || len(answer.Choices) > 0 {
		return answer, err
	}
	if err := adapter.ErrorIn("openai", answer.RawJSON()); err != nil {
		return nil, err
	}
	return answer, nil
}

// Collect reads a stream to its end and returns the answer, for [Response]. Unlike the SDK's accumulator it keeps
// members that the SDK does not know, such as reasoning and thought signatures. It returns the stream's error, an error
// that a server sends in place of a chunk, or io.ErrUnexpectedEOF if the stream ends before the answer does. It first
// passes each chunk to seen, which may be nil.
func Collect(stream *ssestream.Stream[sdk.ChatCompletionChunk],
	seen func(sdk.ChatCompletionChunk)) (*sdk.ChatCompletion, error) {
	defer stream.Close()
	var c collector
	for stream.Next() {
		chunk := stream.Current()
		if len(chunk.Choices) == 0 {
			if err := adapter.ErrorIn("openai", chunk.RawJSON()); err != nil {
				return nil, err
			}
		}
		if seen != nil {
			seen(chunk)
		}
		c.add(&chunk)
	}
	if err := stream.Err(); err != nil {
		return nil, err
	}
	return c.answer()
}

// collector joins chunks. Among the members that the SDK does not know, texts and lists are concatenated, and other
// values are replaced by the newest.
type collector struct {
	answered map[string]any // the members of the answer
	message  map[string]any
	calls    []map[string]any // calls by index
	finish   string
	any      bool
}

func (c *collector) add(chunk *sdk.ChatCompletionChunk) {
	var wire map[string]json.RawMessage
	if json.Unmarshal([]byte(chunk.RawJSON()), &wire) != nil {
		return
	}
	if c.answered == nil {
		c.answered, c.message = map[string]any{}, map[string]any{}
	}
	for key, value := range wire {
		if key != "choices" && string(value) != "null" {
			c.answered[key] = value
		}
	}
	for i := range chunk.Choices {
		choice := &chunk.Choices[i]
		if choice.Index != 0 {
			continue
		}
		c.any = true
		if choice.FinishReason != "" {
			c.finish = choice.FinishReason
		}
		var delta map[string]any
		if json.Unmarshal([]byte(choice.Delta.RawJSON()), &delta) == nil {
			c.delta(delta)
		}
	}
}

func (c *collector) delta(delta map[string]any) {
	calls, _ := delta["tool_calls"].([]any)
	delete(delta, "tool_calls")
	join(c.message, delta)
	for _, v := range calls {
		call, ok := v.(map[string]any)
		if !ok {
			continue
		}
		at := -1
		if index, ok := call["index"].(float64); ok {
			at = len(c.calls) - 1 // pieces are most likely of the last one
			for at >= 0 && c.calls[at]["index"] != index {
				at--
			}
		}
		if at < 0 {
			c.calls, at = append(c.calls, map[string]any{}), len(c.calls)
		}
		join(c.calls[at], call)
	}
}

// join adds the members of a piece to an object.
func join(to, piece map[string]any) {
	for key, value := range piece {
		switch v := value.(type) {
		case nil:
		case string:
			old, ok := to[key].(string)
			if ok && !isLabel(key) {
				v = old + v
			} else if ok && v == "" {
				v = old
			}
			to[key] = v
		case map[string]any:
			old, ok := to[key].(map[string]any)
			if !ok {
				old = map[string]any{}
			}
			join(old, v)
			to[key] = old
		case []any:
			old, _ := to[key].([]any)
			to[key] = joinLists(old, v)
		default:
			to[key] = v
		}
	}
}

// isLabel reports whether a text always comes whole, not piece by piece.
func isLabel(key string) bool {
	switch key {
	case "id", "type", "role", "name", "format", "signature", "thought_signature":
		return true
	}
	return false
}

// joinLists adds a list to another one. Elements with the same index and type are pieces of one element.
func joinLists(list, more []any) []any {
	for _, v := range more {
		piece, ok := v.(map[string]any)
		at := -1
		if ok && piece["index"] != nil {
			at = slices.IndexFunc(list, func(old any) bool {
				m, ok := old.(map[string]any)
				return ok && m["index"] == piece["index"] && m["type"] == piece["type"]
			})
		}
		if at < 0 {
			list = append(list, v)
		} else {
			join(list[at].(map[string]any), piece)
		}
	}
	return list
}

// answer returns the collected answer.
func (c *collector) answer() (*sdk.ChatCompletion, error) {
	if !c.any || c.finish == "" {
		return nil, adapter.CutOff("openai")
	}
	if len(c.calls) > 0 {
		for _, call := range c.calls {
			delete(call, "index")
		}
		c.message["tool_calls"] = c.calls
	}
	if c.message["role"] == nil {
		c.message["role"] = "assistant"
	}
	c.answered["object"] = "chat.completion"
	c.answered["choices"] = []any{map[string]any{"index": 0, "finish_reason": c.finish, "message": c.message}}
	raw, err := json.Marshal(c.answered)
	if err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	answer := new(sdk.ChatCompletion)
	if err := json.Unmarshal(raw, answer); err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	return answer, nil
}

package responses

import (
	"encoding/json"
	"fmt"

	"github.com/openai/openai-go/v3/packages/ssestream"
	sdk "github.com/openai/openai-go/v3/responses"
	"github.com/tidwall/sjson"

	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/internal/jsontext"
)

// Error is a failure that the API reports with status 200: a failed answer, or an event of a stream. The SDK treats
// neither as an error.
type Error struct {
	Code    string // such as "rate_limit_exceeded" or "context_length_exceeded"; may be empty
	Message string // the API's text
}

// Error returns the API's text.
func (e *Error) Error() string {
	if e.Code == "" {
		return "openai: the answer failed: " + e.Message
	}
	return "openai: the answer failed: " + e.Code + ": " + e.Message
}

// Check returns an [*Error] for a failed answer. Put it around the call, so that [winnow.Do] can recover from an
// overflow that comes with status 200: return adapter.Check(client.Responses.New(ctx, params)).
func Check(answer *sdk.Response, err error) (*sdk.Response, error) {
	switch {
	case err != nil || answer == nil:
		return answer, err
	case answer.Status == sdk.ResponseStatusFailed, answer.Error.Message != "", answer.Error.Code != "":
		return nil, failure(answer)
	case answer.Status == "" && len(answer.Output) == 0:
		if err := adapter.ErrorIn("openai", answer.RawJSON()); err != nil {
			return nil, err
		}
	}
	return answer, nil
}

func failure(answer *sdk.Response) error {
	e := &Error{Code: string(answer.Error.Code), Message: answer.Error.Message}
	if e.Code == "" && e.Message == "" {
		e.Message = "the API did not say why"
	}
	return e
}

// Collect reads a stream to the end of its answer and returns the answer, for [Response]. It returns the stream's
// error, an [*Error] for the events "error" and "response.failed", or io.ErrUnexpectedEOF if the stream ends before the
// answer does. It first passes each event to seen, which may be nil.
func Collect(stream *ssestream.Stream[sdk.ResponseStreamEventUnion],
	seen func(sdk.ResponseStreamEventUnion)) (*sdk.Response, error) {
	defer stream.Close()
	var items []json.RawMessage // finished items
	for stream.Next() {
		event := stream.Current()
		if seen != nil {
			seen(event)
		}
		switch event.Type {
		case "error":
			return nil, eventError(event.RawJSON())
		case "response.failed":
			return nil, failure(&event.Response)
		case "response.output_item.done":
			items = append(items, json.RawMessage(event.Item.RawJSON()))
		case "response.completed", "response.incomplete":
			return withItems(&event.Response, items)
		}
	}
	if err := stream.Err(); err != nil {
		return nil, err
	}
	return nil, adapter.CutOff("openai")
}

// eventError reads an event that is an error: {"code":…,"message":…}, in the event or in its member error.
func eventError(raw string) error {
	e := &Error{}
	var read func(object []byte)
	read = func(object []byte) {
		jsontext.Members(object, func(key string, value []byte) {
			switch key {
			case "code":
				e.Code = jsontext.Text(value)
			case "message":
				e.Message = jsontext.Text(value)
			case "error":
				read(value)
			}
		})
	}
	read([]byte(raw))
	if e.Message == "" {
		e.Message = raw
	}
	return e
}

// withItems returns an answer with its output, which some servers leave out after streaming it.
func withItems(answer *sdk.Response, items []json.RawMessage) (*sdk.Response, error) {
	if len(answer.Output) > 0 || len(items) == 0 {
		return answer, nil
	}
	raw, err := sjson.Set(answer.RawJSON(), "output", items)
	if err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	whole := new(sdk.Response)
	if err := json.Unmarshal([]byte(raw), whole); err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	return whole, nil
}

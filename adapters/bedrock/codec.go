package bedrock

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/session"
)

// Codec returns the codec with which a session stores what the SDK's messages hold beyond winnow's form, such as
// images, cache points and citations. Set it as Codec in the Options of package session. It stores the JSON that the
// SDK would send.
func Codec() session.Codec {
	return &adapter.Sources[stored]{
		ID: "bedrock", Import: importStored, Export: exportStored,
		Values: func(messages []winnow.Message) ([]stored, int) {
			of, n := adapter.Whole[types.Message](messages)
			if n == 0 {
				return nil, 0
			}
			return []stored{{*of}}, n
		},
		Read: readStored,
	}
}

// stored is a message whose JSON is the one that the SDK sends. The SDK's types do not encode as JSON themselves.
type stored struct{ types.Message }

func importStored(values []stored) []winnow.Message {
	messages := make([]types.Message, len(values))
	for i := range values {
		messages[i] = values[i].Message
	}
	return Import(messages)
}

func exportStored(messages []winnow.Message) []stored { return wrap(Export(messages)) }

func wrap(messages []types.Message) []stored {
	values := make([]stored, len(messages))
	for i := range messages {
		values[i] = stored{messages[i]}
	}
	return values
}

// MarshalJSON lets the SDK encode a request and returns the message in it.
func (s stored) MarshalJSON() ([]byte, error) {
	var sent []byte
	_, err := converse(func(body []byte) []byte { sent = body; return []byte("{}") }, []types.Message{s.Message})
	if err != nil {
		return nil, err
	}
	var request struct{ Messages []json.RawMessage }
	if err := json.Unmarshal(sent, &request); err != nil {
		return nil, err
	}
	if len(request.Messages) != 1 {
		return nil, errors.New("bedrock: the SDK did not write the message")
	}
	return withUnknown(request.Messages[0], s.Content)
}

// withUnknown restores the places of unknown blocks, which the SDK does not write.
func withUnknown(text json.RawMessage, content []types.ContentBlock) (json.RawMessage, error) {
	isUnknown := func(b types.ContentBlock) bool { _, ok := b.(*types.UnknownUnionMember); return ok }
	if !slices.ContainsFunc(content, isUnknown) {
		return text, nil
	}
	var m struct {
		Role    json.RawMessage   `json:"role,omitempty"`
		Content []json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, err
	}
	for i, b := range content {
		if isUnknown(b) && i <= len(m.Content) {
			m.Content = slices.Insert(m.Content, i, json.RawMessage(`{"unknown":{}}`))
		}
	}
	return json.Marshal(m)
}

// readStored lets the SDK decode an answer that holds the message.
func readStored(text json.RawMessage) (stored, error) {
	answer, err := converse(func([]byte) []byte { return fmt.Appendf(nil, `{"output":{"message":%s}}`, text) }, nil)
	if err != nil {
		return stored{}, err
	}
	out, ok := answer.Output.(*types.ConverseOutputMemberMessage)
	if !ok {
		return stored{}, errors.New("bedrock: not a message")
	}
	out.Value.Content = named(out.Value.Content)
	return stored{out.Value}, nil
}

// converse passes a request to answer, which replaces the service: nothing leaves the process.
func converse(answer func(body []byte) []byte, messages []types.Message) (*bedrockruntime.ConverseOutput, error) {
	client := bedrockruntime.New(bedrockruntime.Options{
		HTTPClient: exchange(answer), Retryer: aws.NopRetryer{},
		APIOptions: []func(*middleware.Stack) error{func(stack *middleware.Stack) error {
			// There is no endpoint, and nothing to sign.
			stack.Finalize.Clear()
			// store any message
			_, err := stack.Initialize.Remove("OperationInputValidation")
			return err
		}},
	})
	return client.Converse(context.Background(),
		&bedrockruntime.ConverseInput{ModelId: aws.String("none"), Messages: messages})
}

// exchange is an HTTP client that answers requests itself.
type exchange func(body []byte) []byte

func (e exchange) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(e(body))),
	}, nil
}

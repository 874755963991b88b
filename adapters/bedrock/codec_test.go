package bedrock

import (
	"encoding/json"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/winnowtest"
)

// storedForm reads and writes messages as the codec does.
var storedForm = adaptertest.Form[stored]{Name: "stored", Read: readStored}

// TestCodec: stored messages are exported with the same bytes, whether the SDK decoded them or a host made them.
func TestCodec(t *testing.T) {
	a := winnowtest.Adapter[stored]{
		Import: func(values []stored) []winnow.Message { return Import(unwrap(values)) },
		Export: func(messages []winnow.Message) []stored { return wrap(Export(messages)) },
	}
	typed := adaptertest.Form[stored]{Name: "typed", Read: func(raw json.RawMessage) (stored, error) {
		m, err := read(raw)
		return stored{m}, err
	}}
	adaptertest.CheckCodec(t, a, Codec(), []adaptertest.Form[stored]{typed, storedForm}, cases)
}

func unwrap(values []stored) []types.Message {
	messages := make([]types.Message, len(values))
	for i := range values {
		messages[i] = values[i].Message
	}
	return messages
}

func wrap(messages []types.Message) []stored {
	values := make([]stored, len(messages))
	for i := range messages {
		values[i] = stored{messages[i]}
	}
	return values
}

// A message is stored even if the SDK would refuse it, and nothing leaves the process.
func TestStoredMessageNeedNotBeValid(t *testing.T) {
	call := types.Message{Content: []types.ContentBlock{&types.ContentBlockMemberToolUse{Value: types.ToolUseBlock{Name: aws.String("read")}}}}
	text, err := json.Marshal(stored{call})
	require.NoError(t, err)
	assert.JSONEq(t, `{"content":[{"toolUse":{"name":"read"}}]}`, string(text))
	_, err = readStored(json.RawMessage(`"no message"`))
	assert.Error(t, err)
}

// TestForms: the recorded sessions mean the same as a host makes them and as the SDK reads them.
func TestForms(t *testing.T) {
	adaptertest.CheckForms(t, underTest, adaptertest.Copying[types.Message]{Name: "read by the SDK", Copy: func(messages []types.Message) ([]types.Message, error) {
		out := make([]types.Message, len(messages))
		for i := range messages {
			text, err := json.Marshal(stored{messages[i]})
			if err != nil {
				return nil, err
			}
			s, err := readStored(text)
			if err != nil {
				return nil, err
			}
			out[i] = s.Message
		}
		return out, nil
	}})
}

package anthropic_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/winnowgo/winnow"
	adapter "github.com/winnowgo/winnow/adapters/anthropic"
	"github.com/winnowgo/winnow/session"
)

const (
	model        = sdk.ModelClaudeOpus4_5
	maxTokens    = 8_000
	systemPrompt = "You are a careful engineer."
)

var tools = []sdk.ToolUnionParam{{OfTool: &sdk.ToolParam{
	Name:        "read",
	InputSchema: sdk.ToolInputSchemaParam{Properties: map[string]any{"path": map[string]any{"type": "string"}}},
}}}

func show(sdk.MessageStreamEventUnion) {}

// An agent's call of its model, streaming and with tools, and the store that keeps its conversations.
func Example_agent() {
	dir, err := os.MkdirTemp("", "winnow")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	client := sdk.NewClient(localStream()...)
	// README
	ask := func(ctx context.Context, messages []winnow.Message) (winnow.Message, error) {
		params := sdk.MessageNewParams{
			Model: model, MaxTokens: maxTokens, Tools: tools, System: adapter.SystemBlocks(systemPrompt),
			Messages: adapter.Export(messages),
		}
		adapter.MarkRequest(&params, "") // "": cached for five minutes
		stream := client.Messages.NewStreaming(ctx, params)
		answer, err := adapter.Collect(stream, show) // show is called with each event of the stream
		if err != nil {
			return winnow.Message{}, err
		}
		return adapter.Response(answer), nil
	}
	store, err := session.OpenDirectory(dir, &session.Options{
		Codec: adapter.Codec(), // stores what your SDK's messages hold beyond Winnow's form: images, signatures, …
		Manager: func(key string) (int, *winnow.Options) {
			return 0, &winnow.Options{ // 0: the window of the model
				Model:      model,     // also sets how tokens are counted, and what its prompt cache costs
				Reserve:    maxTokens, // kept free for the answer
				Overhead:   2_000,     // the system prompt and the tools, in tokens; a rough figure will do
				Summarizer: adapter.NewSummarizer(client, sdk.ModelClaudeHaiku4_5, 0),
			}
		},
	})
	// END
	if err != nil {
		panic(err)
	}
	defer store.Close()
	s, err := store.Open(context.Background(), "user:42")
	if err != nil {
		panic(err)
	}
	defer s.Close()
	if err := s.Append(context.Background(), session.User("Where is the window set?")); err != nil {
		panic(err)
	}
	answer, err := s.Do(context.Background(), ask)
	fmt.Println(answer.Text(), answer.Usage.Prompt(), err)
	// Output: In window.go. 42 <nil>
}

// localStream stands in for the API, with a streamed answer.
func localStream() []option.RequestOption {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, event := range [][2]string{
			{"message_start", `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"usage":{"input_tokens":42,"output_tokens":1}}}`},
			{"content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`},
			{"content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"In window.go."}}`},
			{"content_block_stop", `{"type":"content_block_stop","index":0}`},
			{"message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}`},
			{"message_stop", `{"type":"message_stop"}`},
		} {
			_, _ = io.WriteString(w, "event: "+event[0]+"\ndata: "+event[1]+"\n\n")
		}
	}))
	return []option.RequestOption{option.WithBaseURL(server.URL), option.WithAPIKey("none")}
}

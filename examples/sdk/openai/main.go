// Command openai is an agent on OpenAI's SDK and its Responses API: see the README beside it.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"

	"github.com/winnowgo/winnow"
	adapter "github.com/winnowgo/winnow/adapters/openai/responses"
	"github.com/winnowgo/winnow/examples/sdk/chat"
	"github.com/winnowgo/winnow/session"
)

const maxTokens = 8_000 // of an answer

func main() {
	dir := flag.String("dir", ".", "the directory that the agent may read")
	state := flag.String("state", "winnow-chat", "where its conversation is kept")
	model := flag.String("model", "gpt-6-sol", "")
	flag.Parse()
	if err := run(*dir, *state, *model); err != nil {
		log.Fatal(err)
	}
}

func run(dir, state, model string) error {
	client := openai.NewClient() // OPENAI_API_KEY, and OPENAI_BASE_URL
	var tools []responses.ToolUnionParam
	for _, t := range chat.Tools {
		tools = append(tools, adapter.Tool(t))
	}
	ask := func(ctx context.Context, messages []winnow.Message) ([]winnow.Message, error) {
		answer, err := adapter.Collect(client.Responses.NewStreaming(ctx, responses.ResponseNewParams{
			Model: model, MaxOutputTokens: openai.Int(maxTokens), Tools: tools,
			Instructions: openai.String("You answer questions about the files of a directory."),
			Input:        responses.ResponseNewParamsInputUnion{OfInputItemList: adapter.Export(messages)},
			Store:        openai.Bool(false), // the conversation is kept here
			Include:      []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent},
		}), show)
		if err != nil {
			return nil, err
		}
		return adapter.Response(answer), nil
	}
	store, err := session.OpenDirectory(state, &session.Options{
		Codec: adapter.Codec(), // keeps the encrypted reasoning, which the next request sends back
		Manager: func(string) (int, *winnow.Options) {
			return 0, &winnow.Options{ // 0: the window of the model
				Model: model, Reserve: maxTokens, Overhead: 1_500, Recall: true,
				Tools:      &winnow.ToolOptions{Notes: true}, // the model keeps notes
				Summarizer: adapter.NewSummarizer(client, "gpt-6-luna", 0),
			}
		},
	})
	if err != nil {
		return err
	}
	defer store.Close()
	return chat.Run(context.Background(), os.Stdin, os.Stdout, store, dir, ask)
}

// show prints the text of an answer as it comes.
func show(event responses.ResponseStreamEventUnion) {
	if event.Type == "response.output_text.delta" {
		fmt.Print(event.Delta)
	}
}

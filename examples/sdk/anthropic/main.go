// Command anthropic is an agent on Anthropic's SDK: see the README beside it.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/winnowgo/winnow"
	adapter "github.com/winnowgo/winnow/adapters/anthropic"
	"github.com/winnowgo/winnow/examples/sdk/chat"
	"github.com/winnowgo/winnow/session"
)

const maxTokens = 8_000 // of an answer

func main() {
	dir := flag.String("dir", ".", "the directory that the agent may read")
	state := flag.String("state", "winnow-chat", "where its conversation is kept")
	model := flag.String("model", "claude-opus-4-8", "")
	flag.Parse()
	if err := run(*dir, *state, *model); err != nil {
		log.Fatal(err)
	}
}

func run(dir, state, model string) error {
	client := sdk.NewClient() // ANTHROPIC_API_KEY, and ANTHROPIC_BASE_URL
	var tools []sdk.ToolUnionParam
	for _, t := range chat.Tools {
		tools = append(tools, adapter.Tool(t))
	}
	ask := func(ctx context.Context, messages []winnow.Message) ([]winnow.Message, error) {
		params := sdk.MessageNewParams{
			Model: sdk.Model(model), MaxTokens: maxTokens, Tools: tools, Messages: adapter.Export(messages),
			System: adapter.SystemBlocks("You answer questions about the files of a directory."),
		}
		adapter.MarkRequest(&params, "") // the markers of the prompt cache: without them nothing is cached
		answer, err := adapter.Collect(client.Messages.NewStreaming(ctx, params), show)
		if err != nil {
			return nil, err
		}
		return []winnow.Message{adapter.Response(answer)}, nil
	}
	store, err := session.OpenDirectory(state, &session.Options{
		Codec: adapter.Codec(),
		Manager: func(string) (int, *winnow.Options) {
			return 0, &winnow.Options{ // 0: the window of the model
				Model: model, Reserve: maxTokens, Overhead: 1_500, Recall: true,
				Tools:      &winnow.ToolOptions{Notes: true}, // the model keeps notes
				Summarizer: adapter.NewSummarizer(client, sdk.ModelClaudeHaiku4_5, 0),
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
func show(event sdk.MessageStreamEventUnion) { fmt.Print(event.Delta.Text) }

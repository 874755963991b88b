// Command gemini is an agent on Google's SDK: see the README beside it.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"

	sdk "google.golang.org/genai"

	"github.com/winnowgo/winnow"
	adapter "github.com/winnowgo/winnow/adapters/genai"
	"github.com/winnowgo/winnow/examples/sdk/chat"
	"github.com/winnowgo/winnow/session"
)

const maxTokens = 8_000 // of an answer

func main() {
	dir := flag.String("dir", ".", "the directory that the agent may read")
	state := flag.String("state", "winnow-chat", "where its conversation is kept")
	model := flag.String("model", "gemini-3.8-flash", "")
	flag.Parse()
	if err := run(*dir, *state, *model); err != nil {
		log.Fatal(err)
	}
}

func run(dir, state, model string) error {
	client, err := sdk.NewClient(context.Background(), nil) // GEMINI_API_KEY, and GOOGLE_GEMINI_BASE_URL
	if err != nil {
		return err
	}
	var functions []*sdk.FunctionDeclaration
	for _, t := range chat.Tools {
		functions = append(functions, adapter.Tool(t))
	}
	config := &sdk.GenerateContentConfig{
		MaxOutputTokens: maxTokens, Tools: []*sdk.Tool{{FunctionDeclarations: functions}},
		SystemInstruction: sdk.NewContentFromText("You answer questions about the files of a directory.", sdk.RoleUser),
	}
	ask := func(ctx context.Context, messages []winnow.Message) ([]winnow.Message, error) {
		stream := client.Models.GenerateContentStream(ctx, model, adapter.ExportFor(model, messages), config)
		answer, err := adapter.Collect(stream, show)
		if err != nil {
			return nil, err
		}
		return []winnow.Message{adapter.Response(answer)}, nil
	}
	store, err := session.OpenDirectory(state, &session.Options{
		Codec: adapter.Codec(), // keeps thought signatures, and calls as the API made them
		Manager: func(string) (int, *winnow.Options) {
			return 0, &winnow.Options{ // 0: the window of the model
				Model: model, Reserve: maxTokens, Overhead: 1_500, Recall: true,
				Tools:      &winnow.ToolOptions{Notes: true}, // the model keeps notes
				Summarizer: adapter.NewSummarizer(client, "gemini-3.5-flash", 0, nil),
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
func show(piece *sdk.GenerateContentResponse) {
	for _, c := range piece.Candidates {
		for _, p := range c.Content.Parts {
			if !p.Thought {
				fmt.Print(p.Text)
			}
		}
	}
}

package transport_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/transport"
	"github.com/winnowgo/winnow/internal/test/provider"
)

// reader is an agent whose loop knows nothing of Winnow: it reads files until it has read all, and marks the end of its
// history for the prompt cache.
func reader(client sdk.Client, files int) error {
	var history []sdk.MessageParam
	for n := range files {
		question := sdk.NewUserMessage(sdk.NewTextBlock(fmt.Sprintf("Now read file %d.", n)))
		history = append(history, question)
		for {
			marked := append(history[:len(history)-1:len(history)-1], mark(history[len(history)-1]))
			answer, err := client.Messages.New(context.Background(), sdk.MessageNewParams{
				Model: "claude-sonnet-4-5", MaxTokens: 1_000, Messages: marked,
				Tools: []sdk.ToolUnionParam{{OfTool: &sdk.ToolParam{Name: "read", InputSchema: sdk.ToolInputSchemaParam{}}}},
			})
			if err != nil {
				return err
			}
			history = append(history, answer.ToParam())
			if answer.StopReason != "tool_use" {
				break
			}
			var results []sdk.ContentBlockParamUnion
			for _, b := range answer.Content {
				if b.Type == "tool_use" {
					results = append(results, sdk.NewToolResultBlock(b.ID, strings.Repeat(fmt.Sprintf("line of file %d\n", n), 400), false))
				}
			}
			history = append(history, sdk.NewUserMessage(results...))
		}
	}
	return nil
}

func mark(m sdk.MessageParam) sdk.MessageParam {
	m.Content = append([]sdk.ContentBlockParamUnion(nil), m.Content...)
	last := &m.Content[len(m.Content)-1]
	switch {
	case last.OfText != nil:
		b := *last.OfText
		b.CacheControl = sdk.NewCacheControlEphemeralParam()
		last.OfText = &b
	case last.OfToolResult != nil:
		b := *last.OfToolResult
		b.CacheControl = sdk.NewCacheControlEphemeralParam()
		last.OfToolResult = &b
	}
	return m
}

// The same agent with and without: the bill counts a token that is written to the cache as 1.25, and one that is read
// as 0.1.
func Example_bill() {
	for _, with := range []bool{false, true} {
		p := provider.New(provider.Options{Window: 60_000, Model: func(r *provider.Request) provider.Answer {
			if len(r.Last().Results) > 0 {
				return provider.Answer{Text: "I have read it."}
			}
			return provider.Answer{Calls: []provider.ToolCall{{Name: "read"}}}
		}})
		server := httptest.NewServer(p)
		c := &http.Client{}
		if with {
			t, err := transport.New(nil, &transport.Options{
				Manager: func(*http.Request, string) (int, *winnow.Options) { return 60_000, nil },
				Logger:  slog.New(slog.DiscardHandler),
			})
			if err != nil {
				panic(err)
			}
			c.Transport = t
		}
		err := reader(sdk.NewClient(option.WithBaseURL(server.URL), option.WithAPIKey("none"), option.WithMaxRetries(0),
			option.WithHTTPClient(c)), 60)
		bill, requests := 0.0, 0
		for _, x := range p.Exchanges() {
			bill += float64(x.Usage.Input) + 1.25*float64(x.Usage.CacheWrite) + 0.1*float64(x.Usage.CacheRead)
			if x.Error == nil {
				requests++
			}
		}
		server.Close()
		fmt.Printf("with winnow: %v, %d requests, %.0f tokens\n", with, requests, bill)
		if err != nil {
			text := err.Error()
			fmt.Println("it ended with:", text[strings.Index(text, "prompt is"):strings.Index(text, " maximum")])
		}
	}
	// Output:
	// with winnow: false, 75 requests, 290318 tokens
	// it ended with: prompt is too long: 60812 tokens > 60000
	// with winnow: true, 120 requests, 246361 tokens
}

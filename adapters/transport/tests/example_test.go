package transport_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/winnowgo/winnow/adapters/transport"
	"github.com/winnowgo/winnow/internal/test/provider"
)

// A client of an SDK gets another HTTP client.
func ExampleNew() {
	server := httptest.NewServer(provider.New(provider.Options{}))
	defer server.Close()
	dir, err := os.MkdirTemp("", "winnow")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	err = func() error {
		// README
		t, err := transport.New(nil, &transport.Options{Dir: dir}) // Dir keeps the state over restarts
		if err != nil {
			return err
		}
		client := sdk.NewClient(option.WithHTTPClient(&http.Client{Transport: t}))
		// END
		client = sdk.NewClient(append(client.Options, option.WithBaseURL(server.URL), option.WithAPIKey("none"))...)
		answer, err := client.Messages.New(context.Background(), sdk.MessageNewParams{
			Model: "claude-sonnet-4-5", MaxTokens: 100, Messages: []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("hi"))},
		})
		if err == nil {
			fmt.Println(answer.Content[0].Text)
		}
		return err
	}()
	if err != nil {
		fmt.Println(err)
	}
	// Output: ok
}

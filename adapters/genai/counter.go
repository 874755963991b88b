package genai

import (
	"context"
	"fmt"

	sdk "google.golang.org/genai"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Counter counts the tokens of requests with the API's own endpoint, for [winnow.Manager.Counted]. It is safe for
// concurrent use and asks about the same content once. It is not a [winnow.Estimator], which is asked about every
// message.
type Counter struct {
	client *sdk.Client
	model  string
	config *sdk.CountTokensConfig
	counts adapter.Counts
}

// NewCounter returns a counter for a model. config may be nil; system instructions and tools in it are counted by
// Vertex AI alone.
func NewCounter(client *sdk.Client, model string, config *sdk.CountTokensConfig) *Counter {
	return &Counter{client: client, model: model, config: config}
}

// Count returns what the API counts for a request with messages. An error of the SDK is wrapped.
func (c *Counter) Count(ctx context.Context, messages []winnow.Message) (int, error) {
	contents := Export(messages)
	return c.counts.Of(ctx, contents, func(ctx context.Context) (int, error) {
		count, err := c.client.Models.CountTokens(ctx, c.model, contents, c.config)
		if err != nil {
			return 0, fmt.Errorf("genai: counting tokens: %w", err)
		}
		return int(count.TotalTokens), nil
	})
}

package genai

import (
	"context"
	"fmt"

	sdk "google.golang.org/genai"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Counter counts the tokens of requests with the API's own endpoint, for [winnow.Manager.Counted]. It is safe for
// concurrent use and asks only once about the same content. It is not a [winnow.Estimator], which is called for every
// message.
type Counter struct {
	client *sdk.Client
	model  string
	config *sdk.CountTokensConfig
	counts adapter.Counts
}

// NewCounter returns a counter for a model. config may be nil. Only Vertex AI counts the system instructions and tools
// in it.
func NewCounter(client *sdk.Client, model string, config *sdk.CountTokensConfig) *Counter {
	return &Counter{client: client, model: model, config: config}
}

// Count returns the API's count of tokens for a request with messages. It wraps errors of the SDK.
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

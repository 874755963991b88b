package anthropic

import (
	"context"
	"fmt"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Counter counts the tokens of requests with the API's own endpoint, for [winnow.Manager.Counted]. It is safe for
// concurrent use and asks about the same content once. It is not a [winnow.Estimator], which is asked about every
// message.
type Counter struct {
	client sdk.Client
	params sdk.MessageCountTokensParams
	counts adapter.Counts
}

// NewCounter returns a counter for requests with the model, the system prompt and the tools of params. Its messages are
// those that are counted.
func NewCounter(client sdk.Client, params sdk.MessageCountTokensParams) *Counter {
	return &Counter{client: client, params: params}
}

// Count returns what the API counts for a request with messages. An error of the SDK is wrapped.
func (c *Counter) Count(ctx context.Context, messages []winnow.Message) (int, error) {
	params := c.params
	params.Messages = Export(messages)
	return c.counts.Of(ctx, params.Messages, func(ctx context.Context) (int, error) {
		count, err := c.client.Messages.CountTokens(ctx, params)
		if err != nil {
			return 0, fmt.Errorf("anthropic: counting tokens: %w", err)
		}
		return int(count.InputTokens), nil
	})
}

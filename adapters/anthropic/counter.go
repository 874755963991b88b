package anthropic

import (
	"context"
	"fmt"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
)

// Counter counts the tokens of requests with the API's own endpoint, for [winnow.Manager.Counted]. It is safe for
// concurrent use and asks only once about the same content. It is not a [winnow.Estimator], which is called for every
// message.
type Counter struct {
	client sdk.Client
	params sdk.MessageCountTokensParams
	counts adapter.Counts
}

// NewCounter returns a counter for requests with the model, the system prompt and the tools of params. Count replaces
// the messages of params.
func NewCounter(client sdk.Client, params sdk.MessageCountTokensParams) *Counter {
	return &Counter{client: client, params: params}
}

// Count returns the API's count of tokens for a request with messages. It wraps errors of the SDK.
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

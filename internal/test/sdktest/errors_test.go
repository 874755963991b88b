package sdktest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/provider"
)

// long is 2 000 tokens of the default count; 4 more are the frame of its message.
var long = strings.Repeat("four", 2000)

// TestOverflow reads each wording out of each SDK's own error.
func TestOverflow(t *testing.T) {
	const window = 1500
	// What a wording tells; those that are not here tell the prompt and the window.
	type numbers struct{ tokens, limit int }
	tells := map[string]numbers{
		"openai":        {3004, window}, // with the room for the answer
		"openai-tpm":    {3004, window}, // one request above the limit of a minute: it never fits
		"openai-input":  {},
		"bedrock":       {},
		"zai":           {},
		"minimax":       {},
		"ollama":        {},
		"qwen":          {0, window},
		"vllm":          {0, window}, // a lower bound is not a count
		"github":        {0, window},
		"anthropic-sum": {2004, window},
		"cohere":        {0, window}, // by how much the limit was exceeded
	}
	for name, wording := range provider.Wordings() {
		want, ok := tells[name]
		if !ok {
			want = numbers{2004, window}
		}
		for _, c := range clients() {
			_, url := serve(t, provider.Options{Window: window, Overflow: wording})
			_, err := c.ask(soon(t), url, long)
			require.Error(t, err, "%s %s", name, c.name)
			assert.True(t, c.err(err), "%s %s: %T", name, c.name, err)
			assert.Equal(t, winnow.ErrorInfo{Class: winnow.ErrorOverflow, Tokens: want.tokens, Limit: want.limit}, winnow.ClassifyError(err), "%s %s: %v", name, c.name, err)
		}
	}
}

func TestOtherRefusals(t *testing.T) {
	fails := func(e *provider.Error) provider.Options {
		return provider.Options{Model: func(*provider.Request) provider.Answer { return provider.Answer{Error: e} }}
	}
	for _, c := range []struct {
		why     string
		options provider.Options
		want    winnow.ErrorInfo
	}{
		{"too many requests", fails(provider.RateLimit()), winnow.ErrorInfo{Class: winnow.ErrorRateLimit}},
		{"busy", fails(provider.Overloaded()), winnow.ErrorInfo{Class: winnow.ErrorOverloaded}},
		{"broken", fails(provider.Internal()), winnow.ErrorInfo{}},
		{"later", fails(&provider.Error{Status: 429, Code: "rate_limit_exceeded", Message: "Rate limit reached for gpt-4o in organization org-test on tokens per min (TPM): " +
			"Limit 4000, Used 3004, Requested 3004. Please try again in 30.000s."}), winnow.ErrorInfo{Class: winnow.ErrorRateLimit}},
		{"a proxy means the size of the body, whatever else its page says", fails(provider.Page(413)), winnow.ErrorInfo{Class: winnow.ErrorBytes}},
		{"a proxy that is down", fails(provider.Page(502)), winnow.ErrorInfo{Class: winnow.ErrorOverloaded}},
		{"no credit", fails(&provider.Error{Status: 402, Type: "billing_error", Message: "Your credit balance is too low to access the API."}), winnow.ErrorInfo{Class: winnow.ErrorQuota}},
		{"wrong key", fails(&provider.Error{Status: 401, Type: "authentication_error", Message: "invalid x-api-key"}), winnow.ErrorInfo{Class: winnow.ErrorAuth}},
		{"body too large", provider.Options{MaxBytes: 4000}, winnow.ErrorInfo{Class: winnow.ErrorBytes}},
		{"too much room for the answer", provider.Options{MaxOutput: 500}, winnow.ErrorInfo{}},
	} {
		for _, client := range clients() {
			_, url := serve(t, c.options)
			_, err := client.ask(soon(t), url, long)
			require.Error(t, err, "%s, %s", c.why, client.name)
			assert.Equal(t, c.want, winnow.ClassifyError(err), "%s, %s: %v", c.why, client.name, err)
		}
	}
}

func TestErrorsOfTheConnection(t *testing.T) {
	for _, c := range clients() {
		_, url := serve(t, provider.Options{Model: func(*provider.Request) provider.Answer { return provider.Answer{Delay: time.Minute} }})
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		_, err := c.ask(ctx, url, "prompt is too long")
		cancel()
		assert.Equal(t, winnow.ErrorTimeout, winnow.ClassifyError(err).Class, "%s: no answer in time: %v", c.name, err)

		ctx, cancel = context.WithCancel(context.Background())
		cancel()
		_, err = c.ask(ctx, url, "prompt is too long")
		assert.ErrorIs(t, err, context.Canceled, c.name)
		assert.Equal(t, winnow.ErrorInfo{}, winnow.ClassifyError(err), "%s: cancelled", c.name)

		_, url = serve(t, provider.Options{Model: func(*provider.Request) provider.Answer {
			return provider.Answer{Text: "prompt is too long: 5 tokens > 4 maximum", Cut: true}
		}})
		_, err = c.ask(soon(t), url, "x")
		require.Error(t, err, c.name)
		assert.Equal(t, winnow.ErrorInfo{}, winnow.ClassifyError(err), "%s: cut off in the middle: %v", c.name, err)
	}
}

// TestErrorsInAStream come under status 200.
func TestErrorsInAStream(t *testing.T) {
	for _, c := range clients() {
		if !strings.HasSuffix(c.name, "stream") {
			continue
		}
		for _, e := range []struct {
			err  *provider.Error
			want winnow.ErrorInfo
		}{
			{provider.Overloaded(), winnow.ErrorInfo{Class: winnow.ErrorOverloaded}},
			{&provider.Error{Message: "prompt is too long: 205000 tokens > 200000 maximum"}, winnow.ErrorInfo{Class: winnow.ErrorOverflow, Tokens: 205000, Limit: 200000}},
			{&provider.Error{Type: "rate_limit_error", Message: "Too many tokens, please wait before trying again."}, winnow.ErrorInfo{Class: winnow.ErrorRateLimit}},
		} {
			_, url := serve(t, provider.Options{Model: func(*provider.Request) provider.Answer {
				return provider.Answer{Text: "let me see what I can do", Error: e.err, Late: true}
			}})
			_, err := c.ask(soon(t), url, "x")
			require.Error(t, err, c.name)
			assert.Equal(t, e.want, winnow.ClassifyError(err), "%s: %v", c.name, err)
		}
	}
}

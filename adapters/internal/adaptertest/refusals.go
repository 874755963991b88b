package adaptertest

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

// long is a history of 2 000 tokens of the default count; 4 more are the frame of its message.
var long = []winnow.Message{question(strings.Repeat("four", 2000))}

// CheckRefusals asks the strict provider through an SDK, which makes errors of type E of what that refuses, without
// another try. Each request has 1 000 tokens for its answer and no tools. streams: the answer is streamed.
func CheckRefusals[E error](t *testing.T, send Send, streams bool) {
	t.Helper()
	ask := func(o provider.Options, messages []winnow.Message) (*provider.Provider, winnow.Message, error) {
		p, url := atProvider(t, o)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // before a test would hang
		defer cancel()
		answer, err := send(ctx, url, messages)
		return p, answer, err
	}
	p, answer, err := ask(provider.Options{Model: func(r *provider.Request) provider.Answer {
		return provider.Answer{Text: "You said: " + r.Last().Text}
	}}, []winnow.Message{question("the quick brown fox")})
	require.NoError(t, err)
	assert.Equal(t, "You said: the quick brown fox", answer.Parts[0].Text)
	billed := p.Exchanges()[0].Usage
	assert.Equal(t, winnow.Usage{Input: billed.Input, Output: billed.Output}, *answer.Usage, "what was billed")
	assert.Equal(t, streams, p.Exchanges()[0].Request.Stream)

	for name, o := range refusing() {
		_, _, err := ask(o.options, long)
		var own E
		require.ErrorAs(t, err, &own, name)
		assert.Equal(t, o.want, winnow.ClassifyError(err), "%s: %v", name, err)
	}
	for _, late := range lateErrors {
		_, _, err := ask(provider.Options{Model: func(*provider.Request) provider.Answer {
			return provider.Answer{Text: "let me see what I can do", Error: late.err, Late: true}
		}}, long)
		assert.True(t, !streams || late.want == winnow.ClassifyError(err), "under status 200: %v", err)
	}
	checkConnection(t, send)
}

// refused are the options of a provider that refuses, and what its error is read as.
type refused struct {
	options provider.Options
	want    winnow.ErrorInfo
}

// refusing returns providers that refuse a long request: as too long in each wording, and for other reasons.
func refusing() map[string]refused {
	const window, prompt, answer = 1500, 2004, 1000
	// What a wording tells; those that are not here tell the prompt and the window.
	type numbers struct{ tokens, limit int }
	tells := map[string]numbers{
		"openai":       {prompt + answer, window}, // with the room for the answer
		"openai-tpm":   {prompt + answer, window}, // one request above the limit of a minute: it never fits
		"openai-input": {}, "bedrock": {}, "zai": {}, "minimax": {}, "ollama": {},
		"qwen": {0, window}, "github": {0, window},
		"vllm":   {0, window}, // a lower bound is not a count
		"cohere": {0, window}, // by how much the limit was exceeded
	}
	all := map[string]refused{}
	for name, wording := range provider.Wordings() {
		n, ok := tells[name]
		if !ok {
			n = numbers{prompt, window}
		}
		all["too long, as "+name] = refused{provider.Options{Window: window, Overflow: wording},
			winnow.ErrorInfo{Class: winnow.ErrorOverflow, Tokens: n.tokens, Limit: n.limit}}
	}
	for name, o := range map[string]struct {
		err  *provider.Error
		want winnow.ErrorClass
	}{
		"too many requests": {provider.RateLimit(), winnow.ErrorRateLimit},
		"busy":              {provider.Overloaded(), winnow.ErrorOverloaded},
		"broken":            {provider.Internal(), winnow.ErrorOther},
		"later": {&provider.Error{Status: 429, Code: "rate_limit_exceeded",
			Message: "Rate limit reached for gpt-4o in organization org-test on tokens per min (TPM): " +
				"Limit 4000, Used 3004, Requested 3004. Please try again in 30.000s."}, winnow.ErrorRateLimit},
		"a proxy means the size of the body, whatever else its page says": {provider.Page(413), winnow.ErrorBytes},
		"a proxy that is down": {provider.Page(502), winnow.ErrorOverloaded},
		"no credit": {&provider.Error{Status: 402, Type: "billing_error",
			Message: "Your credit balance is too low to access the API."}, winnow.ErrorQuota},
		"wrong key": {&provider.Error{Status: 401, Type: "authentication_error", Message: "invalid x-api-key"},
			winnow.ErrorAuth},
	} {
		all[name] = refused{provider.Options{Model: func(*provider.Request) provider.Answer {
			return provider.Answer{Error: o.err}
		}}, winnow.ErrorInfo{Class: o.want}}
	}
	all["body too large"] = refused{provider.Options{MaxBytes: 4000}, winnow.ErrorInfo{Class: winnow.ErrorBytes}}
	all["too much room for the answer"] = refused{provider.Options{MaxOutput: 500}, winnow.ErrorInfo{}}
	return all
}

// lateErrors come in a stream that has begun.
var lateErrors = []struct {
	err  *provider.Error
	want winnow.ErrorInfo
}{
	{provider.Overloaded(), winnow.ErrorInfo{Class: winnow.ErrorOverloaded}},
	{&provider.Error{Message: "prompt is too long: 205000 tokens > 200000 maximum"},
		winnow.ErrorInfo{Class: winnow.ErrorOverflow, Tokens: 205000, Limit: 200000}},
	{&provider.Error{Type: "rate_limit_error", Message: "Too many tokens, please wait before trying again."},
		winnow.ErrorInfo{Class: winnow.ErrorRateLimit}},
}

// checkConnection has connections that end too soon, with texts that would be an overflow in an answer.
func checkConnection(t *testing.T, send Send) {
	t.Helper()
	said := []winnow.Message{question("prompt is too long")}
	answering := func(a provider.Answer) (url string) {
		_, url = atProvider(t, provider.Options{Model: func(*provider.Request) provider.Answer { return a }})
		return url
	}
	slow := answering(provider.Answer{Delay: time.Minute})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := send(ctx, slow, said)
	assert.Equal(t, winnow.ErrorTimeout, winnow.ClassifyError(err).Class, "no answer in time: %v", err)

	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	_, err = send(ctx, slow, said)
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, winnow.ErrorInfo{}, winnow.ClassifyError(err), "cancelled")

	cut := answering(provider.Answer{Text: "prompt is too long: 5 tokens > 4 maximum", Cut: true})
	_, err = send(t.Context(), cut, said)
	require.Error(t, err)
	assert.Equal(t, winnow.ErrorInfo{}, winnow.ClassifyError(err), "cut off in the middle: %v", err)
}

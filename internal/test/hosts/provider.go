package hosts

import (
	"errors"
	"fmt"

	"github.com/winnowgo/winnow"
)

// errTooLong is an overflow without numbers, in Bedrock's words.
//
//lint:ignore ST1005 the provider's words
var errTooLong = errors.New("Input is too long for requested model.")

// provider answers as the script says, and refuses requests above its limits.
type provider struct {
	weather string
	limit   int // tokens, by its own count; 0: none
	bytes   int // of a body; 0: none
	words   int // which refusal to use: with numbers, or without
	calls   int // calls in one run of Do
	refused map[uint64]bool
	accepts int // tokens of the last answered request
	tokens  int // of the last request, by its own count
	body    int // of the last request, in bytes
}

// count returns the provider's count: a third of the bytes, and an amount that the manager does not know.
func (p *provider) count(messages []winnow.Message) int {
	n := 50
	for i := range messages {
		n += winnow.CharsPerToken(3).Estimate(messages[i])
	}
	return n
}

// body returns the size of a request's body, in bytes.
func body(messages []winnow.Message) int {
	n := 0
	for i := range messages {
		n += 60
		for k := range messages[i].Parts {
			p := &messages[i].Parts[k]
			n += 40 + len(p.Text) + len(p.Signature) + len(p.Arguments) + len(p.Name) + len(p.ID) + max(0, p.Bytes)
		}
	}
	return n
}

// call plays one call of the model in a run of Do.
func (p *provider) call(w *world, messages []winnow.Message) (int, error) {
	p.calls++
	form := together(wireForms(messages))
	if p.refused[form] {
		w.fail("no payload is sent twice", "call %d is one that was refused", p.calls)
	}
	switch p.weather {
	case "outage":
		return 0, errWeather
	case "rate":
		return 0, errors.New("429 rate_limit_error: too many requests, retry after 20 s")
	case "auth":
		return 0, errors.New("401 invalid x-api-key")
	case "opaque":
		p.refused[form] = true
		return 0, errTooLong
	case "once":
		p.weather = ""
		p.refused[form] = true
		return 0, errors.New("400 context window exceeds limit (2013)")
	}
	if size := body(messages); p.bytes > 0 && size > p.bytes {
		p.refused[form] = true
		return 0, errTooLarge(size, p.bytes*(p.words%2))
	}
	n := p.count(messages)
	if p.limit == 0 || n <= p.limit {
		p.accepts = n
		return n, nil
	}
	p.refused[form] = true
	return 0, refusal(p.words, n, p.limit)
}

// errTooLarge refuses a body. It tells the limit unless that is 0.
func errTooLarge(bytes, limit int) error {
	if limit == 0 {
		return errors.New("413 Request Entity Too Large")
	}
	return fmt.Errorf("413 request body too large: %d bytes, the limit is %d bytes", bytes, limit)
}

// refusal returns the error for n tokens, in the words of one of the providers.
func refusal(words, n, limit int) error {
	switch words % 5 {
	case 1:
		return errTooLong
	case 2:
		return fmt.Errorf("429 request too large on tokens per min (TPM): Limit %d, Requested %d", limit, n)
	case 3:
		return fmt.Errorf("this model's maximum context length is %d tokens. However, your messages resulted in %d "+
			"tokens", limit, n)
	case 4:
		return errors.New("model_context_window_exceeded")
	}
	return fmt.Errorf("400 prompt is too long: %d tokens > %d maximum", n, limit)
}

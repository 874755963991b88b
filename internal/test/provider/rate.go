package provider

import (
	"fmt"
	"time"
)

// rateLimit counts the tokens of the last minute.
type rateLimit []spent

type spent struct {
	at     time.Time
	tokens int
}

// limitRate holds a request to the tokens per minute. One that is larger than the limit by itself is
// refused for good, in OpenAI's and Groq's words: Anthropic says the same for both.
func (p *Provider) limitRate(proto protocol, r *Request) *Error {
	limit := p.o.TokensPerMinute
	if limit <= 0 {
		return nil
	}
	n := r.Tokens + r.MaxTokens
	if n > limit {
		err := proto.rateLimited(r.Model, limit, -1, n, 0)
		err.Rule = RuleRate
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.o.Now()
	used, first := 0, -1
	for i, s := range p.rate {
		if now.Sub(s.at) < time.Minute {
			if first < 0 {
				first = i
			}
			used += s.tokens
		}
	}
	if first < 0 {
		first = len(p.rate)
	}
	p.rate = p.rate[first:]
	if used+n > limit {
		return proto.rateLimited(r.Model, limit, used, n, time.Minute-now.Sub(p.rate[0].at))
	}
	p.rate = append(p.rate, spent{now, n})
	return nil
}

// rateError is the part that all refusals for a rate have in common.
func rateError(wait time.Duration, message string) *Error {
	err := RateLimit()
	err.Message = message
	err.Header = nil
	if wait > 0 {
		err.Header = map[string][]string{"Retry-After": {fmt.Sprintf("%.0f", max(1, wait.Seconds()))}}
	}
	return err
}

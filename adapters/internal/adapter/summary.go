package adapter

import (
	"errors"
	"fmt"

	"github.com/winnowgo/winnow"
)

// DefaultAnswerTokens is the room for an answer where neither the request nor the host says how much.
const DefaultAnswerTokens = 8_000

// AnswerTokens returns the room for the answer to req: what it asks for, at most limit (0: no limit).
func AnswerTokens(req *winnow.SummaryRequest, limit int) int {
	n := req.MaxTokens
	if n <= 0 {
		n = DefaultAnswerTokens
	}
	if limit > 0 {
		n = min(n, limit)
	}
	return n
}

// Incomplete is the error of an answer that did not end by itself. It wraps winnow.ErrIncomplete.
func Incomplete(provider, stop string) error {
	return fmt.Errorf("%s: the answer ended with %q: %w", provider, stop, winnow.ErrIncomplete)
}

// Failed is the error of a call that gave no answer. It wraps err, which winnow.ClassifyError reads.
func Failed(provider string, err error) error {
	if err == nil {
		err = errors.New("no answer")
	}
	return fmt.Errorf("%s: summarizing: %w", provider, err)
}

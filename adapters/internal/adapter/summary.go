package adapter

import (
	"errors"
	"fmt"

	"github.com/winnowgo/winnow"
)

// DefaultAnswerTokens is the room for an answer if neither the request nor the host sets it.
const DefaultAnswerTokens = 8_000

// AnswerTokens returns the room for the answer to req: the one that req asks for, at most limit (0: no limit).
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

// Incomplete returns the error for an answer that the model did not finish. It wraps winnow.ErrIncomplete.
func Incomplete(provider, stop string) error {
	return fmt.Errorf("%s: the answer ended with %q: %w", provider, stop, winnow.ErrIncomplete)
}

// Failed returns the error for a call without an answer. It wraps err, which winnow.ClassifyError reads.
func Failed(provider string, err error) error {
	if err == nil {
		err = errors.New("no answer")
	}
	return fmt.Errorf("%s: summarizing: %w", provider, err)
}

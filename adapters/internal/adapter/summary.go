package adapter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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

// Summary returns what m, the answer to a request for a summary, says, and reports what it cost. It is an error if the
// model ended for a reason other than those, which are its natural ones, or called a tool, which none was offered.
func Summary(ctx context.Context, provider string, m *winnow.Message, natural ...string) (string, error) {
	if m.Usage != nil {
		winnow.ReportUsage(ctx, *m.Usage)
	}
	if !slices.Contains(natural, m.StopReason) {
		return "", Incomplete(provider, m.StopReason)
	}
	var text strings.Builder
	for k := range m.Parts {
		switch p := &m.Parts[k]; p.Kind {
		case winnow.KindToolCall:
			return "", Incomplete(provider, "a call of a tool")
		case winnow.KindText:
			text.WriteString(p.Text)
		}
	}
	return text.String(), nil
}

// Failed returns the error for a call without an answer. It wraps err, which winnow.ClassifyError reads.
func Failed(provider string, err error) error {
	if err == nil {
		err = errors.New("no answer")
	}
	return fmt.Errorf("%s: summarizing: %w", provider, err)
}

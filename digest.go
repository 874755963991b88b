package winnow

import (
	"context"
	"math"
)

// Digest returns the summarizer that needs no LLM. It quotes: the user's requests and rules, decisions,
// commands with their exit codes, files that were changed, failures, the last state, and the identifiers
// that are most likely to be needed again; the newest in most detail, under the headings that
// [SummaryRequest.Prompt] asks for. What req.Previous holds is merged in. The digest has at most
// req.MaxTokens tokens by a cautious count (0: 4 000) and at most 64 KB up to 16 000 tokens. It is
// deterministic, takes time linear in the messages, and never fails, not even when ctx has ended.
func Digest() Summarizer { return digester{} }

type digester struct{}

func (d digester) Summarize(_ context.Context, req SummaryRequest) (string, error) {
	return d.digest(req), nil
}

func (d digester) summarize(_ context.Context, req SummaryRequest) (text string, degraded bool, err error) {
	return d.digest(req), true, nil
}

const (
	defaultDigestTokens = 4_000
	leastDigestTokens   = 24 // room for one line; less says nothing
	bytesPerDigestToken = 4  // 16 000 tokens are 64 KB
)

func (d digester) digest(req SummaryRequest) string {
	text, _ := d.write(req)
	return text
}

// write returns the digest, and the identifiers that it knows of.
func (digester) write(req SummaryRequest) (string, *idTable) {
	limit := req.MaxTokens
	if limit <= 0 {
		limit = defaultDigestTokens
	}
	limit = max(leastDigestTokens, limit)
	var n notes
	n.collect(&req)
	return n.write(limit), &n.ids
}

// byteLimit is the longest digest in bytes.
func byteLimit(tokens int) int {
	if tokens > math.MaxInt/bytesPerDigestToken {
		return math.MaxInt
	}
	return max(1_024, tokens*bytesPerDigestToken)
}

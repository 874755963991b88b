package winnow

import (
	"hash/maphash"

	"github.com/winnowgo/winnow/internal/answers"
)

// requestKey identifies a request by what a model would see of it.
func requestKey(c *answers.Cache, req *SummaryRequest) answers.Key {
	var h maphash.Hash
	// Each cache has a seed of its own, so that nobody can make two requests that are taken for the same.
	h.SetSeed(c.Seed)
	text := func(s string) { maphash.WriteComparable(&h, maphash.String(c.Seed, s)) }
	// Lengths are written ahead of lists, so that what ends one cannot be taken for the beginning of the next.
	maphash.WriteComparable(&h, [2]int{req.MaxTokens, len(req.Messages)})
	text(req.Previous)
	text(req.Instructions)
	for i := range req.Messages {
		m := &req.Messages[i]
		maphash.WriteComparable(&h, struct {
			role, tool                string
			failed, injected, summary bool
			parts                     int
		}{string(m.Role), m.ToolName, m.IsError, m.Injected, m.Summary, len(m.Parts)})
		for k := range m.Parts {
			p := &m.Parts[k]
			maphash.WriteComparable(&h, [2]string{string(p.Kind), p.Name})
			text(p.Text)
			maphash.WriteComparable(&h, maphash.Bytes(c.Seed, p.Arguments))
		}
	}
	return answers.Key(h.Sum64())
}

package winnow

import "github.com/winnowgo/winnow/internal/count"

// The numbers of the reference system's staged summaries.
const (
	baseChunkRatio  = 0.4   // share of the summarizer's window that one chunk may take
	minChunkRatio   = 0.15  // the same where the messages are large
	chunkMargin     = 1.2   // estimates may be that much too low
	promptAllowance = 4_096 // tokens of each chunk set aside for the prompt around it
)

// leastChunkTokens is what a chunk may have in any case, if it fits: shares of a small window leave calls almost empty.
const leastChunkTokens = 8_000

// atomsOf splits messages into atoms: an assistant message with tool calls and the results behind it, or
// one other message. It returns their lengths.
func atomsOf(messages []Message) []int {
	var lengths []int
	open := false // the last atom takes results
	for i := range messages {
		m := &messages[i]
		if m.Role == RoleTool && open {
			lengths[len(lengths)-1]++
			continue
		}
		open = hasCalls(m)
		lengths = append(lengths, 1)
	}
	return lengths
}

// withMargin is the limit that estimates have to keep so that the true count keeps limit.
func withMargin(limit int) int { return max(1, int(float64(limit)/chunkMargin)) }

// adaptiveChunkRatio returns the share of the window that a chunk may take: less where the average item
// is large, so that a chunk is not far above it.
func adaptiveChunkRatio(sizes []int, window int) float64 {
	if len(sizes) == 0 || window <= 0 {
		return baseChunkRatio
	}
	average := float64(count.Sum(sizes)) / float64(len(sizes)) * chunkMargin / float64(window)
	if average <= 0.1 {
		return baseChunkRatio
	}
	return max(minChunkRatio, baseChunkRatio-min(average*2, baseChunkRatio-minChunkRatio))
}

// chunkLimit returns the estimated tokens that a chunk may have. The allowance for the prompt is at most
// a quarter of the share, so that a small window is not left without room.
func chunkLimit(sizes []int, window int) int {
	share := count.Share(window, adaptiveChunkRatio(sizes, window))
	return withMargin(share - min(promptAllowance, share/4))
}

// batch is a run of messages, in the form in which a summarizer gets them.
type batch struct {
	messages []Message
	tokens   int // estimate of them as rendered
	first    int // index in the history
}

// join appends the next batch.
func (b *batch) join(next batch) {
	b.messages = append(b.messages, next.messages...)
	b.tokens = count.Add(b.tokens, next.tokens)
}

// batches groups atoms by runs of the given lengths.
func batches(atoms []batch, runs []int) []batch {
	out := make([]batch, 0, len(runs))
	for _, n := range runs {
		messages := 0
		for _, a := range atoms[:n] {
			messages += len(a.messages)
		}
		b := batch{messages: make([]Message, 0, messages), first: atoms[0].first}
		for _, a := range atoms[:n] {
			b.join(a)
		}
		atoms = atoms[n:]
		out = append(out, b)
	}
	return out
}

func batchSizes(atoms []batch) []int {
	sizes := make([]int, len(atoms))
	for i := range atoms {
		sizes[i] = atoms[i].tokens
	}
	return sizes
}

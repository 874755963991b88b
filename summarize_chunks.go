package winnow

import "github.com/winnowgo/winnow/internal/count"

// leastChunkTokens is a size that a chunk may always have if it fits: a share of a small window would leave the calls
// almost empty.
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
		// A result behind a user message is an atom of its own: it has no call from which it could be divided.
		open = hasCalls(m)
		lengths = append(lengths, 1)
	}
	return lengths
}

// messageBatch is a run of messages, in the form in which a summarizer gets them.
type messageBatch struct {
	messages []Message
	tokens   int // estimate of them as rendered
	first    int // index in the history
}

// join appends the next batch.
func (b *messageBatch) join(next messageBatch) {
	b.messages = append(b.messages, next.messages...)
	b.tokens = count.Add(b.tokens, next.tokens)
}

// batches groups atoms by runs of the given lengths.
func batches(atoms []messageBatch, runs []int) []messageBatch {
	out := make([]messageBatch, 0, len(runs))
	for _, n := range runs {
		messages := 0
		for _, a := range atoms[:n] {
			messages += len(a.messages)
		}
		b := messageBatch{messages: make([]Message, 0, messages), first: atoms[0].first}
		for _, a := range atoms[:n] {
			b.join(a)
		}
		atoms = atoms[n:]
		out = append(out, b)
	}
	return out
}

func batchSizes(atoms []messageBatch) []int {
	sizes := make([]int, len(atoms))
	for i := range atoms {
		sizes[i] = atoms[i].tokens
	}
	return sizes
}

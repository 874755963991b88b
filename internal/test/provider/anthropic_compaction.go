package provider

// The beta of Anthropic that compacts on the server. A block of compaction stands for everything before it.

// summary returns the summary in a block of compaction, "" if it has none.
func (b *contentBlock) summary() string {
	if b.Type != "compaction" || !b.Content.text {
		return ""
	}
	return b.Content.blocks[0].Text
}

// compacted reports whether a turn begins with a compaction.
func (t *messagesTurn) compacted() bool {
	return len(t.Content.blocks) > 0 && t.Content.blocks[0].summary() != ""
}

// written returns the blocks of a turn that the model wrote.
func (t *messagesTurn) written() []contentBlock {
	if t.compacted() {
		return t.Content.blocks[1:]
	}
	return t.Content.blocks
}

// dropCompacted drops what stands before the newest compaction. One with a signature was made on demand, and must be
// the first block of the request.
func (m *messagesRequest) dropCompacted() *Error {
	turn, block := -1, 0
	for i := range m.Messages {
		for k := range m.Messages[i].Content.blocks {
			b := &m.Messages[i].Content.blocks[k]
			switch {
			case b.Type != "compaction":
				continue
			case m.Messages[i].Role != "assistant":
				return broken("ANT-COMPACT-ROLE", "messages.%d.content.%d: `compaction` blocks are only allowed in "+
					"`assistant` messages", i, k)
			case b.Content.text && b.summary() == "":
				return broken("ANT-COMPACT-EMPTY", "messages.%d.content.%d.compaction.content: String should have at "+
					"least 1 character", i, k)
			case b.Signature != "" && (i > 0 || k > 0):
				return broken("ANT-COMPACT-FIRST", "messages.%d.content.%d: a signed `compaction` block must be the "+
					"first block in `messages`", i, k)
			case b.summary() != "":
				turn, block = i, k
			}
		}
	}
	if turn >= 0 {
		m.Messages = m.Messages[turn:]
		m.Messages[0].Content.blocks = m.Messages[0].Content.blocks[block:]
	}
	return nil
}

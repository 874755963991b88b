// Package winnow keeps an LLM agent's conversation inside its model's context window.
//
// Make a [Manager] for each conversation with [New] and call [Manager.Prepare] before every request: it
// returns the messages to send. [Do] wraps that and the answer to a provider's "prompt is too long" into
// one loop.
//
// It works in three lines of defence, each used only when the one before it was not enough. Prevention
// limits turns, trims and clears old tool results, and cuts oversized ones. Compaction replaces old history
// by a summary that a [Summarizer] writes, or [Digest] without an LLM. Overflow recovery reads the
// provider's error, shrinks the request and tries again.
//
// # Stages
//
// The stages are pure functions that can be used on their own: [LimitHistoryTurns], [PruneContext],
// [TruncateToolResults], [RepairToolPairing], [SummarizeInStages]. None writes its input; each returns the
// new history and an [Edit] for every message that it changed, dropped or inserted.
//
// # Nouns
//
// The history is the host's append-only list of messages. A turn begins at a user message that a person
// wrote. The budget is the window minus the reserve for the answer. A pin is a message that survives every
// stage verbatim. An edit that was sent is sent again with the same bytes, so that the provider's prompt
// cache is read and not written.
package winnow

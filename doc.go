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
// # Words
//
// The history is the host's append-only list of messages. A turn begins at a user message that a person
// wrote. The budget is the window minus the reserve for the answer. A pin is a message that survives every
// stage verbatim. An edit that was sent is sent again with the same bytes, so that the provider's prompt
// cache is read and not written.
//
// To trim a tool result is to keep its beginning and its end; to clear it is to leave a line in its place. Both are
// pruning, which is about old results. To cut or truncate a result is to shorten one that is larger than one may be,
// however new it is. To drop is the manager's word for clearing what is old, with the names that stood in it kept. To
// compact is to replace old history by a summary. A summarizer, an LLM, writes the summary; a digest is one that was made
// without an LLM.
//
// An epoch is a request in which the manager rewrites what was sent before, everything that is due at once, because each
// rewrite makes the provider write its cache again. The ladder is the list of steps that [Manager.Recover] tries, from
// the mildest to the last, and a rung is one of them.
//
// The reference, where a comment names one, is OpenClaw: the agent whose rules and numbers Winnow began with.
package winnow

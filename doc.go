// Package winnow keeps an LLM agent's conversation inside its model's context window.
//
// Make a [Manager] for each conversation with [New] and call [Manager.Prepare] before every request: it returns the
// messages to send. [Do] is a loop around it: it calls the model and, when the provider says "prompt is too long",
// shrinks the request and calls again.
//
// It works in three lines of defence, each used only when the one before it was not enough. Prevention limits turns,
// minifies new tool results, cuts oversized ones, and replaces old steps by records. Compaction replaces old history
// with a summary, which a [Summarizer] writes with an LLM, or [Digest] without one. Overflow recovery reads the
// provider's error, shrinks the request and tries again.
//
// What people and the agent said to each other, and what the host inserted, stays word for word until the window is
// full. The work in between (calls, results, remarks between calls) becomes records, and not before a fifth of the
// window is used: see Options.FoldAbove.
//
// # Stages
//
// The stages are pure functions that can be used on their own: [LimitHistoryTurns], [PruneContext],
// [TruncateToolResults], [RepairToolPairing] and [SummarizeInStages]. None writes to its input. All but the last return
// the new history and an [Edit] for every message that they changed, dropped or inserted; the last returns a [Summary].
//
// # Words
//
// The host is the program that uses this package. The history is its append-only list of messages. A turn begins at a
// user message that a person wrote. A step is an answer of the model with the results of its calls. The budget is the
// window minus the reserve for the answer. A pin is a message that survives every stage verbatim. An edit that was sent
// is sent again with the same bytes, so that the provider's prompt cache is read and not written.
//
// Pruning makes old tool results smaller. To trim a result is to keep its beginning and its end; to clear it is to put
// one line in its place. The manager also drops results: it clears what is old, but keeps the names that stood in it.
// To fold is to replace a run of old steps by a record, which code writes in a few lines. To minify a result is to send
// it, from the first request on, without repeats and without what was written for a terminal. To truncate, or cut, a
// result is to shorten one that is larger than a single result may be, however new it is. To compact is to replace old
// history with a summary. A summarizer writes it with an LLM; a digest is a summary that was made without one.
//
// A handle is a number of eight digits that names a message to the model: in placeholders, if Options.Recall is set,
// and in calls of [RecallTool]. To recall is to show again what was left out.
//
// An epoch is a request in which the manager rewrites what was sent before. It makes all the changes that are due at
// once, because after each rewrite the provider has to write its cache again. What [Manager.Recover] tries, the mildest
// first, is a ladder, and each attempt is a rung.
//
// The reference, or the reference system, is OpenClaw: the agent whose rules and numbers Winnow began with.
package winnow

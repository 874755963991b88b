// Package winnow keeps the conversation of an LLM agent inside its model's context window.
//
// An agent needs ten names:
//
//   - a conversation: [New] with [Options] makes its [Manager]
//   - a request: [Do] calls the model with it, and returns a [Request]
//   - a history: a list of [Message], each with a list of [Part]; the adapters make it from the messages of an SDK
//   - summaries by an LLM: [Summarizer]
//   - what was left out, for the model: [RecallTool]
//   - nothing helps: [OverflowError]
//
// Make one manager for each conversation, and keep its history as an append-only list:
//
//	answer, request, err := winnow.Do(ctx, manager, history, callYourModel)
//
// # What happens to a history
//
// Three lines of defence follow each other, and each is used only when the one before was not enough. Prevention keeps
// results small and replaces old tool work by records. Compaction replaces old messages by a summary, which a
// [Summarizer] writes with an LLM, or [Digest] without one. Recovery reads the provider's refusal and sends less.
//
// What people, the agent and the host said stays word for word until a summary is due. What was sent is sent again with
// the same bytes, so that the provider's prompt cache is read. [Request].Edits lists every change.
//
// # Who needs the rest
//
//   - a host with a loop of its own: [Manager.Prepare], [Manager.Recover], [Manager.Plan], [ClassifyError]
//   - a host that restarts, without package session: [Options].Journal, [Manager.Snapshot], [Manager.Restore]
//   - a model that keeps its own notes: [NotesTool], [CompactTool]
//   - a provider whose tokens the host counts itself: [Estimator], [Part].Tokens, [Manager.Counted]
//   - a program without a manager: the stages [LimitHistoryTurns], [PruneContext], [TruncateToolResults],
//     [RepairToolPairing] and [SummarizeInStages]. They are pure functions, which do not write to their input; the
//     first four return the new history and an [Edit] for each change
//
// # Words
//
//   - host: the program that uses this package
//   - turn: what begins with a person's message and ends before the next one
//   - step: an answer of the model, with the results of its tool calls
//   - reserve: the part of the window that is kept free for the answer; the rest is the budget
//   - pin: a message that no stage changes, see Message.Pinned
//   - in force: what the agent works by, such as its plan, a skill or a rule; it stays while a request fits
//   - prune: shorten old tool results, by their ends ([OpTrim]) or to one line ([OpClear])
//   - truncate: cut a result that is larger than a single result may be, however new it is
//   - fold: replace old steps by a record, a short text that code writes
//   - compact: replace old messages by a summary
//   - recall: show the model again what was left out, by the number (handle) that stands in its place
//   - epoch: a request that rewrites what was sent before, with all changes that are due
//
// Some numbers come from OpenClaw, an agent whose behaviour Winnow began with. Comments call it the reference.
package winnow

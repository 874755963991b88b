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
// Prevention keeps results small and replaces old tool work by records. Where that is not enough, compaction replaces
// old messages by a summary, which a [Summarizer] writes with an LLM, or [Digest] without one. Where a provider refuses
// a request all the same, recovery reads its error and sends less. What people, the agent and the host said stays word
// for word until a summary is due. What was sent is sent again with the same bytes, so that the prompt cache is read.
// [Request].Edits lists every change.
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
//   - pin: a message that no stage changes, see Message.Pinned
//   - in force: what the agent works by, such as its plan, a skill or a rule; it stays while a request fits
//   - record: a short text, written by code, that stands for old steps; to replace them is to fold
//   - recall: show the model again what was left out, by the number (handle) in its place
//   - budget: the window without the reserve, which is kept free for the answer
package winnow

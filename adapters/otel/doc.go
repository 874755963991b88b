// Package otel adds OpenTelemetry spans and metrics to conversations that winnow manages.
//
// [New] makes a manager like [winnow.New]. Each of its calls is measured and is a span, with attributes and events for
// the manager's decisions. [Do] adds a span for each request to the model, with its usage. Neither spans nor metrics
// hold any text of the conversation.
//
// Names come from the semantic conventions for generative AI, as far as those have one:
//
//   - span "chat {model}": gen_ai.operation.name, gen_ai.provider.name, gen_ai.request.model,
//     gen_ai.conversation.id, gen_ai.response.id and .finish_reasons, gen_ai.usage.input_tokens,
//     .output_tokens, .cache_read.input_tokens and .cache_creation.input_tokens, error.type
//   - metrics gen_ai.client.token.usage and gen_ai.client.operation.duration
//
// All other names begin with "winnow.":
//
//   - spans winnow.prepare, winnow.recover, winnow.compact and winnow.summarize, with events for decisions, named like
//     the records of winnow's log
//   - winnow.request.tokens {token}: the estimate of each request; winnow.request.utilization 1: its share of
//     the budget
//   - winnow.edits {edit}, by winnow.edit.op: content that was trimmed, cleared, cut, dropped or repaired. An edit is
//     counted only in the first request that has it
//   - winnow.cache.tokens {token}, by winnow.cache.io: read from the prompt cache and written to it
//   - winnow.cache.expected {token}: what requests were expected to read, of those whose answers say what was read;
//     winnow.cache.unread {token}, by winnow.cache.whose: what the request before had and was not read, because it was
//     rewritten ("winnow"), changed ("host"), too old ("time") or lost ("provider"). See [winnow.CacheUse]
//   - winnow.rewrites {rewrite}: requests that changed what was sent before, so that the prompt cache could not be used
//     from there on
//   - winnow.compactions {compaction}, by winnow.degraded, or error.type if one failed; winnow.compaction.tokens
//     {token}: by how much they shrank the request
//   - winnow.refusals {refusal}, by error.type: requests that the provider refused as too large
//   - winnow.recoveries {recovery}, by winnow.rung, the step of Recover that shrank a refused request
//   - winnow.operation.duration s, by winnow.operation and error.type
package otel

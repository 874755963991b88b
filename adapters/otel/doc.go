// Package otel gives conversations that winnow manages spans and metrics of OpenTelemetry.
//
// [New] makes a manager as [winnow.New] does. Each of its calls is a span, with attributes and events for what was
// decided, and is measured. [Do] adds a span for each request to the model, with what was billed for it. Neither spans
// nor metrics hold any text of the conversation.
//
// Where the semantic conventions for generative AI have a name, it is used:
//
//   - span "chat {model}": gen_ai.operation.name, gen_ai.provider.name, gen_ai.request.model,
//     gen_ai.conversation.id, gen_ai.response.id and .finish_reasons, gen_ai.usage.input_tokens,
//     .output_tokens, .cache_read.input_tokens and .cache_creation.input_tokens, error.type
//   - metrics gen_ai.client.token.usage and gen_ai.client.operation.duration
//
// All other names begin with "winnow.":
//
//   - spans winnow.prepare, winnow.recover, winnow.compact and winnow.summarize, with events for what was
//     decided, named as the records of winnow's log
//   - winnow.request.tokens {token}: the estimate of each request; winnow.request.utilization 1: its share of
//     the budget
//   - winnow.edits {edit}, by winnow.edit.op: what was trimmed, cleared, cut, dropped or repaired. An edit is
//     counted in the first request that has it, and not again
//   - winnow.cache.tokens {token}, by winnow.cache.io: read from the prompt cache and written to it
//   - winnow.rewrites {rewrite}: requests that changed what was sent before, so that the prompt cache was not read
//     from there on
//   - winnow.compactions {compaction}, by winnow.degraded, or error.type where one failed;
//     winnow.compaction.tokens {token}: what they took off the request
//   - winnow.refusals {refusal}, by error.type: requests that the provider refused as too large
//   - winnow.recoveries {recovery}, by winnow.rung, the step of Recover that made a refused request smaller
//   - winnow.operation.duration s, by winnow.operation and error.type
package otel

// Package otel gives conversations that winnow manages spans and metrics of OpenTelemetry.
//
// [New] makes a manager like [winnow.New] does; its calls are spans, with what was decided as attributes and
// events, and they are measured. [Do] also has a span for each request to the model, and what was billed
// for it. No text of the conversation is in any of them.
//
// Names follow the semantic conventions for generative AI where these have one:
//
//   - span "chat {model}": gen_ai.operation.name, gen_ai.provider.name, gen_ai.request.model,
//     gen_ai.conversation.id, gen_ai.response.id and .finish_reasons, gen_ai.usage.input_tokens,
//     .output_tokens, .cache_read.input_tokens and .cache_creation.input_tokens, error.type
//   - metrics gen_ai.client.token.usage and gen_ai.client.operation.duration
//
// What they have no name for begins with "winnow.":
//
//   - spans winnow.prepare, winnow.recover, winnow.compact and winnow.summarize, with events for what was
//     decided, named as the records of winnow's log
//   - winnow.request.tokens {token}: the estimate of each request; winnow.request.utilization 1: its share of
//     the budget
//   - winnow.edits {edit}, by winnow.edit.op: what was trimmed, cleared, cut, dropped, repaired. An edit that is
//     sent again is not counted again
//   - winnow.cache.tokens {token}, by winnow.cache.io: read from the prompt cache and written to it
//   - winnow.rewrites {rewrite}: requests that changed what was sent before, and so cost the prompt cache
//   - winnow.compactions {compaction}, by winnow.degraded, or error.type where one failed;
//     winnow.compaction.tokens {token}: what they took off the request
//   - winnow.refusals {refusal}, by error.type: requests that the provider refused as too large
//   - winnow.recoveries {recovery}, by winnow.rung: what made a refused request smaller
//   - winnow.operation.duration s, by winnow.operation and error.type
package otel

// Package responses connects winnow with the Responses API of OpenAI's SDK, github.com/openai/openai-go/v3.
//
// [Import] turns the items of a request into winnow's messages and [Export] turns them back. Items that
// stand in a row and are the model's (reasoning, text, calls, what its own tools did) become one assistant
// message, and each output of a call one message. What winnow did not change comes back as the caller's own
// item; what it did change is built anew by the rules of the API:
//
//   - an item of reasoning is sent with the item that it led to, or not at all; where it is left out, the
//     items behind it lose their ids, which name it;
//   - a call_id has at most 64 characters and is unique in the request; others are replaced by a hash, call
//     and output alike;
//   - calls of the API's own kinds (computer, shell, apply_patch) are sent with the caller's output or, if
//     that is gone, left out with it;
//   - no message is empty, and what is built holds no blank text.
//
// An item that stands for compacted history is pinned.
//
// [Response] makes winnow's messages of an answer, with what was billed, and [NewSummarizer] writes
// summaries. [winnow.ClassifyError] reads the SDK's errors as they are. But the API also reports failures, overflows
// among them, in an answer or an event with status 200: [Check] and [Collect] make errors of these.
//
// With Store: false, ask for the encrypted reasoning (Include: reasoning.encrypted_content): an item of reasoning
// that the server does not keep is not found by its id, and the next request is a 404.
package responses

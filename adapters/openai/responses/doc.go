// Package responses connects winnow with the Responses API of OpenAI's SDK, github.com/openai/openai-go/v3.
//
// [Import] turns the items of a request into winnow's messages and [Export] turns them back. Consecutive
// items of the model (reasoning, text, calls, what the API's own tools did) become one assistant message, and each
// output of a call becomes one message. What winnow did not change comes back as the caller's own
// item; what it did change is built anew by the rules of the API:
//
//   - an item of reasoning is sent with the item that it led to, or not at all. Where it is left out, the
//     items behind it are sent without ids, as the API looks for the reasoning that belongs to an id;
//   - a call_id has at most 64 characters and is unique in the request. Other ids are replaced by a
//     hash, in the call and in its output;
//   - calls of the API's own kinds (computer, shell, apply_patch) are sent with the caller's output. Without
//     it, the call is left out as well;
//   - no message is empty, and what is built holds no blank text.
//
// An item that stands for compacted history is pinned.
//
// [Response] turns an answer into winnow's messages, with what was billed for it. [Codec] stores messages in a session,
// and [NewSummarizer] writes summaries. [winnow.ClassifyError] reads the SDK's errors as they are. But the API also
// reports failures, overflows among them, in an answer or an event with status 200, and the SDK returns no error for
// them: [Check] and [Collect] do.
//
// With Store: false, ask for the encrypted reasoning (Include: reasoning.encrypted_content). The server keeps no items
// then, does not find an item of reasoning by its id, and answers the next request with a 404.
package responses

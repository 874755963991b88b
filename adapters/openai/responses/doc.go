// Package responses connects winnow with the Responses API of OpenAI's SDK, github.com/openai/openai-go/v3.
//
// [Import] turns the items of a request into winnow's messages and [Export] turns them back. Consecutive items of the
// model (reasoning, text, calls, actions of the API's own tools) become one assistant message, and each output of a
// call becomes one message. Items that winnow did not change come back as the caller's own. Changed items are built
// anew by the rules of the API:
//
//   - an item of reasoning is sent with the item that it led to, or not at all. If it is left out, the items after it
//     are sent without ids, because the API looks for the reasoning that belongs to an id;
//   - a call_id has at most 64 characters and is unique in the request. Other ids are replaced by a
//     hash, in the call and in its output;
//   - calls of the API's own kinds (computer, shell, apply_patch) are sent with the caller's output. Without that, the
//     call is left out too;
//   - no message is empty, and no built message holds a blank text.
//
// A request begins at the newest item of compaction: see [winnow.MediaCompaction]. What people said stays in front of
// it where the endpoint for compactions returned it with an id. The SDK's types lose that id, so import the output of
// that endpoint as JSON (param.Override).
//
// [Response] turns an answer into winnow's messages, with its usage. [Codec] stores messages in a session, and
// [NewSummarizer] writes summaries. [winnow.ClassifyError] understands the SDK's errors. The API also reports failures,
// including overflows, in an answer or an event with status 200. The SDK returns no error for them; [Check] and
// [Collect] do.
//
// With Store: false, ask for the encrypted reasoning (Include: reasoning.encrypted_content). Otherwise the server,
// which then keeps no items, cannot find an item of reasoning by its id, and answers the next request with a 404.
package responses

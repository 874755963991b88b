// Package openai connects winnow with OpenAI's SDK, github.com/openai/openai-go/v3, for Chat Completions,
// and so with every server that speaks it. Package responses, below it, does the same for the Responses API.
//
// [Import] turns the SDK's messages into winnow's and [Export] turns them back. What winnow did not change
// comes back as the caller's own value; what it did change is built anew by the rules of the API:
//
//   - results follow directly on the message with their calls, one message for each result;
//   - an id of a call has at most 40 characters and is unique in its message. Other ids are replaced by a
//     hash, in the call and in its result;
//   - only messages of the user hold images: those of results are sent in one behind the results;
//   - no message is empty, and what is built holds no blank text;
//   - the reasoning of the caller's own messages (the field reasoning_content of DeepSeek, Kimi and others) is
//     sent back. Other reasoning is not sent.
//
// [Rules] are for servers that want more, such as roles that alternate or ids of nine letters.
//
// [Response] turns an answer into winnow's message, with what was billed for it. [Collect] reads a streamed answer, and
// keeps the members that the SDK does not know. [Codec] stores messages in a session, and [NewSummarizer] writes
// summaries with any model. [winnow.ClassifyError] reads the SDK's errors as they are. For servers that report errors
// in forms of their own there are [Check] and [KeepErrors].
package openai

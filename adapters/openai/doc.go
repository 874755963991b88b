// Package openai connects winnow with OpenAI's SDK, github.com/openai/openai-go/v3, for Chat Completions,
// and so with every server that speaks it. Package responses, below it, does the same for the Responses API.
//
// [Import] turns the SDK's messages into winnow's and [Export] turns them back. What winnow did not change
// comes back as the caller's own value; what it did change is built anew by the rules of the API:
//
//   - results follow the message with their calls, one message each, before anything else;
//   - an id of a call has at most 40 characters and is unique in its message; others are replaced by a hash,
//     call and result alike;
//   - images are in messages of the user only: those of results follow the results;
//   - no message is empty, and what is built holds no blank text;
//   - servers that want more, such as roles that alternate or ids of nine letters, have [Rules];
//   - reasoning is sent back where the caller sends it (the field reasoning_content of DeepSeek, Kimi and
//     others), and nowhere else.
//
// [Response] makes winnow's message of an answer, with what was billed, and [NewSummarizer] writes
// summaries with any model. [Collect] reads a stream, with what the SDK does not know of it. [winnow.ClassifyError]
// reads the SDK's errors as they are; for servers that report errors in forms of their own there are [Check] and
// [KeepErrors].
package openai

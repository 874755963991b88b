// Package openai connects winnow with OpenAI's SDK, github.com/openai/openai-go/v3, for Chat Completions, and thus with
// every server that speaks it. Package responses, below it, does the same for the Responses API.
//
// [Import] turns the SDK's messages into winnow's and [Export] turns them back. Messages that winnow did not change
// come back as the caller's own values. Changed messages are built anew by the rules of the API:
//
//   - results directly follow the message with their calls, one message for each result;
//   - an id of a call has at most 40 characters and is unique in its message. Other ids are replaced by a
//     hash, in the call and in its result;
//   - only user messages hold images: those of results are sent in a user message after the results;
//   - no message is empty, and no built message holds a blank text;
//   - the reasoning of the caller's own messages (the field reasoning_content of DeepSeek, Kimi and others) is
//     sent back. Other reasoning is not sent.
//
// [Rules] are for servers with stricter rules, such as alternating roles or ids of nine letters.
//
// [Response] turns an answer into winnow's message, with its usage. [Collect] reads a streamed answer, and keeps the
// members that the SDK does not know. [Codec] stores messages in a session, and [NewSummarizer] writes summaries with
// any model. [winnow.ClassifyError] understands the SDK's errors. [Check] and [KeepErrors] are for servers that report
// errors in other forms.
package openai

// Package bedrock connects winnow with the Converse API of Amazon Bedrock, in AWS's SDK:
// github.com/aws/aws-sdk-go-v2/service/bedrockruntime.
//
// [Import] turns the SDK's messages into winnow's and [Export] turns them back. What winnow did not change comes back
// as the caller's own value, with its cache points, citations and signatures; what it did change is built anew by
// rules that all models of Bedrock accept:
//
//   - user and assistant take turns, and the user begins: neighbours of one role become one message;
//   - the results of one assistant message are in the message behind it, before anything else in it;
//   - no text is blank, no message empty, and no result without content;
//   - ids of calls match ^[a-zA-Z0-9_-]{1,64}$ and are unique in their message; others are replaced by a hash, call and
//     result alike;
//   - reasoning is sent back as the caller has it, and nowhere else.
//
// The SDK neither reads nor sends blocks that it does not know. The text "[attachment]" stands in their
// place.
//
// System text has a field of its own in the API: [ImportSystem] and [ExportSystem]. [Response] makes winnow's message
// of an answer, with what was billed, [Collect] puts a streamed one together, [Codec] stores messages in a session, and [NewSummarizer] writes
// summaries.
// [winnow.ClassifyError] reads the SDK's errors as they are.
package bedrock

// Package bedrock connects winnow with the Converse API of Amazon Bedrock, in AWS's SDK:
// github.com/aws/aws-sdk-go-v2/service/bedrockruntime.
//
// [Import] turns the SDK's messages into winnow's and [Export] turns them back. What winnow did not change comes back
// as the caller's own value, with its cache points, citations and signatures; what it did change is built anew by
// rules that all models of Bedrock accept:
//
//   - user and assistant take turns, and the user begins: neighbours of one role become one message;
//   - the results of one assistant message are at the beginning of the next message;
//   - no text is blank, no message empty, and no result without content;
//   - ids of calls match ^[a-zA-Z0-9_-]{1,64}$ and are unique in their message. Other ids are replaced by a hash,
//     in the call and in its result;
//   - the reasoning of the caller's own messages is sent back. Other reasoning is not sent.
//
// The SDK neither reads nor sends blocks that it does not know. The text "[attachment]" stands in their
// place.
//
// The API has a field of its own for the system prompt, which [ImportSystem] reads and [ExportSystem] fills. [Response]
// turns an answer into winnow's message, with what was billed for it. [Collect] reads a streamed answer. [MarkCache]
// sets cache points, [Codec] stores messages in a session, and [NewSummarizer] writes summaries. [winnow.ClassifyError]
// reads the SDK's errors as they are.
package bedrock

// Package bedrock connects winnow with the Converse API of Amazon Bedrock, in AWS's SDK:
// github.com/aws/aws-sdk-go-v2/service/bedrockruntime.
//
// [Import] turns the SDK's messages into winnow's and [Export] turns them back. Messages that winnow did not change
// come back as the caller's own values, with their cache points, citations and signatures. Changed messages are built
// anew by rules that all models of Bedrock accept:
//
//   - user and assistant alternate, beginning with the user: neighbours with the same role become one message;
//   - the results of one assistant message are at the beginning of the next message;
//   - no text is blank, no message is empty, and every result has content;
//   - ids of calls match ^[a-zA-Z0-9_-]{1,64}$ and are unique in their message. Other ids are replaced by a hash,
//     in the call and in its result;
//   - the reasoning of the caller's own messages is sent back. Other reasoning is not sent.
//
// The SDK neither reads nor sends unknown blocks. The text "[attachment]" replaces them.
//
// The API has a separate field for the system prompt, which [ImportSystem] reads and [ExportSystem] fills. [Response]
// turns an answer into winnow's message, with its usage. [Collect] reads a streamed answer. [MarkRequest] sets cache
// points, [Codec] stores messages in a session, and [NewSummarizer] writes summaries. [winnow.ClassifyError]
// understands the SDK's errors.
package bedrock

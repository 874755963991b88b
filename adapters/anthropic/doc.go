// Package anthropic connects winnow with Anthropic's SDK, github.com/anthropics/anthropic-sdk-go.
//
// [Import] turns the SDK's messages into winnow's and [Export] turns them back. Messages that winnow did not change
// come back as the caller's own values, with their cache markers, citations, signatures and unknown fields. Changed
// messages are built anew by the rules of the Messages API:
//
//   - the results of one assistant message are in one user message, before anything else in it;
//   - no text block is blank, and no message and no list of a result's content is empty;
//   - ids of calls match ^[a-zA-Z0-9_-]{1,64}$ and are unique in the request. Other ids are replaced by a hash, in the
//     call and in its result;
//   - a result that is an error holds only text: its images follow the results;
//   - thinking without a signature is not sent;
//   - the last message does not end in white space if it is the assistant's.
//
// The first four rules also hold for the caller's own messages: a block that breaks one is replaced, and the others
// stay.
//
// A message or a block may also be given as JSON (param.Override), with the same meaning. Unknown blocks stay in their
// places. The SDK's own decoder drops the content of a message with an unknown block, so read a stored history as JSON.
//
// A request begins at the newest block of compaction of the beta API: see [winnow.MediaCompaction].
//
// [Response] turns an answer into winnow's message, with what was billed for it. [Collect] reads a streamed answer.
// [MarkRequest] sets the markers of the prompt cache, [Codec] stores messages in a session, [NewCounter] counts tokens
// with the API, and [NewSummarizer] writes summaries with a Claude model. [winnow.ClassifyError] understands the SDK's
// errors. For the types of the beta API, use [ImportBeta], [ExportBeta] and [ResponseBeta].
package anthropic

// Package anthropic connects winnow with Anthropic's SDK, github.com/anthropics/anthropic-sdk-go.
//
// [Import] turns the SDK's messages into winnow's and [Export] turns them back. What winnow did not change
// comes back as the caller's own value, with its cache markers, citations, signatures and unknown fields;
// what it did change is built anew by the rules of the Messages API:
//
//   - the results of one assistant message are in one user message, before anything else in it;
//   - no text block is blank, no message empty, and no list of a result's content is empty;
//   - ids of calls match ^[a-zA-Z0-9_-]{1,64}$ and are unique in the request; others are replaced by a hash,
//     call and result alike;
//   - a result that is an error holds text only: its images follow the results;
//   - thinking without a signature is not sent;
//   - the last message, if it is the assistant's, does not end in white space.
//
// A message of the caller's that breaks one of the first four rules is not sent as it is either: the block
// that breaks it is replaced and the others stay.
//
// A message or a block may be given as JSON (param.Override), which means the same; an unknown block stays in its
// place. The SDK's own decoder drops the content of a message with one: read a stored history as JSON.
//
// [Response] turns an answer into winnow's message, with what was billed for it. [Collect] reads a streamed answer.
// [MarkCache] sets the markers of the prompt cache, [Codec] stores messages in a session, [NewCounter] counts tokens
// with the API, and [NewSummarizer] writes summaries with a Claude model. [winnow.ClassifyError] reads the SDK's errors
// as they are. The beta API, which has types of its own, has [ImportBeta], [ExportBeta] and [ResponseBeta].
package anthropic

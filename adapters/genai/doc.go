// Package genai connects winnow with Google's SDK, google.golang.org/genai, for Gemini on either of its
// backends.
//
// [Import] turns the SDK's contents into winnow's messages and [Export] turns them back. What winnow did not
// change comes back as the caller's own value, with its thought signatures and metadata; what it did change
// is built anew by the rules of the API:
//
//   - the responses to one content with calls are in one content of their own, as many as there are calls,
//     each with the name of its call;
//   - a content with calls comes directly after a content of the user, or after responses. Contents of the
//     model that would be neighbours are joined. A conversation that would begin with calls, or with an
//     answer that was built anew, gets a content of the user in front;
//   - no content and no part is empty. A part that holds only a signature does not count as empty;
//   - ids of calls match ^[a-zA-Z0-9_-]{1,64}$ and are unique in their content; others are replaced by a
//     hash, in the call and in its response. Calls without ids, as older models make them, stay without;
//   - images of results that did not come as parts of the SDK's responses are sent behind the responses:
//     every model takes them there.
//
// The API has a field of its own for the system prompt, which [ImportSystem] reads and [ExportSystem] fills.
//
// [Response] turns an answer into winnow's message, with what was billed for it. [Collect] joins the pieces of a
// streamed answer, and [Check] returns an error for a response that is no answer. [Codec] stores messages in a
// session. [NewSummarizer] writes summaries with a Gemini model, and [NewCounter] counts tokens with the API.
// [winnow.ClassifyError] reads the SDK's errors as they are.
package genai

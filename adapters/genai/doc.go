// Package genai connects winnow with Google's SDK, google.golang.org/genai, for Gemini on either of its
// backends.
//
// [Import] turns the SDK's contents into winnow's messages and [Export] turns them back. What winnow did not
// change comes back as the caller's own value, with its thought signatures and metadata; what it did change
// is built anew by the rules of the API:
//
//   - the responses to one content with calls are in one content of their own, as many as there are calls,
//     each with the name of its call;
//   - a content with calls follows one of the user or of responses: contents of the model that would be
//     neighbours are joined, and where a conversation would begin with calls, or with an answer that is not
//     the caller's, a content of the user is put in front;
//   - no content and no part is empty; a part that holds nothing but a signature is not;
//   - ids of calls match ^[a-zA-Z0-9_-]{1,64}$ and are unique in their content; others are replaced by a
//     hash, call and response alike. Calls without ids, as older models make them, stay without;
//   - images that are not the SDK's parts of a response follow the responses, which every model takes.
//
// System text has a field of its own in the API: [ImportSystem] and [ExportSystem].
//
// [Response] makes winnow's message of an answer, with what was billed, [Collect] puts the pieces of a streamed one
// together, [Check] recognizes what is not an answer, and [NewSummarizer] writes summaries with a Gemini model.
// [winnow.ClassifyError] reads the SDK's errors as they are.
package genai

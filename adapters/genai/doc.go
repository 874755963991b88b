// Package genai connects winnow with Google's SDK, google.golang.org/genai, for Gemini on either of its
// backends.
//
// [Import] turns the SDK's contents into winnow's messages and [Export] turns them back. Contents that winnow did not
// change come back as the caller's own values, with their thought signatures and metadata. Changed contents are built
// anew by the rules of the API:
//
//   - the responses to a content with calls are in one separate content: one for each call, with the call's name;
//   - a content with calls directly follows a content of the user or responses. Neighbouring contents of the model are
//     joined. If a conversation would begin with calls, or with an answer that was built anew, a content of the user is
//     put in front;
//   - no content and no part is empty; a part with only a signature does not count as empty;
//   - ids of calls match ^[a-zA-Z0-9_-]{1,64}$ and are unique in their content. Other ids are replaced by a hash, in
//     the call and in its response. Calls without ids, as older models make them, stay without;
//   - Gemini 3 refuses calls of the newest turn without a thought signature. Those that did not come from Gemini's API,
//     because another model or the host began the turn, get the placeholder that Google documents, one for each step;
//     [ExportFor] knows which models need it;
//   - images of results that did not come as parts of the SDK's responses are sent after the responses, where every
//     model accepts them.
//
// The API has a separate field for the system prompt, which [ImportSystem] reads and [ExportSystem] fills.
//
// [Response] turns an answer into winnow's message, with its usage. [Collect] joins the pieces of a streamed answer,
// and [Check] returns an error for a response that is not an answer. [Codec] stores messages in a session.
// [NewSummarizer] writes summaries with a Gemini model, and [NewCounter] counts tokens with the API.
// [winnow.ClassifyError] understands the SDK's errors.
package genai

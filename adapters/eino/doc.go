// Package eino connects winnow with the messages of CloudWeGo's Eino, github.com/cloudwego/eino/schema, and
// so with every chat model that has an Eino component.
//
// [Import] turns Eino's messages into winnow's. An answer keeps its usage and stop reason, if the model gives them.
// [Export] turns messages back. Those that winnow did not change come back as the caller's own pointers, with
// everything that a model keeps in Extra. Changed messages are built anew by rules that every provider accepts:
//
//   - results directly follow the message with their calls, one message for each result;
//   - ids of calls are unique in the history. In messages that did not come from Import they match
//     ^[a-zA-Z0-9_-]{1,40}$. Other ids are replaced by a hash, in the call and in its result. Ids in the caller's own
//     messages stay if they have at most 256 characters of any kind, because some models want their ids back;
//   - no message is empty, and no built message holds a blank text;
//   - the reasoning of the caller's own messages is sent back. Other reasoning is not sent.
//
// [Codec] stores messages in a session, and [NewSummarizer] writes summaries with any chat model.
// [winnow.ClassifyError] understands the errors of the models, which wrap those of their SDKs.
package eino

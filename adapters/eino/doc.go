// Package eino connects winnow with the messages of CloudWeGo's Eino, github.com/cloudwego/eino/schema, and
// so with every chat model that has an Eino component.
//
// [Import] turns Eino's messages into winnow's. An answer keeps what was billed for it and why it ended, where the
// model says so. [Export] turns them back. What winnow did not change comes back as the caller's own pointer, with all
// that a model keeps in Extra; what it did change is built anew by rules that every provider accepts:
//
//   - results follow directly on the message with their calls, one message for each result;
//   - ids of calls are unique in the history. In messages that did not come from Import they match
//     ^[a-zA-Z0-9_-]{1,40}$. Other ids are replaced by a hash, in the call and in its result. Ids of the
//     caller's own messages stay up to 256 characters of any kind, as some models want theirs back;
//   - no message is empty, and what is built holds no blank text;
//   - the reasoning of the caller's own messages is sent back. Other reasoning is not sent.
//
// [Codec] stores messages in a session, and [NewSummarizer] writes summaries with any chat model.
// [winnow.ClassifyError] reads the errors of the models, which wrap those of their SDKs.
package eino

// Package eino connects winnow with the messages of CloudWeGo's Eino, github.com/cloudwego/eino/schema, and
// so with every chat model that has an Eino component.
//
// [Import] turns Eino's messages into winnow's, with what was billed and why they ended where that is known,
// and [Export] turns them back. What winnow did not change comes back as the caller's own pointer, with all
// that a model keeps in Extra; what it did change is built anew by rules that every provider accepts:
//
//   - results follow the message with their calls, one message each, before anything else;
//   - ids of calls are unique in the history, and those that the caller's model did not give match
//     ^[a-zA-Z0-9_-]{1,40}$; others are replaced by a hash, call and result alike. Ids of the caller's own
//     messages stay whatever their characters: some models want theirs back;
//   - no message is empty, and what is built holds no blank text;
//   - reasoning is sent back where the caller sends it, and nowhere else.
//
// [NewSummarizer] writes summaries with any chat model. [winnow.ClassifyError] reads the errors of the
// models, which wrap those of their SDKs.
package eino

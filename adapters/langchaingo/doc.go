// Package langchaingo keeps agents of LangChainGo, github.com/tmc/langchaingo, inside the context window of their
// model.
//
// [Wrap] stands around a model. It works for agents and chains that give the model a list of messages, such as
// agents.OpenAIFunctionsAgent, and for loops of your own. Agents and chains that write the conversation into one prompt
// keep it in a [Memory].
//
// [Import] and [Export] turn messages into winnow's and back. Messages that winnow did not change are sent as they are.
// The others are built anew by rules that every provider accepts: each result is a message of its own, directly behind
// the message with its call; no text is blank; ids of calls are unique.
package langchaingo

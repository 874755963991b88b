// Package transport puts Winnow under an agent that already runs: an [http.RoundTripper] for the client of any SDK.
//
//	t, err := transport.New(nil, nil)
//	...
//	client := anthropic.NewClient(option.WithHTTPClient(&http.Client{Transport: t}))
//
// It knows the requests of four APIs by their path: Anthropic Messages, OpenAI Chat Completions, OpenAI Responses, and
// Gemini generateContent; each with and without streaming. It finds the conversation's manager, and replaces the
// messages of the request by those that [winnow.Manager.Prepare] returns. Every other byte of the body stays: system
// prompt, tools, unknown members and their order. A refusal that says "too long" is recovered from, and a smaller
// request is sent, before the client sees anything. All other answers pass through as they come.
//
// # Which conversation
//
// A request continues the conversation whose last history is the longest beginning of its own, or differs from it
// behind the newest answer alone. One in which the client has changed an older text begins anew under the same name. A
// history that begins alike and goes on differently gets a manager of its own, and so does another request that is sent
// meanwhile. So no request has a text of another conversation.
//
// # What a client sees
//
// With Options.Recall the model has a tool that the client does not know. Its calls are answered by further requests,
// and the client gets one answer of all, without the calls. In a stream, the thoughts of OpenAI's Responses then wait
// for the item that they lead to.
//
// The usage in an answer is the provider's, for the request that was sent. A client that compacts by it does so later,
// because its history is larger than what it sees counted.
package transport

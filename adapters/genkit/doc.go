// Package genkit keeps agents of Genkit, github.com/firebase/genkit/go, inside the context window of their model.
//
//	w := genkit.Wrap(&framework.Options{…})
//	answer, err := gk.Generate(ctx, g, ai.WithMessages(history...), ai.WithMiddleware(w.Middleware))
//	history = answer.History() // whole: what was sent in its place is not in it
//
// [Import] and [Export] turn messages into winnow's and back. Messages that winnow did not change are sent as they are.
// The others are built anew by rules that every provider accepts: the results of an answer stand together, directly
// behind the message with their calls; no text is blank; refs of calls are unique.
package genkit

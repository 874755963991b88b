// Package framework is what the wrappers for agent frameworks share: the managers of their conversations.
//
// A framework has a loop and a history of its own. Its wrapper stands around its model: it gives [Do] the messages of
// each request, and sends what comes back in their place. Nothing of that returns to the framework, whose history stays
// as it would be without Winnow.
//
//	answer, turn, err := framework.Do(ctx, conversations, Import(messages),
//		func(ctx context.Context, messages []winnow.Message) (Answer, error) {
//			return model.Generate(ctx, Export(messages))
//		})
//	if err == nil {
//		turn.Answered(ctx, Response(answer))
//	}
//
// One [Conversations] belongs to one agent. Agents that call each other get one each.
package framework

package framework_test

import (
	"context"
	"fmt"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/framework"
)

// The smallest framework: its messages are texts.
type (
	Answer struct{ text string }
	Model  struct{}
)

func (Model) Generate(_ context.Context, messages []string) (*Answer, error) {
	return &Answer{fmt.Sprint(len(messages), " messages")}, nil
}

func Import(texts []string) (out []winnow.Message) {
	for i, text := range texts {
		role := winnow.RoleUser
		if i%2 == 1 {
			role = winnow.RoleAssistant
		}
		out = append(out, winnow.Message{Role: role, Parts: []winnow.Part{{Text: text}}})
	}
	return out
}

func Export(messages []winnow.Message) (out []string) {
	for i := range messages {
		out = append(out, messages[i].Parts[0].Text)
	}
	return out
}

func Response(a *Answer) winnow.Message {
	return winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Text: a.text}}}
}

func generate(ctx context.Context, conversations *framework.Conversations, model Model, messages []string) (*Answer, error) {
	// README
	answer, turn, err := framework.Do(ctx, conversations, Import(messages),
		func(ctx context.Context, messages []winnow.Message) (*Answer, error) {
			return model.Generate(ctx, Export(messages)) // of a stream: return when the first chunk is there
		})
	if err != nil {
		return nil, err // the model's own error, but for one that says that nothing fits
	}
	turn.Answered(ctx, Response(answer)) // with Usage, if it is known
	return answer, nil
	// END
}

// A wrapper for a framework that has none.
func Example() {
	conversations := framework.New(nil)
	_, err := generate(context.Background(), conversations, Model{}, []string{"Hello"})
	fmt.Println(err)
	ctx := framework.WithConversation(context.Background(), "chat 42")
	answer, err := generate(ctx, conversations, Model{}, []string{"Hello", "Hello.", "What is new?"})
	fmt.Println(answer.text, err)
	// Output:
	// framework: the context names no conversation: use WithConversation or Options.Key
	// 3 messages <nil>
}

package winnowtest_test

import (
	"context"
	"fmt"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/winnowtest"
)

// agent is the agent under test: a loop around a model and one tool.
type agent struct {
	manager *winnow.Manager
	history []winnow.Message
	ask     func(context.Context, []winnow.Message) (winnow.Message, error)
	read    func(arguments string) string
}

// say answers a person.
func (a *agent) say(ctx context.Context, text string) (string, error) {
	a.history = append(a.history, winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: text}}})
	for {
		answer, _, err := winnow.Do(ctx, a.manager, a.history, a.ask)
		if err != nil {
			return "", err
		}
		a.history = append(a.history, answer)
		isDone := true
		for _, p := range answer.Parts {
			if p.Kind == winnow.KindToolCall {
				isDone = false
				a.history = append(a.history, winnowtest.Result(p.ID, p.Name, a.read(string(p.Arguments))))
			}
		}
		if isDone {
			return answer.Parts[0].Text, nil
		}
	}
}

// A small agent is tested against a model that answers by a script, and that refuses in Gemini's words what is too long
// for it: its window is smaller than the agent believes.
func ExampleModel() {
	model := &winnowtest.Model{Window: 1_500, Provider: "gemini", Answers: []winnowtest.Answer{
		{Calls: []winnow.Part{winnowtest.Call("a", "read", `{"path":"main.go"}`)}},
		{Text: "main.go is fine."},
	}}
	summarizer := &winnowtest.Summarizer{}
	manager, err := winnow.New(40_000, &winnow.Options{Summarizer: summarizer})
	if err != nil {
		panic(err)
	}
	a := &agent{manager: manager, ask: model.Call, read: func(string) string { return "package main" }}
	a.history = winnowtest.Conversation{}.Work(20, 2, 2_400) // a long session so far

	text, err := a.say(context.Background(), "Is main.go fine?")
	fmt.Println(text, err)
	fmt.Println("requests:", len(model.Requests()))
	fmt.Println("check:", model.Check(a.history[len(a.history)-4:]))
	fmt.Println("request:", winnowtest.CheckRequest(manager.Plan(a.history)))
	// Output:
	// main.go is fine. <nil>
	// requests: 3
	// check: <nil>
	// request: <nil>
}

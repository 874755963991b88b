package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/winnowtest"
)

// maxSteps is the limit of steps in a turn. It stops a model that goes in circles.
const maxSteps = 50

// agent is a conversation.
type agent struct {
	model   *winnowtest.Model
	manager *winnow.Manager
	history []winnow.Message // append-only: the manager never modifies it
	files   files
	screen  *screen
}

// turn answers the user.
func (a *agent) turn(ctx context.Context, text string) error {
	a.screen.print("\n")
	a.screen.says("you", text)
	a.history = append(a.history, winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: text}}})
	for range maxSteps {
		answer, err := a.step(ctx)
		if err != nil {
			return err
		}
		a.history = append(a.history, answer)
		a.screen.says("agent", textOf(answer))
		before := len(a.history)
		for _, p := range answer.Parts {
			if p.Kind != winnow.KindToolCall {
				continue
			}
			result, err := a.call(ctx, p)
			if err != nil {
				return err
			}
			a.screen.called(p, textOf(result))
			a.history = append(a.history, result)
		}
		if len(a.history) == before {
			return nil
		}
	}
	return fmt.Errorf("no answer after %d steps", maxSteps)
}

// step makes one request. [winnow.Do] does the same; here each attempt is shown.
func (a *agent) step(ctx context.Context) (winnow.Message, error) {
	request, err := a.manager.Prepare(ctx, a.history)
	for err == nil {
		answer, refused := a.model.Call(ctx, request.Messages)
		a.screen.sent(request, &answer, refused)
		if refused == nil {
			return answer, nil
		}
		request, err = a.manager.Recover(ctx, a.history, refused)
	}
	return winnow.Message{}, err
}

// call executes a call of the model.
func (a *agent) call(ctx context.Context, p winnow.Part) (winnow.Message, error) {
	switch p.Name {
	case winnow.RecallTool().Name: // the model asks for what was left out
		return a.manager.Recall(ctx, a.history, p.Arguments)
	case winnow.NotesTool().Name: // it writes down what has to stay
		return a.manager.TakeNote(a.history, p.Arguments), nil
	case winnow.CompactTool().Name: // it has ended a phase of its work
		return a.manager.EndPhase(a.history, p.Arguments), nil
	}
	return winnowtest.Result(p.ID, p.Name, a.files.call(p)), nil
}

// textOf returns the texts of messages.
func textOf(messages ...winnow.Message) string {
	var texts []string
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Kind == winnow.KindText {
				texts = append(texts, p.Text)
			}
		}
	}
	return strings.Join(texts, "\n")
}

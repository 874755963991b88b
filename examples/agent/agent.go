package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/winnowgo/winnow"
)

const systemPrompt = `You are a careful agent that works in one directory with tools. Paths are relative to it. Look ` +
	`before you answer, and answer in a few sentences.`

// maxSteps is the limit of steps in a turn. It stops a model that goes in circles.
const maxSteps = 50

// agent is a conversation.
type agent struct {
	model     model
	maxTokens int // room for each answer
	tools     *tools
	screen    *screen
	manager   *winnow.Manager
	history   []winnow.Message // append-only: the manager never modifies it
}

// model answers requests.
type model interface {
	// ask sends a request with the tools and returns the next message of the history.
	ask(ctx context.Context, q question) (winnow.Message, error)
}

// question is a request to a model.
type question struct {
	system    string
	messages  []winnow.Message
	tools     []tool // nil: none
	maxTokens int
}

func newAgent(c config, m model, t *tools, s *screen) (*agent, error) {
	schemas, err := json.Marshal(t.list)
	if err != nil {
		return nil, err
	}
	overhead := winnow.CharsPerToken(4).Estimate(winnow.Message{Parts: []winnow.Part{{Text: systemPrompt +
		string(schemas)}}})
	manager, err := winnow.New(c.window, &winnow.Options{
		Summarizer: &summarizer{m, s},
		Overhead:   overhead,
		Recall:     true, // its tool is part of the overhead
		Tools:      &winnow.ToolOptions{Notes: true},
		Reserve:    c.maxTokens,
	})
	if err != nil {
		return nil, err
	}
	s.window = c.window
	for _, own := range []winnow.Tool{winnow.RecallTool(), winnow.NotesTool(), winnow.CompactTool()} {
		tool, err := ownTool(own)
		if err != nil {
			return nil, err
		}
		t.list = append(t.list, tool)
	}
	return &agent{model: m, maxTokens: c.maxTokens, tools: t, screen: s, manager: manager}, nil
}

// ownTool returns a tool of Winnow's in the form of the endpoint.
func ownTool(own winnow.Tool) (tool, error) {
	t := tool{Name: own.Name, Description: own.Description}
	return t, json.Unmarshal(own.Schema, &t.Parameters)
}

// call executes a call of the model.
func (a *agent) call(ctx context.Context, p winnow.Part) (winnow.Message, error) {
	switch p.Name {
	case winnow.RecallTool().Name: // the model asks for what was left out
		return a.manager.Recall(ctx, a.history, p.Arguments)
	case winnow.NotesTool().Name: // it writes down what has to stay
		return a.manager.Note(a.history, p.Arguments), nil
	case winnow.CompactTool().Name: // it has ended a phase of its work
		return a.manager.EndPhase(a.history, p.Arguments), nil
	}
	return a.tools.call(ctx, p), nil
}

// turn answers the user.
func (a *agent) turn(ctx context.Context, text string) error {
	a.screen.says("you", text)
	a.history = append(a.history, winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: text}}})
	for range maxSteps {
		answer, err := a.step(ctx)
		if err != nil {
			return err
		}
		a.history = append(a.history, answer)
		calls := 0
		for _, p := range answer.Parts {
			switch p.Kind {
			case winnow.KindText:
				a.screen.says("agent", p.Text)
			case winnow.KindToolCall:
				calls++
				result, err := a.call(ctx, p)
				if err != nil {
					return err
				}
				a.screen.called(p, &result)
				a.history = append(a.history, result)
			}
		}
		if calls == 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return fmt.Errorf("no answer after %d steps", maxSteps)
}

// step makes one request. [winnow.Do] does the same; here each attempt is shown.
func (a *agent) step(ctx context.Context) (winnow.Message, error) {
	request, err := a.manager.Prepare(ctx, a.history)
	for err == nil {
		a.screen.sends(request)
		answer, refused := a.model.ask(ctx,
			question{system: systemPrompt, messages: request.Messages, tools: a.tools.list, maxTokens: a.maxTokens})
		if refused == nil {
			a.screen.answered(&answer)
			return answer, nil
		}
		a.screen.refused(refused)
		request, err = a.manager.Recover(ctx, a.history, refused)
	}
	return winnow.Message{}, err
}

// summarizer lets the answering model also write the summaries.
type summarizer struct {
	model  model
	screen *screen
}

// Summarize implements [winnow.Summarizer].
func (s *summarizer) Summarize(ctx context.Context, req winnow.SummaryRequest) (string, error) {
	defer s.screen.summarizing(len(req.Messages))()
	prompt := winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: req.Prompt()}}}
	answer, err := s.model.ask(ctx, question{system: req.System(), messages: []winnow.Message{prompt},
		maxTokens: req.MaxTokens})
	if err != nil {
		return "", err
	}
	text := ""
	for _, p := range answer.Parts {
		if p.Kind == winnow.KindText {
			text += p.Text
		}
	}
	if answer.StopReason != "end_turn" && answer.StopReason != "stop" {
		return "", fmt.Errorf("the answer ended with %q: %w", answer.StopReason, winnow.ErrIncomplete)
	}
	return text, nil
}

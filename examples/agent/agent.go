package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/winnowgo/winnow"
)

const systemPrompt = `You are a careful agent that works in one directory with tools. Paths are relative to it. Look ` +
	`before you answer, and answer in a few sentences.`

// maxSteps is the limit of steps in a turn. It stops a model that goes in circles.
const maxSteps = 50

// agent is a conversation.
type agent struct {
	model     *endpoint
	maxTokens int // room for each answer
	files     *os.Root
	tools     []winnow.Tool
	screen    *screen
	manager   *winnow.Manager
	history   []winnow.Message // append-only: the manager never modifies it
}

func newAgent(c config, e *endpoint, files *os.Root, s *screen) (*agent, error) {
	schemas, err := json.Marshal(fileTools)
	if err != nil {
		return nil, err
	}
	own := winnow.Message{Parts: []winnow.Part{{Text: systemPrompt + string(schemas)}}}
	manager, err := winnow.New(c.window, &winnow.Options{
		Summarizer: &summarizer{e, s},
		Overhead:   winnow.CharsPerToken(4).Estimate(own),
		Recall:     true, // its tool is part of the overhead
		Tools:      &winnow.ToolOptions{Notes: true},
		Reserve:    c.maxTokens,
	})
	s.window = c.window
	return &agent{
		model: e, maxTokens: c.maxTokens, files: files, screen: s, manager: manager,
		tools: slices.Concat(fileTools, []winnow.Tool{winnow.RecallTool(), winnow.NotesTool(), winnow.CompactTool()}),
	}, err
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
	return callTool(a.files, p), nil
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
	}
	return fmt.Errorf("no answer after %d steps", maxSteps)
}

// step makes one request. [winnow.Do] does the same; here each attempt is shown.
func (a *agent) step(ctx context.Context) (winnow.Message, error) {
	request, err := a.manager.Prepare(ctx, a.history)
	for err == nil {
		answer, refused := a.model.ask(ctx,
			question{system: systemPrompt, messages: request.Messages, tools: a.tools, maxTokens: a.maxTokens})
		a.screen.sent(request, &answer, refused)
		if refused == nil {
			return answer, nil
		}
		request, err = a.manager.Recover(ctx, a.history, refused)
	}
	return winnow.Message{}, err
}

// summarizer lets the answering model also write the summaries.
type summarizer struct {
	model  *endpoint
	screen *screen
}

// Summarize implements [winnow.Summarizer].
func (s *summarizer) Summarize(ctx context.Context, req winnow.SummaryRequest) (string, error) {
	s.screen.print("       summarizing %d messages\n", len(req.Messages))
	prompt := winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: req.Prompt()}}}
	answer, err := s.model.ask(ctx, question{system: req.System(), messages: []winnow.Message{prompt},
		maxTokens: req.MaxTokens})
	if err == nil && answer.StopReason != "stop" {
		err = fmt.Errorf("the answer ended with %q: %w", answer.StopReason, winnow.ErrIncomplete)
	}
	return textOf(&answer), err
}

package adaptertest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/framework"
	"github.com/winnowgo/winnow/internal/test/provider"
)

// Example is an agent as a framework's own examples have it: it answers questions, and keeps its history in its own
// way.
type Example struct {
	// Start begins a process, with the history that the one before returned (nil: none). o is nil without Winnow.
	Start func(ctx context.Context, url string, o *framework.Options, history any) Process
	Model func(r *provider.Request) provider.Answer
	Turns int // so many as make 60 requests
}

// Process is a process of an example.
type Process struct {
	Ask     func(question string) error
	History func() any // of the framework, without usage
}

// CheckExample runs two conversations at once, far beyond the window: nothing is refused, the history is that of a run
// without Winnow, and a process that goes on in the middle sends the bytes that the first one would have sent.
func CheckExample(t *testing.T, e Example) {
	_, large := atProvider(t, provider.Options{Window: HugeWindow, Model: e.Model})
	once, small := atProvider(t, provider.Options{Window: frameworkWindow, Model: e.Model})
	again, restarted := atProvider(t, provider.Options{Window: frameworkWindow, Model: e.Model})
	_, tight := atProvider(t, provider.Options{Window: frameworkWindow, Model: e.Model})
	_, err := e.run(t.Context(), tight, "ann", nil, false)
	require.Error(t, err, "without Winnow it does not fit")
	var group sync.WaitGroup
	for _, name := range []string{"ann", "bob"} {
		group.Go(func() {
			want, err := e.run(t.Context(), large, name, nil, false)
			if !assert.NoError(t, err) {
				return
			}
			for at, isRestarted := range map[string]bool{small: false, restarted: true} {
				got, err := e.run(framework.WithConversation(t.Context(), name), at, name,
					framework.Directory(t.TempDir()), isRestarted)
				if assert.NoError(t, err) {
					sameHistory(t, want, got)
				}
			}
		})
	}
	group.Wait()
	for _, name := range []string{"ann", "bob"} {
		one, other := e.bodies(t, once, name), e.bodies(t, again, name)
		require.GreaterOrEqual(t, len(one), 60, "steps")
		require.Equal(t, len(one), len(other))
		for i := range one {
			require.Equal(t, one[i], other[i], "request %d", i)
		}
	}
}

// bodies are the requests of a conversation. None was refused.
func (e *Example) bodies(t *testing.T, p *provider.Provider, name string) (list []string) {
	for i, x := range p.Exchanges() {
		require.Nil(t, x.Error, "request %d", i)
		if strings.Contains(string(x.Body), questionOf(name, 1, 3)) {
			list = append(list, string(x.Body))
		}
	}
	return list
}

// run asks all questions. store is nil without Winnow. After two thirds of them a new process goes on.
func (e *Example) run(ctx context.Context, url, name string, store framework.Store, isRestarted bool) (any, error) {
	start := func(history any) Process {
		if store == nil {
			return e.Start(ctx, url, nil, history)
		}
		return e.Start(ctx, url, &framework.Options{Store: store, Manager: func(string) (int, *winnow.Options) {
			return frameworkWindow, &winnow.Options{Reserve: 2_000, Overhead: 1_000}
		}}, history)
	}
	p := start(nil)
	for i := range e.Turns {
		if isRestarted && i == e.Turns*2/3 {
			p = start(p.History())
		}
		if err := p.Ask(questionOf(name, 3*i+1, 3*i+3)); err != nil {
			return nil, fmt.Errorf("turn %d: %w", i, err)
		}
	}
	return p.History(), nil
}

// Reader is a model of an [Example] that reads the three pages of each question, with a tool "read", whose arguments
// are made of a format. What it reads is [Page].
func Reader(arguments string) func(r *provider.Request) provider.Answer {
	return (&book{agent: &FrameworkAgent{Arguments: arguments}}).answer
}

// LongAnswer is what the model of an example says at the end of a turn.
var LongAnswer = strings.Repeat("That part is as it was before. ", 160)

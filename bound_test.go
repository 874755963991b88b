package winnow_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// Once a provider says that it left out thinking whose prefix had changed, what was sent is rewritten no more while it
// fits. The manager's state keeps that, but not for another model.
func TestBindingIsLearned(t *testing.T) {
	thinking := func(id string) winnow.Message {
		m := modelCalls(id, "bash", `{"command":"make `+id+`"}`)
		m.Parts = append([]winnow.Part{{Kind: winnow.KindThinking, Text: "hm", Signature: "s"}}, m.Parts...)
		return m
	}
	history := list(userSays("Read."))
	for i := range 40 {
		id := string(rune('a'+i%26)) + string(rune('a'+i/26))
		if i > 0 && i%8 == 0 {
			history = append(history, modelSays("Done."), userSays("Go on."))
		}
		history = append(history, thinking(id), toolSays(id, strings.Repeat(fmt.Sprintf("line %d of the file\n", i), 450)))
	}
	rewrites := func(m *winnow.Manager, from int) (n int) {
		last := 0
		for i := from; i < len(history); i++ {
			if history[i].Role != winnow.RoleAssistant {
				continue
			}
			r, err := m.Prepare(context.Background(), history[:i])
			require.NoError(t, err)
			if r.FirstChanged < last {
				n++
			}
			last = len(r.Messages)
		}
		return n
	}
	options := &winnow.Options{Model: "claude-opus-4-6"}
	assert.Positive(t, rewrites(newManager(t, 200_000, options), 1), "nothing is bound")

	m := newManager(t, 200_000, options)
	_, err := m.Prepare(context.Background(), history[:1])
	require.NoError(t, err)
	said := history[1]
	said.Usage = &winnow.Usage{Input: 20_000, ThinkingDropped: 1}
	history[1] = said
	assert.Zero(t, rewrites(m, 3), "it was said in the first answer")
	state, err := m.Snapshot()
	require.NoError(t, err)
	for model, isBound := range map[string]bool{"claude-opus-4-6": true, "claude-opus-4-5": false} {
		next := newManager(t, 200_000, &winnow.Options{Model: model})
		require.NoError(t, next.Restore(state))
		got, err := next.Snapshot()
		require.NoError(t, err)
		assert.Equal(t, isBound, strings.Contains(string(got), `"bindsThinking":true`), model)
	}

	m = newManager(t, 200_000, options)
	_, err = m.Prepare(context.Background(), history[:1])
	require.NoError(t, err)
	m.Counted(winnow.Usage{Input: 20, ThinkingDropped: 1})
	history[1].Usage = nil
	assert.Zero(t, rewrites(m, 3), "it was said of the last request")
}

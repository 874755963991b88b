package winnow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/histories"
)

// linesOf returns n lines that stand in no other message.
func linesOf(name string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s: entry %d is %x\n", name, i, (i+7)*7919+len(name)*31)
	}
	return b.String()
}

// unseenIn returns the messages of h from `from` on, without the model's, of which no line is in the request.
func unseenIn(h []winnow.Message, from int, r *winnow.Request) (unseen []int) {
	lines := map[string]bool{}
	for i := range r.Messages {
		if r.Messages[i].Summary {
			continue
		}
		for line := range strings.Lines(messageText(&r.Messages[i])) {
			lines[strings.TrimSpace(line)] = true
		}
	}
	for i := from; i < len(h); i++ {
		if h[i].Role == winnow.RoleAssistant {
			continue
		}
		isSeen, hasLines := false, false
		for line := range strings.Lines(messageText(&h[i])) {
			if line = strings.TrimSpace(line); len(line) >= 12 {
				hasLines, isSeen = true, isSeen || lines[line]
			}
		}
		if hasLines && !isSeen {
			unseen = append(unseen, i)
		}
	}
	return unseen
}

func TestSeenFirst(t *testing.T) {
	type step func(n int) []winnow.Message
	call := func(n, lines int) []winnow.Message {
		id := "c" + itoa(n)
		return callOf(id, "exec", fmt.Sprintf(`{"command":"run %d"}`, n), linesOf("result "+itoa(n), lines))
	}
	_ = histories.Text
	for _, c := range []struct {
		name   string
		window int
		times  int
		step   step
	}{
		{"a text behind a result", 6_000, 3, func(n int) []winnow.Message {
			return append(call(n, 350), hostSays("mind the todo list "+itoa(n)))
		}},
		{"same, 12 times", 6_000, 12, func(n int) []winnow.Message {
			return append(call(n, 350), hostSays("mind the todo list "+itoa(n)))
		}},
		{"a fifth of the window", 100_000, 30, func(n int) []winnow.Message {
			return append(call(n, 1600), hostSays("mind the todo list "+itoa(n)))
		}},
		{"40 000 tokens", 200_000, 40, func(n int) []winnow.Message {
			return append(call(n, 3300), hostSays("mind the todo list "+itoa(n)))
		}},
		{"a person steers", 100_000, 30, func(n int) []winnow.Message {
			return append(call(n, 1600), userSays("mind the todo list "+itoa(n)))
		}},
		{"a system message between", 100_000, 30, func(n int) []winnow.Message {
			x := call(n, 1600)
			return list(x[0], systemSays("mind the todo list "+itoa(n)), x[1])
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newManager(t, c.window, nil)
			h := list(userSays("Fix all of the things that the tests complain about."))
			sent := 0
			total := 0
			for n := range c.times {
				r, err := m.Prepare(t.Context(), h)
				require.NoError(t, err)
				u := unseenIn(h, sent, r)
				total += len(u)
				if len(u) > 0 {
					t.Logf("step %d: %v unseen, %d tokens of %d", n, u, r.Tokens, r.Budget)
				}
				sent = len(h)
				h = append(h, c.step(n)...)
			}
			assert.Zero(t, total)
		})
	}
}

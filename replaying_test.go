package winnow_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/record"
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

// refusedAt is what a provider says of a request that is a tenth larger than its window.
func refusedAt(window int) error {
	return fmt.Errorf("prompt is too long: %d tokens > %d maximum", window*11/10, window)
}

func TestSeenFirst(t *testing.T) {
	t.Parallel()
	type step func(n int) []winnow.Message
	call := func(n, lines int) []winnow.Message {
		id := "c" + itoa(n)
		return callOf(id, "exec", fmt.Sprintf(`{"command":"run %d"}`, n), linesOf("result "+itoa(n), lines))
	}
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
			for name, again := range map[string]func() (*winnow.Request, error){
				"by hand":     func() (*winnow.Request, error) { return m.Compact(t.Context(), h, "") },
				"in recovery": func() (*winnow.Request, error) { return m.Recover(t.Context(), h, refusedAt(c.window)) },
			} {
				if r, err := again(); err == nil {
					assert.Empty(t, unseenIn(h, sent, r), name)
				} else {
					require.ErrorIs(t, err, winnow.ErrNothingToCompact, name)
				}
			}
		})
	}
}

// withReminders returns h with a text of the host behind each run of results.
func withReminders(h []winnow.Message) (out []winnow.Message) {
	for i := range h {
		if out = append(out, h[i]); h[i].Role == winnow.RoleTool && (i+1 == len(h) || h[i+1].Role != winnow.RoleTool) {
			out = append(out, hostSays("Mind the todo list "+itoa(i)+"."))
		}
	}
	return named(out)
}

// reasonsUnseen are those for which no line of a message is in its first request: nothing else fits, or the request shows
// the same in another way. Of a result in which each line has escape sequences, all lines stay without them.
var reasonsUnseen = []string{
	"has not seen", "says the same", "an error", "an earlier result or call shows", "escape sequences",
}

// In a rewound history what only a later answer had seen is whole again, also where the newest text that the model was
// sent stands in what is left of the history, too.
func TestSeenFirstInARewoundHistory(t *testing.T) {
	c := newClock()
	m := newManager(t, 60_000, &winnow.Options{Now: c.Now})
	h := list(userSays("Fix all of the things that the tests complain about."))
	for n := range 12 {
		h = append(h, callOf("c"+itoa(n), "exec", fmt.Sprintf(`{"command":"run %d"}`, n), linesOf("result "+itoa(n), 300))...)
		h = append(h, hostSays("fact "+itoa(n)))
		if n%4 == 3 {
			h = append(h, modelSays("The next part "+itoa(n)+"."), userSays("go on"))
		}
		prepare(t, m, h)
	}
	c.pass(time.Hour)
	prepare(t, m, h)
	at := 21 // behind a result and the text of the host
	rewound := append(slices.Clone(h[:at]), userSays("Another way."))
	r := prepare(t, m, rewound)
	require.NotEmpty(t, r.Edits, "older work is still a record")
	assert.True(t, fullText(h[at-2]) == fullText(r.Messages[len(r.Messages)-3]), "the newest result is whole")
}

// TestSeenFirstOfRecordedSessions counts the new messages of more than 300 characters that no line of a request shows.
func TestSeenFirstOfRecordedSessions(t *testing.T) {
	t.Parallel()
	for _, window := range []int{32_000, 64_000, 200_000} {
		for _, reminds := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d %v", window, reminds), func(t *testing.T) {
				var mu sync.Mutex
				all, unseen := 0, map[string]int{}
				recordedSessions(t, 16, func(t *testing.T, name string, h []winnow.Message) {
					if reminds {
						h = withReminders(h)
					}
					n, why := countUnseen(t, window, h)
					mu.Lock()
					defer mu.Unlock()
					all += n
					for reason, n := range why {
						unseen[reason] += n
						isWhy := func(why string) bool { return strings.Contains(reason, why) }
						if !slices.ContainsFunc(reasonsUnseen, isWhy) {
							assert.Fail(t, name, "%d: %s", n, reason)
						}
					}
				})
				t.Logf("of %d new messages not seen: %v", all, unseen)
			})
		}
	}
}

// countUnseen replays h, and returns how many messages were new, and how many of them their first request does not
// show, by the reason.
func countUnseen(t *testing.T, window int, h []winnow.Message) (all int, unseen map[string]int) {
	c := newClock()
	m := newManager(t, window, &winnow.Options{Now: c.Now})
	unseen = map[string]int{}
	sent := 0
	for n := range h {
		if h[n].Role != winnow.RoleAssistant || n > 0 && h[n-1].Role == winnow.RoleAssistant {
			continue
		}
		c.follow(h[n].Time)
		r, err := m.Prepare(t.Context(), h[:n])
		if err != nil {
			unseen["an error"]++ // no request can be made, and the recording goes on all the same
			sent = n
			continue
		}
		shown := map[string]*winnow.Message{}
		for i := range r.Messages {
			shown[r.Messages[i].ID] = &r.Messages[i]
		}
		for i := sent; i < n; i++ {
			if h[i].Role == winnow.RoleAssistant || len(fullText(h[i])) <= 300 {
				continue
			}
			if all++; showsLine(shown[h[i].ID], &h[i]) || showsElsewhere(r, &h[i]) {
				continue
			}
			why := "no edit"
			for _, e := range r.Edits {
				if e.Index == i && e.Before > 0 {
					why = fmt.Sprintf("%s: %s: %s", h[i].Role, e.Op, e.Reason)
				}
			}
			unseen[why]++
		}
		sent = n
	}
	return all, unseen
}

// showsLine reports whether out shows a line of m, or what is left of it without numbers and escapes.
func showsLine(out, m *winnow.Message) bool {
	if out == nil {
		return false
	}
	text := lettersOf(fullText(*out))
	for line := range strings.Lines(fullText(*m)) {
		line = lettersOf(line)
		if line = line[:min(len(line), 60)]; len(line) >= 8 && strings.Contains(text, line) {
			return true
		}
	}
	return false
}

// showsElsewhere reports whether another message of the request has all that m says: its lines were left out for that.
func showsElsewhere(r *winnow.Request, m *winnow.Message) bool {
	var text strings.Builder
	for i := range r.Messages {
		if x := &r.Messages[i]; !x.Summary && !record.Is(fullText(*x)) {
			text.WriteString(lettersOf(messageText(x)))
		}
	}
	all := text.String()
	for line := range strings.Lines(fullText(*m)) {
		if !strings.Contains(all, lettersOf(line)) {
			return false
		}
	}
	return true
}

// lettersOf returns the letters of s.
func lettersOf(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, s)
}

// TestTextsThatTheHostRepeats inserts a text at each step of one turn.
func TestTextsThatTheHostRepeats(t *testing.T) {
	const steps = 120
	reminder := strings.Repeat("Mind the list of what is still to be done, and mark what is done. ", 40) + "Next."
	for name, text := range map[string]func(n int) winnow.Message{
		"equal":     func(int) winnow.Message { return hostSays(reminder) },
		"transient": func(int) winnow.Message { m := hostSays(reminder); m.Transient = true; return m },
		"in force": func(n int) winnow.Message {
			m := hostSays(itoa(n) + reminder)
			m.InForce = []string{"todo"}
			return m
		},
	} {
		for _, signs := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, signed %v", name, signs), func(t *testing.T) {
				m := newManager(t, 200_000, nil)
				h := list(userSays("Fix all of the things that the tests complain about."))
				shown := 0
				for n := range steps {
					r, err := m.Prepare(t.Context(), h)
					require.NoError(t, err)
					shown = strings.Count(toldIn(r), "and mark what is done. Next.")
					step := callOf("c"+itoa(n), "exec", `{"command":"run"}`, linesOf("result "+itoa(n), 5))
					if signs {
						step[0].Parts = slices.Insert(step[0].Parts, 0, thinkPart("hm "+itoa(n), "sig"+itoa(n)))
					}
					h = append(append(h, step...), text(n))
				}
				assert.Less(t, shown, steps/3)
				assert.Positive(t, shown)
			})
		}
	}
}

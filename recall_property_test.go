package winnow_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/test/wire"
)

// What holds for every recall, over random histories.

// markedHistory is a random history in which each message that has a text has a word of its own in it, in the middle.
func markedHistory(seed uint64) (history []winnow.Message, words []string) {
	history = randomHistory(seed)
	words = make([]string, len(history))
	for i := range history {
		m := &history[i]
		m.Pinned = false
		for k := range m.Parts {
			p := &m.Parts[k]
			if p.Kind != winnow.KindText || strings.TrimSpace(p.Text) == "" {
				continue
			}
			words[i] = fmt.Sprintf("mark%dx%d", seed, i)
			middle := len(p.Text) / 2
			for middle > 0 && p.Text[middle]&0xC0 == 0x80 {
				middle--
			}
			m.Parts = append([]winnow.Part(nil), m.Parts...)
			m.Parts[k].Text = p.Text[:middle] + " " + words[i] + " " + p.Text[middle:]
			m.Parts[k].Source, m.Source = nil, nil
			break
		}
	}
	return history, words
}

// shows reports whether a request shows all texts and arguments of a message, somewhere.
func shows(r []winnow.Message, m *winnow.Message) bool {
	for i := range m.Parts {
		p := &m.Parts[i]
		found := false
		for k := range r {
			for _, q := range r[k].Parts {
				switch p.Kind {
				case winnow.KindText:
					found = found || strings.TrimSpace(p.Text) == "" || q.Kind == winnow.KindText &&
						strings.Contains(q.Text, p.Text)
				case winnow.KindToolCall:
					found = found || q.Name == p.Name && string(q.Arguments) == string(p.Arguments)
				default:
					found = true
				}
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// plain is a text as it can be compared with what was quoted page by page: escaped, without line ends.
func plain(s string) string {
	return strings.NewReplacer("\n", "", "&lt;", "<", "&#91;", "[").Replace(markup.Escape(s))
}

var (
	nextLine   = regexp.MustCompile(`give from (\d+)\.\]$`)
	rangeShown = regexp.MustCompile(`^<recalled handle="(\d+)"[^>]*>\n`)
)

// recallAll asks for a message until all of it was shown.
func recallAll(t *testing.T, m *winnow.Manager, history []winnow.Message, handle string) string {
	t.Helper()
	var b strings.Builder
	from := "1"
	for range 1_000 {
		answer, err := m.Recall(t.Context(), history, json.RawMessage(`{"handle":"`+handle+`","from":`+from+`}`))
		require.NoError(t, err)
		text := answer.Parts[0].Text
		require.False(t, answer.IsError, "%s", text)
		head := rangeShown.FindString(text)
		require.NotEmpty(t, head, "%s", text)
		require.Contains(t, text, "\n</recalled>\n")
		b.WriteString(text[len(head):strings.LastIndex(text, "\n</recalled>\n")])
		next := nextLine.FindStringSubmatch(text)
		if next == nil {
			return b.String()
		}
		from = next[1]
	}
	t.Fatal("it never ends")
	return ""
}

// recallWorld is a conversation in which everything is asked for.
type recallWorld struct {
	t       *testing.T
	seed    uint64
	options *winnow.Options
	window  int
	handles map[string]string // what each handle stands for
	asked   int
}

func (w *recallWorld) manager() *winnow.Manager {
	m, err := winnow.New(w.window, w.options)
	require.NoError(w.t, err)
	return m
}

// check asks for each message that the request does not show, by its word and by its handle. A repaired history has no
// handles for what the repair changed.
func (w *recallWorld) check(m *winnow.Manager, history []winnow.Message, words []string, r *winnow.Request, most int) {
	t := w.t
	for i := range history {
		if words[i] == "" || shows(r.Messages, &history[i]) {
			continue
		}
		if most--; most < 0 {
			return
		}
		w.asked++
		answer, err := m.Recall(t.Context(), history, json.RawMessage(`{"words":"`+words[i]+`"}`))
		require.NoError(t, err)
		text := answer.Parts[0].Text
		require.False(t, answer.IsError, "seed %d, message %d: %s", w.seed, i, text)
		require.Contains(t, text, words[i], "seed %d, message %d of %d: %s", w.seed, i, len(history), text)
		found := regexp.MustCompile(`(?m)^(\d+) [^\n]*, lines \d+-\d+ of \d+:$`).FindStringSubmatch(text)
		require.NotNil(t, found, "%s", text)
		handle := found[1]
		shown := plain(recallAll(t, m, history, handle))
		for _, p := range history[i].Parts {
			if p.Kind == winnow.KindText {
				require.Contains(t, shown, plain(p.Text), "seed %d, message %d, handle %s", w.seed, i, handle)
			}
		}
		is := fmt.Sprint(words[i])
		if before, known := w.handles[handle]; known {
			require.Equal(t, before, is, "seed %d: a handle never means another message", w.seed)
		}
		w.handles[handle] = is
	}
	for i := range r.Messages { // what a placeholder names is there
		for _, found := range handlePattern.FindAllStringSubmatch(messageText(&r.Messages[i]), -1) {
			answer, err := m.Recall(t.Context(), history, json.RawMessage(`{"handle":"`+found[1]+`"}`))
			require.NoError(t, err)
			require.False(t, answer.IsError, "seed %d: %s of %s", w.seed, answer.Parts[0].Text,
				messageText(&r.Messages[i]))
		}
	}
}

func messageText(m *winnow.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		b.WriteString(p.Text + string(p.Arguments) + "\n")
	}
	return b.String()
}

// useIDsAgain gives the calls of history ids that many answers share: one or, if kind is 2, none. Their results follow.
func useIDsAgain(history []winnow.Message, kind int) {
	if kind == 0 {
		return
	}
	again := map[string]string{}
	for i := range history {
		m := &history[i]
		n := 0
		for k := range m.Parts {
			if p := &m.Parts[k]; p.Kind == winnow.KindToolCall {
				id := ""
				if kind == 1 {
					id = fmt.Sprint("call_", n)
				}
				again[p.ID], p.ID = id, id
				n++
			}
		}
		if id, known := again[m.ToolCallID]; known {
			m.ToolCallID = id
		}
	}
}

// TestRecallGivesAllBack: for every message that is not whole in a request, search and handle give back its texts: in
// the manager that left it out, in one that was restored, in one that begins anew, after a rewind and in a fork.
func TestRecallGivesAllBack(t *testing.T) {
	t.Parallel()
	asked, summaries := 0, 0
	n := count(50, 40)
	for seed := range uint64(n) {
		dice := rand.New(rand.NewPCG(seed, 17))
		history, words := markedHistory(seed)
		w := &recallWorld{t: t, seed: seed, window: 2_000 + dice.IntN(10_000), handles: map[string]string{},
			options: &winnow.Options{Recall: true}}
		w.options.FoldAbove = []float64{0, -1, 0.05, 1}[dice.IntN(4)]
		if dice.IntN(3) == 0 {
			w.options.HistoryTurns = 1 + dice.IntN(3)
		}
		if dice.IntN(3) == 0 {
			w.options.Cache = &winnow.CacheOptions{None: true}
		}
		if seed%2 == 1 {
			w.options.Thinking = winnow.ThinkingBound
		}
		useIDsAgain(history, int(seed%3)) // 0: it has its own
		m := w.manager()
		var r *winnow.Request
		for end := 1; end <= len(history); end++ {
			if end < len(history) && (history[end].Role != winnow.RoleAssistant || dice.IntN(3) > 0) {
				continue
			}
			next, err := m.Prepare(t.Context(), history[:end])
			if err != nil {
				continue // what fills the window cannot be shrunk
			}
			r = next
			for _, msg := range r.Messages {
				if msg.Summary {
					summaries++
				}
			}
			w.check(m, history[:end], words, r, 3)
		}
		if r == nil {
			continue
		}
		r, err := m.Prepare(t.Context(), history)
		if err != nil {
			continue
		}
		w.check(m, history, words, r, len(history))
		state, err := m.Snapshot()
		require.NoError(t, err)
		restored := w.manager()
		require.NoError(t, restored.Restore(state))
		w.check(restored, history, words, r, len(history))
		rewound := history[:1+dice.IntN(len(history))]
		if back, err := restored.Prepare(t.Context(), rewound); err == nil {
			w.check(restored, rewound, words, back, len(history))
		}
		fork := append(rewound[:len(rewound):len(rewound)], userSays("Another way: "+strings.Repeat("on and on ", 50)))
		if on, err := m.Prepare(t.Context(), fork); err == nil {
			w.check(m, fork, append(words[:len(rewound):len(rewound)], ""), on, len(history))
		}
		fresh := w.manager()
		if anew, err := fresh.Prepare(t.Context(), history); err == nil {
			w.check(fresh, history, words, anew, len(history))
		}
		asked += w.asked
	}
	t.Logf("%d histories, %d recalls, %d summaries", n, asked, summaries)
	assert.Greater(t, asked, n, "hardly anything was left out: the test says nothing")
	assert.Greater(t, summaries, n/4)
}

// TestRecallChangesNoRequest: a manager that is asked between its requests makes the same ones as one that is not, and
// where the answers are appended requests are valid and go on from the one before.
func TestRecallChangesNoRequest(t *testing.T) {
	t.Parallel()
	for seed := range uint64(count(50, 40)) {
		dice := rand.New(rand.NewPCG(seed, 18))
		history := randomHistory(seed)
		w := &recallWorld{t: t, seed: seed, window: 3_000 + dice.IntN(9_000), options: &winnow.Options{Recall: true}}
		asked, plain, talks := w.manager(), w.manager(), w.manager()
		var talk, last []winnow.Message
		for i := range history {
			talk = append(talk, history[i])
			if i+1 < len(history) && history[i+1].Role != winnow.RoleAssistant {
				continue
			}
			h := history[:i+1]
			for _, arguments := range []string{`{"words":"error"}`, `{"handle":"12345678"}`, `{"pattern":"^t"}`, `{`} {
				_, err := asked.Recall(t.Context(), h, json.RawMessage(arguments))
				require.NoError(t, err)
			}
			want, wantErr := plain.Prepare(t.Context(), h)
			got, gotErr := asked.Prepare(t.Context(), h)
			require.Equal(t, wantErr == nil, gotErr == nil, "seed %d", seed)
			if wantErr == nil {
				require.Equal(t, want.Messages, got.Messages, "seed %d", seed)
				require.Equal(t, want.FirstChanged, got.FirstChanged, "seed %d", seed)
			}
			if !validText(talk) || history[i].Role == winnow.RoleAssistant {
				continue
			}
			talk = callRecall(t, talks, talk, `{"words":"build error"}`)
			r, err := talks.Prepare(t.Context(), talk)
			if err != nil {
				continue
			}
			require.NoError(t, wire.Rules{Lead: leads(talk)}.Check(r.Messages), "seed %d", seed)
			for k := range r.FirstChanged {
				require.Equal(t, messageText(&last[k]), messageText(&r.Messages[k]), "seed %d", seed)
			}
			last = r.Messages
		}
	}
}

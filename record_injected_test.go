package winnow_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// injectedText is a text that a runtime puts into a conversation: a list of what can be done, long enough to be folded.
var injectedText = "Skills that can be used: deploy_service asks first.\n" + strings.Repeat("- a skill with a line of its own\n", 60)

// reminds is a text that the host inserts and that may go.
func reminds(text string) winnow.Message {
	m := hostSays(text)
	m.Transient = true
	return m
}

// withInjected is a conversation of an agent with three requests of a person. A text of the host stands before the first
// (0), in the turns of the first and second (4, 14) and in the newest (24).
func withInjected() []winnow.Message {
	h := []winnow.Message{reminds(injectedText)}
	for turn, steps := range [][]winnow.Message{runs(4), runs(4), runs(10)} {
		for i := range steps {
			m := &steps[i]
			if m.ID = ""; m.Role == winnow.RoleTool {
				m.ToolCallID = itoa(turn) + m.ToolCallID
			}
			for k := range m.Parts {
				if m.Parts[k].Kind == winnow.KindToolCall {
					m.Parts[k].ID = itoa(turn) + m.Parts[k].ID
				}
			}
		}
		h = append(append(append(h, steps[:3]...), reminds(injectedText)), steps[3:]...)
	}
	return named(h)
}

// A transient text that the host inserted is folded with the steps around it once a person has asked for something else.
// The record says that it was there, how it began and how much it was.
func TestInjectedIsFolded(t *testing.T) {
	t.Parallel()
	h := withInjected()
	r := prepare(t, folding(t, winnow.Options{}), h)
	for i, stays := range map[int]bool{0: true, 4: false, 14: false, 24: true} {
		require.True(t, h[i].Injected, i)
		assert.Equal(t, stays, holds(r, &h[i]), "message %d", i)
	}
	texts := recordsIn(r.Messages)
	require.Len(t, texts, 4)
	const line = "\nInserted by the host, 2032 characters: Skills that can be used: deploy_service asks first. - a skill"
	assert.Contains(t, texts[0], line)
	assert.Contains(t, texts[1], line)
	assert.NotContains(t, texts[2]+texts[3], line, "it stands between these")
	requestCheck{estimator: byChars}.check(t, h, r)
}

// What the host does not call transient, or what may be of use still, is sent as it is.
func TestInjectedStays(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(m *winnow.Message){
		"a text that holds":               func(m *winnow.Message) { m.Transient = false },
		"one that has a name":             func(m *winnow.Message) { m.Transient, m.InForce = false, []string{"skills"} },
		"a pin":                           func(m *winnow.Message) { m.Pinned = true },
		"a summary":                       func(m *winnow.Message) { m.Summary = true },
		"what a person wrote":             func(m *winnow.Message) { m.Injected = false },
		"an image":                        func(m *winnow.Message) { m.Parts = append(m.Parts, imagePart()) },
		"what is shorter than its record": func(m *winnow.Message) { m.Parts = []winnow.Part{textPart("It is Monday, and the build is green.")} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := withInjected()
			change(&h[4])
			h = named(h)
			r := prepare(t, folding(t, winnow.Options{}), h)
			assert.True(t, holds(r, &h[4]))
			assert.False(t, holds(r, &h[14]))
			requestCheck{estimator: byChars}.check(t, h, r)
		})
	}
}

// Alone between two requests of a person, it is folded, and the answers around it are not.
func TestInjectedAmongAnswers(t *testing.T) {
	t.Parallel()
	var h []winnow.Message
	for i := range 12 {
		h = append(h, userSays("Question "+itoa(i)+"?"), reminds(itoa(i)+" "+injectedText), modelSays("Answer "+itoa(i)+": "+strings.Repeat("and so on, ", 200)))
	}
	h = named(append(h, userSays("And?")))
	r := prepare(t, folding(t, winnow.Options{}), h)
	for i := range h {
		assert.Equal(t, !h[i].Injected || i > len(h)-12, holds(r, &h[i]), "message %d", i)
	}
	requestCheck{estimator: byChars}.check(t, h, r)
}

// A history that is rewound to the turn of a text, and one in which the host says that a person wrote it after all, have
// it whole again, in the same process and in the next.
func TestInjectedComesBack(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(h []winnow.Message) []winnow.Message{
		"rewound, and going on": func(h []winnow.Message) []winnow.Message {
			return named(append(h[:21], runs(10)[17:]...))
		},
		"a person's": func(h []winnow.Message) []winnow.Message {
			h[14].Injected = false
			return h
		},
		"pinned": func(h []winnow.Message) []winnow.Message {
			h[14].Pinned = true
			return h
		},
	} {
		m := folding(t, winnow.Options{})
		require.False(t, holds(prepare(t, m, withInjected()), &withInjected()[14]))
		heir := folding(t, winnow.Options{})
		require.NoError(t, heir.Restore([]byte(snapshotOf(t, m))))
		h := change(withInjected())
		r := prepare(t, m, h)
		assert.True(t, holds(r, &h[14]), name)
		assert.False(t, holds(r, &h[4]), name)
		requestCheck{estimator: byChars}.check(t, h, r)
		sameWire(t, r.Messages, prepare(t, heir, h).Messages, name)
	}
}

// While the prompt cache is warm it waits like a step does: it is carried until a rewrite pays.
func TestInjectedWaits(t *testing.T) {
	t.Parallel()
	c := newClock()
	m := newManager(t, 1_000_000, &winnow.Options{FoldAbove: -1, Estimator: byChars, Now: c.Now, NoMinify: true})
	h := withInjected()
	steps(h, func(in []winnow.Message) {
		c.pass(time.Second)
		r := prepare(t, m, in)
		requestCheck{estimator: byChars}.check(t, in, r)
		if len(in) == 25 {
			assert.True(t, holds(r, &h[4]), "nothing is cold, and little was carried")
		}
	})
	c.pass(time.Hour)
	r := prepare(t, m, h)
	assert.False(t, holds(r, &h[4]), "the cache is cold")
	assert.True(t, holds(r, &h[0]))
}

// reminded is a conversation in which the host inserts the same text in each of n turns.
func reminded(n int) []winnow.Message {
	var h []winnow.Message
	for i := range n {
		h = append(h, userSays("Question "+itoa(i)+"?"), reminds(injectedText), modelSays("Answer "+itoa(i)+"."))
	}
	return named(append(h, userSays("And?")))
}

// A record stands where it was made, and for no other copy of its text.
func TestInjectedAgainAndAgain(t *testing.T) {
	t.Parallel()
	h := named(append([]winnow.Message{reminds(injectedText)}, reminded(12)...))
	m := folding(t, winnow.Options{})
	first := prepare(t, m, h)
	require.True(t, holds(first, &h[0]), "it stands before the first request of a person")
	require.NotEmpty(t, recordsIn(first.Messages))
	again := prepare(t, m, h)
	assert.Equal(t, len(first.Messages), again.FirstChanged)
	sameWire(t, first.Messages, again.Messages, "the same history again")
}

// Records of equal texts get leaner, and go, one by one: a manager that is made from the journal has those that are left.
func TestInjectedAgainAndAgainInAJournal(t *testing.T) {
	t.Parallel()
	c := newClock()
	o := winnow.Options{Estimator: byChars, Now: c.Now, NoMinify: true}
	var deltas [][]byte
	journaled := o
	journaled.Journal = func(delta []byte) error {
		deltas = append(deltas, slices.Clone(delta))
		return nil
	}
	m := newManager(t, 8_000, &journaled)
	h := reminded(60)
	for i := 1; i <= len(h); i += 3 {
		c.pass(time.Hour)
		prepare(t, m, h[:i])
		heir := newManager(t, 8_000, &o)
		require.NoError(t, heir.Restore(nil, deltas...))
		sameWire(t, prepare(t, m, h[:i]).Messages, prepare(t, heir, h[:i]).Messages, itoa(i))
	}
}

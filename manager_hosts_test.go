package winnow_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// What hosts do with messages that were sent: set something on them, wrap them anew, change them in a copy of the list.

// inPlace puts something into each call that no record may stand for, so that old results are edited where they stand.
func inPlace(h []winnow.Message) []winnow.Message {
	for i := range h {
		if h[i].Role == winnow.RoleAssistant && len(h[i].Parts) > 0 {
			h[i].Parts = append(slices.Clip(h[i].Parts), winnow.Part{Kind: winnow.KindOpaque, Bytes: 9})
		}
	}
	return h
}

// editedSession returns a manager that has sent old results in an edited form, and its history.
func editedSession(t *testing.T) (*winnow.Manager, []winnow.Message, int) {
	t.Helper()
	clock := newClock()
	m := newManager(t, 20_000, &winnow.Options{Estimator: winnow.CharsPerToken(4), Now: clock.Now, Compact: &winnow.CompactOptions{Off: true}})
	h := named(inPlace(agentSession(12, 6_000)))
	r := prepare(t, m, h)
	for i := range h {
		if h[i].Role == winnow.RoleTool && len(r.Messages) == len(h) && messageBytes(&r.Messages[i]) < messageBytes(&h[i])/2 {
			r = prepare(t, m, append(h[:len(h):len(h)], modelSays("on it"), userSays("go on")))
			return m, r.History, i
		}
	}
	t.Fatal("no result was sent edited")
	return nil, nil, 0
}

func TestWhatAHostSetsOnASentMessage(t *testing.T) {
	for _, tc := range []struct {
		name string
		set  func(m *winnow.Message)
	}{
		{"pin", func(m *winnow.Message) { m.Pinned = true }},
		{"ID", func(m *winnow.Message) { m.ID = "another" }},
		{"Source", func(m *winnow.Message) { m.Source = "wrapped anew" }},
		{"Usage", func(m *winnow.Message) { m.Usage = &winnow.Usage{Input: 7} }},
		{"Details", func(m *winnow.Message) { m.Details = json.RawMessage(`{"exitCode":0}`) }},
	} {
		for _, inPlace := range []bool{false, true} {
			for _, plans := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, in place %v, behind a plan %v", tc.name, inPlace, plans), func(t *testing.T) {
					m, h, edited := editedSession(t)
					if !inPlace {
						h = slices.Clone(h)
					}
					for _, i := range []int{edited, edited + 1, len(h) - 2} {
						tc.set(&h[i])
					}
					if plans {
						m.Plan(h)
					}
					r := prepare(t, m, h)
					require.Len(t, r.Messages, len(h))
					for _, i := range []int{edited, edited + 1, len(h) - 2} {
						want, got := h[i], r.Messages[i]
						if !want.Pinned {
							want.Parts = got.Parts
						}
						if !assert.ObjectsAreEqual(want.Parts, h[i].Parts) {
							want.Source = nil // it is sent edited
						}
						assert.Equal(t, want, got, "message %d", i)
					}
				})
			}
		}
	}
}

func TestAPinIsUnset(t *testing.T) {
	m, h, edited := editedSession(t)
	h = slices.Clone(h)
	h[edited].Pinned = true
	r := prepare(t, m, h)
	require.Equal(t, fullText(h[edited]), fullText(r.Messages[edited]))
	h = slices.Clone(h)
	h[edited].Pinned = false
	r = prepare(t, m, h)
	assert.False(t, r.Messages[edited].Pinned)
}

// A host that moves the marker of Anthropic's cache builds its messages anew for each request, with the marker on the
// newest. The request has four at most, or is refused.
func TestAMovingCacheMarker(t *testing.T) {
	type block struct{ cached bool }
	clock := newClock()
	m := newManager(t, 20_000, &winnow.Options{Estimator: winnow.CharsPerToken(4), Now: clock.Now})
	log := named(agentSession(30, 3_000))
	edits := 0
	for n := 2; n <= len(log); n++ {
		if log[n-1].Role == winnow.RoleAssistant {
			continue
		}
		h := slices.Clone(log[:n])
		for i := range h {
			h[i].Source = &block{i == n-1}
			h[i].Parts = slices.Clone(h[i].Parts)
			for k := range h[i].Parts {
				h[i].Parts[k].Source = &block{i == n-1}
			}
		}
		r := prepare(t, m, h)
		edits = max(edits, len(r.Edits))
		marked := 0
		for _, out := range r.Messages {
			if b, ok := out.Source.(*block); ok && b.cached {
				marked++
			}
			for _, p := range out.Parts {
				if b, ok := p.Source.(*block); ok && b.cached {
					marked++
				}
			}
		}
		require.LessOrEqual(t, marked, 4, "request of %d messages", n)
	}
	assert.Positive(t, edits, "messages were sent edited, too")
}

// FirstChanged is about what a provider is sent. A host may write the first message anew for each call, with a
// clock in it, so that it comes to lie where the one before it lay.
func TestFirstChangedOfAMessageThatIsWrittenAnew(t *testing.T) {
	m := newManager(t, 100_000, nil)
	log := agentSession(4, 200)
	for i := range 99 {
		text := strings.Repeat("You are an agent. ", 20) + fmt.Sprintf("It is %02d:%02d now. ", i/60, i%60) + strings.Repeat("Be kind. ", 20)
		h := append(list(systemSays(text)), log...)
		r := prepare(t, m, h)
		require.Equal(t, 0, r.FirstChanged, "request %d", i)
		require.Equal(t, text, fullText(r.Messages[0]))
		r, h = nil, nil
		runtime.GC()
	}
}

// A host that decodes its log anew for each call drops all that it passed before. What it has changed in the middle of a
// long result is noticed, also where the new text came to lie where the old one lay.
func TestFirstChangedOfALogThatIsReadAnew(t *testing.T) {
	m := newManager(t, 100_000, nil)
	decode := func(i int) []winnow.Message {
		var h []winnow.Message
		for _, seen := range agentSession(2, 200) {
			h = append(h, deepCopy(list(seen))...)
		}
		result := strings.Repeat("a line of the log\n", 100) + fmt.Sprintf("%03d errors\n", i) + strings.Repeat("a line of the log\n", 99)
		return append(h, modelCalls("a"), toolSays("a", result))
	}
	for i := range 99 {
		h := decode(i)
		r := prepare(t, m, h)
		if i > 0 {
			require.Equal(t, len(h)-1, r.FirstChanged, "request %d", i)
		}
		r, h = nil, nil
		runtime.GC()
	}
}

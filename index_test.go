package winnow_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"
	"weak"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow"
)

// A message that was changed behind the manager's back is sent as it is now.
func TestPrepareNoticesChanges(t *testing.T) {
	grow := func() []winnow.Message {
		h := list(userSays("begin"))
		for i := range 40 {
			id := "call" + itoa(i)
			h = append(h, modelSends(textPart("I look."), callPart(id, "exec")), toolSays(id, numbered(6)), userSays("go on "+itoa(i)))
		}
		return h
	}
	for _, c := range []struct {
		name   string
		change func(h []winnow.Message) []winnow.Message
	}{
		{"a message in the middle is another one", func(h []winnow.Message) []winnow.Message { h[50] = hostSays("changed"); return h }},
		{"a text in the middle is another one", func(h []winnow.Message) []winnow.Message { h[3].Parts = list(userSays("changed"))[0].Parts; return h }},
		{"a long text is another one of the same length", func(h []winnow.Message) []winnow.Message {
			h[2] = toolSays("call0", strings.ToUpper(fullText(h[2])))
			return h
		}},
		{"so is a later one", func(h []winnow.Message) []winnow.Message {
			h[5] = toolSays("call1", strings.ToUpper(fullText(h[5])))
			return h
		}},
		{"a message is of another role", func(h []winnow.Message) []winnow.Message { h[3].Role = winnow.RoleSystem; return h }},
		{"a part is of another kind", func(h []winnow.Message) []winnow.Message {
			h[1].Parts = slices.Clone(h[1].Parts)
			h[1].Parts[0].Kind = winnow.KindThinking
			return h
		}},
		{"a result became an error", func(h []winnow.Message) []winnow.Message { h[2].IsError = true; return h }},
		{"rewound", func(h []winnow.Message) []winnow.Message { return h[:61] }},
		{"forked", func(h []winnow.Message) []winnow.Message { return append(h[:61:61], userSays("another way")) }},
		{"replaced", func([]winnow.Message) []winnow.Message { return list(userSays("hello")) }},
		{"a call id is used again", func(h []winnow.Message) []winnow.Message {
			return append(h, modelCalls("call3"), toolSays("call3", "again"), userSays("well"))
		}},
		{"a result comes late", func(h []winnow.Message) []winnow.Message { return append(h, toolSays("call3", "late")) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newManager(t, 200_000, nil)
			h := grow()
			prepare(t, m, h[:len(h)-3])
			sent := deepCopy(prepare(t, m, h).Messages)
			h = c.change(h)
			r := prepare(t, m, h)
			assert.Equal(t, firstDifference(sent, r.Messages), r.FirstChanged)
			fresh := newManager(t, 200_000, nil)
			want := prepare(t, fresh, h)
			sameMessages(t, want.Messages, r.Messages, "what is sent")
			sameMessages(t, want.History, r.History, "what is kept")
		})
	}
}

// A host reads its log anew for each request and keeps nothing of it. The manager then keeps only the text in memory by
// which it knows the log again: neither short results nor long ones, whose names it remembers only while it makes a
// request.
func TestTextsOfALogThatIsReadAnewAreNotHeld(t *testing.T) {
	for _, chars := range []int{2_400, 100_000} {
		m := newManager(t, 64_000, &winnow.Options{Now: newClock().Now})
		size := len(agentSession(12, chars))
		var texts []weak.Pointer[byte]
		for n := size - 6; n <= size; n += 2 {
			func() {
				h := agentSession(12, chars)[:n]
				droppedRequest(t, m, h)
				for i := range h {
					texts = append(texts, weak.Make(unsafe.StringData(h[i].Parts[0].Text)))
				}
			}()
		}
		runtime.GC()
		runtime.GC()
		held := 0
		for _, text := range texts {
			if text.Value() != nil {
				held++
			}
		}
		assert.LessOrEqual(t, held, 1, "of %d messages with results of %d characters", len(texts), chars)
		runtime.KeepAlive(m)
	}
}

// A text may be a constant of the program, which is not on the heap.
func TestTextsThatAreConstants(t *testing.T) {
	const answer = "An answer that is long enough to be known by its place in memory, since nobody reads a long text twice. " +
		"A transcript in a test, a greeting, or a result that a tool always gives: a host has texts like this one too, " +
		"and passes them as they are. A weak pointer to one would end the process."
	m := newManager(t, 10_000, nil)
	h := list(userSays("Hello."), modelSays(answer), userSays("Go on."))
	assert.Equal(t, 3, len(prepare(t, m, h).Messages))
	assert.Equal(t, 3, prepare(t, m, append(h, modelSays(answer), userSays("And on."))).FirstChanged)
}

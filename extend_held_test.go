package winnow_test

import (
	"runtime"
	"testing"
	"unsafe"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// droppedRequest prepares a request that is edited and drops it. It returns where its list lies.
func droppedRequest(t *testing.T, m *winnow.Manager, h []winnow.Message) weak.Pointer[winnow.Message] {
	t.Helper()
	r := prepare(t, m, h)
	require.NotEmpty(t, r.Edits)
	return weak.Make(&r.Messages[0])
}

// A host that keeps its messages and drops each request has the next one made of the last one's lists.
func TestListsOfADroppedRequestAreHeld(t *testing.T) {
	m := newManager(t, 64_000, &winnow.Options{Now: newClock().Now})
	h := agentSession(40, 2_400)
	for n := len(h) - 6; n <= len(h); n += 2 {
		list := droppedRequest(t, m, h[:n])
		runtime.GC()
		require.NotNil(t, list.Value(), "with %d messages", n)
	}
	runtime.KeepAlive(m)
}

// A host reads its log anew for each request and keeps nothing of it. The manager then keeps none of its texts in
// memory either: neither short results nor long ones, whose names it remembers only while it makes a request.
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
		assert.Zero(t, held, "of %d messages with results of %d characters", len(texts), chars)
		runtime.KeepAlive(m)
	}
}

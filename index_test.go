package winnow

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Arguments are bytes: a host that takes a secret out of them may write over it.
func TestGlanceReadsArguments(t *testing.T) {
	raw := json.RawMessage(`{"cmd":"` + strings.Repeat("x", 2_000) + `"}`)
	m := Message{Role: RoleAssistant, Parts: []Part{{Kind: KindToolCall, ID: "c", Name: "exec", Arguments: raw}}}
	before := sampleHash(&m)
	for at := 8; at < 2_000; at += 97 {
		raw[at] = 'y'
		assert.NotEqual(t, before, sampleHash(&m), "at %d", at)
		raw[at] = 'x'
	}
	assert.Equal(t, before, sampleHash(&m))
}

func TestGlanceReadsShortTexts(t *testing.T) {
	for _, size := range []int{1, 2, 7, 8, 20, 60, sampledLong} {
		text := strings.Repeat("x", size)
		m := Message{Role: RoleTool, Parts: []Part{{Text: text}}}
		before := sampleHash(&m)
		for at := range size {
			m.Parts[0].Text = text[:at] + "y" + text[at+1:]
			require.NotEqual(t, before, sampleHash(&m), "byte %d of %d", at, size)
		}
	}
}

// Once a call has returned the host may write to its messages, whatever goes on in the background.
func TestBackgroundReadsCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := make(chan struct{})
		var flushed, asked strings.Builder
		s := SummarizerFunc(func(_ context.Context, r SummaryRequest) (string, error) {
			asked.WriteString(r.Prompt())
			return "## Goal\nsummary", nil
		})
		m := chatManager(t, s, CompactOptions{Background: true, BeforeCompact: func(_ context.Context, h []Message) error {
			<-begin
			for i := range h {
				flushed.WriteString(joinedText(&h[i]))
			}
			return nil
		}})
		h := slices.Insert(chatOf(softTurns), 2, Message{Role: RoleAssistant, Parts: []Part{{Kind: KindToolCall, ID: "c", Name: "exec", Arguments: json.RawMessage(`{"cmd":"ls"}`)}}},
			Message{Role: RoleTool, ToolCallID: "c", Details: json.RawMessage(`{"status":"good"}`), Parts: []Part{{Text: "a.go"}}})
		prepareChat(t, m, h)
		require.NotNil(t, m.background)
		for i := range h {
			for k := range h[i].Parts {
				h[i].Parts[k].Text = "overwritten"
				copy(h[i].Parts[k].Arguments, `{"cmd":"rm"}`)
			}
			copy(h[i].Details, `{"status":"evil"}`)
		}
		close(begin)
		time.Sleep(time.Minute)
		require.NoError(t, m.Close())
		assert.Contains(t, flushed.String(), "Question 3")
		assert.NotContains(t, flushed.String(), "overwritten")
		require.Contains(t, asked.String(), "Question 3")
		for _, late := range []string{"overwritten", `"rm"`, "evil"} {
			assert.NotContains(t, asked.String(), late)
		}
	})
}

// A text is known by its memory: a copy is another one, unless it is short enough to be read whole.
func TestSampleOfAText(t *testing.T) {
	for _, n := range []int{1, 7, 8, sampledLong, sampledLong + 1, 10_000} {
		s := strings.Repeat("x", n)
		copied := strings.Clone(s)
		assert.Equal(t, addSample(1, s, false), addSample(1, s, false), "%d bytes", n)
		assert.Equal(t, n <= sampledLong, addSample(1, s, false) == addSample(1, copied, false), "%d bytes, copied", n)
		assert.Equal(t, addSample(1, s, true), addSample(1, copied, true), "%d bytes, read whole", n)
		changed := s[:n-1] + "y"
		assert.NotEqual(t, addSample(1, s, true), addSample(1, changed, true), "%d bytes, changed", n)
	}
	assert.NotEqual(t, addSample(addSample(1, "ab", false), "c", false), addSample(addSample(1, "a", false), "bc", false), "where a text ends counts")
	assert.NotEqual(t, addSample(1, "", false), uint64(1), "so does an empty text")
	assert.NotEqual(t, mix(0, 0), uint64(0))
}

func TestPlaceOf(t *testing.T) {
	s := strings.Repeat("x", 10)
	assert.Equal(t, placeOf(s), placeOf(s))
	assert.NotEqual(t, placeOf(s), placeOf(s[:9]))
	assert.NotEqual(t, placeOf(s), placeOf(strings.Clone(s)))
}

package winnow_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// searchPart is a call that the provider runs itself, and foundPart its result.
func searchPart(id string) winnow.Part {
	return winnow.Part{Kind: winnow.KindOpaque, ID: id, Name: "web_search", Bytes: 40}
}

func foundPart(id string) winnow.Part {
	return winnow.Part{Kind: winnow.KindOpaque, ID: id, Bytes: 400}
}

// halvesIn lists the parts of messages: > a call of the provider's, < its result, the texts, (thinking), [calls].
func halvesIn(messages []winnow.Message) string {
	var out []string
	for _, m := range messages {
		var b strings.Builder
		b.WriteString(string(m.Role)[:1])
		for _, p := range m.Parts {
			switch {
			case p.Kind == winnow.KindOpaque && p.Name != "":
				b.WriteString(" >" + p.ID)
			case p.Kind == winnow.KindOpaque:
				b.WriteString(" <" + p.ID)
			case p.Kind == winnow.KindThinking:
				b.WriteString(" (" + p.Text + p.Signature + ")")
			case p.Kind == winnow.KindToolCall:
				b.WriteString(" [" + p.ID + "]")
			default:
				b.WriteString(" " + p.Text)
			}
		}
		out = append(out, b.String())
	}
	return strings.Join(out, "; ")
}

// Both halves of a pair that the provider ran itself stay, or both go; what stands beside them stays as it is.
func TestHalvesOfPairsOfTheProvider(t *testing.T) {
	q, go_ := userSays("q"), userSays("go on")
	signed := winnow.Part{Kind: winnow.KindThinking, Text: "t", Signature: "S"}
	paused := modelSends(signed, textPart("I look."), searchPart("1"))
	paused.StopReason = "pause_turn"
	for _, tt := range []struct {
		name, want string
		in         []winnow.Message
		reason     string
	}{
		{"a pair", "u q; a >1 <1 found; u go on", list(q, modelSends(searchPart("1"), foundPart("1"), textPart("found")), go_), "it is whole"},
		{"two results", "u q; a >1 <1 <1; u go on", list(q, modelSends(searchPart("1"), foundPart("1"), foundPart("1")), go_), "Gemini may write several for one code"},
		{"paused", "u q; a (tS) I look. >1", list(q, paused), "the provider goes on with it"},
		{"paused, and gone on", "u q; a (tS) I look. >1; a <1 found; u go on", list(q, paused, modelSends(foundPart("1"), textPart("found")), go_), "two answers of one turn"},
		{"paused twice", "u q; a (tS) I look. >1; a <1 >2; a <2 found; u go on", list(q, paused, modelSends(foundPart("1"), searchPart("2")), modelSends(foundPart("2"), textPart("found")), go_), "three answers of one turn"},
		{"paused, and a person spoke", "u q; a (tS) I look.; u go on", list(q, paused, go_), "nobody goes on with it any more"},
		{"paused, and the host spoke", "u q; a (tS) I look.; u note", list(q, paused, hostSays("note")), "the same"},
		{"paused, a blank text behind it", "u q; a (tS) I look. >1; a <1 found", list(q, paused, userSays(" "), modelSends(foundPart("1"), textPart("found"))), "the blank text is not sent"},
		{"the pause was taken back", "u q; a found; u go on", list(q, modelSends(foundPart("1"), textPart("found")), go_), "a result without its call"},
		{"the going on was taken back", "u q; a (tS) I look.; u go on; a done", list(q, paused, go_, modelSays("done")), "a call without its result"},
		{"result before call", "u q; a text; u go on", list(q, modelSends(foundPart("1"), textPart("text"), searchPart("1")), go_), "they do not belong together"},
		{"other ids", "u q; a text; u go on", list(q, modelSends(searchPart("1"), foundPart("2"), textPart("text")), go_), "two halves of two pairs"},
		{"in another turn", "u q; a I look.; u go on; a found", list(q, modelSends(textPart("I look."), searchPart("1")), go_, modelSends(foundPart("1"), textPart("found"))), "a person's message ends the turn"},
		{"aborted", "u q; a I look.; u go on", list(q, failed(modelSends(textPart("I look."), searchPart("1")), "aborted"), go_), "the call may be cut"},
		{"aborted, nothing behind", "u q; a I look.", list(q, failed(modelSends(textPart("I look."), searchPart("1")), "aborted")), "no provider goes on with it"},
		{"aborted, a pair before it", "u q; a >1 <1 text; u go on", list(q, failed(modelSends(searchPart("1"), foundPart("1"), textPart("text"), searchPart("2")), "error"), go_), "only what is half goes"},
		{"going on was aborted", "u q; a (tS) I look.; a part of it", list(q, paused, failed(modelSays("part of it"), "aborted")), "text behind an open call is not what the provider wrote"},
		{"going on was aborted at once", "u q; a (tS) I look. >1", list(q, paused, failed(modelSays(""), "aborted")), "nothing was said, so it may go on"},
		{"nothing else", "u q; u go on", list(q, modelSends(searchPart("1")), go_), "an empty message goes"},
		{"only thinking else", "u q; u go on", list(q, modelSends(signed, searchPart("1")), go_), "thinking alone is refused"},
		{"beside a call of the host's", "u q; a >1 [a]; t r; a <1 found; u go on", list(q, modelSends(searchPart("1"), callPart("a", "read")), toolSays("a", "r"), modelSends(foundPart("1"), textPart("found")), go_), "the provider runs its own when it has the host's result"},
		{"beside a call, not yet run", "u q; a >1 [a]; t r", list(q, modelSends(searchPart("1"), callPart("a", "read")), toolSays("a", "r")), "as before"},
		{"code that calls tools", "u q; a >1 [a]; t r; a [b]; t r", list(q, modelSends(searchPart("1"), callPart("a", "read")), toolSays("a", "r"), modelCalls("b"), toolSays("b", "r")), "its result comes when it has run to its end"},
		{"beside a call, interrupted", "u q; a look [a]; t r; u go on", list(q, modelSends(textPart("look"), searchPart("1"), callPart("a", "read")), toolSays("a", "r"), go_), "a person's message ends the turn"},
		{"approved by the host", "u q; a >1; u <1; a done; u go on", list(q, modelSends(searchPart("1")), winnow.Message{Role: winnow.RoleUser, Injected: true, Parts: []winnow.Part{foundPart("1")}}, modelSays("done"), go_), "the host may write the result, too"},
		{"an approval alone", "u q; u go on", list(q, winnow.Message{Role: winnow.RoleUser, Injected: true, Parts: []winnow.Part{foundPart("1")}}, go_), "of nothing that was asked"},
		{"not a half", "u q; a <; u go on", list(q, modelSends(winnow.Part{Kind: winnow.KindOpaque, Bytes: 9}), go_), "an opaque part without an id stands alone"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := deepCopy(tt.in)
			pure, _ := winnow.RepairToolPairing(in)
			if tt.name != "paused, a blank text behind it" { // the pure stage keeps white space
				assert.Equal(t, tt.want, halvesIn(pure), tt.reason)
			}
			again, edits := winnow.RepairToolPairing(pure)
			assert.Empty(t, edits)
			sameMessages(t, pure, again, "repaired once and for all")
			// At once, and message by message, as an agent does it.
			for _, from := range []int{len(in), 1} {
				m, err := winnow.New(100_000, nil)
				require.NoError(t, err)
				var r *winnow.Request
				for n := from; n <= len(in); n++ {
					r, err = m.Prepare(t.Context(), in[:n])
					require.NoError(t, err)
				}
				assert.Equal(t, tt.want, halvesIn(r.Messages), tt.reason)
			}
			sameMessages(t, tt.in, in, "the input is not written to")
		})
	}
}

// A pin, the turn limit and the cut of a compaction do not divide the answers of a turn that has paused.
func TestNothingDividesPairsOfTheProvider(t *testing.T) {
	long := strings.Repeat("what was found. ", 400)
	paused := func(text string) []winnow.Message {
		a := modelSends(textPart(long), searchPart("1"))
		a.StopReason = "pause_turn"
		return list(userSays("old "+text), a, modelSends(foundPart("1"), textPart(text)))
	}
	t.Run("pin", func(t *testing.T) {
		for _, at := range []int{1, 2} {
			h := append(paused("found"), userSays("new"), modelSays("done"))
			h[at] = pinned(h[at])
			out, _ := winnow.LimitHistoryTurns(h, 1)
			assert.Contains(t, halvesIn(out), ">1")
			assert.Contains(t, halvesIn(out), "<1")
		}
	})
	t.Run("compaction", func(t *testing.T) {
		for keep := 1; keep < 1_600; keep += 100 { // tokens
			h := append(paused("one"), userSays("two"))
			h = append(h, paused("three")[1:]...)
			h = append(h, userSays("four"), modelSays("done"), userSays("five"))
			m, err := winnow.New(20_000, &winnow.Options{Summarizer: answers("## Goal\nFind it.\n\n## Progress\n### Done\nLooked for it."), Compact: &winnow.CompactOptions{KeepRecent: keep}})
			require.NoError(t, err)
			r, err := m.Compact(t.Context(), h, "")
			require.NoError(t, err)
			sent := halvesIn(r.Messages)
			assert.Equal(t, strings.Count(sent, ">1"), strings.Count(sent, "<1"), "keep %d: %s", keep, sent)
		}
	})
}

// A call of the provider's own may wait over several steps, as code that calls the host's tools does. No record, summary
// or cut divides it from its result.
func TestPairsOverSeveralSteps(t *testing.T) {
	history := list(userSays("q"))
	for n := range 6 {
		id := string(rune('a' + n))
		history = append(history, modelSends(searchPart(id), callPart(id+"1", "read")), toolSays(id+"1", strings.Repeat("a line of it ", 120)))
		for k := range 3 {
			call := id + string(rune('2'+k))
			history = append(history, modelCalls(call), toolSays(call, strings.Repeat("another line ", 120)))
		}
		history = append(history, modelSends(foundPart(id), textPart("found")), userSays("go on"))
	}
	summarizer := winnow.SummarizerFunc(func(context.Context, winnow.SummaryRequest) (string, error) { return "## Goal\nfind", nil })
	check := func(r *winnow.Request, err error) {
		t.Helper()
		require.NoError(t, err)
		open := map[string]bool{}
		for _, m := range r.Messages {
			for _, p := range m.Parts {
				switch {
				case p.Kind == winnow.KindOpaque && p.Name != "":
					open[p.ID] = true
				case p.Kind == winnow.KindOpaque:
					require.True(t, open[p.ID], "a result without its call: %s", halvesIn(r.Messages))
					delete(open, p.ID)
				}
			}
			require.False(t, m.Role == winnow.RoleUser && len(open) > 0, "divided: %s", halvesIn(r.Messages))
		}
	}
	for _, window := range []int{6_000, 12_000, 200_000} {
		for _, above := range []float64{-1, 1} {
			m, err := winnow.New(window, &winnow.Options{FoldAbove: above, Summarizer: summarizer, Reserve: 500})
			require.NoError(t, err)
			for n := range history {
				if n > 0 && history[n-1].Role != winnow.RoleAssistant {
					check(m.Prepare(t.Context(), history[:n]))
				}
			}
			for _, keep := range []int{200, 2_000} {
				m, err := winnow.New(window, &winnow.Options{FoldAbove: above, Summarizer: summarizer, Reserve: 500, Compact: &winnow.CompactOptions{KeepRecent: keep}})
				require.NoError(t, err)
				check(m.Compact(t.Context(), history[:len(history)-3], ""))
			}
		}
	}
}

package winnow_test

import (
	"bytes"
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// The vectors are inputs and outputs of the reference system, made by running it. testdata/conformance
// holds one file for each group.

// eachVector runs check as a subtest for each line of a group, decoded as a V.
func eachVector[V any](t *testing.T, group string, check func(t *testing.T, v V)) {
	t.Helper()
	data := unpack(t, filepath.Join("testdata", "conformance", group+".jsonl.gz"))
	require.NotEmpty(t, data, "the group is empty")
	for line := range bytes.Lines(data) {
		var v struct{ Name string }
		var x V
		require.NoError(t, json.Unmarshal(line, &v))
		require.NoError(t, json.Unmarshal(line, &x), v.Name)
		t.Run(v.Name, func(t *testing.T) { check(t, x) })
	}
}

func TestConformanceHistory(t *testing.T) {
	type vector struct {
		Messages []winnow.Message
		Limit    int
		Want     struct{ Drop int }
	}
	eachVector(t, "history", func(t *testing.T, v vector) {
		got, edits := winnow.LimitHistoryTurns(v.Messages, v.Limit)
		sameMessages(t, v.Messages[v.Want.Drop:], got, "what is left")
		assert.Len(t, edits, v.Want.Drop)
	})
}

// changedTexts is the texts of the messages that the reference changed; null is a part that is not text.
type changedTexts map[int][]*string

// checkChanged compares a stage's output with the reference's. Where the reference made a message larger,
// it must be as it was: that is a difference on purpose.
func checkChanged(t *testing.T, in, got []winnow.Message, edits []winnow.Edit, want changedTexts, size func(winnow.Message) int) {
	t.Helper()
	require.Len(t, got, len(in))
	edited := map[int]bool{}
	for _, e := range edits {
		edited[e.Index] = true
	}
	for i := range in {
		exp := in[i]
		if texts, ok := want[i]; ok {
			exp.Parts = nil
			for k, s := range texts {
				if s != nil {
					exp.Parts = append(exp.Parts, textPart(*s))
				} else {
					exp.Parts = append(exp.Parts, in[i].Parts[k])
				}
			}
			if size(exp) >= size(in[i]) {
				exp = in[i]
			}
		}
		sameMessages(t, list(exp), got[i:i+1], "message "+itoa(i))
		assert.Equal(t, !sameContent(&in[i], &got[i]), edited[i], "an edit of message %d", i)
	}
}

// pruneSettings are the reference's. It has no defaults in the vectors where a number is 0.
type pruneSettings struct {
	KeepLastAssistants   *int
	SoftTrimRatio        *float64
	HardClearRatio       *float64
	MinPrunableToolChars *int
	SoftTrim             struct{ MaxChars, HeadChars, TailChars *int }
	HardClear            struct {
		Enabled     *bool
		Placeholder string
	}
	Tools struct{ Allow, Deny []string }
}

// given turns a number that is set, to 0 perhaps, into an option of which 0 is the default.
func given[N int | float64](p *N) N {
	switch {
	case p == nil:
		return 0
	case *p == 0:
		return -1
	}
	return *p
}

func TestConformancePrune(t *testing.T) {
	type vector struct {
		Messages []winnow.Message
		Window   int
		Settings pruneSettings
		Want     struct{ Changed changedTexts }
	}
	eachVector(t, "prune", func(t *testing.T, v vector) {
		s := v.Settings
		// The reference counts characters in a window of 4 characters a token: one token a character here.
		got, edits := winnow.PruneContext(v.Messages, 4*v.Window, &winnow.PruneOptions{
			KeepLastAssistants: given(s.KeepLastAssistants), SoftTrimRatio: given(s.SoftTrimRatio),
			HardClearRatio: given(s.HardClearRatio), MinPrunableToolChars: given(s.MinPrunableToolChars),
			SoftTrimMaxChars: given(s.SoftTrim.MaxChars), SoftTrimHeadChars: given(s.SoftTrim.HeadChars), SoftTrimTailChars: given(s.SoftTrim.TailChars),
			NoHardClear: s.HardClear.Enabled != nil && !*s.HardClear.Enabled, Placeholder: s.HardClear.Placeholder,
			AllowTools: s.Tools.Allow, DenyTools: s.Tools.Deny, Estimator: winnow.EstimatorFunc(referenceChars),
		})
		checkChanged(t, v.Messages, got, edits, v.Want.Changed, referenceChars)
	})
}

// referenceChars is what a message counts in the reference's pruner.
func referenceChars(m winnow.Message) int {
	switch m.Role {
	case winnow.RoleUser, winnow.RoleAssistant, winnow.RoleTool:
	default:
		return 256
	}
	n := 0
	for _, p := range m.Parts {
		switch p.Kind {
		case winnow.KindText, winnow.KindThinking:
			n += utf8.RuneCountInString(p.Text)
		case winnow.KindImage:
			n += 8000
		case winnow.KindToolCall:
			var v any
			_ = json.Unmarshal(p.Arguments, &v)
			if v == nil {
				v = struct{}{}
			}
			var b strings.Builder
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			_ = e.Encode(v)
			n += utf8.RuneCountInString(b.String()) - 1 // the newline
		}
	}
	return n
}

// referenceNotice is what the reference appends to a result that it cuts.
const referenceNotice = "\n\n⚠️ [Content truncated — original was too large for the model's context window. The content above is a partial view. If you need more, request specific sections or use offset/limit parameters to read smaller chunks.]"

// quarterOfText is the reference's estimate of a result.
func quarterOfText(m winnow.Message) int { return (chars(m) + 3) / 4 }

func TestConformanceTruncateLimit(t *testing.T) {
	type vector struct{ Window, Want int }
	eachVector(t, "truncmax", func(t *testing.T, v vector) {
		cut := func(n int) bool {
			h := list(userSays("go"), modelCalls("a"), toolSays("a", strings.Repeat("x", n)))
			_, edits := winnow.TruncateToolResults(h, v.Window, &winnow.TruncateOptions{
				HeadOnly: true, MinKeepChars: -1, Notice: "#", Estimator: winnow.EstimatorFunc(quarterOfText),
			})
			return len(edits) > 0
		}
		if v.Window <= 0 { // the reference's limit is 0 or NaN then, and nothing is done with it
			assert.False(t, cut(1_000_000), "no window, no cut")
			return
		}
		assert.False(t, cut(v.Want), "%d characters are at the limit", v.Want)
		if v.Want >= 8 { // a smaller limit has no room for what is kept and a notice: nothing would get shorter
			assert.True(t, cut(v.Want+1), "%d characters are above the limit", v.Want+1)
		}
	})
}

func TestConformanceTruncate(t *testing.T) {
	type vector struct {
		Messages []winnow.Message
		Window   int
		Want     struct{ Changed changedTexts }
	}
	eachVector(t, "truncate", func(t *testing.T, v vector) {
		got, edits := winnow.TruncateToolResults(v.Messages, v.Window, &winnow.TruncateOptions{
			HeadOnly: true, Notice: referenceNotice, Estimator: winnow.EstimatorFunc(quarterOfText),
		})
		// A token is up to 4 characters, so that a budget may differ from the reference's by as many.
		for i, texts := range v.Want.Changed {
			for k, want := range texts {
				if want == nil || k >= len(got[i].Parts) {
					continue
				}
				have := got[i].Parts[k].Text
				if have != *want && strings.HasSuffix(have, referenceNotice) && math.Abs(float64(len(have)-len(*want))) <= 16 {
					body := strings.TrimSuffix(have, referenceNotice)
					require.True(t, strings.HasPrefix(v.Messages[i].Parts[k].Text, body), "message %d part %d is not the head of the input", i, k)
					*texts[k] = have
				}
			}
		}
		checkChanged(t, v.Messages, got, edits, v.Want.Changed, chars)
	})
}

func TestConformanceRepair(t *testing.T) {
	type slot struct {
		Input      *int
		Synthetic  bool
		ToolCallID string
		ToolName   string
	}
	type vector struct {
		Messages []winnow.Message
		Want     struct{ Messages []json.RawMessage }
	}
	eachVector(t, "repair", func(t *testing.T, v vector) {
		var want []winnow.Message
		for _, raw := range v.Want.Messages {
			var s slot
			require.NoError(t, json.Unmarshal(raw, &s))
			var m winnow.Message
			switch {
			case s.Input != nil:
				m = v.Messages[*s.Input]
			case s.Synthetic:
				m = winnow.Message{Role: winnow.RoleTool, ToolCallID: s.ToolCallID, ToolName: s.ToolName, IsError: true}
			default:
				require.NoError(t, json.Unmarshal(raw, &m))
			}
			want = append(want, m)
		}
		got, _ := winnow.RepairToolPairing(v.Messages)
		require.Len(t, got, len(want))
		// The reference sorts the results of one message only where it changes something.
		want = inCallOrder(want)
		for i := range want {
			if len(want[i].Parts) == 0 && want[i].IsError { // made by the library
				assert.NotEmpty(t, fullText(got[i]), "message %d stands in for a result", i)
				got[i].Parts = nil
			}
			sameMessages(t, want[i:i+1], got[i:i+1], "message "+itoa(i))
		}
	})
}

// inCallOrder sorts the results behind each assistant message by its calls.
func inCallOrder(h []winnow.Message) []winnow.Message {
	var out []winnow.Message
	for i := 0; i < len(h); {
		m := h[i]
		out = append(out, m)
		i++
		results := map[string]winnow.Message{}
		for ; i < len(h) && h[i].Role == winnow.RoleTool; i++ {
			results[h[i].ToolCallID] = h[i]
		}
		for _, p := range m.Parts {
			if r, ok := results[p.ID]; ok && p.Kind == winnow.KindToolCall {
				out = append(out, r)
			}
		}
	}
	return out
}

func TestConformanceGuard(t *testing.T) {
	type vector struct {
		Tokens int
		Want   struct{ Warn, Block bool }
	}
	eachVector(t, "guard", func(t *testing.T, v vector) {
		want := winnow.WindowOK
		switch {
		case v.Want.Block:
			want = winnow.WindowBlock
		case v.Want.Warn:
			want = winnow.WindowWarn
		}
		assert.Equal(t, want, winnow.CheckWindow(v.Tokens))
	})
}

// The vectors say when the reference flushes. One without an entry is of a session that does not exist yet.
func TestConformanceFlush(t *testing.T) {
	type vector struct {
		Args struct {
			TokenCount, ContextWindowTokens, ReserveTokensFloor, SoftThresholdTokens int
			Entry                                                                    *struct {
				CompactionCount            int
				MemoryFlushCompactionCount *int
			}
		}
		Want bool
	}
	eachVector(t, "flush", func(t *testing.T, v vector) {
		a := v.Args
		isDone := a.Entry == nil || a.Entry.MemoryFlushCompactionCount != nil && *a.Entry.MemoryFlushCompactionCount == a.Entry.CompactionCount
		if isDone {
			assert.False(t, v.Want, "once in each cycle, which the ledger sees to")
			return
		}
		assert.Equal(t, v.Want, winnow.FlushDue(a.TokenCount, a.ContextWindowTokens-a.ReserveTokensFloor-a.SoftThresholdTokens))
	})
}

package winnow_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/wire"
)

// outline is a history in one line: u user, s system, a assistant with its calls, t a result with the call
// that it answers and its text; E marks an error result.
func outline(h []winnow.Message) string {
	var out []string
	for _, m := range h {
		s := string(m.Role)[:1]
		var calls []string
		for _, p := range m.Parts {
			if p.Kind == winnow.KindToolCall {
				calls = append(calls, p.ID)
			}
		}
		switch {
		case m.Role == winnow.RoleTool && m.IsError:
			s = "E:" + m.ToolCallID
		case m.Role == winnow.RoleTool:
			s += ":" + m.ToolCallID + "=" + fullText(m)
		case len(calls) > 0:
			s += "[" + strings.Join(calls, ",") + "]"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestRepairToolPairing(t *testing.T) {
	q, a, sys := userSays("question"), modelSays("answer"), systemSays("now")
	read, write, readResult := modelSends(callPart("a", "read"), callPart("a", "write")), toolOf("a", "write", "w"), toolOf("a", "read", "r")
	for _, tt := range []struct {
		name   string
		in     []winnow.Message
		want   string // the outline of the output
		edits  int
		reason string
	}{
		{"order of calls", list(q, modelCalls("a", "b"), toolSays("b", "2"), toolSays("a", "1"), q), "u a[a,b] t:a=1 t:b=2 u", 1, "results come in call order"},
		{"user in between", list(q, modelCalls("a"), q, toolSays("a", "1"), a), "u a[a] t:a=1 u a", 1, "the result stands directly behind its call"},
		{"system in between", list(q, modelCalls("a"), sys, toolSays("a", "1"), a), "u a[a] t:a=1 s a", 1, "nothing may stand between, not even a system message"},
		{"late", list(q, modelCalls("a"), a, q, a, toolSays("a", "1")), "u a[a] t:a=1 a u a", 1, "a late result goes to its call, across other assistant messages"},
		{"late, across calls", list(q, modelCalls("a"), modelCalls("b"), toolSays("b", "2"), toolSays("a", "1"), q), "u a[a] t:a=1 a[b] t:b=2 u", 1, "results of a later call are not in its way"},
		{"orphan", list(q, toolSays("ghost", "1"), a), "u a", 1, "a result without a call"},
		{"before its call", list(q, toolSays("a", "1"), modelCalls("a"), q), "u a[a] E:a u", 2, "a result cannot come before its call: the one is an orphan, the other without a result"},
		{"twice", list(q, modelCalls("a"), toolSays("a", "1"), toolSays("a", "2"), q), "u a[a] t:a=1 u", 1, "the first result counts"},
		{"twice, later", list(q, modelCalls("a"), toolSays("a", "1"), a, toolSays("a", "2"), q), "u a[a] t:a=1 a u", 1, "a second result that is late as well"},
		{"missing", list(q, modelCalls("a", "b"), toolSays("b", "2"), q), "u a[a,b] E:a t:b=2 u", 1, "an error result says that there is none"},
		{"pending", list(q, modelCalls("a", "b"), toolSays("b", "2")), "u a[a,b] t:b=2", 0, "a call that waits at the end stays open"},
		{"pending, all of them", list(q, modelCalls("a", "b")), "u a[a,b]", 0, "no result yet"},
		{"pending, and something to do", list(q, toolSays("ghost", "1"), modelCalls("a")), "u a[a]", 1, "it stays open whatever else is repaired"},
		{"not pending", list(q, modelCalls("a"), sys), "u a[a] E:a s", 1, "a message behind it: nobody waits any more"},
		{"id in a later turn", list(q, modelCalls("a"), toolSays("a", "1"), q, modelCalls("a"), toolSays("a", "2"), q), "u a[a] t:a=1 u a[a_2] t:a_2=2 u", 2, "paired by occurrence; the second use gets a suffix, call and result alike"},
		{"id in three turns", list(q, modelCalls("a"), toolSays("a", "1"), modelCalls("a"), toolSays("a", "2"), modelCalls("a"), toolSays("a", "3"), q), "u a[a] t:a=1 a[a_2] t:a_2=2 a[a_3] t:a_3=3 u", 4, "numbers go on"},
		{"suffix is taken", list(q, modelCalls("a", "a_2"), toolSays("a", "1"), toolSays("a_2", "x"), modelCalls("a"), toolSays("a", "2"), q), "u a[a,a_2] t:a=1 t:a_2=x a[a_3] t:a_3=2 u", 2, "an id of the history is never made a second time"},
		{"no ids, by order", list(q, modelCalls("a", "b"), toolOf("", "", "1"), toolOf("", "", "2"), q), "u a[a,b] t:a=1 t:b=2 u", 2, "results that were imported on their own have no id to give"},
		{"no ids, by name", list(q, read, toolOf("", "write", "w"), toolOf("", "read", "r"), q), "u a[a,a_2] t:a=r t:a_2=w u", 3, "the tool's name says more than the order"},
		{"no ids, some names", list(q, read, toolOf("", "other", "r"), toolOf("", "read", "w"), q), "u a[a,a_2] t:a=w t:a_2=r u", 3, "what is left goes to what is left"},
		{"no ids, late", list(q, modelCalls("a"), a, q, toolOf("", "exec", "1"), a), "u a[a] t:a=1 a u a", 1, "the newest message with calls"},
		{"no ids, two steps", list(q, modelCalls("a"), toolOf("", "", "1"), modelCalls("b"), toolOf("", "", "2"), q), "u a[a] t:a=1 a[b] t:b=2 u", 2, "each step has its own"},
		{"no ids, too many", list(q, modelCalls("a"), toolSays("a", "1"), toolOf("", "exec", "2"), q), "u a[a] t:a=1 u", 1, "nothing waits for it"},
		{"no ids, no calls", list(q, toolOf("", "exec", "1"), q), "u u", 1, "nothing was called"},
		{"no id, one missing", list(q, modelCalls("a", "b"), toolOf("", "", "1"), q), "u a[a,b] t:a=1 E:b u", 2, "the other call has no result"},
		{"id twice in a message", list(q, modelCalls("a", "a"), toolSays("a", "1"), toolSays("a", "2"), q), "u a[a,a_2] t:a=1 t:a_2=2 u", 2, "in the order of the calls"},
		{"id twice, by tool", list(q, read, write, readResult, q), "u a[a,a_2] t:a=r t:a_2=w u", 3, "the tool's name says which is which"},
		{"empty id", list(q, modelCalls(""), toolSays("", "1"), q), "u a[call_1] t:call_1=1 u", 2, "providers refuse it"},
		{"empty ids", list(q, modelCalls("", ""), toolSays("", "1"), toolSays("", "2"), modelCalls(""), toolSays("", "3"), q), "u a[call_1,call_2] t:call_1=1 t:call_2=2 a[call_3] t:call_3=3 u", 5, "paired by occurrence"},
		{"empty id, pending", list(q, modelCalls("")), "u a[call_1]", 1, "the host answers with the id that it sees"},
		{"odd id", list(q, modelCalls("fc|1"), toolSays("fc|1", "1"), q), "u a[fc|1] t:fc|1=1 u", 0, "an id that is unique is not touched: its provider made it"},
		{"odd id twice", list(q, modelCalls("fc|1"), toolSays("fc|1", "1"), modelCalls("fc|1"), toolSays("fc|1", "2"), q), "u a[fc|1] t:fc|1=1 a[fc_1_2] t:fc_1_2=2 u", 2, "what is made holds only what every provider takes"},
		{"failed", list(q, failed(modelCalls("a"), "error"), toolSays("a", "1"), q), "u u", 2, "its calls may be incomplete: they go with their results, and so does a message of nothing else"},
		{"aborted with text", list(q, failed(modelSends(textPart("I will"), callPart("a", "exec")), "aborted"), toolSays("a", "1"), q), "u a u", 2, "what it said stays"},
		{"failed, at the end", list(q, failed(modelSends(textPart("I will"), callPart("a", "exec")), "aborted")), "u a", 1, "its calls wait for nothing"},
		{"other reasons", list(q, failed(modelCalls("a"), "length"), toolSays("a", "1"), q), "u a[a] t:a=1 u", 0, "a turn that was cut is not a failed one"},
		{"result of a user", list(q, toolSays("a", "1"), modelSays("x")), "u a", 1, "no assistant message in front of it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := named(deepCopy(tt.in))
			got, edits := winnow.RepairToolPairing(in)
			assert.Equal(t, tt.want, outline(got), tt.reason)
			assert.Len(t, edits, tt.edits, "%v", edits)
			assert.Equal(t, tt.edits == 0, sharesMemory(in, got), "the same list exactly if nothing was done")
			checkStage(t, repairStage, in)
		})
	}
}

func TestRepairEmptyContent(t *testing.T) {
	q, a := userSays("question"), modelSays("answer")
	empty := textPart("")
	signed := thinkPart("so it is", "c2ln")
	for _, tt := range []struct {
		name   string
		in     winnow.Message
		want   []winnow.Part // nil: the message goes
		reason string
	}{
		{"empty text", modelSends(empty, textPart("x"), empty), []winnow.Part{textPart("x")}, "providers refuse it"},
		{"blank text", modelSends(textPart(" \n")), []winnow.Part{textPart(" \n")}, "white space stays: only Prepare drops it"},
		{"nothing", winnow.Message{Role: winnow.RoleAssistant}, nil, "no turn may be empty"},
		{"nothing but empty texts", modelSends(empty, empty), nil, "nothing is left"},
		{"empty user message", userSays(""), nil, "of users as well"},
		{"thinking only", modelSends(signed), nil, "what it led to never came"},
		{"thinking last", modelSends(textPart("x"), signed), []winnow.Part{textPart("x")}, "providers want what it led to behind it"},
		{"thinking behind a call", modelSends(callPart("a", "exec"), signed), []winnow.Part{callPart("a", "exec")}, "it did not lead to that call"},
		{"thinking first", modelSends(signed, textPart("x")), []winnow.Part{signed, textPart("x")}, "that is its place"},
		{"thinking and a call", modelSends(signed, callPart("a", "exec")), []winnow.Part{signed, callPart("a", "exec")}, "a call is something that it led to"},
		{"encrypted thinking", modelSends(thinkPart("", "c2ln"), textPart("x")), []winnow.Part{thinkPart("", "c2ln"), textPart("x")}, "signed, and its text is not for us"},
		{"empty thinking", modelSends(thinkPart("", ""), textPart("x")), []winnow.Part{textPart("x")}, "neither text nor signature"},
		{"image", winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{empty, imagePart()}}, []winnow.Part{imagePart()}, "an image is content"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := list(q, a, tt.in)
			for _, p := range tt.in.Parts {
				if p.Kind == winnow.KindToolCall {
					in = append(in, toolSays(p.ID, "result"))
				}
			}
			in = append(in, q)
			got, _ := winnow.RepairToolPairing(in)
			if tt.want == nil {
				require.Len(t, got, len(in)-1, tt.reason)
				return
			}
			require.Len(t, got, len(in), tt.reason)
			assert.Equal(t, tt.want, got[2].Parts, tt.reason)
		})
	}
	got, edits := winnow.RepairToolPairing(list(q, modelCalls("a"), toolSays("a", "", "x"), toolSays("b"), q))
	assert.Equal(t, "u a[a] t:a=x u", outline(got), "an empty text of a result goes too")
	assert.Len(t, edits, 2)
	bare := list(q, modelCalls("a"), toolSays("a"), q)
	_, edits = winnow.RepairToolPairing(bare)
	assert.Empty(t, edits, "a result without parts is an answer: a command that printed nothing")
}

func TestRepairArguments(t *testing.T) {
	for _, tt := range []struct{ in, want, reason string }{
		{`{"path":"a"}`, `{"path":"a"}`, "as it is"},
		{`{ "b": 1, "a": 2 }`, `{ "b": 1, "a": 2 }`, "order and white space are the model's"},
		{``, ``, "no arguments"},
		{`[1]`, `[1]`, "one JSON value of any kind"},
		{`{"path":"sr`, `{"invalidJson":"{\"path\":\"sr"}`, "wrapped, so that nothing is lost"},
		{`rm -rf`, `{"invalidJson":"rm -rf"}`, "no JSON at all"},
		{"\xff", `{"invalidJson":"\ufffd"}`, "not even text"},
	} {
		call := callWith("a", "exec", tt.in)
		got, _ := winnow.RepairToolPairing(list(userSays("q"), modelSends(call), toolSays("a", "x"), userSays("q")))
		assert.Equal(t, tt.want, string(got[1].Parts[0].Arguments), tt.reason)
	}
}

func TestRepairLongIDs(t *testing.T) {
	long := strings.Repeat("x", 500)
	got, edits := winnow.RepairToolPairing(list(userSays("q"), modelCalls(long), modelCalls(long), userSays("q")))
	assert.Equal(t, long, got[1].Parts[0].ID, "an id that is unique so far is its provider's")
	second := got[3].Parts[0].ID
	assert.LessOrEqual(t, len(second), 40, "what is made is short enough for every provider")
	assert.Equal(t, second, got[4].ToolCallID)
	for _, e := range edits {
		assert.Less(t, len(e.Reason), 200, "a reason is for people")
	}
}

// Every history of up to four messages of the kinds that matter to pairing.
func TestRepairEveryShortHistory(t *testing.T) {
	pinnedCall, pinnedResult := pinned(modelCalls("a")), pinned(toolSays("a", "4"))
	kinds := list(userSays("u"), systemSays("s"), modelSays("x"), modelCalls("a"), modelCalls("a", "a"), modelCalls("b", "a"), modelCalls(""), pinnedCall,
		failed(modelCalls("a"), "aborted"), toolSays("a", "1"), toolSays("b", "2"), toolSays("", "3"), pinnedResult, modelSends(thinkPart("t", "")), userSays(""))
	var try func(h []winnow.Message, more int)
	try = func(h []winnow.Message, more int) {
		got, edits := winnow.RepairToolPairing(h)
		err := wire.Rules{Lead: leads(h)}.Check(got)
		_, again := winnow.RepairToolPairing(got)
		length := len(h)
		for _, e := range edits {
			switch {
			case e.After == 0:
				length--
			case e.Before == 0:
				length++
			}
		}
		if err != nil || len(again) > 0 || len(got) != length {
			require.Fail(t, "not repaired, not done, or not accounted for", "%s became %s: %v, %v, %v", outline(h), outline(got), err, again, edits)
		}
		if more == 0 {
			return
		}
		for _, m := range kinds {
			try(append(h[:len(h):len(h)], m), more-1)
		}
	}
	try(nil, 4)
}

// What is said of a message does not change when the history grows: an id that a later call has too says nothing of a
// result that stands before it.
func TestRepairReasonsStay(t *testing.T) {
	h := list(toolSays("a", "1"), userSays("question"), modelCalls("b"), toolSays("b", "2"), toolSays("b", "3"))
	_, before := winnow.RepairToolPairing(h)
	_, after := winnow.RepairToolPairing(append(slices.Clip(h), modelCalls("a"), toolSays("a", "4")))
	require.Len(t, before, 2)
	assert.Equal(t, "answers no call", before[0].Reason)
	assert.Equal(t, "the call has its result already", before[1].Reason)
	assert.Equal(t, before, after)
}

// searchPart is a call that the provider runs itself, and foundPart its result.
func searchPart(id string) winnow.Part {
	return winnow.Part{Kind: winnow.KindOpaque, ID: id, Name: "web_search", Bytes: 40}
}

func foundPart(id string) winnow.Part {
	return winnow.Part{Kind: winnow.KindOpaque, ID: id, Bytes: 400}
}

// halvesIn lists the parts of messages: > a call of the provider's, < its result, the texts, (thinking), [calls] and the
// ids of those that results answer.
func halvesIn(messages []winnow.Message) string {
	var out []string
	for _, m := range messages {
		var b strings.Builder
		b.WriteString(string(m.Role)[:1])
		if m.Role == winnow.RoleTool {
			b.WriteString(":" + m.ToolCallID)
		}
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

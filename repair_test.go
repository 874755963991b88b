package winnow_test

import (
	"context"
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

func TestRepairMissingResult(t *testing.T) {
	nameless := modelSends(winnow.Part{Kind: winnow.KindToolCall, ID: "b"})
	got, edits := winnow.RepairToolPairing(named(list(userSays("q"), modelCalls("a"), nameless, userSays("q"))))
	require.Equal(t, "u a[a] E:a a[b] E:b u", outline(got))
	assert.Equal(t, "exec", got[2].ToolName, "the tool of its call")
	assert.Equal(t, "unknown", got[4].ToolName, "providers want a name")
	assert.Contains(t, fullText(got[2]), "No result", "it says that there is none")
	assert.Nil(t, got[2].Source, "the host did not make it")
	assert.Empty(t, got[2].ID)
	for k, e := range edits {
		assert.Zero(t, e.Before, "inserted")
		assert.Positive(t, e.After)
		assert.Equal(t, []int{1, 2}[k], e.Index, "where its call is")
	}

	late := append(deepCopy(got[:5]), toolSays("a", "the real one"), userSays("q"))
	again, _ := winnow.RepairToolPairing(late)
	assert.Equal(t, "u a[a] t:a=the real one a[b] E:b u", outline(again), "a result that comes after all takes the place of the one that stood in for it")
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

// No provider has a form for a call in a message that is not the model's. An edit that kept one could not be restored.
func TestRepairDropsStrayCalls(t *testing.T) {
	stray := callWith("", "exec", `{"path":`)
	asks := withParts(userSays("what is on it?"), stray)
	only := winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{callPart("c9", "exec")}}
	shows := withParts(toolSays("c1", strings.Repeat("a line of a file\n", 2_000)), stray, imagePart())
	h := named(list(asks, modelCalls("c1"), shows, only, modelSays("a cat"), userSays("and now?")))
	checkStage(t, repairStage, h)
	got, edits := winnow.RepairToolPairing(h)
	assert.Equal(t, " u a[c1] t:c1 a u", sketch(got))
	assert.Equal(t, []winnow.Part{h[0].Parts[0]}, got[0].Parts)
	assert.Equal(t, []winnow.Part{h[2].Parts[0], h[2].Parts[2]}, got[2].Parts)
	assert.Len(t, edits, 3)

	m := newManager(t, 8_000, &winnow.Options{Estimator: byChars, MaxBytes: 6_000})
	want := prepare(t, m, h)
	again := restarted(t, 8_000, &winnow.Options{Estimator: byChars, MaxBytes: 6_000}, snapshotOf(t, m))
	sameMessages(t, want.Messages, prepare(t, again, h).Messages, "restored")
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

// Both halves of a pair that the provider ran itself stay, or both go; what stands beside them stays as it is.
func TestHalvesOfPairsOfTheProvider(t *testing.T) {
	q, go_ := userSays("q"), userSays("go on")
	signed := winnow.Part{Kind: winnow.KindThinking, Text: "t", Signature: "S"}
	paused := failed(modelSends(signed, textPart("I look."), searchPart("1")), "pause_turn")
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
		{"beside a call of the host's", "u q; a >1 [a]; t:a r; a <1 found; u go on", list(q, modelSends(searchPart("1"), callPart("a", "read")), toolSays("a", "r"), modelSends(foundPart("1"), textPart("found")), go_), "the provider runs its own when it has the host's result"},
		{"beside a call, not yet run", "u q; a >1 [a]; t:a r", list(q, modelSends(searchPart("1"), callPart("a", "read")), toolSays("a", "r")), "as before"},
		{"code that calls tools", "u q; a >1 [a]; t:a r; a [b]; t:b r", list(q, modelSends(searchPart("1"), callPart("a", "read")), toolSays("a", "r"), modelCalls("b"), toolSays("b", "r")), "its result comes when it has run to its end"},
		{"beside a call, interrupted", "u q; a look [a]; t:a r; u go on", list(q, modelSends(textPart("look"), searchPart("1"), callPart("a", "read")), toolSays("a", "r"), go_), "a person's message ends the turn"},
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
				m := newManager(t, 100_000, nil)
				var r *winnow.Request
				for n := from; n <= len(in); n++ {
					r = prepare(t, m, in[:n])
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
		return list(userSays("old "+text), failed(modelSends(textPart(long), searchPart("1")), "pause_turn"), modelSends(foundPart("1"), textPart(text)))
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
			m := newManager(t, 20_000, &winnow.Options{Summarizer: answers("## Goal\nFind it.\n\n## Progress\n### Done\nLooked for it."), Compact: &winnow.CompactOptions{KeepRecent: keep}})
			r := compact(t, m, h)
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
	summarizer := answers("## Goal\nfind")
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
			m := newManager(t, window, &winnow.Options{FoldAbove: above, Summarizer: summarizer, Reserve: 500})
			for n := range history {
				if n > 0 && history[n-1].Role != winnow.RoleAssistant {
					check(m.Prepare(t.Context(), history[:n]))
				}
			}
			for _, keep := range []int{200, 2_000} {
				m := newManager(t, window, &winnow.Options{FoldAbove: above, Summarizer: summarizer, Reserve: 500, Compact: &winnow.CompactOptions{KeepRecent: keep}})
				check(m.Compact(t.Context(), history[:len(history)-3], ""))
			}
		}
	}
}

// A request shows each result of a call that says something else: where it stands, or in the place of the first one if
// that was never sent.
func TestLaterResults(t *testing.T) {
	q, again := userSays("q"), userSays("and now?")
	pending, done := toolSays("a", "pending"), toolSays("a", "done")
	failedRun := erroneous(toolSays("a", "no space left"))
	const head = "[A later result of exec, call a:]"
	later := "u " + head + " done"
	for _, tt := range []struct {
		name   string
		in     []winnow.Message
		want   string // of a host that sends a request at the end
		steps  string // of one that sends a request after each message; "": the same
		reason string
	}{
		{"after an answer", list(q, modelCalls("a"), pending, modelSays("I wait."), done, modelSays("Good."), again), "u q; a [a]; t:a pending; a I wait.; " + later + "; a Good.; u and now?", "", "where it stands"},
		{"at the end", list(q, modelCalls("a"), pending, modelSays("I wait."), done), "u q; a [a]; t:a pending; a I wait.; " + later, "", "the newest of all"},
		{"before an answer", list(q, modelCalls("a"), pending, done, modelSays("Good.")), "u q; a [a]; t:a done; a Good.", "u q; a [a]; t:a pending; " + later + "; a Good.", "in the place of the first, unless that was sent"},
		{"behind a person's message", list(q, modelCalls("a"), pending, again, done), "u q; a [a]; t:a done; u and now?", "u q; a [a]; t:a pending; u and now?; " + later, "no answer was made from the first"},
		{"equal", list(q, modelCalls("a"), pending, modelSays("I wait."), pending, again), "u q; a [a]; t:a pending; a I wait.; u and now?", "", "it says nothing new"},
		{"three", list(q, modelCalls("a"), pending, modelSays("I wait."), toolSays("a", "half"), toolSays("a", "half"), modelSays("Still."), done), "u q; a [a]; t:a pending; a I wait.; u " + head + " half; a Still.; " + later, "", "each that says something new"},
		{"the first once more", list(q, modelCalls("a"), pending, modelSays("I wait."), done, modelSays("Good."), pending), "u q; a [a]; t:a pending; a I wait.; " + later + "; a Good.; u " + head + " pending", "", "it differs from what was shown last"},
		{"failed", list(q, modelCalls("a"), pending, modelSays("I wait."), failedRun), "u q; a [a]; t:a pending; a I wait.; u [A later result of exec, call a, which failed:] no space left", "", "it is said"},
		{"among the results of another step", list(q, modelCalls("a"), pending, modelCalls("b"), done, toolSays("b", "B"), again), "u q; a [a]; t:a pending; a [b]; t:b B; " + later + "; u and now?", "", "behind them, because nothing may stand between a call and its result"},
		{"while other calls are open", list(q, modelCalls("a"), pending, modelCalls("b"), done), "u q; a [a]; t:a pending; a [b]", "", "it waits for their results"},
		{"both late", list(q, modelCalls("a"), modelSays("I wait."), pending, modelSays("I still wait."), done), "u q; a [a]; t:a pending; a I wait.; a I still wait.; " + later, "", "the first one goes to its call"},
		{"an id again", list(q, modelCalls("a"), toolSays("a", "A"), modelCalls("a"), pending, modelSays("I wait."), done), "u q; a [a]; t:a A; a [a_2]; t:a_2 pending; a I wait.; u [A later result of exec, call a_2:] done", "", "it is of the newest call"},
		{"of a failed turn", list(q, failed(modelCalls("a"), "aborted"), pending, modelSays("no"), done), "u q; a no", "", "the call is not sent"},
		{"of no call", list(q, modelSays("no"), done), "u q; a no", "", "nothing asked for it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.steps == "" {
				tt.steps = tt.want
			}
			for _, once := range []bool{true, false} {
				want, from := tt.want, len(tt.in)
				if !once {
					want, from = tt.steps, 1
				}
				in := deepCopy(tt.in)
				m := newManager(t, 100_000, nil)
				var r *winnow.Request
				for n := from; n <= len(in); n++ {
					r = prepare(t, m, in[:n])
				}
				assert.Equal(t, want, halvesIn(r.Messages), tt.reason)
				for _, sent := range r.Messages {
					if strings.HasPrefix(fullText(sent), head) {
						assert.True(t, sent.Injected, "no person wrote it")
					}
				}
				// What was decided stays: in later requests, and after a restart.
				restored := restarted(t, 100_000, nil, snapshotOf(t, m))
				if strings.HasSuffix(want, "a [b]") {
					return // the end of the request is still open
				}
				in = append(in, modelSays("more"), userSays("last"))
				for _, m := range []*winnow.Manager{m, restored} {
					next := prepare(t, m, in)
					assert.Equal(t, want+"; a more; u last", halvesIn(next.Messages), "as it was sent")
				}
				sameMessages(t, tt.in, in[:len(tt.in)], "the input is not written to")
			}
		})
	}
}

// A later result is sent as a text of the host. It ends the turn, so a call of the provider's own in front of it does
// not stay open.
func TestLaterResultBehindAPause(t *testing.T) {
	history := list(userSays("q"), modelCalls("a"), toolSays("a", "pending"), modelSends(textPart("I look."), searchPart("1")),
		toolSays("a", "done"), modelSends(foundPart("1"), textPart("found")), userSays("go on"))
	m := newManager(t, 100_000, nil)
	r := prepare(t, m, history)
	assert.Equal(t, "u q; a [a]; t:a pending; a I look.; u [A later result of exec, call a:] done; a found; u go on", halvesIn(r.Messages))
	r = prepare(t, m, append(history[:4:4], toolSays("a", "pending")))
	assert.Equal(t, "u q; a [a]; t:a pending; a I look. >1", halvesIn(r.Messages), "it says nothing new: the provider goes on")
}

// A later result is as little too large as any other one, and a record, a summary and Recall know it.
func TestLaterResultsLikeOthers(t *testing.T) {
	long := numbered(4_000)
	history := func(text string) []winnow.Message {
		return list(userSays("Start the build."), modelCalls("a"), toolSays("a", "pending"), modelSays("It runs."), toolSays("a", text))
	}
	t.Run("too large", func(t *testing.T) {
		m := newManager(t, 8_000, nil)
		r := prepare(t, m, history(long))
		require.LessOrEqual(t, r.Tokens, r.Budget)
		last := fullText(r.Messages[len(r.Messages)-1])
		assert.True(t, strings.HasPrefix(last, "[A later result of exec, call a:]"), "%.80s", last)
		assert.Less(t, len(last), len(long)/2)
	})
	t.Run("recall", func(t *testing.T) {
		for _, tt := range []struct {
			window int
			whole  bool
		}{{400_000, true}, {8_000, false}} {
			m := newManager(t, tt.window, &winnow.Options{Recall: true})
			h := history(long)
			prepare(t, m, h)
			answer := lastText(callRecall(t, m, h, `{"words":"1999"}`))
			assert.Equal(t, !tt.whole, strings.Contains(answer, "line 1999 of"), "window %d: %.200s", tt.window, answer)
		}
	})
	t.Run("record", func(t *testing.T) {
		h := history(numbered(400))
		for i := range 40 {
			h = append(h, callOf("c"+itoa(i), "exec", `{}`, numbered(100))...)
		}
		m := newManager(t, 30_000, nil)
		r := prepare(t, m, h)
		require.Contains(t, halvesIn(r.Messages), "A later result of exec, call a", "the record names it")
		assert.NotContains(t, halvesIn(r.Messages), numbered(400))
	})
	t.Run("summary", func(t *testing.T) {
		var asked string
		m := newManager(t, 30_000, &winnow.Options{
			Compact: &winnow.CompactOptions{KeepRecent: 10},
			Summarizer: winnow.SummarizerFunc(func(_ context.Context, req winnow.SummaryRequest) (string, error) {
				asked += req.Prompt()
				return "## Goal\nBuild it.\n\n## Progress\n### Done\nStarted the build.", nil
			}),
		})
		h := append(history("built in 7 seconds"), modelSays("It is built. "+strings.Repeat("All is well with it. ", 200)), userSays("Good."), modelSays("Yes."))
		compact(t, m, h)
		assert.Contains(t, asked, "pending")
		assert.Contains(t, asked, "built in 7 seconds", "the summarizer reads both")
	})
}

package transcript_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/transcript"
	"github.com/winnowgo/winnow/session/upkeep"
)

// sent returns what the model sees of an imported session, a message a word: role, and texts or calls.
func sent(t *testing.T, text string) string {
	parsed, err := transcript.Parse([]byte(text))
	require.NoError(t, err)
	store := session.NewMemory(nil)
	defer store.Close()
	require.NoError(t, upkeep.Import(context.Background(), store, "k", parsed.Entries))
	v, err := store.Read(context.Background(), "k")
	require.NoError(t, err)
	return shorten(v.History)
}

func shorten(history []winnow.Message) string {
	var out []string
	for _, m := range history {
		s := string(m.Role[:1])
		switch {
		case m.Summary:
			s = "S"
		case m.Injected:
			s = "i"
		case m.Role == winnow.RoleSystem:
			s = "y"
		}
		s += ":"
		for _, p := range m.Parts {
			s += p.Text + p.ID
		}
		out = append(out, s+m.ToolCallID)
	}
	return strings.Join(out, " ")
}

// claudeLine is a line of Claude Code: its uuid, its parent, and the rest.
func claudeLine(typ, id, parent, rest string) string {
	return `{"type":"` + typ + `","uuid":"` + id + `","parentUuid":` + quotedOrNull(parent) + `,"sessionId":"s",` + rest + "}\n"
}

func quotedOrNull(s string) string {
	if s == "" {
		return "null"
	}
	return `"` + s + `"`
}

func says(id, blocks string) string {
	return `"message":{"id":"` + id + `","role":"assistant","content":[` + blocks + `]}`
}

func use(id string) string { return `{"type":"tool_use","id":"` + id + `","name":"read","input":{}}` }

func gives(id string) string {
	return `"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"="}]}`
}

func asks(text string) string { return `"message":{"role":"user","content":"` + text + `"}` }

const boundary = `"subtype":"compact_boundary","logicalParentUuid":"c","compactMetadata":{"preTokens":9,"preservedSegment":{"headUuid":"b"}}`

func TestClaudeCases(t *testing.T) {
	for _, tt := range []struct{ why, file, want string }{
		{
			"results of calls that were made at once hang from the lines of their calls",
			claudeLine("user", "a", "", asks("q")) + claudeLine("assistant", "b", "a", says("m", use("1"))) +
				claudeLine("assistant", "c", "b", says("m", use("2"))) + claudeLine("user", "d", "b", gives("1")) +
				claudeLine("user", "e", "c", gives("2")) + claudeLine("assistant", "f", "e", says("n", `{"type":"text","text":"done"}`)),
			"u:q a:12 t:=1 t:=2 a:done",
		},
		{
			"an answer goes on behind a result: the tool ran while it was streamed",
			claudeLine("user", "a", "", asks("q")) + claudeLine("assistant", "b", "a", says("m", use("1"))) +
				claudeLine("user", "c", "b", gives("1")) + claudeLine("assistant", "d", "c", says("m", use("2"))) +
				claudeLine("user", "e", "d", gives("2")),
			"u:q a:12 t:=1 t:=2",
		},
		{
			"a result that comes after the person went on loses nothing",
			claudeLine("user", "a", "", asks("q")) + claudeLine("assistant", "b", "a", says("m", use("1"))) +
				claudeLine("user", "c", "b", asks("never-mind")) + claudeLine("user", "d", "b", gives("1")),
			"u:q a:1 u:never-mind t:=1",
		},
		{
			"notes between the messages are not in the tree",
			claudeLine("user", "a", "", asks("q")) + claudeLine("progress", "x", "a", `"data":{}`) +
				claudeLine("assistant", "b", "x", says("m", `{"type":"text","text":"r"}`)),
			"u:q a:r",
		},
		{
			"a turn that was taken back is on another branch",
			claudeLine("user", "a", "", asks("q")) + claudeLine("assistant", "b", "a", says("m", `{"type":"text","text":"r"}`)) +
				claudeLine("user", "c", "b", asks("wrong")) + claudeLine("user", "d", "b", asks("right")),
			"u:q a:r u:right",
		},
		{
			"a sub-agent of an older version is beside the conversation",
			claudeLine("user", "a", "", asks("q")) + claudeLine("user", "x", "", `"isSidechain":true,`+asks("task")) +
				claudeLine("assistant", "b", "a", says("m", `{"type":"text","text":"r"}`)) +
				claudeLine("assistant", "y", "x", `"isSidechain":true,`+says("n", `{"type":"text","text":"done"}`)),
			"u:q a:r",
		},
		{
			"the file of a sub-agent is nothing else",
			claudeLine("user", "x", "", `"isSidechain":true,`+asks("task")) +
				claudeLine("assistant", "y", "x", `"isSidechain":true,`+says("n", `{"type":"text","text":"done"}`)),
			"u:task a:done",
		},
		{
			"a compaction keeps a segment",
			claudeLine("user", "a", "", asks("q")) + claudeLine("user", "b", "a", asks("kept")) + claudeLine("user", "c", "b", asks("also")) +
				claudeLine("system", "x", "", boundary) + claudeLine("user", "d", "x", `"isCompactSummary":true,`+asks("sum")) +
				claudeLine("user", "e", "d", asks("on")),
			"S:sum u:kept u:also u:on",
		},
		{
			"a compaction without its summary changes nothing",
			claudeLine("user", "c", "", asks("q")) + claudeLine("system", "x", "", boundary) + claudeLine("user", "e", "x", asks("on")),
			"u:q u:on",
		},
		{
			"a parent that is missing",
			claudeLine("user", "a", "", asks("q")) + claudeLine("user", "b", "nobody", asks("on")),
			"u:q u:on",
		},
		{
			"what the harness says in a person's place",
			claudeLine("user", "a", "", `"isMeta":true,`+asks("meta")) + claudeLine("user", "b", "a", asks("[Request interrupted by user]")) +
				claudeLine("user", "c", "b", `"isVisibleInTranscriptOnly":true,`+asks("unseen")) + claudeLine("user", "d", "c", asks("q")),
			"i:meta i:[Request interrupted by user] u:q",
		},
	} {
		assert.Equal(t, tt.want, sent(t, tt.file), tt.why)
	}
}

func codexLine(typ, payload string) string {
	return `{"timestamp":"2026-06-01T09:00:00Z","type":"` + typ + `","payload":` + payload + "}\n"
}

func item(role, text string) string {
	return codexLine("response_item", message(role, text))
}

func message(role, text string) string {
	return `{"type":"message","role":"` + role + `","content":[{"type":"input_text","text":"` + text + `"}]}`
}

func compactedTo(text string, history ...string) string {
	return codexLine("compacted", `{"message":"`+text+`","replacement_history":[`+strings.Join(history, ",")+`]}`)
}

func TestCodexCases(t *testing.T) {
	talk := item("user", "q") + item("assistant", "r")
	for _, tt := range []struct{ why, file, want string }{
		{"what follows goes on from the replacement", talk + compactedTo("sum", message("user", "q"), message("user", "sum")) + item("user", "on"), "S:sum u:q u:on"},
		{"the summary is in the replacement alone", talk + compactedTo("", message("user", "q"), message("user", "sum")) + item("user", "on"), "S:sum u:q u:on"},
		{"the oldest compactions say nothing but the summary", talk + codexLine("compacted", `{"message":"sum"}`) + item("user", "on"), "S:sum u:q u:on"},
		{"a replacement has what was not there before", talk + compactedTo("sum", message("user", "new"), message("user", "sum")) + item("user", "on"), "S:sum i:new u:on"},
		{
			"a summary that only the provider can read: the messages stay, and the replacement behind them begins the requests",
			talk + compactedTo("", message("user", "q"), `{"type":"compaction","encrypted_content":"x"}`, message("user", "new")) + item("user", "on"),
			"u:q a:r u:q i: i:new u:on",
		},
		{"an answer in which the provider compacts", talk + codexLine("response_item", `{"type":"compaction","encrypted_content":"x"}`) + item("user", "on"), "u:q a:r i: u:on"},
		{"a turn is taken back", talk + item("user", "wrong") + codexLine("event_msg", `{"type":"thread_rolled_back","num_turns":1}`) + item("user", "on"), "u:q a:r u:on"},
		{"more turns are taken back than there are", talk + codexLine("event_msg", `{"type":"thread_rolled_back","num_turns":9}`) + item("user", "on"), "u:on"},
		{"reasoning and calls in a row are one answer", item("user", "q") + codexLine("response_item", `{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}`) + codexLine("response_item", `{"type":"function_call","name":"sh","arguments":"{}","call_id":"1"}`) + codexLine("response_item", `{"type":"function_call_output","call_id":"1","output":"="}`), "u:q a:hm1 t:=1"},
		{"notes of the request lead, later ones are injected", item("developer", "rules") + item("user", "<environment_context>") + item("user", "q") + item("developer", "mode"), "y:rules i:<environment_context> u:q i:mode"},
		{"the oldest form has no payload", `{"id":"x","timestamp":"t","instructions":"be-brief"}` + "\n" + message("user", "q") + "\n", "y:be-brief u:q"},
	} {
		assert.Equal(t, tt.want, sent(t, tt.file), tt.why)
	}
}

func piLine(rest string) string { return `{"timestamp":"2026-06-01T09:00:00Z",` + rest + "}\n" }

func piSays(id, parent, text string) string {
	return piLine(`"type":"message","id":"` + id + `","parentId":` + quotedOrNull(parent) + `,"message":{"role":"user","content":"` + text + `"}`)
}

func TestPiCases(t *testing.T) {
	v3 := piLine(`"type":"session","version":3,"id":"s","cwd":"/"`)
	v1 := piLine(`"type":"session","id":"s","cwd":"/"`)
	one := func(text string) string {
		return piLine(`"type":"message","message":{"role":"user","content":"` + text + `"}`)
	}
	for _, tt := range []struct{ why, file, want string }{
		{"the leaf is the last line", v3 + piSays("a", "", "q") + piSays("b", "a", "left") + piSays("c", "a", "on"), "u:q u:on"},
		{"a label is in the tree there", v3 + piSays("a", "", "q") + piLine(`"type":"label","id":"l","parentId":"a","targetId":"a","label":"x"`) + piSays("b", "l", "on"), "u:q u:on"},
		{"a compaction keeps from a label on", v3 + piSays("a", "", "q") + piLine(`"type":"label","id":"l","parentId":"a","targetId":"a","label":"x"`) + piSays("b", "l", "kept") + piLine(`"type":"compaction","id":"c","parentId":"b","summary":"sum","firstKeptEntryId":"l"`), "S:sum u:kept"},
		{"a compaction that names itself keeps nothing", v3 + piSays("a", "", "q") + piLine(`"type":"compaction","id":"c","parentId":"a","summary":"sum","firstKeptEntryId":"c"`) + piSays("b", "c", "on"), "S:sum u:on"},
		{"version 1 counts lines, with the header", v1 + one("q") + one("kept") + piLine(`"type":"compaction","summary":"sum","firstKeptEntryIndex":2`) + one("on"), "S:sum u:kept u:on"},
		{"version 2 calls a host's message otherwise", v3 + piLine(`"type":"message","id":"a","parentId":null,"message":{"role":"hookMessage","customType":"x","content":"note","display":false}`), "i:note"},
		{"a command that the model is not to see", v3 + piSays("a", "", "q") + piLine(`"type":"message","id":"b","parentId":"a","message":{"role":"bashExecution","command":"ls","output":"x","excludeFromContext":true}`), "u:q"},
		{"a later version replaces content", v3 + piSays("a", "", "long") + piLine(`"type":"context_edit","id":"b","parentId":"a","targetId":"a","replacement":{"role":"user","content":"short"}`), "u:short"},
		{"and leaves it out", v3 + piSays("a", "", "long") + piSays("b", "a", "q") + piLine(`"type":"context_edit","id":"c","parentId":"b","targetId":"a","replacement":null`), "u:q"},
		{"ids that are there twice", v3 + piSays("a", "", "q") + piSays("a", "a", "on"), "u:q u:on"},
	} {
		assert.Equal(t, tt.want, sent(t, tt.file), tt.why)
	}
}

// TestProviderCompacted: a request for an imported session begins where the provider has compacted it.
func TestProviderCompacted(t *testing.T) {
	const seal = `{"type":"compaction_summary","encrypted_content":"sealed"}`
	talk := item("user", "q") + item("assistant", "r")
	claude := `{"type":"user","uuid":"1","sessionId":"s","cwd":"/","timestamp":"2026-06-01T09:00:00Z","message":{"role":"user","content":"q"}}
{"type":"assistant","uuid":"2","parentUuid":"1","timestamp":"2026-06-01T09:00:01Z","message":{"id":"m","role":"assistant","content":[{"type":"compaction","content":"So far."},{"type":"text","text":"r"}]}}
{"type":"user","uuid":"3","parentUuid":"2","timestamp":"2026-06-01T09:00:02Z","message":{"role":"user","content":"on"}}
`
	for why, tt := range map[string]struct{ file, want string }{
		"Codex, in an answer":                    {talk + codexLine("response_item", seal) + item("user", "on"), "i: u:on"},
		"Codex, with what the provider returned": {talk + item("user", "q2") + compactedTo("", message("user", "q"), message("user", "q2"), seal) + item("user", "on"), "u:q u:q2 i: u:on"},
		"Claude Code":                            {claude, "a:So far.r u:on"},
	} {
		parsed, err := transcript.Parse([]byte(tt.file))
		require.NoError(t, err)
		store := session.NewMemory(nil)
		require.NoError(t, upkeep.Import(t.Context(), store, "k", parsed.Entries))
		v, err := store.Read(t.Context(), "k")
		require.NoError(t, err)
		m, err := winnow.New(100_000, nil)
		require.NoError(t, err)
		r, err := m.Prepare(t.Context(), v.History)
		require.NoError(t, err)
		assert.Equal(t, tt.want, shorten(r.Messages), why)
		require.NoError(t, store.Close())
	}
}

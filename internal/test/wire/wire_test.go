package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/histories"
)

// The validator decides what the property tests call valid, so it is tested itself.
func TestCheck(t *testing.T) {
	signed := histories.Think("so it is", "c2ln")
	broken := histories.Call("a", "exec")
	broken.Arguments = []byte(`{"path":`)
	none := histories.Call("a", "exec")
	none.Arguments = nil
	bare := winnow.Message{Role: winnow.RoleAssistant}
	summary := says("so far")
	summary.Summary = true
	blank := Rules{Blank: true}
	lead := Rules{Lead: true}
	q, a := histories.User("question"), says("answer")

	for _, tt := range []struct {
		name   string
		rules  Rules
		msgs   []winnow.Message
		want   string // the rule that is broken, "" for none
		reason string
	}{
		{"nothing", Rules{}, nil, "", "there is nothing to refuse"},
		{"chat", Rules{}, list(q, a, q), "", "the plainest conversation"},
		{"neighbours", Rules{}, list(q, q, a, a, q), "", "an adapter joins neighbours of one role"},
		{"system", Rules{}, list(histories.System("be kind"), q, a, histories.System("now"), q), "", "system messages have a field of their own, or may stand anywhere"},
		{"summary of role assistant", Rules{}, list(summary, a, q), "", "a summary is sent as the user's"},
		{"pair", Rules{}, list(q, histories.Calls("a"), histories.Tool("a", "x"), a), "", "a call and its result"},
		{"parallel", Rules{}, list(q, histories.Calls("a", "b"), histories.Tool("b", "x"), histories.Tool("a", "x"), a), "", "no provider wants the results in call order"},
		{"steps", Rules{}, list(q, histories.Calls("a"), histories.Tool("a", "x"), histories.Calls("b"), histories.Tool("b", "x")), "", "results are a user turn for the next call"},
		{"thinking", Rules{}, list(q, histories.Model(signed, histories.Call("a", "exec")), histories.Tool("a", "x")), "", "thinking and what it led to"},
		{"pending", Rules{}, list(q, histories.Calls("a", "b"), histories.Tool("b", "x")), "", "the host is about to answer the other call"},
		{"no arguments", Rules{}, list(q, histories.Model(none), histories.Tool("a", "x")), "", "adapters send {} for none"},
		{"empty result", Rules{}, list(q, histories.Calls("a"), histories.Tool("a")), "", "tool_result.content may be left out"},
		{"failed without calls", Rules{}, list(q, failed(says("I"), "aborted"), q), "", "what was said before the error is content"},
		{"blank", Rules{}, list(q, says("\n"), q), "", "only refused where it is asked for"},
		{"lead", lead, list(histories.Calls("a"), histories.Tool("a", "x"), q), "", "the history began so, and adapters put a user turn in front"},

		{"missing", Rules{}, list(q, histories.Calls("a"), q), "ANT-PAIR-MISSING", "400 ids were found without tool_result"},
		{"one missing", Rules{}, list(q, histories.Calls("a", "b"), histories.Tool("a", "x"), q), "GEM-COUNT", "as many responses as calls"},
		{"one missing at Bedrock", Rules{}, list(q, histories.Calls("a", "b"), histories.Tool("a", "x"), q), "BRC-PAIR-MISSING", "toolUse without toolResult"},
		{"orphan", Rules{}, list(q, a, histories.Tool("a", "x")), "ANT-PAIR-ORPHAN", "unexpected tool_use_id"},
		{"orphan first", Rules{}, list(histories.Tool("a", "x"), q), "ANT-PAIR-ORPHAN", "even where no assistant message comes before"},
		{"orphan at Responses", Rules{}, list(histories.Tool("a", "x"), q), "RSP-PAIR-ORPHAN", "no tool call found for function call output"},
		{"orphan at Gemini", Rules{}, list(q, histories.Tool("a", "x")), "GEM-ORDER-RESP", "a response turn follows a call turn"},
		{"twice", Rules{}, list(q, histories.Calls("a"), histories.Tool("a", "x"), histories.Tool("a", "x"), q), "ANT-PAIR-DUP-RESULT", "each tool_use must have a single result"},
		{"late", Rules{}, list(q, histories.Calls("a"), a, histories.Tool("a", "x")), "OAI-PAIR-MISSING", "must be followed by tool messages"},
		{"behind a question", Rules{}, list(q, histories.Calls("a"), q, histories.Tool("a", "x")), "ANT-PAIR-RESULTS-FIRST", "tool_result blocks come first"},
		{"behind a system message", Rules{}, list(q, histories.Calls("a"), histories.System("now"), histories.Tool("a", "x")), "OAI-PAIR-ORPHAN", "nothing may stand between in Chat Completions"},
		{"id of an earlier turn", Rules{}, list(q, histories.Calls("a"), histories.Tool("a", "x"), q, histories.Calls("a"), histories.Tool("a", "x")), "ANT-ID-UNIQUE", "tool_use ids must be unique"},
		{"id twice in a message", Rules{}, list(q, histories.Calls("a", "a"), histories.Tool("a", "x")), "OAI-ID-UNIQUE", "ids are distinct in one message"},
		{"id twice at Bedrock", Rules{}, list(q, histories.Calls("a", "a"), histories.Tool("a", "x")), "BRC-DUP-ID", "ids are distinct in one turn"},
		{"empty id", Rules{}, list(q, histories.Calls(""), histories.Tool("", "x")), "ANT-ID-CHARSET", "^[a-zA-Z0-9_-]+$"},
		{"empty text", Rules{}, list(q, histories.Model(histories.Text(""), histories.Text("x"))), "ANT-EMPTY-TEXT", "text content blocks must be non-empty"},
		{"blank refused", blank, list(q, histories.Model(histories.Text(" \n"), histories.Text("x"))), "ANT-BLANK-TEXT", "must contain non-whitespace"},
		{"no parts", Rules{}, list(q, bare, q), "ANT-EMPTY-MSG", "all messages must have non-empty content"},
		{"thinking only", Rules{}, list(q, histories.Model(signed), q), "RSP-REASONING-NEXT", "without its required following item"},
		{"unsigned thinking only", Rules{}, list(q, histories.Model(histories.Think("hm", "")), q), "ANT-EMPTY-MSG", "it is not sent, and nothing is left"},
		{"thinking last", Rules{}, list(q, histories.Model(histories.Text("x"), signed), q), "ANT-THINK-LAST", "the final block may not be thinking"},
		{"failed turn", Rules{}, list(q, failed(histories.Calls("a"), "error"), histories.Tool("a", "x"), q), "ALL-ERRORED", "its calls may be incomplete"},
		{"arguments", Rules{}, list(q, histories.Model(broken), histories.Tool("a", "x")), "ALL-ARGS", "the request body is not valid JSON"},
		{"UTF-8", Rules{}, list(histories.User("a\xff")), "ALL-UTF8", "the request body is not valid JSON"},
		{"assistant first", Rules{}, list(a, q), "ANT-FIRST-USER", "first message must use the user role"},
		{"assistant first at Bedrock", Rules{}, list(a, q), "BRC-FIRST-USER", "a conversation must start with a user message"},
		{"calls first", Rules{}, list(histories.Calls("a"), histories.Tool("a", "x")), "GEM-ORDER-CALL", "immediately after a user turn"},
		{"role", Rules{}, list(winnow.Message{Role: "developer", Parts: []winnow.Part{histories.Text("x")}}), "ROLE", "no role of the library"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.rules.Check(tt.msgs)
			if tt.want == "" {
				assert.NoError(t, err, tt.reason)
				return
			}
			assert.ErrorContains(t, err, tt.want+" at message", tt.reason)
		})
	}
}

func list(m ...winnow.Message) []winnow.Message { return m }

func says(s string) winnow.Message { return histories.Model(histories.Text(s)) }

func failed(m winnow.Message, reason string) winnow.Message {
	m.StopReason = reason
	return m
}

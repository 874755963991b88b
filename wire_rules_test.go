package winnow_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow"
)

// The validator decides what the property tests call valid, so it is tested itself.
func TestValidateRequest(t *testing.T) {
	signed := thinkPart("so it is", "c2ln")
	broken := callPart("a", "exec")
	broken.Arguments = []byte(`{"path":`)
	none := callPart("a", "exec")
	none.Arguments = nil
	bare := winnow.Message{Role: winnow.RoleAssistant}
	summary := modelSays("so far")
	summary.Summary = true
	blank := wireRules{refuseBlank: true}
	lead := wireRules{allowLead: true}
	q, a := userSays("question"), modelSays("answer")

	for _, tt := range []struct {
		name   string
		rules  wireRules
		msgs   []winnow.Message
		want   string // the rule that is broken, "" for none
		reason string
	}{
		{"nothing", wireRules{}, nil, "", "there is nothing to refuse"},
		{"chat", wireRules{}, list(q, a, q), "", "the plainest conversation"},
		{"neighbours", wireRules{}, list(q, q, a, a, q), "", "an adapter joins neighbours of one role"},
		{"system", wireRules{}, list(systemSays("be kind"), q, a, systemSays("now"), q), "", "system messages have a field of their own, or may stand anywhere"},
		{"summary of role assistant", wireRules{}, list(summary, a, q), "", "a summary is sent as the user's"},
		{"pair", wireRules{}, list(q, modelCalls("a"), toolSays("a", "x"), a), "", "a call and its result"},
		{"parallel", wireRules{}, list(q, modelCalls("a", "b"), toolSays("b", "x"), toolSays("a", "x"), a), "", "no provider wants the results in call order"},
		{"steps", wireRules{}, list(q, modelCalls("a"), toolSays("a", "x"), modelCalls("b"), toolSays("b", "x")), "", "results are a user turn for the next call"},
		{"thinking", wireRules{}, list(q, modelSends(signed, callPart("a", "exec")), toolSays("a", "x")), "", "thinking and what it led to"},
		{"pending", wireRules{}, list(q, modelCalls("a", "b"), toolSays("b", "x")), "", "the host is about to answer the other call"},
		{"no arguments", wireRules{}, list(q, modelSends(none), toolSays("a", "x")), "", "adapters send {} for none"},
		{"empty result", wireRules{}, list(q, modelCalls("a"), toolSays("a")), "", "tool_result.content may be left out"},
		{"failed without calls", wireRules{}, list(q, failed(modelSays("I"), "aborted"), q), "", "what was said before the error is content"},
		{"blank", wireRules{}, list(q, modelSays("\n"), q), "", "only refused where it is asked for"},
		{"lead", lead, list(modelCalls("a"), toolSays("a", "x"), q), "", "the history began so, and adapters put a user turn in front"},

		{"missing", wireRules{}, list(q, modelCalls("a"), q), "ANT-PAIR-MISSING", "400 ids were found without tool_result"},
		{"one missing", wireRules{}, list(q, modelCalls("a", "b"), toolSays("a", "x"), q), "GEM-COUNT", "as many responses as calls"},
		{"one missing at Bedrock", wireRules{}, list(q, modelCalls("a", "b"), toolSays("a", "x"), q), "BRC-PAIR-MISSING", "toolUse without toolResult"},
		{"orphan", wireRules{}, list(q, a, toolSays("a", "x")), "ANT-PAIR-ORPHAN", "unexpected tool_use_id"},
		{"orphan first", wireRules{}, list(toolSays("a", "x"), q), "ANT-PAIR-ORPHAN", "even where no assistant message comes before"},
		{"orphan at Responses", wireRules{}, list(toolSays("a", "x"), q), "RSP-PAIR-ORPHAN", "no tool call found for function call output"},
		{"orphan at Gemini", wireRules{}, list(q, toolSays("a", "x")), "GEM-ORDER-RESP", "a response turn follows a call turn"},
		{"twice", wireRules{}, list(q, modelCalls("a"), toolSays("a", "x"), toolSays("a", "x"), q), "ANT-PAIR-DUP-RESULT", "each tool_use must have a single result"},
		{"late", wireRules{}, list(q, modelCalls("a"), a, toolSays("a", "x")), "OAI-PAIR-MISSING", "must be followed by tool messages"},
		{"behind a question", wireRules{}, list(q, modelCalls("a"), q, toolSays("a", "x")), "ANT-PAIR-RESULTS-FIRST", "tool_result blocks come first"},
		{"behind a system message", wireRules{}, list(q, modelCalls("a"), systemSays("now"), toolSays("a", "x")), "OAI-PAIR-ORPHAN", "nothing may stand between in Chat Completions"},
		{"id of an earlier turn", wireRules{}, list(q, modelCalls("a"), toolSays("a", "x"), q, modelCalls("a"), toolSays("a", "x")), "ANT-ID-UNIQUE", "tool_use ids must be unique"},
		{"id twice in a message", wireRules{}, list(q, modelCalls("a", "a"), toolSays("a", "x")), "OAI-ID-UNIQUE", "ids are distinct in one message"},
		{"id twice at Bedrock", wireRules{}, list(q, modelCalls("a", "a"), toolSays("a", "x")), "BRC-DUP-ID", "ids are distinct in one turn"},
		{"empty id", wireRules{}, list(q, modelCalls(""), toolSays("", "x")), "ANT-ID-CHARSET", "^[a-zA-Z0-9_-]+$"},
		{"empty text", wireRules{}, list(q, modelSends(textPart(""), textPart("x"))), "ANT-EMPTY-TEXT", "text content blocks must be non-empty"},
		{"blank refused", blank, list(q, modelSends(textPart(" \n"), textPart("x"))), "ANT-BLANK-TEXT", "must contain non-whitespace"},
		{"no parts", wireRules{}, list(q, bare, q), "ANT-EMPTY-MSG", "all messages must have non-empty content"},
		{"thinking only", wireRules{}, list(q, modelSends(signed), q), "RSP-REASONING-NEXT", "without its required following item"},
		{"unsigned thinking only", wireRules{}, list(q, modelSends(thinkPart("hm", "")), q), "ANT-EMPTY-MSG", "it is not sent, and nothing is left"},
		{"thinking last", wireRules{}, list(q, modelSends(textPart("x"), signed), q), "ANT-THINK-LAST", "the final block may not be thinking"},
		{"failed turn", wireRules{}, list(q, failed(modelCalls("a"), "error"), toolSays("a", "x"), q), "ALL-ERRORED", "its calls may be incomplete"},
		{"arguments", wireRules{}, list(q, modelSends(broken), toolSays("a", "x")), "ALL-ARGS", "the request body is not valid JSON"},
		{"UTF-8", wireRules{}, list(userSays("a\xff")), "ALL-UTF8", "the request body is not valid JSON"},
		{"assistant first", wireRules{}, list(a, q), "ANT-FIRST-USER", "first message must use the user role"},
		{"assistant first at Bedrock", wireRules{}, list(a, q), "BRC-FIRST-USER", "a conversation must start with a user message"},
		{"calls first", wireRules{}, list(modelCalls("a"), toolSays("a", "x")), "GEM-ORDER-CALL", "immediately after a user turn"},
		{"role", wireRules{}, list(winnow.Message{Role: "developer", Parts: []winnow.Part{textPart("x")}}), "ROLE", "no role of the library"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.rules.validate(tt.msgs)
			if tt.want == "" {
				assert.NoError(t, err, tt.reason)
				return
			}
			assert.Contains(t, rulesOf(err), tt.want, tt.reason)
		})
	}
}

// rulesOf lists the rules that err names.
func rulesOf(err error) (rules []string) {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	for _, e := range joined.Unwrap() {
		var w *wireError
		if errors.As(e, &w) {
			rules = append(rules, w.rule)
		}
	}
	return rules
}

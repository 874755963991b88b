package openai

import (
	"slices"

	sdk "github.com/openai/openai-go/v3"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
	"github.com/winnowgo/winnow/adapters/internal/wire"
)

// Rules are for servers that are stricter than OpenAI's. The zero value has OpenAI's rules, which [Export] follows.
type Rules struct {
	// Alternate is for the chat templates of local models (vLLM, llama.cpp, LM Studio) and for Mistral. After one
	// system message, user and assistant alternate, beginning with the user. Neighbours with the same role become one
	// message, and later system messages become the user's. If the user speaks directly after results, an answer
	// "(interrupted)" is put in between.
	Alternate bool

	// MistralIDs gives calls ids of nine letters and digits, which Mistral and servers of its models require. Other ids
	// are replaced by a hash, in the call and in its result. (Mistral accepts an answer at the end, for the model to
	// continue, only with a field "prefix", which the caller has to set.)
	MistralIDs bool

	// ThoughtSignatures is for Gemini 3 at Google's endpoint, which refuses calls of the newest turn without a thought
	// signature, such as those that a model of another provider made. The first call of each step of that turn gets the
	// placeholder that Google documents, if it has none.
	ThoughtSignatures bool

	// Breakpoints is for OpenAI's models from GPT-5.6 on, which read their cache only up to the end of an earlier
	// request or a breakpoint. One is set behind each record and summary, which stays when what follows is rewritten.
	Breakpoints bool
}

// Export is the function [Export] with these rules. Messages that break them are built anew; all others come back as
// the caller's own.
func (r Rules) Export(messages []winnow.Message) []sdk.ChatCompletionMessageParamUnion {
	b := wire.ChatBuilder{IDs: adapter.IDRule{MaxLength: maxCallID}, Given: given, ImagesApart: r.Alternate}
	if r.MistralIDs {
		b.IDs = adapter.IDRule{MinLength: 9, MaxLength: 9, Byte: adapter.Alphanumeric}
	}
	if r.Alternate {
		a := alternation{userImage: b.UserImage}
		messages = a.of(messages)
	}
	values := b.Build(messages)
	if r.ThoughtSignatures {
		wire.SignChat(values, placeholder)
	}
	if r.Breakpoints {
		wire.MarkMade(wire.Chat{}, values)
	}
	return wire.Export(values, typed)
}

// maxCallID is the longest id of a call, in characters.
const maxCallID = 40

// placeholder is sent as the thought signature of a call that Gemini did not make.
const placeholder = "skip_thought_signature_validator"

const interrupted = "(interrupted)"

// alternation is a list of messages whose roles alternate so far.
type alternation struct {
	out  []winnow.Message
	last winnow.Role // role of the last message, ignoring calls

	userImage func(*winnow.Part) jsonedit.Value
}

// of returns messages whose roles alternate. Messages that need no change stay unchanged.
func (a *alternation) of(messages []winnow.Message) []winnow.Message {
	for run := range adapter.Runs(messages) {
		for k := range run {
			if run[k].Role == winnow.RoleTool {
				a.out = append(a.out, run[k])
			}
		}
		for k := range run {
			if run[k].Role == winnow.RoleTool {
				a.images(&run[k])
			}
		}
		for k := range run {
			if run[k].Role != winnow.RoleTool {
				a.add(&run[k])
			}
		}
	}
	return a.out
}

// images adds the images of a result as the user's, because no result may hold them.
func (a *alternation) images(result *winnow.Message) {
	var parts []winnow.Part
	for k := range result.Parts {
		if a.userImage(&result.Parts[k]) != nil {
			parts = append(parts, result.Parts[k])
		}
	}
	if len(parts) > 0 {
		a.add(&winnow.Message{Role: winnow.RoleUser, Parts: parts})
	}
}

func (a *alternation) add(m *winnow.Message) {
	role := winnow.RoleUser
	switch {
	case !hasContent(m):
		return
	case adapter.IsAssistant(m):
		role = winnow.RoleAssistant
	case m.Role == winnow.RoleSystem && (len(a.out) == 0 || len(a.out) == 1 && a.out[0].Role == winnow.RoleSystem):
		a.join(m, winnow.RoleSystem)
		return
	}
	if role == winnow.RoleAssistant && a.last == "" {
		a.say(winnow.RoleUser, adapter.Opening)
	}
	if n := len(a.out); n > 0 && a.out[n-1].Role == winnow.RoleTool && role == winnow.RoleUser &&
		a.last == winnow.RoleUser {
		a.say(winnow.RoleAssistant, interrupted)
	}
	a.join(m, role)
	a.last = role
	if hasCalls(&a.out[len(a.out)-1]) { // templates skip it, with a text too: the user spoke before it
		a.last = winnow.RoleUser
	}
}

func (a *alternation) say(role winnow.Role, text string) {
	a.out = append(a.out, winnow.Message{Role: role, Parts: []winnow.Part{{Text: text}}})
	a.last = role
}

// join adds m with a role. If the last message has the same role, join extends it.
func (a *alternation) join(m *winnow.Message, role winnow.Role) {
	n := len(a.out)
	switch {
	case n > 0 && a.out[n-1].Role == role:
		last := winnow.Message{Role: role}
		last.Parts = append(append(last.Parts, a.out[n-1].Parts...), m.Parts...)
		a.out[n-1] = last
	case m.Role == role:
		a.out = append(a.out, *m)
	default: // a summary, or a system message in the middle
		a.out = append(a.out, winnow.Message{Role: role, Parts: m.Parts})
		if m.Role != winnow.RoleSystem {
			a.out[n].Source = m.Source
		}
	}
}

// hasContent reports whether something of m is sent.
func hasContent(m *winnow.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p winnow.Part) bool {
		return adapter.IsShown(&p) || p.Kind == winnow.KindToolCall && adapter.IsAssistant(m)
	})
}

func hasCalls(m *winnow.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p winnow.Part) bool { return p.Kind == winnow.KindToolCall })
}

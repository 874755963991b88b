package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strings"

	anthropicsdk "github.com/anthropics/anthropic-sdk-go"
	anthropicparam "github.com/anthropics/anthropic-sdk-go/packages/param"
	openaisdk "github.com/openai/openai-go/v3"
	openaiparam "github.com/openai/openai-go/v3/packages/param"
	"github.com/tidwall/gjson"
	genaisdk "google.golang.org/genai"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/anthropic"
	"github.com/winnowgo/winnow/adapters/genai"
	"github.com/winnowgo/winnow/adapters/openai"
	"github.com/winnowgo/winnow/adapters/openai/responses"
)

// form is an API: where a request has its history, and how that is read and written.
type form struct {
	name    string
	history string   // the member of the body
	limits  []string // members that say how long the answer may be
	answer  answerForm
	read    func(q *query, values []json.RawMessage) ([]winnow.Message, error)
	write   func(q *query, messages []winnow.Message, mark bool) any // the member of a body
}

var (
	messagesForm = &form{name: "anthropic", history: "messages", limits: []string{"max_tokens"}, answer: messagesAnswer,
		read:  given(anthropicparam.Override[anthropicsdk.MessageParam], anthropic.Import),
		write: writeMessages}
	chatForm = &form{name: "openai chat", history: "messages", limits: []string{"max_completion_tokens", "max_tokens"},
		answer: chatAnswer,
		read:   given(openaiparam.Override[openaisdk.ChatCompletionMessageParamUnion], openai.Import),
		write:  func(_ *query, messages []winnow.Message, _ bool) any { return openai.Export(messages) }}
	responseForm = &form{name: "openai responses", history: "input", limits: []string{"max_output_tokens"},
		answer: responseAnswer,
		read:   given(openaiparam.Override[responses.Item], responses.Import),
		write:  func(_ *query, messages []winnow.Message, _ bool) any { return responses.Export(messages) }}
	contentForm = &form{name: "gemini", history: "contents", answer: contentAnswer, read: readContents, write: writeContents}
)

// formOf returns the form of r, or nil.
func formOf(r *http.Request) *form {
	if r.Method != http.MethodPost {
		return nil
	}
	switch last := path.Base(r.URL.Path); {
	case strings.HasSuffix(last, ":generateContent"), strings.HasSuffix(last, ":streamGenerateContent"):
		return contentForm
	case last == "messages":
		return messagesForm
	case last == "responses":
		return responseForm
	case strings.HasSuffix(r.URL.Path, "/chat/completions"):
		return chatForm
	}
	return nil
}

// query is a request of a client.
type query struct {
	form    *form
	whole   []byte // its body
	from    int    // of the history in it
	to      int
	model   string
	answer  int    // tokens that it asks for the answer; 0: it does not say
	limit   string // the member that says so
	beside  string
	tools   gjson.Result
	tokens  int // estimated, of its history
	history []winnow.Message
	raw     map[*genaisdk.Content]json.RawMessage // contents as they came, for which the SDK has no raw form
	recall  offer
	grew    bool // history has messages that the body has not
	recalls int  // how many answers these are
}

// parse reads the body of r. The error says why it cannot be managed. A name that stands twice is one reason: it depends
// on the reader which one counts.
func parse(r *http.Request, f *form, body []byte) (*query, error) {
	whole := gjson.ParseBytes(body)
	if !gjson.ValidBytes(body) || !whole.IsObject() {
		return nil, errors.New("the body is no JSON object")
	}
	if f == nil {
		return nil, &heldError{reason: "interactions: the provider keeps the history",
			refs: stringsIn(whole.Get("previous_interaction_id"))}
	}
	q := &query{form: f, whole: body, model: modelInPath(r.URL.Path)}
	var values []json.RawMessage
	var err error
	seen := map[string]bool{}
	whole.ForEach(func(key, value gjson.Result) bool {
		name := key.String()
		switch {
		case seen[name]:
			err = fmt.Errorf("%.40q stands twice", name)
		case refersTo(name, value) != nil:
			err = refersTo(name, value)
		case name == f.history && value.IsArray():
			q.from, q.to = value.Index, value.Index+len(value.Raw)
			value.ForEach(func(_, v gjson.Result) bool {
				values = append(values, body[v.Index:v.Index+len(v.Raw)])
				return true
			})
		case name == "model":
			q.model = strings.Clone(value.String()) // the manager keeps it, and would keep the body
		case slices.Contains(f.limits, name):
			q.answer, q.limit = int(value.Int()), name
		default:
			text := value.Raw
			if name == "tools" {
				q.tools, text = value, sentTools(value)
			}
			if len(text) > leastBeside {
				q.beside += text
			}
		}
		seen[name] = true
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("the body has no list %q", f.history)
	}
	q.raw = map[*genaisdk.Content]json.RawMessage{}
	if q.history, err = f.read(q, values); err != nil {
		return nil, err
	}
	if len(q.history) == 0 {
		return nil, errors.New("nothing of the history can be read")
	}
	if isOrphaned(q.history) {
		return nil, orphanIn(whole, f)
	}
	return q, nil
}

// A member of the body that is shorter is not counted beside the history: a number, a name, or a system prompt of at
// most some 25 tokens.
const leastBeside = 100

// sentTools returns the definitions of tools that the model reads: without those that the provider loads on demand,
// which are not billed. A namespace of such tools is counted for its name and description.
func sentTools(list gjson.Result) (text string) {
	for _, t := range list.Array() {
		switch {
		case t.Get("defer_loading").Bool():
		case t.Get("tools").IsArray():
			text += t.Get("name").Raw + t.Get("description").Raw + sentTools(t.Get("tools"))
		default:
			text += t.Raw
		}
	}
	return text
}

// modelInPath returns the model of a path like /v1beta/models/gemini-3-pro:generateContent.
func modelInPath(p string) string {
	name, _, found := strings.Cut(path.Base(p), ":")
	if !found {
		return ""
	}
	return name
}

// body returns the body with messages in the place of the history, and the recall tool if it is offered.
func (q *query) body(messages []winnow.Message, mark bool) ([]byte, error) {
	history := q.whole[q.from:q.to]
	if mark || q.grew || !slices.EqualFunc(messages, q.history, isSame) {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(q.form.write(q, messages, mark)); err != nil {
			return nil, err
		}
		history = b.Bytes()[:b.Len()-1] // without the line end of an encoder
	}
	before, after := q.whole[:q.from], q.whole[q.to:]
	if at := q.recall.at; at > q.to {
		after = slices.Concat(after[:at-q.to], q.recall.tool, after[at-q.to:])
	} else if at > 0 {
		before = slices.Concat(before[:at], q.recall.tool, before[at:])
	}
	return slices.Concat(before, history, after), nil
}

// isSame reports whether a is b, unchanged.
func isSame(a, b winnow.Message) bool {
	return a.Source != nil && b.Source != nil && len(a.Parts) == len(b.Parts) && len(a.Parts) > 0 &&
		&a.Parts[0] == &b.Parts[0]
}

// given returns the function that reads values of an SDK that takes JSON in their place.
func given[T any](override func(any) T,
	imported func([]T) []winnow.Message) func(*query, []json.RawMessage) ([]winnow.Message, error) {
	return func(_ *query, values []json.RawMessage) ([]winnow.Message, error) {
		list := make([]T, len(values))
		for i, v := range values {
			list[i] = override(v)
		}
		return imported(list), nil
	}
}

func writeMessages(_ *query, messages []winnow.Message, mark bool) any {
	out := anthropic.Export(messages)
	if mark {
		out = anthropic.MarkCache(out, "")
	}
	return out
}

// readContents reads contents of Gemini. The error says which one of a client the SDK does not know all members of.
func readContents(q *query, values []json.RawMessage) ([]winnow.Message, error) {
	list := make([]*genaisdk.Content, len(values))
	for i, v := range values {
		list[i] = &genaisdk.Content{}
		if err := json.Unmarshal(v, list[i]); err != nil {
			return nil, fmt.Errorf("content %d is none", i)
		}
		if again, err := json.Marshal(list[i]); !q.grew && (err != nil || !sameJSON(v, again)) {
			return nil, fmt.Errorf("content %d has members that are not known", i)
		}
		q.raw[list[i]] = v
	}
	return genai.Import(list), nil
}

// writeContents writes a content that was not changed as it came.
func writeContents(q *query, messages []winnow.Message, _ bool) any {
	contents := genai.ExportFor(q.model, messages)
	out := make([]any, len(contents))
	for i, c := range contents {
		if out[i] = c; q.raw[c] != nil {
			out[i] = q.raw[c]
		}
	}
	return out
}

// sameJSON reports whether two contents have the same members, but for empty texts and arguments: the SDK leaves them
// out.
func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil &&
		reflect.DeepEqual(withoutEmpty(x), withoutEmpty(y))
}

func withoutEmpty(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, of := range v {
			args, isMap := of.(map[string]any)
			if name == "text" && of == "" || name == "args" && isMap && len(args) == 0 {
				delete(v, name)
				continue
			}
			withoutEmpty(of)
		}
	case []any:
		for _, of := range v {
			withoutEmpty(of)
		}
	}
	return v
}

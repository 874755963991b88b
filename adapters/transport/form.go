package transport

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
	"github.com/winnowgo/winnow/adapters/internal/wire"
	"github.com/winnowgo/winnow/internal/models"
)

// form is an API: what a request of it is, and where it has its history.
type form struct {
	name   string
	api    wire.API
	limits []string // paths of what says how long the answer may be
	answer answerForm
}

var (
	messagesForm = &form{name: "anthropic", api: wire.Messages{}, limits: []string{"max_tokens"},
		answer: messagesAnswer}
	chatForm = &form{name: "openai chat", api: wire.Chat{}, limits: []string{"max_completion_tokens", "max_tokens"},
		answer: chatAnswer}
	responseForm = &form{name: "openai responses", api: wire.Responses{}, limits: []string{"max_output_tokens"},
		answer: responseAnswer}
	contentForm = &form{name: "gemini", api: wire.Contents{}, answer: contentAnswer,
		limits: []string{"generationConfig.maxOutputTokens", "generation_config.max_output_tokens"}}
)

// formOf returns the form of r, or nil.
func formOf(r *http.Request) *form {
	if r.Method != http.MethodPost {
		return nil
	}
	switch last := path.Base(r.URL.Path); {
	case strings.HasSuffix(last, ":generateContent"), strings.HasSuffix(last, ":streamGenerateContent"):
		return contentForm
	case last == "messages", isVertex(r.URL.Path):
		return messagesForm
	case last == "responses":
		return responseForm
	case strings.HasSuffix(r.URL.Path, "/chat/completions"):
		return chatForm
	}
	return nil
}

// isVertex reports whether a path is that of a model of Anthropic's at Google, whose requests name it there alone.
func isVertex(p string) bool {
	name, method, _ := strings.Cut(path.Base(p), ":")
	return strings.HasSuffix(path.Dir(p), "/anthropic/models") && name != "count-tokens" &&
		(method == "rawPredict" || method == "streamRawPredict")
}

// query is a request of a client.
type query struct {
	form    *form
	whole   []byte // its body
	list    jsonedit.Value
	wire    *wire.History
	model   string
	answer  int    // tokens that it asks for the answer; 0: it does not say
	limit   string // the member that says so
	beside  string
	tools   jsonedit.Value
	inFront inFront
	marked  bool // the client sets cache markers
	tokens  int  // estimated, of its history
	task    chain
	had     map[string]int // tokens of messages of the task as the model has had them
	history []winnow.Message
	recall  offer
	grew    bool // history has messages that the body has not
	recalls int  // how many answers these are
}

// parse reads the body of r. The error says why it cannot be managed. A name that stands twice is one reason: it
// depends on the reader which one counts.
func parse(r *http.Request, f *form, body []byte) (*query, error) {
	whole, ok := jsonedit.Parse(body)
	if !ok || !whole.IsObject() {
		return nil, errors.New("the body is no JSON object")
	}
	if f == nil {
		return nil, &heldError{reason: "interactions: the provider keeps the history",
			refs: stringsIn(whole.Get("previous_interaction_id"))}
	}
	q := &query{form: f, whole: body, model: modelInPath(r.URL.Path)}
	q.marked = isMarked(whole, deepestMarker)
	var err error
	seen := map[string]bool{}
	whole.Members(func(name string, value jsonedit.Value) {
		switch {
		case seen[name]:
			err = fmt.Errorf("%.40q stands twice", name)
		case refersTo(name, value) != nil:
			err = refersTo(name, value)
		case name == f.api.List() && value.IsList():
			q.list = value
		case name == "model":
			q.model = strings.Clone(value.Text()) // the manager keeps it, and would keep the body
		default:
			text := string(value)
			if name == "tools" {
				q.tools, text = value, sentTools(value)
			}
			if systemMembers[name] {
				q.inFront.system = hashOf(text)
			}
			if len(text) > leastBeside {
				q.beside += text
			}
		}
		seen[name] = true
	})
	if err != nil {
		return nil, err
	}
	q.inFront.tools = hashOf(sentTools(q.tools))
	for _, name := range f.limits {
		if v := whole.Get(name); v.Exists() && q.limit == "" {
			q.answer, q.limit = v.Int(), name
		}
	}
	elements := q.list.Elements()
	if len(elements) == 0 {
		return nil, fmt.Errorf("the body has no list %q", f.api.List())
	}
	if f == responseForm && refersToItem(elements) {
		return nil, guess(whole, f, "item_reference")
	}
	q.wire = wire.Read(f.api, elements)
	if q.history = q.wire.Messages; len(q.history) == 0 {
		return nil, errors.New("nothing of the history can be read")
	}
	if isOrphaned(q.history) {
		return nil, guess(whole, f, "the result of a call that it has not")
	}
	return q, nil
}

// deepestMarker is how deep in a body a marker stands: in the content of a document, of a result, of a message.
const deepestMarker = 12

// isMarked reports whether something has a marker of the prompt cache, so deep at most. What a tool is called with, or
// takes, may have members of these names.
func isMarked(of jsonedit.Value, depth int) (found bool) {
	has := func(name string) bool { return bytes.Contains(of, []byte(`"`+name+`"`)) }
	if depth < 0 || !has("cache_control") && !has(wire.Breakpoint) {
		return false
	}
	for _, e := range of.Elements() {
		found = found || isMarked(e, depth-1)
	}
	of.Members(func(name string, value jsonedit.Value) {
		switch {
		case name == "cache_control", name == wire.Breakpoint:
			found = true
		case value.IsObject() && (name == "input" || name == "input_schema" || name == "parameters"):
		default:
			found = found || isMarked(value, depth-1)
		}
	})
	return found
}

// A member of the body that is shorter is not counted beside the history: a number, a name, or a system prompt of at
// most some 25 tokens.
const leastBeside = 100

// sentTools returns the definitions of tools that the model reads: without those that the provider loads on demand,
// which are not billed. A namespace of such tools is counted for its name and description.
func sentTools(list jsonedit.Value) (text string) {
	for _, t := range list.Elements() {
		switch {
		case t.Get("defer_loading").Is():
		case t.Get("tools").IsList():
			text += string(t.Get("name")) + string(t.Get("description")) + sentTools(t.Get("tools"))
		default:
			text += string(t)
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

// body returns the body with messages in the place of the history, and the recall tool if it is offered. lost is how
// many cache markers of the client have no place in it.
func (q *query) body(messages []winnow.Message, mark bool) (body []byte, lost int) {
	marks := q.marks(mark)
	isSame := marks != wire.EndMarks && !q.grew && slices.EqualFunc(messages, q.history, isSame)
	if isSame && q.recall.list == nil {
		return q.whole, 0
	}
	e := jsonedit.Edit(q.whole)
	if !isSame {
		lost = q.wire.Write(e, q.list, messages, marks)
		q.keepBudget(e, messages)
	}
	if marks == wire.EndMarks && q.form == messagesForm {
		q.markPrompt(e)
	}
	if q.recall.list != nil {
		e.Append(q.recall.list, q.recall.tool)
	}
	return e.Bytes(q.whole), lost
}

// markPrompt sets a marker of Anthropic's behind the system prompt, or behind the tools if there is none: both stand in
// front of the messages, and stay.
func (q *query) markPrompt(e *jsonedit.Editor) {
	const marker = `{"type":"ephemeral"}`
	system := value(q.whole).Get("system")
	if !adapter.IsBlank(system.Text()) {
		block := value(jsonedit.Object("type", "text", "text", system)).Set("cache_control", value(marker))
		e.Replace(system, jsonedit.List(block))
		return
	}
	blocks := system.Elements()
	if len(blocks) == 0 {
		blocks = q.tools.Elements()
	}
	for _, b := range slices.Backward(blocks) {
		text := b.Get("text")
		if !b.Get("defer_loading").Is() && (!text.Exists() || !adapter.IsBlank(text.Text())) {
			e.Add(b, "cache_control", []byte(marker))
			return
		}
	}
}

// marks returns which markers are set for a client that sets none at all: by the API, and in Chat Completions by the
// model, because gateways take Anthropic's there.
func (q *query) marks(mark bool) wire.Marks {
	isClaude := strings.Contains(strings.ToLower(q.model), "claude")
	switch {
	case !mark || q.marked || q.form == contentForm:
		return wire.NoMarks
	case q.form == messagesForm || q.form == chatForm && isClaude:
		return wire.EndMarks
	case models.HasBreakpoints(q.model):
		return wire.MadeMarks
	}
	return wire.NoMarks
}

// prices returns what the prompt cache costs by the markers that the client sets, or that are set for it. Claude caches
// nothing without one. With other models the table knows.
func (q *query) prices(mark bool) *winnow.CacheOptions {
	if q.form != messagesForm || !strings.Contains(strings.ToLower(q.model), "claude") {
		return nil
	}
	lifetimes := q.wire.Markers()
	if automatic := value(q.whole).Get("cache_control"); automatic.Exists() {
		lifetimes = append(lifetimes, automatic.Get("ttl").Text())
	}
	switch {
	case slices.Contains(lifetimes, adapter.LongTTL):
		const longPrice = 2 // of a token that is written for an hour
		return &winnow.CacheOptions{TTL: time.Hour, WritePrice: longPrice}
	case len(lifetimes) == 0 && (q.marked || !mark):
		return &winnow.CacheOptions{None: true}
	}
	return nil
}

// isSame reports whether a is b, unchanged.
func isSame(a, b winnow.Message) bool {
	return a.Source != nil && b.Source != nil && len(a.Parts) == len(b.Parts) && len(a.Parts) > 0 &&
		&a.Parts[0] == &b.Parts[0]
}

package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
)

// With Options.Recall the model has a tool that its client does not know. The transport answers its calls by asking the
// model again, and makes one answer of all, without these calls.

// mostRecalls is how many times the model is asked again for one answer. Then it has only the tools of its client.
// Each time may take 5 % of the window: a model that has not found it in a third of the window goes on without.
const mostRecalls = 6

// alone is added to what the tool says. A call beside one of the client's tools cannot be answered, because the client
// answers that one; the model then makes it again.
const alone = " Call it alone: a call beside those of other tools is not answered."

type value = jsonedit.Value

// offer is a definition of the recall tool, and the list of a body to which it is added. The zero value is none.
type offer struct {
	list value
	tool []byte
}

var recallTool = func() winnow.Tool {
	tool := winnow.RecallTool()
	tool.Description += alone
	return tool
}()

// offerRecall offers the tool to a model that has tools, but to one that has a tool of this name, and where the answer
// could not be made one: Gemini's streams without events, and several answers at once.
func (q *query) offerRecall(r *http.Request) {
	list := q.tools
	switch q.form {
	case chatForm:
		if value(q.whole).Get("n").Int() > 1 {
			return
		}
	case responseForm:
		if value(q.whole).Get("background").Is() { // the client fetches the answer by another request
			return
		}
	case contentForm:
		if strings.Contains(r.URL.Path, ":stream") && r.URL.Query().Get("alt") != "sse" {
			return
		}
		for _, t := range q.tools.Elements() { // one tool has all functions
			if list = t.Get("functionDeclarations"); list.IsList() {
				break
			}
		}
	}
	if len(list.Elements()) == 0 || strings.Contains(string(q.tools), `"`+recallTool.Name+`"`) {
		return
	}
	q.recall = offer{list, q.form.tool(recallTool)}
}

// tool returns a tool as a request has it.
func (f *form) tool(t winnow.Tool) []byte {
	schema, err := json.Marshal(adapter.Schema(t))
	if err != nil {
		schema = []byte("{}")
	}
	switch f {
	case messagesForm:
		return jsonedit.Object("name", t.Name, "description", t.Description, "input_schema", schema)
	case chatForm:
		return jsonedit.Object("type", "function", "function",
			jsonedit.Object("name", t.Name, "description", t.Description, "parameters", schema))
	case responseForm:
		return jsonedit.Object("type", "function", "name", t.Name, "description", t.Description, "parameters", schema,
			"strict", []byte("false"))
	}
	return jsonedit.Object("name", t.Name, "description", t.Description, "parametersJsonSchema", schema)
}

// next returns the request that follows q when the model has answered it with calls of the tool.
func (q *query) next(ctx context.Context, m *winnow.Manager, answer []value) (*query, error) {
	n := *q
	n.grew, n.tokens = true, 0
	said := n.wire.Add(answer)
	n.history = slices.Concat(q.history, said)
	for i := range said {
		for k := range said[i].Parts {
			p := &said[i].Parts[k]
			if p.Kind != winnow.KindToolCall || p.Name != recallTool.Name {
				continue
			}
			result, err := m.Recall(ctx, n.history, p.Arguments)
			if err != nil {
				return nil, err
			}
			n.history = append(n.history, result)
		}
	}
	if n.recalls++; n.recalls == mostRecalls {
		n.recall = offer{}
	}
	return &n, nil
}

// answerForm is where an answer has what the model wrote.
type answerForm struct {
	items string // a list: blocks, items, calls, or parts
	text  string // what stands beside calls; "": it is one of the items
	whole string // what a history has of the answer; "": each item
	ended string // why the answer ended

	// Responses refuse thoughts without the item that they led to. Messages want the thoughts of a message in front of
	// it, and some models refuse those that they had behind another history: the first answer's alone are good.
	isBound bool
}

var (
	messagesAnswer = answerForm{items: "content", ended: "stop_reason"}
	chatAnswer     = answerForm{items: "choices.0.message.tool_calls", text: "choices.0.message.content",
		whole: "choices.0.message", ended: "choices.0.finish_reason"}
	responseAnswer = answerForm{items: "output", ended: "status", isBound: true}
	contentAnswer  = answerForm{items: "candidates.0.content.parts", whole: "candidates.0.content",
		ended: "candidates.0.finishReason"}
)

// calling are the reasons to end an answer that wait for results, "stop" for some providers. With any other the last
// call may have come in part, or the provider does not go on: a refusal, a pause, a filter, a failure.
var calling = []string{"tool_use", "end_turn", "tool_calls", "stop", "completed", "STOP"}

// reply is what the client gets of an answer, or of several.
type reply struct {
	form    answerForm
	items   []value // as they came
	text    string
	isLater bool // there was an answer before this one
	isLast  bool // the model was not offered the tool: if it calls it, the client answers

	recalls     int  // calls of the tool in this answer
	others      int  // calls that the client answers
	ledToRecall bool // the thoughts that wait are those of a call of the tool
}

// What becomes of an item.
const (
	shown   = 0
	hidden  = -1 // the client does not get it
	waiting = -2 // a thought, until what it leads to has begun
)

// isRecall reports whether a call is not the client's.
func (r *reply) isRecall(name string) bool { return name == recallTool.Name && !r.isLast }

// noMore notes that the tool is not offered any more.
func (r *reply) noMore() { r.isLast = true }

// judge says what becomes of the next item of an answer, and counts it if it is a call.
func (r *reply) judge(item value) int {
	name, isCall := callOf(item)
	switch {
	case isCall && r.isRecall(name):
		r.recalls++
		r.ledToRecall = true
		return hidden
	case isThought(item) && r.form.isBound:
		return waiting
	case isThought(item) && r.isLater:
		return hidden
	case isCall:
		r.others++
	}
	return shown
}

// add takes the items of an answer that the client gets.
func (r *reply) add(items []value) {
	r.recalls, r.others, r.ledToRecall = 0, 0, false
	var thoughts []value // that wait
	for _, item := range items {
		switch r.judge(item) {
		case waiting:
			if r.ledToRecall {
				thoughts, r.ledToRecall = nil, false
			}
			thoughts = append(thoughts, item)
		case shown:
			r.items = append(append(r.items, thoughts...), item)
			thoughts = nil
		}
	}
	if !r.ledToRecall {
		r.items = append(r.items, thoughts...)
	}
}

// mayGoOn reports whether the model waits for results of the tool alone.
func (r *reply) mayGoOn(ended string) bool {
	return r.recalls > 0 && r.others == 0 && slices.Contains(calling, ended)
}

// callOf returns the name of the tool that an item of an answer calls, if the client answers the call.
func callOf(item value) (name string, ok bool) {
	switch item.Get("type").Text() {
	case "tool_use", "function_call":
		return item.Get("name").Text(), true
	case "function":
		return item.Get("function.name").Text(), true
	case "custom", "custom_tool_call", "computer_call", "local_shell_call", "shell_call", "apply_patch_call",
		"mcp_approval_request":
		return "", true
	}
	call := item.Get("functionCall")
	return call.Get("name").Text(), call.Exists()
}

func isThought(item value) bool {
	switch item.Get("type").Text() {
	case "thinking", "redacted_thinking", "reasoning":
		return true
	}
	return false
}

// asHistory returns an answer as a history has it.
func (f answerForm) asHistory(answer value) []value {
	switch f.items {
	case messagesAnswer.items:
		return []value{jsonedit.Object("role", "assistant", "content", answer.Get("content"))}
	case contentAnswer.items:
		return []value{answer.Get(f.whole).Set("role", jsonedit.Quote("model"))}
	case chatAnswer.items:
		return []value{answer.Get(f.whole)}
	}
	return answer.Get(f.items).Elements()
}

// put returns an answer with what the client gets in the place of what it has.
func (r *reply) put(answer value) value {
	if len(r.items) == 0 && r.form.text != "" {
		answer = answer.Delete(r.form.items)
	} else {
		answer = answer.Set(r.form.items, jsonedit.List(r.items...))
	}
	if r.form.text != "" && r.text != "" {
		answer = answer.Set(r.form.text, jsonedit.Quote(r.text))
	}
	return answer
}

// answerRecalls returns the answer to q without calls of the tool. ask sends what follows q.
func answerRecalls(ctx context.Context, q *query, m *winnow.Manager, res *http.Response,
	ask func(*query) (*http.Response, error)) (*http.Response, error) {
	if q.recall.list == nil || res.StatusCode != http.StatusOK || res.Header.Get("Content-Encoding") != "" {
		return res, nil
	}
	follow := func(answer []value) (res *http.Response, isLast bool, err error) {
		n, err := q.next(ctx, m, answer)
		if err != nil {
			return nil, false, err
		}
		q = n
		res, err = ask(q)
		return res, q.recall.list == nil, err
	}
	if isStream(res) {
		res.ContentLength = -1
		res.Header.Del("Content-Length")
		res.Body = newSplice(q.form, res.Body, follow)
		return res, nil
	}
	r := reply{form: q.form.answer}
	for {
		answer, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil {
			return nil, err
		}
		of, ok := jsonedit.Parse(answer)
		if !ok {
			return withAnswer(res, answer), nil
		}
		f := r.form
		r.isLater = q.grew
		r.add(of.Get(f.items).Elements())
		if f.text != "" {
			r.text += of.Get(f.text).Text()
		}
		if !r.mayGoOn(of.Get(f.ended).Text()) {
			if r.isLater || r.recalls > 0 {
				answer = r.put(of)
			}
			return withAnswer(res, answer), nil
		}
		if res, r.isLast, err = follow(f.asHistory(of)); err != nil || res.StatusCode != http.StatusOK {
			return res, err
		}
	}
}

func withAnswer(res *http.Response, body []byte) *http.Response {
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	res.Header.Del("Content-Length")
	return res
}

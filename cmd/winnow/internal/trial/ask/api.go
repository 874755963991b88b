// Package ask asks a model through the API of its provider, without an SDK: it writes requests in each of four APIs,
// waits and tries again where the provider says so, keeps to a budget, and writes down what was asked and answered.
package ask

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/models"
)

// Request is what a model is asked, in no provider's form. Messages are paired, and have texts, calls, results and
// signed thinking alone.
type Request struct {
	System    string
	Messages  []winnow.Message
	Tools     []winnow.Tool
	MaxTokens int // of the answer

	// how many of Messages other requests begin with too: what an API caches on demand ends there (0: all)
	Shared int
}

// Answer is what came back.
type Answer struct {
	winnow.Message
	IsCut bool `json:"isCut,omitempty"` // by MaxTokens, so that a call may lack its arguments
}

// API is how a provider is asked.
type API interface {
	// Name is as in -api.
	Name() string
	// key is the variable of the environment that has the key.
	key() string
	// home is the maker's address.
	home() string
	// at is where a request goes, below the base address; of that, what ends in ending stands for the version.
	at(model string) (version, endpoint string)
	sign(h http.Header, key string)
	write(model string, r *Request) any
	read(body []byte) (Answer, error)
}

// APIs are the ones that there are.
func APIs() []API { return []API{messages{}, responses{}, contents{}, chat{}} }

// ByName returns an API by its name.
func ByName(name string) (API, error) {
	var names []string
	for _, a := range APIs() {
		if a.Name() == name {
			return a, nil
		}
		names = append(names, a.Name())
	}
	return nil, fmt.Errorf("-api %s: want %s", name, strings.Join(names, ", "))
}

// For returns the API of a model at an address: that of the maker without an address, and the one that the end of the
// path or the host of a maker says. Other servers speak Chat Completions.
func For(model string, to *url.URL) (API, error) {
	if to != nil {
		for _, a := range APIs() {
			_, endpoint := a.at("")
			home, _ := url.Parse(a.home())
			if strings.HasSuffix(to.Path, endpoint) || a.home() != "" && to.Host == home.Host {
				return a, nil
			}
		}
		return chat{}, nil
	}
	switch family := models.Family(model); {
	case strings.HasPrefix(family, "claude"):
		return messages{}, nil
	case family == "gemini":
		return contents{}, nil
	case family == "o200k", family == "cl100k":
		return responses{}, nil
	}
	return nil,
		fmt.Errorf("the provider of %q is not known: -to says its address, as in -to https://openrouter.ai/api/v1",
			model)
}

// address returns where the requests of a model go. to may be the address of a host, of the version of an API, or the
// whole one; nil: the maker's.
func address(a API, model string, to *url.URL) string {
	if to == nil {
		to, _ = url.Parse(a.home())
	}
	version, endpoint := a.at(model)
	u := *to
	u.Path = strings.TrimSuffix(u.Path, "/")
	switch {
	case strings.HasSuffix(u.Path, endpoint):
	case u.Path == "" || path.Base(u.Path) != path.Base(version) && !hasVersion(u.Path):
		u.Path += version + endpoint
	default:
		u.Path += endpoint
	}
	return u.String()
}

// hasVersion reports whether the last part of a path is one, as v1 and v1beta are.
func hasVersion(p string) bool {
	last := path.Base(p)
	return len(last) > 1 && last[0] == 'v' && last[1] >= '0' && last[1] <= '9'
}

// Body returns the body of a request.
func Body(a API, model string, r *Request) ([]byte, error) {
	sent := *r
	sent.Messages = withIDs(r.Messages)
	b, err := json.Marshal(a.write(model, &sent))
	if err != nil {
		return nil, fmt.Errorf("writing a request of %s: %w", a.Name(), err)
	}
	return b, nil
}

// CanThink reports whether an API can be sent a part of thinking that a model has signed there.
func CanThink(a API, p *winnow.Part) bool {
	switch a.(type) {
	case messages:
		return p.Signature != "" && (p.MediaType == "" || p.MediaType == redacted)
	case responses:
		return p.Signature != "" && p.MediaType == "reasoning" && p.ID != ""
	}
	return false
}

type object = map[string]any

// turn is what one side says in a row: APIs want the sides to alternate.
type turn struct {
	assistant bool
	thinking  []*winnow.Part
	texts     []string
	calls     []*winnow.Part
	results   []*winnow.Message
	isShared  bool // it ends what other requests begin with too
	cut       int  // how many of texts do, if it goes on
}

// turns joins the messages of each side. System messages go to the system prompt, wherever they stand.
func turns(r *Request) (system string, list []turn) {
	system = r.System
	shared := r.Shared
	if shared == 0 {
		shared = len(r.Messages)
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Role == winnow.RoleSystem {
			system = strings.TrimSpace(system + "\n\n" + text(m))
		} else {
			list = join(list, m)
		}
		if n := len(list) - 1; i == shared-1 && n >= 0 {
			list[n].isShared, list[n].cut = true, len(list[n].texts)
		}
	}
	if len(list) > 0 && list[0].assistant {
		list = append([]turn{{texts: []string{"[The conversation begins with the answer.]"}}}, list...)
	}
	return system, list
}

// join adds a message to the last turn, or as a new one. Results come first in a turn of the user, so that a message
// before a result would change its place: pairing never leaves one there.
func join(list []turn, m *winnow.Message) []turn {
	assistant := m.Role == winnow.RoleAssistant && !m.Summary
	n := len(list) - 1
	if n < 0 || list[n].assistant != assistant || m.Role == winnow.RoleTool && len(list[n].texts) > 0 {
		list = append(list, turn{assistant: assistant})
		n++
	}
	t := &list[n]
	if m.Role == winnow.RoleTool {
		t.results = append(t.results, m)
		return list
	}
	isFirst := len(t.texts) == 0 && len(t.calls) == 0
	for k := range m.Parts {
		switch p := &m.Parts[k]; p.Kind {
		case winnow.KindText:
			t.texts = append(t.texts, p.Text)
		case winnow.KindThinking:
			if isFirst { // thinking that does not begin a turn is refused
				t.thinking = append(t.thinking, p)
			}
		case winnow.KindToolCall:
			t.calls = append(t.calls, p)
		}
	}
	return list
}

// text joins the texts of a message.
func text(m *winnow.Message) string {
	var texts []string
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == winnow.KindText && p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// resultText is the text of a result. An empty one is refused by some servers.
func resultText(m *winnow.Message) string {
	if t := text(m); t != "" {
		return t
	}
	return "(no output)"
}

// answerOf makes an answer of its parts.
func answerOf(said string, calls []winnow.Part, usage winnow.Usage, stop string, isCut bool) Answer {
	m := winnow.Message{Role: winnow.RoleAssistant, StopReason: stop, Usage: &usage}
	if said != "" {
		m.Parts = append(m.Parts, winnow.Part{Text: said})
	}
	m.Parts = append(m.Parts, calls...)
	return Answer{m, isCut}
}

// callOf is a call of a tool. Arguments that are no JSON, as of an answer that was cut, become a text.
func callOf(id, name string, arguments []byte) winnow.Part {
	if len(arguments) == 0 {
		arguments = []byte("{}")
	}
	if !json.Valid(arguments) {
		arguments, _ = json.Marshal(string(arguments))
	}
	return winnow.Part{Kind: winnow.KindToolCall, ID: id, Name: name, Arguments: arguments}
}

package transport

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/winnowgo/winnow"
)

// What the provider holds. A request may be the end of a history that its body has not. Such a request is never edited:
// seen alone, a result in it has no call, and would be repaired away.

// referring are members of a body that refer to a history which the provider has, in any of the four APIs. What is not
// among them shows by its results, see isOrphaned.
var referring = []string{"previous_response_id", "conversation", "previous_interaction_id", "cachedContent",
	"cached_content", "thread"}

// heldError says that the provider has the history of a request, or a part of it.
type heldError struct {
	reason string
	refs   []string // ids that may name it

	isGuess   bool // refs are any ids of the request
	isRefused bool // the client sends all that it has when it is told that this cannot be done
}

func (e *heldError) Error() string { return e.reason }

// refersTo returns a heldError if a member of a body refers to a history, and nil otherwise.
func refersTo(name string, v value) error {
	if !slices.Contains(referring, name) || v.IsEmpty() {
		return nil
	}
	e := &heldError{reason: name + ": the provider keeps the history", refs: stringsIn(v)}
	if name == "thread" {
		switch v.Get("type").Text() {
		case "create": // the history is whole, and the next one is as well
			return nil
		case "continue":
			e.isRefused = true
		}
	}
	return e
}

// isOrphaned reports whether a history has a result that the provider has the call of: there is no answer before it,
// or what stands before it cannot be read, such as a reference to an item. Elsewhere a result without its call is a
// client's mistake, which is repaired.
func isOrphaned(history []winnow.Message) bool {
	calls := map[string]bool{}
	answers, isUnread := 0, false
	for i := range history {
		switch m := &history[i]; m.Role {
		case winnow.RoleTool:
			if (answers == 0 || isUnread) && !calls[m.ToolCallID] {
				return true
			}
		case winnow.RoleAssistant:
			answers++
			isUnread = true
			for k := range m.Parts {
				p := &m.Parts[k]
				if calls[p.ID] = true; p.Kind != winnow.KindOpaque {
					isUnread = false
				}
			}
		default:
			isUnread = false
		}
	}
	return false
}

// refersToItem reports whether a list of Responses names an answer, or a part of one, that only the provider has: an
// item_reference, whose type may be left out, that ends an answer. One of reasoning has the item that it led to behind
// it, and may go like other thinking.
func refersToItem(list []value) bool {
	for i, of := range list {
		typ := of.Get("type")
		isOne := typ.Text() == "item_reference" || !typ.Exists() && !of.Get("role").Exists() && of.Get("id").IsText()
		if !isOne {
			continue
		}
		if i+1 == len(list) || strings.HasSuffix(list[i+1].Get("type").Text(), "_output") {
			return true
		}
		if role := list[i+1].Get("role").Text(); role != "" && role != "assistant" {
			return true
		}
	}
	return false
}

// stringsIn returns a string, or those in an object.
func stringsIn(v value) (list []string) {
	if v.IsText() {
		return []string{v.Text()}
	}
	v.Members(func(_ string, v value) {
		if v.IsText() {
			list = append(list, v.Text())
		}
	})
	return list
}

// guess returns a heldError for a body whose list is not whole, as what shows. An id of an answer that the provider
// gave before may stand in any of its members.
func guess(body value, f *form, what string) error {
	e := &heldError{isGuess: true, reason: what + ": the provider keeps the history"}
	body.Members(func(name string, v value) {
		if name != f.api.List() {
			e.refs = append(e.refs, stringsIn(v)...)
		}
	})
	return e
}

// passed knows the conversations whose requests are passed on as they came, and what the log says of them.
type passed struct {
	mu    sync.Mutex
	names map[string]string // of conversations, by ids of answers
	said  map[[2]string]bool
}

// mostPassed is how many ids and reasons are known. Then both are forgotten, and the log says again what it said.
const mostPassed = 20_000

// answered notes that a conversation has an answer of this id.
func (p *passed) answered(id, conversation string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.names) >= mostPassed {
		clear(p.names)
	}
	p.names[id] = conversation
}

// name returns the conversation that one of refs belongs to, or a name made of what stays the same in it.
func (p *passed) name(refs []string, same ...string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, ref := range refs {
		if name := p.names[ref]; name != "" {
			return name
		}
	}
	sum := sha256.Sum256([]byte(strings.Join(same, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// isNew reports whether the log has not said this of a conversation yet. Reasons that differ in numbers alone are one.
func (p *passed) isNew(conversation, reason string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.said) >= mostPassed {
		clear(p.said)
	}
	of := [2]string{conversation, strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' {
			return -1
		}
		return c
	}, reason)}
	is := !p.said[of]
	p.said[of] = true
	return is
}

// notePassed logs why a request is not managed, once for a conversation and reason.
func (t *Transport) notePassed(r *http.Request, conversation, reason, what string) {
	if t.passed.isNew(conversation, reason) {
		t.o.Logger.Warn("winnow: a request is not managed", "conversation", conversation, "path", r.URL.Path,
			"is", what, "reason", reason)
	}
}

// pass sends a request as it came, or refuses it, and logs why. name is that of its conversation, if it has one, and
// body is nil if it was not read.
func (t *Transport) pass(r *http.Request, name string, body []byte, why error) (*http.Response, error) {
	if name == "" {
		name = t.nameOf(r, body, why)
	}
	var held *heldError
	var small *roomError
	switch {
	case errors.As(why, &held) && held.isRefused:
		t.notePassed(r, name, why.Error(), "refused, so that the client sends all of it")
		return refusal(r, messagesForm, http.StatusBadRequest, "thread_unsupported_request",
			"winnow: a thread cannot be continued here; send all messages, without thread"), nil
	case errors.As(why, &small):
		t.notePassed(r, name, why.Error(), "refused")
		return refusal(r, formOf(r), http.StatusBadRequest, "", "winnow: "+why.Error()), nil
	}
	t.notePassed(r, name, why.Error(), "passed on as it came")
	if body != nil {
		r = withBytes(r, body)
	}
	res, err := t.send(identity(r), name)
	if err != nil {
		return nil, err
	}
	model := value(body).Get("model").Text()
	if model == "" {
		model = modelInPath(r.URL.Path)
	}
	t.tap(res, Exchange{Conversation: name, Model: model, Client: clientOf(r), HTTP: r,
		Passed: why.Error()},
		func(winnow.Usage) winnow.CacheUse { return winnow.CacheUse{} })
	return res, nil
}

// nameOf names the conversation of a request that is not managed.
func (t *Transport) nameOf(r *http.Request, body []byte, why error) string {
	if t.o.Key != nil {
		if key := t.o.Key(r); key != "" {
			return t.passed.name(nil, key)
		}
	}
	if errors.Is(why, errTooLarge) || body != nil && !json.Valid(body) {
		return newName() // it shows nothing of its conversation
	}
	// Of a client that sends no id at all, all conversations with the same tools have one name.
	same := []string{r.URL.Host, r.URL.Path, r.Header.Get("User-Agent"), r.Header.Get("Authorization"),
		r.Header.Get("X-Api-Key"), r.Header.Get("X-Goog-Api-Key"), string(value(body).Get("tools"))}
	var held *heldError
	if !errors.As(why, &held) {
		return t.passed.name(nil, same...)
	}
	if len(held.refs) > 0 && !held.isGuess {
		same = held.refs
	}
	return t.passed.name(held.refs, same...)
}

// isInteraction reports whether r is one of Gemini's API that keeps histories.
func isInteraction(r *http.Request) bool {
	return r.Method == http.MethodPost && path.Base(r.URL.Path) == "interactions"
}

// upgrade returns the answer to a client that wants to go on over a WebSocket, in whose messages nothing could be
// managed, or nil if r is none. Codex then goes on over HTTP.
func (t *Transport) upgrade(r *http.Request) *http.Response {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return nil
	}
	name := t.passed.name(nil, r.URL.Host, r.Header.Get("User-Agent"), r.Header.Get("Authorization"),
		r.Header.Get("Session_id"))
	if path.Base(r.URL.Path) != "responses" {
		t.notePassed(r, name, "a WebSocket that is none of the four APIs", "passed on as it came")
		return nil
	}
	t.notePassed(r, name, "a WebSocket cannot be managed", "refused, so that the client goes on over HTTP")
	return refusal(r, responseForm, http.StatusUpgradeRequired, "websocket_unsupported",
		"winnow: requests over HTTP alone")
}

package framework

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"sync"

	"github.com/winnowgo/winnow"
)

// A key alone does not tell a conversation: an agent that is called as a tool has the context of its caller. So the
// first message counts too, and the system prompt, unless the history goes on from where the last one ended: a prompt
// with the time in it is another one at each request.

type sum [sha256.Size]byte

// thread is all conversations with a key that begin with the same message.
type thread struct {
	key  string
	name string // in the store
	used uint64
	list []*conversation // the one that was used last at the end
	save sync.Mutex
}

// mostAlike is how many conversations of a thread are remembered.
const mostAlike = 8

type conversation struct {
	key     string
	manager *winnow.Manager
	saved
	history []winnow.Message // the last one
	answer  winnow.Message   // to it; zero: not known yet
	opening sum              // of what was sent for it
}

// saved is what the store has of a conversation.
type saved struct {
	System sum             `json:"system"`
	Length int             `json:"length"` // of the last history, without system messages
	End    sum             `json:"end"`    // of it
	State  json.RawMessage `json:"state,omitempty"`
}

type threads struct {
	mu    sync.Mutex
	of    map[string]*thread // by name
	clock uint64
}

// outline is what tells one history from another.
type outline struct {
	system sum
	ends   []sum // of each beginning, without system messages
}

func outlineOf(history []winnow.Message) (o outline) {
	system, rest := sha256.New(), sha256.New()
	for i := range history {
		m := &history[i]
		said := winnow.Message{Role: m.Role, Parts: m.Parts, ToolCallID: m.ToolCallID}
		text, _ := json.Marshal(said) // arguments that are not JSON: the message tells nothing
		if m.Role == winnow.RoleSystem {
			system.Write(text)
			continue
		}
		rest.Write(text)
		o.ends = append(o.ends, sum(rest.Sum(nil)))
	}
	if o.system = sum(system.Sum(nil)); len(o.ends) == 0 { // a system prompt alone
		o.ends = []sum{o.system}
	}
	return o
}

// openingOf returns the first end in the outline of messages.
func openingOf(messages []winnow.Message) sum {
	if at := slices.IndexFunc(messages, func(m winnow.Message) bool { return m.Role != winnow.RoleSystem }); at >= 0 {
		messages = messages[at : at+1]
	}
	o := outlineOf(messages)
	return o.ends[0]
}

// goesOn reports whether a history goes on from where the last one of v ended.
func (o *outline) goesOn(v *conversation) bool {
	return v.Length > 0 && v.Length <= len(o.ends) && o.ends[v.Length-1] == v.End
}

// find returns the conversation of a history.
func (c *Conversations) find(ctx context.Context, key string, history []winnow.Message) (
	*thread, *conversation, error) {
	o := outlineOf(history)
	name := sha256.Sum256(append([]byte(key), o.ends[0][:]...))
	t := c.thread(ctx, key, hex.EncodeToString(name[:]))
	c.threads.mu.Lock()
	defer c.threads.mu.Unlock()
	if len(t.list) == 0 && c.threads.hasSent(key, o.ends[0]) {
		return nil, nil, winnow.ErrSentAsHistory
	}
	at := slices.IndexFunc(t.list, func(v *conversation) bool { return o.system == v.System })
	if at < 0 {
		at = slices.IndexFunc(t.list, o.goesOn)
	}
	var v *conversation
	if at >= 0 {
		v = t.list[at]
		t.list = slices.Delete(t.list, at, at+1)
	} else {
		m, err := c.manager(key)
		if err != nil {
			return nil, nil, err
		}
		v = &conversation{key: key, manager: m}
	}
	v.System, v.Length, v.End = o.system, len(o.ends), o.ends[len(o.ends)-1]
	v.history, v.answer = history, winnow.Message{}
	t.list = append(t.list[max(0, len(t.list)-mostAlike+1):], v)
	return t, v, nil
}

// thread returns the one with a name, from memory or from the store.
func (c *Conversations) thread(ctx context.Context, key, name string) *thread {
	l := &c.threads
	l.mu.Lock()
	defer l.mu.Unlock() // while the store is read too: nobody else may begin the same thread
	t := l.of[name]
	if t == nil {
		t = c.restored(ctx, key, name)
		l.of[name] = t
		for len(l.of) > c.o.Conversations {
			oldest := t
			for _, other := range l.of {
				if other != t && (oldest == t || other.used < oldest.used) {
					oldest = other
				}
			}
			delete(l.of, oldest.name)
		}
	}
	l.clock++
	t.used = l.clock
	return t
}

// hasSent reports whether a summary that was sent in front of all else begins a history of the same key.
func (l *threads) hasSent(key string, opening sum) bool {
	for _, t := range l.of {
		if t.key == key && slices.ContainsFunc(t.list, func(v *conversation) bool { return v.opening == opening }) {
			return true
		}
	}
	return false
}

// sent notes what was sent for the last history of v.
func (l *threads) sent(v *conversation, messages []winnow.Message) {
	opening := openingOf(messages)
	l.mu.Lock()
	defer l.mu.Unlock()
	v.opening = opening
}

// answered notes the answer to the last history of v.
func (l *threads) answered(v *conversation, m winnow.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v.answer = m
}

// all returns the conversations in memory, those that were used last in front.
func (l *threads) all() (list []*conversation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	byUse := make([]*thread, 0, len(l.of))
	for _, t := range l.of {
		byUse = append(byUse, t)
	}
	slices.SortFunc(byUse, func(a, b *thread) int { return int(b.used) - int(a.used) })
	for _, t := range byUse {
		for _, v := range slices.Backward(t.list) {
			list = append(list, v)
		}
	}
	return list
}

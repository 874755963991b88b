package adapter

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// IDRule says which ids of calls a provider accepts.
type IDRule struct {
	MaxLength int             // in bytes
	Byte      func(byte) bool // which bytes; nil: all
	Request   bool            // an id is used once in the whole request; false: once in a message
}

// Letters is a rule of most providers: ^[a-zA-Z0-9_-]+$.
func Letters(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

func (r *IDRule) accepts(id string) bool {
	if id == "" || len(id) > r.MaxLength {
		return false
	}
	if r.Byte != nil {
		for i := range len(id) {
			if !r.Byte(id[i]) {
				return false
			}
		}
	}
	return true
}

// CallIDs decides the ids that calls and their results are sent with. An id that the provider accepts and
// that no call before it has stays as it is; another one is replaced by a hash of it. Calls and results are
// paired by occurrence: a result answers a call of the newest assistant message that has its id.
type CallIDs struct {
	Rule IDRule

	used  map[string]struct{} // ids of calls that were sent
	empty int                 // calls without an id so far
	calls []sentCall          // of the newest assistant message
	open  map[string]int      // the first of them with an id that waits for a result; nil: not known yet
}

type sentCall struct {
	id, sent string
	next     int // the next call of the message with the same id, -1: none
}

// Message begins an assistant message.
func (c *CallIDs) Message() {
	c.calls, c.open = c.calls[:0], nil
	if !c.Rule.Request {
		clear(c.used)
	}
}

// Call returns the id that the next call of the message is sent with.
func (c *CallIDs) Call(id string) string {
	if c.used == nil {
		c.used = make(map[string]struct{}, 64)
	}
	sent := id
	if !c.Rule.accepts(id) {
		seed := id
		if id == "" { // these differ by their place
			c.empty++
			seed = "\x00empty " + strconv.Itoa(c.empty)
		}
		sent = hashID(seed)
	}
	for n := 2; ; n++ {
		if _, taken := c.used[sent]; !taken {
			break
		}
		sent = hashID(id + "\x00" + strconv.Itoa(n))
	}
	c.used[sent] = struct{}{}
	c.calls = append(c.calls, sentCall{id: id, sent: sent})
	return sent
}

// Result returns the id of the call that the next result answers. A result without a call keeps its id as
// far as the provider accepts it.
func (c *CallIDs) Result(id string) string {
	if c.open == nil {
		c.open = make(map[string]int, len(c.calls))
		for i := len(c.calls) - 1; i >= 0; i-- {
			call := &c.calls[i]
			call.next = -1
			if later, ok := c.open[call.id]; ok {
				call.next = later
			}
			c.open[call.id] = i
		}
	}
	if i, ok := c.open[id]; ok && i >= 0 {
		c.open[id] = c.calls[i].next
		return c.calls[i].sent
	}
	if c.Rule.accepts(id) {
		return id
	}
	return hashID(id)
}

// hashID returns an id that every provider accepts but those that want nine characters. The same id has
// always the same hash: what was sent once is sent again, and the provider's prompt cache is read.
func hashID(id string) string {
	sum := sha256.Sum256([]byte(id))
	return "call_" + hex.EncodeToString(sum[:12])
}

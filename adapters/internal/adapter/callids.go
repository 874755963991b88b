package adapter

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
)

// IDRule says which call ids a provider accepts.
type IDRule struct {
	MinLength int             // in bytes
	MaxLength int             // in bytes
	Byte      func(byte) bool // reports whether a byte may occur; nil: all may
	Request   bool            // an id is unique in the whole request; false: in a message
}

// Letters is a rule of most providers: ^[a-zA-Z0-9_-]+$.
func Letters(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// Alphanumeric is a rule of Mistral, whose ids have nine letters and digits.
func Alphanumeric(c byte) bool { return Letters(c) && c != '_' && c != '-' }

func (r *IDRule) accepts(id string) bool {
	if id == "" || len(id) < r.MinLength || len(id) > r.MaxLength {
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

// CallIDs decides which ids to send for calls and their results. An id stays unchanged if the provider accepts it and
// no earlier call has it. Any other id is replaced by its hash. Calls and results are paired by occurrence: a result
// answers a call with its id in the newest assistant message.
type CallIDs struct {
	Rule   IDRule
	Expect int // approximate number of calls

	used  map[string]struct{} // ids sent in the request, or in a message with many calls
	empty int                 // number of calls without an id so far
	calls []sentCall          // calls of the newest assistant message

	// if there are many calls: by id, the first one that waits for a result; nil: not built yet
	open map[string]int
}

type sentCall struct {
	id, sent string
	answered bool
	next     int // the next call of the message with the same id, -1: none; see open
}

// fewCalls: up to this many calls are searched one by one.
const fewCalls = 16

// Message begins an assistant message.
func (c *CallIDs) Message() {
	c.calls, c.open = c.calls[:0], nil
	if !c.Rule.Request {
		c.used = nil
	}
}

// Call returns the id to send for the next call of the message.
func (c *CallIDs) Call(id string) string {
	sent := id
	if !c.Rule.accepts(id) {
		seed := id
		if id == "" { // calls without an id differ by their place
			c.empty++
			seed = "\x00empty " + strconv.Itoa(c.empty)
		}
		sent = c.Rule.hash(seed)
	}
	for n := 2; c.isUsed(sent); n++ {
		sent = c.Rule.hash(id + "\x00" + strconv.Itoa(n))
	}
	if c.used != nil {
		c.used[sent] = struct{}{}
	}
	c.calls = append(c.calls, sentCall{id: id, sent: sent})
	return sent
}

// Clone returns a copy that pairs results independently of c.
func (c *CallIDs) Clone() *CallIDs {
	clone := *c
	clone.calls, clone.open = slices.Clone(c.calls), nil
	return &clone
}

// isUsed reports whether an earlier call has the id.
func (c *CallIDs) isUsed(sent string) bool {
	if !c.Rule.Request {
		if len(c.calls) < fewCalls {
			return slices.ContainsFunc(c.calls, func(call sentCall) bool { return call.sent == sent })
		}
		if len(c.calls) == fewCalls { // only in this message
			c.used = make(map[string]struct{}, 2*fewCalls)
			for i := range c.calls {
				c.used[c.calls[i].sent] = struct{}{}
			}
		}
	} else if c.used == nil {
		c.used = make(map[string]struct{}, c.Expect)
	}
	_, ok := c.used[sent]
	return ok
}

// Result returns the id to send for the next result, and the index of the call of the newest message that it answers.
// The index is -1 for a result without a call, which keeps its id if the provider accepts it.
func (c *CallIDs) Result(id string) (sent string, call int) {
	if call = c.find(id); call >= 0 {
		c.calls[call].answered = true
		return c.calls[call].sent, call
	}
	if c.Rule.accepts(id) {
		return id, -1
	}
	return c.Rule.hash(id), -1
}

// find returns the first call with an id that waits for its result, or -1.
func (c *CallIDs) find(id string) int {
	if len(c.calls) <= fewCalls {
		for i := range c.calls {
			if !c.calls[i].answered && c.calls[i].id == id {
				return i
			}
		}
		return -1
	}
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
	i, ok := c.open[id]
	if !ok || i < 0 {
		return -1
	}
	c.open[id] = c.calls[i].next
	return i
}

// hash returns an id that the rule accepts.
func (r *IDRule) hash(id string) string {
	h := hashID(id)
	if len(h) > r.MaxLength {
		h = h[len(h)-r.MaxLength:] // 9 digits hold 36 bits, and ids in use are not used again
	}
	return h
}

// hashID returns an id that every provider accepts, except those that require nine characters. The same id always has
// the same hash, so that the same bytes are sent again and the provider's prompt cache is read.
func hashID(id string) string {
	sum := sha256.Sum256([]byte(id))
	return "call_" + hex.EncodeToString(sum[:12])
}

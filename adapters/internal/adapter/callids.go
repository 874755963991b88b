package adapter

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/winnowgo/winnow"
)

// IDRule says which call ids a provider accepts.
type IDRule struct {
	MinLength int             // in bytes
	MaxLength int             // in bytes
	Byte      func(byte) bool // reports whether a byte may occur; nil: all may
	Request   bool            // an id is unique in the whole request; false: in a message
	Objects   bool            // the arguments of a call are a JSON object
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
	Rule    IDRule
	Foreign *IDRule // for calls without a Source (nil: Rule)

	used  map[string]bool  // ids sent in the request or in the message, as the rule says
	empty int              // number of calls without an id so far
	sent  []string         // for the parts of the newest assistant message, "" for one that is no call
	open  map[string][]int // by id, those of them that wait for a result
}

// Message begins an assistant message.
func (c *CallIDs) Message() {
	c.sent, c.open = c.sent[:0], map[string][]int{}
	if !c.Rule.Request || c.used == nil {
		c.used = map[string]bool{}
	}
}

// Call returns the id to send for the next part of the message, a call.
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
	for n := 2; c.used[sent]; n++ {
		sent = c.Rule.hash(id + "\x00" + strconv.Itoa(n))
	}
	c.used[sent] = true
	c.open[id] = append(c.open[id], len(c.sent))
	c.sent = append(c.sent, sent)
	return sent
}

// Name begins m, an assistant message, and returns the id to send for each part that is a call, and "" for the others.
// stay reports whether all calls may be sent as they are. The list is good until the next message.
func (c *CallIDs) Name(m *winnow.Message) (sent []string, stay bool) {
	c.Message()
	stay = true
	own := c.Rule
	for k := range m.Parts {
		p := &m.Parts[k]
		if p.Kind != winnow.KindToolCall {
			c.sent = append(c.sent, "")
			continue
		}
		if c.Foreign != nil && p.Source == nil {
			c.Rule = *c.Foreign
		}
		stay = c.Call(p.ID) == p.ID && (!c.Rule.Objects || IsObject(p.Arguments)) && stay
		c.Rule = own
	}
	return c.sent, stay
}

// OwnIDs and ForeignIDs are the rules for frameworks, behind which may be any provider. It usually accepts its own ids.
// Ids from elsewhere have to fit every one: OpenAI accepts 40 characters, and Anthropic only these.
var (
	OwnIDs     = IDRule{MaxLength: 256, Request: true}
	ForeignIDs = IDRule{MaxLength: 40, Byte: Letters, Request: true}
)

// Results returns the id to send for each message of run that is a result, and "" for the others.
func (c *CallIDs) Results(run []winnow.Message) []string {
	sent := make([]string, len(run))
	for i := range run {
		if run[i].Role == winnow.RoleTool {
			sent[i], _ = c.Result(run[i].ToolCallID)
		}
	}
	return sent
}

// Result returns the id to send for the next result, and which part of the newest message is the call that it answers:
// -1 for a result without a call, which keeps its id if the provider accepts it.
func (c *CallIDs) Result(id string) (sent string, call int) {
	if calls := c.open[id]; len(calls) > 0 {
		c.open[id] = calls[1:]
		return c.sent[calls[0]], calls[0]
	}
	if c.Rule.accepts(id) {
		return id, -1
	}
	return c.Rule.hash(id), -1
}

// hash returns an id that the rule accepts.
func (r *IDRule) hash(id string) string {
	h := HashID(id)
	if len(h) > r.MaxLength {
		h = h[len(h)-r.MaxLength:] // 9 digits hold 36 bits, and ids in use are not used again
	}
	return h
}

// HashID returns an id that every provider accepts, except those that require nine characters. The same id always has
// the same hash, so that the same bytes are sent again and the provider's prompt cache is read.
func HashID(id string) string {
	sum := sha256.Sum256([]byte(id))
	return "call_" + hex.EncodeToString(sum[:12])
}

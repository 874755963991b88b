package transport

import (
	"crypto/sha256"

	"github.com/winnowgo/winnow"
)

// inFront is what stands in front of the messages: nothing of them is read from the cache if that changes.
type inFront struct {
	tools, system chain
	varies        bool // the system prompt has changed, and was read all the same: a provider leaves out what does
}

func hashOf(text string) (c chain) {
	sum := sha256.Sum256([]byte(text))
	copy(c[:], sum[:])
	return c
}

// systemMembers are the members of a body that have the system prompt.
var systemMembers = map[string]bool{"system": true, "instructions": true, "systemInstruction": true,
	"system_instruction": true}

// missOf notes what stood in front of a request whose answer was counted. If less was read than that has, and the
// client has changed it, it returns a reason that the provider need not give: a few tools, or the time in a system
// prompt, do not show by the size of the prompt.
func (l *conversations) missOf(c *conversation, now inFront, beside int, u *winnow.Usage) (reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if u.Prompt() <= 0 {
		return u.CacheMiss
	}
	before, isRead := c.inFront, u.CacheRead >= beside
	isFirst, isOther := before == inFront{}, before.system != now.system
	now.varies = before.varies || !isFirst && isOther && isRead
	c.inFront = now
	switch {
	case u.CacheMiss != "" || isFirst || isRead:
	case before.tools != now.tools:
		return "tools_changed"
	case isOther && !now.varies:
		return "system_changed"
	}
	return u.CacheMiss
}

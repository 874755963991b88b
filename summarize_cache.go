package winnow

import "hash/maphash"

// cacheBytes bounds the memory of a summaryCache: a few hundred answers.
const cacheBytes = 8 << 20

// maxPlans is more than one compaction has: of its turns, what is ahead of them, and the divided turn.
const maxPlans = 16

func newSummaryCache() *summaryCache {
	return &summaryCache{
		seed: maphash.MakeSeed(), answers: make(map[requestKey]string), plans: make(map[requestKey]stagePlan),
	}
}

// isEmpty says that c holds no answer. A nil cache is empty.
func (c *summaryCache) isEmpty() bool {
	if c == nil {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.order) == 0
}

func (c *summaryCache) get(key requestKey) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text, ok := c.answers[key]
	return text, ok
}

func (c *summaryCache) put(key requestKey, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.answers[key]; ok {
		return
	}
	c.answers[key] = text
	c.order = append(c.order, key)
	c.bytes += len(text)
	for c.bytes > cacheBytes && len(c.order) > 1 {
		c.bytes -= len(c.answers[c.order[0]])
		delete(c.answers, c.order[0])
		c.order = c.order[1:]
	}
}

// sameRoom returns the room that the first try asked for, if it is within most, and else room: an answer that
// was asked for with another room is another one.
func (c *summaryCache) sameRoom(room, most int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.room <= 0 || c.room > most {
		c.room = room
	}
	return c.room
}

func (c *summaryCache) plan(key requestKey) (stagePlan, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.plans[key]
	return p, ok
}

func (c *summaryCache) putPlan(key requestKey, p stagePlan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.plans) < maxPlans {
		c.plans[key] = p
	}
}

func (c *summaryCache) key(req *SummaryRequest) requestKey {
	var h maphash.Hash
	h.SetSeed(c.seed)
	text := func(s string) { maphash.WriteComparable(&h, maphash.String(c.seed, s)) }
	maphash.WriteComparable(&h, [2]int{req.MaxTokens, len(req.Messages)})
	text(req.Previous)
	text(req.Instructions)
	for i := range req.Messages {
		m := &req.Messages[i]
		maphash.WriteComparable(&h, struct {
			role, tool                string
			failed, injected, summary bool
			parts                     int
		}{string(m.Role), m.ToolName, m.IsError, m.Injected, m.Summary, len(m.Parts)})
		for k := range m.Parts {
			p := &m.Parts[k]
			maphash.WriteComparable(&h, [2]string{string(p.Kind), p.Name})
			text(p.Text)
			maphash.WriteComparable(&h, maphash.Bytes(c.seed, p.Arguments))
		}
	}
	return requestKey(h.Sum64())
}

package winnow

import (
	"crypto/sha256"
	"strconv"
	"sync"
)

// cacheBytes bounds the memory of a summaryCache: a few hundred answers.
const cacheBytes = 8 << 20

// maxPlans is more than one compaction has: of its turns, what is ahead of them, and the divided turn.
const maxPlans = 16

// summaryCache holds accepted answers by the prompt that they answered, so that a run that is repeated
// after a failure asks only for what is missing, and how histories were divided. It is safe for concurrent use; the oldest answers go first.
type summaryCache struct {
	mu      sync.Mutex
	answers map[[sha256.Size]byte]string
	plans   map[[sha256.Size]byte]stagePlan // by the first messages of the history
	order   [][sha256.Size]byte
	bytes   int
	room    int // tokens that the first try asked for
}

func newSummaryCache() *summaryCache {
	return &summaryCache{answers: make(map[[sha256.Size]byte]string), plans: make(map[[sha256.Size]byte]stagePlan)}
}

func (c *summaryCache) get(key [sha256.Size]byte) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text, ok := c.answers[key]
	return text, ok
}

func (c *summaryCache) put(key [sha256.Size]byte, text string) {
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

func (c *summaryCache) plan(key [sha256.Size]byte) (stagePlan, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.plans[key]
	return p, ok
}

func (c *summaryCache) putPlan(key [sha256.Size]byte, p stagePlan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.plans) < maxPlans {
		c.plans[key] = p
	}
}

// cacheKey identifies a request by what a model would see of it.
func cacheKey(req *SummaryRequest) [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte(strconv.Itoa(req.MaxTokens) + "\n"))
	h.Write([]byte(req.Prompt()))
	return [sha256.Size]byte(h.Sum(nil))
}

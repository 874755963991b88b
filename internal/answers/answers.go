// Package answers keeps what a summarizer answered, so that a run that is repeated after a failure asks only for the
// rest.
package answers

import (
	"hash/maphash"
	"sync"

	"github.com/winnowgo/winnow/internal/chunks"
)

const (
	mostBytes = 8 << 20 // of a cache: a few hundred answers
	mostPlans = 16      // more than one compaction has: of its turns, what is ahead of them, and the divided turn
)

// Key identifies a request by what a model would see of it. It is hashed with a seed of the cache's own: no history can
// be made to collide with another.
type Key uint64

// Cache holds accepted answers by the prompts that they answered, and how histories were divided. It is safe for
// concurrent use. When it is full, it drops the oldest answers.
type Cache struct {
	Seed    maphash.Seed // of keys
	mu      sync.Mutex
	answers map[Key]string
	plans   map[Key]chunks.Plan // by the first messages of the history
	order   []Key
	bytes   int
	room    int // tokens that the first try asked for

	older, prefix int // tokens of one excerpt in the first try
}

// New returns an empty cache.
func New() *Cache {
	return &Cache{Seed: maphash.MakeSeed(), answers: make(map[Key]string), plans: make(map[Key]chunks.Plan)}
}

// IsEmpty reports whether c holds no answer. A nil cache is empty.
func (c *Cache) IsEmpty() bool {
	if c == nil {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.order) == 0
}

// Get returns the answer to a request.
func (c *Cache) Get(key Key) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text, ok := c.answers[key]
	return text, ok
}

// Put keeps the answer to a request.
func (c *Cache) Put(key Key, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.answers[key]; ok {
		return
	}
	c.answers[key] = text
	c.order = append(c.order, key)
	c.bytes += len(text)
	for c.bytes > mostBytes && len(c.order) > 1 {
		c.bytes -= len(c.answers[c.order[0]])
		delete(c.answers, c.order[0])
		c.order = c.order[1:]
	}
}

// SameRoom returns the room that the first try asked for, so that the same request has the same answer. It returns room
// if the first try asked for more than most, or for less than half of room: answers to such a try say too little to be
// used again.
func (c *Cache) SameRoom(room, most int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.room <= 0 || c.room > most || c.room < room/2 {
		c.room = room
	}
	return c.room
}

// SameExcerpts returns the lengths of excerpts with which the first try was made: a call with other excerpts is another
// call. older and prefix are the lengths of this try, for complete turns and for the beginning of a divided one. They
// are used as long as no call was answered, because an earlier try of a shorter history needed less room.
func (c *Cache) SameExcerpts(older, prefix int) (ofOlder, ofPrefix int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.older == 0 || len(c.order) == 0 {
		c.older, c.prefix = older, prefix
	}
	return c.older, c.prefix
}

// Plan returns how a history with this beginning was divided.
func (c *Cache) Plan(begin Key) (chunks.Plan, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.plans[begin]
	return p, ok
}

// PutPlan keeps how a history with this beginning is divided.
func (c *Cache) PutPlan(begin Key, p chunks.Plan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.plans) < mostPlans {
		c.plans[begin] = p
	}
}

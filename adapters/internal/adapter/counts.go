package adapter

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"sync"
)

// Counts remembers an API's counts by content. The zero value is ready.
type Counts struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]int
}

// mostCounts is how many counts are remembered. It suffices for one conversation, whose requests grow.
const mostCounts = 256

// Of returns the count of a value that is sent as JSON: the remembered one, or the result of ask.
func (c *Counts) Of(ctx context.Context, content any, ask func(context.Context) (int, error)) (int, error) {
	raw, err := json.Marshal(content)
	if err != nil {
		return 0, err
	}
	key := sha256.Sum256(raw)
	c.mu.Lock()
	n, ok := c.known[key]
	c.mu.Unlock()
	if ok {
		return n, nil
	}
	if n, err = ask(ctx); err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= mostCounts {
		clear(c.known)
	}
	if c.known == nil {
		c.known = map[[sha256.Size]byte]int{}
	}
	c.known[key] = n
	return n, nil
}

package session

import (
	"context"
	"time"
)

// pollEvery is how often the catalog is polled for changes of other processes. These are delivered within twice that
// time, changes of this process at once.
const pollEvery = 100 * time.Millisecond

// Wait implements [Feeder].
func (d *directory) Wait(ctx context.Context, cursor string) error {
	changed := d.catalog.listen()
	// This finds what happened before listen was called.
	c, err := d.Changes(ctx, cursor)
	if err != nil || c.Resync || len(c.Changes) > 0 {
		return err
	}
	timer := time.NewTimer(pollEvery)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// listen returns a channel that is closed when this process writes to a session.
func (c *catalog) listen() <-chan struct{} {
	c.listening.Lock()
	defer c.listening.Unlock()
	if c.changed == nil {
		c.changed = make(chan struct{})
	}
	return c.changed
}

// tell notes that a session may have been written to: with the turn, or beside the branch. The lock is held.
func (c *catalog) tell(key string, ofTurn bool) {
	if _, ok := c.written[key]; ok || ofTurn {
		if c.written == nil {
			c.written = map[string]bool{}
		}
		c.written[key] = true
	}
}

// lookAgain notes that a look into a session failed.
func (c *catalog) lookAgain(key string) {
	c.listening.Lock()
	defer c.listening.Unlock()
	c.tell(key, false)
}

// leave forgets a session whose turn is over.
func (c *catalog) leave(key string) {
	c.listening.Lock()
	defer c.listening.Unlock()
	delete(c.written, key)
}

// wake tells listeners that a session was written to: with the turn, or beside the branch.
func (c *catalog) wake(key string, ofTurn bool) {
	c.listening.Lock()
	defer c.listening.Unlock()
	c.tell(key, ofTurn)
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

package session

import (
	"context"
	"time"
)

// pollEvery is how often the catalog is looked at for what other processes do. A change of another process is told
// within twice that, one of this process at once.
const pollEvery = 100 * time.Millisecond

// Wait implements [Feeder].
func (d *directory) Wait(ctx context.Context, cursor string) error {
	changed := d.catalog.listen()
	// What happened before somebody listened is found now.
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

// wake tells those who listen that something was written.
func (c *catalog) wake() {
	c.listening.Lock()
	defer c.listening.Unlock()
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

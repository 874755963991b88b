package framework

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/winnowgo/winnow"
)

// Store keeps bytes by a name of 64 hexadecimal digits. Eino's checkpoint stores are such stores.
type Store interface {
	Get(ctx context.Context, name string) (state []byte, found bool, err error)
	Set(ctx context.Context, name string, state []byte) error
}

// Directory is a [Store] with a file for each name, which only this user can read. It is made when it is first written
// to. One process uses it at a time.
type Directory string

// Get implements [Store].
func (d Directory) Get(_ context.Context, name string) ([]byte, bool, error) {
	b, err := os.ReadFile(filepath.Join(string(d), name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return b, err == nil, err
}

// Set implements [Store]. A process that is killed leaves the old bytes or the new ones.
func (d Directory) Set(_ context.Context, name string, state []byte) error {
	path := filepath.Join(string(d), name)
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(path+".tmp", state, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

// save writes what is remembered of a thread. A store that fails costs the next process the prompt cache, and no
// request.
func (c *Conversations) save(ctx context.Context, t *thread) {
	if c.o.Store == nil {
		return
	}
	t.save.Lock() // an older state must not follow a newer one
	defer t.save.Unlock()
	c.threads.mu.Lock()
	list := make([]saved, len(t.list))
	managers := make([]*winnow.Manager, len(t.list))
	for i, v := range t.list {
		list[i], managers[i] = v.saved, v.manager
	}
	c.threads.mu.Unlock()
	var failed error
	for i, m := range managers {
		state, err := m.Snapshot()
		list[i].State, failed = state, errors.Join(failed, err)
	}
	text, err := json.Marshal(list)
	if failed = errors.Join(failed, err); failed == nil {
		failed = c.o.Store.Set(ctx, t.name, text)
	}
	if failed != nil {
		c.o.Logger.Warn("winnow: a conversation's state cannot be kept", "error", failed)
	}
}

// restored returns the thread that the store has, or a new one.
func (c *Conversations) restored(ctx context.Context, key, name string) *thread {
	t := &thread{key: key, name: name}
	if c.o.Store == nil {
		return t
	}
	text, found, err := c.o.Store.Get(ctx, name)
	var list []saved
	if err == nil && found {
		err = json.Unmarshal(text, &list)
	}
	for _, s := range list {
		m, e := c.manager(key)
		if e == nil {
			e = m.Restore(s.State)
		}
		if e != nil {
			err = e
			continue
		}
		s.State = nil
		t.list = append(t.list, &conversation{key: key, manager: m, saved: s})
	}
	if err != nil {
		c.o.Logger.Warn("winnow: a conversation's state cannot be restored", "error", err)
	}
	return t
}

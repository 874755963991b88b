package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/winnowgo/winnow/session/internal/files"
)

const (
	catalogFile = "catalog.jsonl"
	catalogLock = "catalog.lock" // held while the catalog is made or rewritten
)

// catalog answers queries about the sessions of a directory from a file, which [catalogLine] describes. Losing the file
// loses nothing: the first query makes it from the logs, and a catalog that does not fit the logs is made again.
type catalog struct {
	directory *directory
	mu        sync.Mutex
	table     *catalogTable // nil: not read yet
	known     string        // the last file that was read and fitted the logs
	least     int64         // bytes to write before it is rewritten (leastCatalog); -1: rewrite at each look

	writing   sync.RWMutex
	file      files.File // to append lines to; nil: none, or not open yet
	by        string     // this store's signature
	listening sync.Mutex // protects the fields below

	// by key of a session whose turn this store has: whether it was written to since the last look
	written map[string]bool
	changed chan struct{} // closed when this process appends something; nil: nobody waits
}

var (
	_ Lister = (*directory)(nil)
	_ Feeder = (*directory)(nil)
)

// List implements [Lister].
func (d *directory) List(ctx context.Context, q Query) (*Page, error) {
	c := &d.catalog
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.refresh(ctx); err != nil {
		return c.listWithout(ctx, q, err)
	}
	defer c.tidy()
	return c.list(ctx, q)
}

// Status implements [Lister]. Reading one session is faster than refreshing the catalog.
func (d *directory) Status(ctx context.Context, key string) (*Status, error) {
	st, err := statusOf(ctx, d, key)
	if err == nil {
		st.Open, err = d.IsHeld(ctx, key)
	}
	return st, err
}

// listWithout lists from the logs, if there can be no catalog.
func (c *catalog) listWithout(ctx context.Context, q Query, cause error) (*Page, error) {
	if ctx.Err() != nil {
		return nil, cause
	}
	all, err := readAll(ctx, c.directory)
	if err != nil {
		return nil, errors.Join(cause, err)
	}
	return q.page(all)
}

func (c *catalog) list(ctx context.Context, q Query) (*Page, error) {
	at, err := q.after()
	if err != nil {
		return nil, err
	}
	rows := c.table.byKey
	if q.Order == Newest {
		rows = c.table.newest
	}
	limit := q.Size()
	p := &Page{}
	var last *catalogRow
	for _, r := range rows.from(&q, at) {
		if !q.finds(&r.listed) {
			continue
		}
		if len(p.Sessions) == limit {
			p.Next = q.next(&last.listed)
			break
		}
		st, err := r.decode()
		if err == nil && r.look { // the others are closed, or unchanged
			st.Open = c.isOurs(r.key)
			if !st.Open {
				st.Open, err = c.directory.IsHeld(ctx, r.key)
			}
		}
		if err != nil {
			return nil, err
		}
		last = r
		p.Sessions = append(p.Sessions, st)
	}
	return p, nil
}

// Changes implements [Feeder].
func (d *directory) Changes(ctx context.Context, cursor string) (*Changes, error) {
	c := &d.catalog
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.refresh(ctx); err != nil {
		return nil, err
	}
	defer c.tidy() // after the answer: its readers know the changes that tidy drops
	changes := &Changes{Cursor: c.table.cursor()}
	at, ok := c.table.positionOf(cursor)
	if !ok {
		changes.Resync, changes.Changes = true, c.table.all()
		return changes, nil
	}
	changes.Changes = c.table.since(at)
	return changes, nil
}

// refresh reads what changed since the last call. The lock is held.
func (c *catalog) refresh(ctx context.Context) error {
	const tries = 10 // others may make the catalog anew in the meantime
	var err error
	for range tries {
		if err = ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err = c.load(ctx); err == nil {
			err = c.lookAround(ctx)
		}
		if err == nil {
			return nil
		}
		c.forget()
		if !errors.Is(err, errCatalog) {
			return err
		}
	}
	return err
}

// errCatalog: the catalog was replaced or is damaged.
var errCatalog = errors.New("session: the catalog was replaced")

// load makes sure that the table is that of the current catalog. It makes a catalog that is missing or does not fit.
func (c *catalog) load(ctx context.Context) error {
	fsys := c.directory.fs
	if c.table != nil {
		if fsys.IsLinked(c.table.file, catalogFile) {
			return nil
		}
		c.forget()
	}
	t, err := c.open()
	if err != nil {
		return err
	}
	info, err := c.directory.readInfo()
	if err != nil {
		return err
	}
	c.table = t
	if t != nil && t.isComplete(info.ID) && t.boot == fsys.Boot() && t.boot != "" {
		if t.verified = t.after != "" && t.after == c.known; t.verified { // somebody rewrote it in the meantime
			return nil
		}
		if t.verified, err = c.verify(ctx); err != nil || t.verified {
			return err
		}
	}
	return c.build(ctx)
}

// open reads the catalog. The table is nil if the catalog is missing or damaged.
func (c *catalog) open() (*catalogTable, error) {
	f, err := c.openFile()
	if f == nil || err != nil {
		return nil, err
	}
	t := newCatalogTable(f, c.by)
	ok, err := t.read()
	if err != nil || !ok || t.id == "" {
		f.Close()
		return nil, err
	}
	t.order()
	return t, nil
}

// forgetDerived removes the catalog, which may hold titles of erased sessions, and the remains of interrupted attempts
// to make one. Nobody can make one in the meantime.
func (d *directory) forgetDerived(ctx context.Context) error {
	if _, err := d.fs.SizeOf(catalogLock); errors.Is(err, fs.ErrNotExist) {
		return nil // nobody has made one yet
	}
	lock, err := d.catalog.lock(ctx)
	if err != nil {
		return err
	}
	defer lock.Close()
	names, err := d.fs.List(".")
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		if strings.HasPrefix(name, catalogFile) {
			errs = append(errs, d.remove(name))
		}
	}
	// Even if there is nothing to remove: whoever removed it may have been killed before that was durable.
	return errors.Join(append(errs, d.fs.SyncDir("."))...)
}

// lock waits until nobody else makes or rewrites a catalog.
func (c *catalog) lock(ctx context.Context) (files.File, error) {
	lock, err := c.directory.fs.Open(catalogLock, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := waitLock(ctx, lock, lastTryOfTurn); err != nil {
		lock.Close()
		return nil, err
	}
	return lock, nil
}

// forget drops the table. It is read again.
func (c *catalog) forget() {
	if c.table != nil {
		if c.table.verified {
			c.known = c.table.written
		}
		c.table.file.Close()
	}
	c.table = nil
	c.untake()
}

// close releases the catalog's resources.
func (c *catalog) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget()
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.file == nil {
		return nil
	}
	err := c.file.Close()
	c.file = nil
	return err
}

func (c *catalog) read() error {
	ok, err := c.table.read()
	if err == nil && !ok {
		err = fmt.Errorf("%w: a line is damaged", errCatalog)
	}
	return err
}

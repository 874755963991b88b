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
	catalogLock = "catalog.lock" // held by who makes the catalog, or writes it anew
)

// catalog answers for the sessions of a directory by the file that is described at [catalogLine]. Nothing is lost with
// it: it is made from the logs by the first who asks for it, and whatever does not fit the logs is made again.
type catalog struct {
	directory *directory
	mu        sync.Mutex
	table     *catalogTable // nil: not read yet
	known     string        // the file that was read last and fitted the logs
	least     int64         // bytes that are written before it is written anew (leastCatalog); -1: it is at each look

	writing   sync.RWMutex
	file      files.File // that lines are appended to; nil: there is none, or it was not opened yet
	by        string     // what this store signs with
	listening sync.Mutex // protects what follows

	// by the key of a session whose turn is taken here: whether something came since the last look
	written map[string]bool
	changed chan struct{} // closed when something was appended by this process; nil: nobody waits
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

// Status implements [Lister]. One session is read faster than the others are asked for.
func (d *directory) Status(ctx context.Context, key string) (*Status, error) {
	st, err := statusOf(ctx, d, key)
	if err == nil {
		st.Open, err = d.IsHeld(ctx, key)
	}
	return st, err
}

// listWithout lists what the logs say, where there can be no catalog.
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
		if err == nil && r.look { // the others are closed, or nothing was written to them
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
	defer c.tidy() // behind the answer: what it drops, those who ask here have heard of
	changes := &Changes{Cursor: c.table.cursor()}
	at, ok := c.table.positionOf(cursor)
	if !ok {
		changes.Resync, changes.Changes = true, c.table.all()
		return changes, nil
	}
	changes.Changes = c.table.since(at)
	return changes, nil
}

// refresh reads what happened since the last time. The lock is held.
func (c *catalog) refresh(ctx context.Context) error {
	const tries = 10 // others may make the catalog anew meanwhile
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

// errCatalog: the catalog is not what it was, or is damaged.
var errCatalog = errors.New("session: the catalog was replaced")

// load makes sure that the table is of the catalog that there is. One that is not there, or does not fit, is made.
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
		if t.verified = t.after != "" && t.after == c.known; t.verified { // somebody wrote it anew meanwhile
			return nil
		}
		if t.verified, err = c.verify(ctx); err != nil || t.verified {
			return err
		}
	}
	return c.build(ctx)
}

// open reads the catalog, nil if there is none or it is damaged.
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

// forgetDerived removes the catalog for good: it has titles of sessions that were erased.
// Nobody makes one meanwhile, and what those left who were killed at it goes as well.
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
	if len(errs) == 0 {
		return nil
	}
	return errors.Join(append(errs, d.fs.SyncDir("."))...)
}

// lock waits until nobody else makes a catalog, or writes it anew.
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

// forget gives up what was read. It is read again.
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

// close gives up what the catalog holds.
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

package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/winnowgo/winnow/session/internal/files"
)

// Who writes to a session says so in the catalog before, and looks after it whether it still is the catalog: so
// whoever reads either of them knows where to look. Nobody waits for anybody.

// current returns the catalog that lines are appended to, nil if there is none. Nobody needs one before the first list.
func (c *catalog) current() (files.File, error) {
	fsys := c.directory.fs
	c.writing.RLock()
	f := c.file
	isCurrent := f != nil && fsys.IsLinked(f, catalogFile)
	c.writing.RUnlock()
	if isCurrent {
		return f, nil
	}
	if f == nil {
		if _, err := fsys.SizeOf(catalogFile); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	return c.reopen()
}

func (c *catalog) reopen() (files.File, error) {
	fsys := c.directory.fs
	if c.file != nil {
		if fsys.IsLinked(c.file, catalogFile) {
			return c.file, nil
		}
		c.file.Close()
		c.file = nil
	}
	f, err := c.openFile()
	c.file = f
	return f, err
}

// openFile opens the catalog, nil if there is none.
func (c *catalog) openFile() (files.File, error) {
	for {
		f, err := c.directory.fs.Open(catalogFile, os.O_RDWR, 0)
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
		// A catalog that is replaced while it is opened is not there either.
		if _, err := c.directory.fs.SizeOf(catalogFile); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	}
}

// announce says in the catalog that a session is written to, unless that was said already in the one that is seen. It
// returns the catalog.
func (c *catalog) announce(key string, seen files.File) (files.File, error) {
	f, err := c.current()
	if err == nil && (f == nil || f == seen) {
		return f, nil
	}
	var text []byte
	if err == nil {
		text, err = (&catalogLine{Look: key, By: c.by}).append(nil)
	}
	if err == nil {
		f, err = c.append(text)
	}
	if err == nil {
		return f, nil
	}
	// A catalog that misses something is worse than none.
	if err2 := c.directory.remove(catalogFile); err2 != nil {
		return nil, fmt.Errorf("session: the catalog can neither be written nor removed: %w", errors.Join(err, err2))
	}
	return nil, nil
}

// announcing runs f, which writes to the log, and has the catalog say so. The lock is held.
func (l *directoryLog) announcing(f func() error) (err error) {
	c := &l.directory.catalog
	if l.announced == nil || !l.ofTurn { // without the turn others may have said since that the session is closed
		if l.announced, err = c.announce(l.key, nil); err != nil {
			return err
		}
	}
	err = f()
	c.tell(l.key, l.ofTurn)
	var err2 error
	l.announced, err2 = c.announce(l.key, l.announced)
	if err == nil {
		err = err2
	}
	return err
}

// append appends whole lines to the catalog. It returns it; nil if there is none.
func (c *catalog) append(text []byte) (files.File, error) {
	c.writing.Lock() // so that nobody closes the file meanwhile
	defer c.writing.Unlock()
	f, err := c.reopen()
	if f == nil || err != nil {
		return nil, err
	}
	n, err := f.Write(text)
	if err == nil && n < len(text) {
		err = errors.New("session: short write")
	}
	return f, err
}

// note appends a line that nothing depends on: without it, somebody looks into a log for longer.
func (c *catalog) note(l *catalogLine) {
	text, err := l.append(nil)
	if err == nil {
		_, err = c.append(text)
	}
	if err != nil {
		_ = c.directory.remove(catalogFile) // half of the line may be there
	}
}

// write appends lines to the catalog that was read.
func (c *catalog) write(text []byte) error {
	n, err := c.table.file.Write(text)
	if err == nil && n < len(text) {
		err = errors.New("session: short write")
	}
	if err != nil {
		return errors.Join(err, c.directory.remove(catalogFile))
	}
	if !c.directory.fs.IsLinked(c.table.file, catalogFile) {
		return errCatalog
	}
	return nil
}

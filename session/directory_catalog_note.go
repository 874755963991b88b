package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/winnowgo/winnow/session/internal/files"
)

// The list is complete: it has everything that is written to a session, even if processes are killed or the catalog is
// replaced at any moment. Writers never wait for readers, and wait for other writers only at the log itself. This rests
// on six rules:
//
//  1. Look before write. A writer holds the session's log.lock during the whole change. Under that lock, and before it
//     changes anything, it makes sure that the current catalog has its `look`: it appends the line, and then checks
//     that the file is still the current one; otherwise it appends the line to the next one. With the turn, the `look`
//     of an earlier append in the same file suffices.
//  2. Only the holder of catalog.lock replaces or removes the catalog.
//  3. A catalog that replaces another with the same id has all lines of that one. Lines from before the rename keep
//     their form and order. Lines that appear in the old file only after the rename are repeated as `look`, because
//     newer lines of the same sessions may already be in the new file. A `look` is never wrong: it only costs a look.
//     By the second half of rule 1, no `look` that counts can come even later. The line `whole` ends this. A catalog
//     without it is made anew: its maker was killed.
//  4. A catalog that is made anew takes nothing over. Its header is in place before the first session is read. The lock
//     of each session is tried before its files are listed. A writer that held it then may have announced itself in the
//     old catalog, so the session is looked into again. A writer that takes it later finds the new catalog by rule 1.
//  5. Readers stop looking into a session only after one of these lines: that of the holder of the turn and the
//     log.lock (keep, removeSession); that of a process that has the log.lock and found the turn free and the files as
//     in the row (settle); or that of a process that found no files and no log.lock, unless a `look` came after the
//     part of the catalog that it had read (settleGone): creating a session begins with its lock, before the `look`.
//     All other lines say that the session is `open`, and how far the catalog was `seen` before the look. If somebody
//     else's line came after that point, they do not count, and the session has to be looked into again.
//  6. A catalog whose write failed lacks a line. It is removed and emptied (spoil), so that nobody continues with it:
//     neither those who open it by name, nor those who have it open, such as the maker of the next one.

// current returns the current catalog, nil if there is none. Nobody needs one before the first list.
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

// reopen opens the current catalog, unless it is open already. The lock is held.
func (c *catalog) reopen() (files.File, error) {
	if c.file != nil {
		if c.directory.fs.IsLinked(c.file, catalogFile) {
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
		// Open may also miss a catalog that is being replaced.
		if _, err := c.directory.fs.SizeOf(catalogFile); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	}
}

// announce appends a `look` for a session to the catalog, unless the current one is seen, which already has it. It
// returns the catalog with the `look`, nil if there is no catalog. The session's log.lock is held.
func (c *catalog) announce(key string, seen files.File) (files.File, error) {
	f, err := c.current()
	if err != nil || f == nil || f == seen {
		return f, err
	}
	text, err := (&catalogLine{Look: key, By: c.by}).append(nil)
	if err != nil {
		return nil, err
	}
	for {
		f, err := c.append(text)
		if f == nil || err != nil || c.directory.fs.IsLinked(f, catalogFile) {
			return f, err
		}
		// It was replaced, perhaps before the line was in it.
	}
}

// announcing runs f, which changes the files of a session, after announce. It returns the catalog with the `look`. The
// session's log.lock is held.
func (c *catalog) announcing(key string, seen files.File, f func() error) (files.File, error) {
	in, lost := c.announce(key, seen)
	if lost != nil { // a catalog that lacks a line is worse than none
		if err := c.directory.remove(catalogFile); err != nil {
			return nil, fmt.Errorf("session: the catalog can neither be written nor removed: %w",
				errors.Join(lost, err))
		}
	}
	err := f()
	if lost != nil { // somebody may have replaced it in the meantime
		if in, lost = c.announce(key, nil); lost != nil {
			err = errors.Join(err, c.directory.remove(catalogFile))
		}
	}
	return in, err
}

// announcing runs f, which writes to the log, after announcing it in the catalog. The lock is held.
func (l *directoryLog) announcing(f func() error) (err error) {
	c := &l.directory.catalog
	seen := l.announced
	if !l.ofTurn { // without the turn, others may have recorded since then that the session is closed
		seen = nil
	}
	l.announced, err = c.announcing(l.key, seen, f)
	c.wake(l.key, l.ofTurn)
	return err
}

// append appends whole lines to the catalog, and returns it. The result is nil if there is no catalog, or no longer
// one.
func (c *catalog) append(text []byte) (files.File, error) {
	c.writing.Lock() // so that nobody closes the file in the meantime
	defer c.writing.Unlock()
	f, err := c.reopen()
	if f == nil || err != nil {
		return nil, err
	}
	if err := writeWhole(f, text); err != nil {
		return nil, c.spoil(f, err)
	}
	return f, nil
}

func writeWhole(f files.File, text []byte) error {
	n, err := f.Write(text)
	if err == nil && n < len(text) {
		err = errors.New("session: short write")
	}
	return err
}

// spoil ends the use of a catalog that lacks a line or has a torn one.
func (c *catalog) spoil(f files.File, cause error) error {
	if err := errors.Join(c.directory.remove(catalogFile), f.Truncate(0)); err != nil {
		return fmt.Errorf("session: the catalog can neither be written nor removed: %w", errors.Join(cause, err))
	}
	return nil
}

// note appends a line that nothing depends on: without it, readers only look into a log for longer.
func (c *catalog) note(l *catalogLine) {
	if text, err := l.append(nil); err == nil {
		_, _ = c.append(text)
	}
}

// write appends lines to the catalog of the table.
func (c *catalog) write(text []byte) error {
	if err := writeWhole(c.table.file, text); err != nil {
		return errors.Join(err, c.spoil(c.table.file, err))
	}
	if !c.directory.fs.IsLinked(c.table.file, catalogFile) {
		return errCatalog
	}
	return nil
}

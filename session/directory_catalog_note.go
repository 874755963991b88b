package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/winnowgo/winnow/session/internal/files"
)

// What is written to a session is in the list, whoever is killed when, and whoever replaces the catalog meanwhile. No
// writer waits for a reader, and none for another writer but at the log itself. That rests on these rules:
//
//  1. Look before write. Whoever changes the files of a session holds its log.lock from before he begins until after
//     he ended. Under that lock he makes sure that the catalog which is in place has his `look` before he changes
//     anything: he appends it, and then checks that the file he appended to still is the one in place; else he says it
//     again in the next one. With the turn a `look` of an earlier append in the same file is enough.
//  2. One at a time puts a catalog in place or takes it away for good: who has catalog.lock.
//  3. A catalog that follows another with the same id has all its lines: those from before the rename as they were, in
//     their order. Those that are found behind it only after the rename are repeated as `look`, because newer lines of
//     the same sessions may stand in the new file already. A `look` is never wrong: it only costs a look. By the second
//     half of rule 1 no `look` that counts can come later still. The line `whole` ends this, and a catalog that has
//     none is made anew: its maker was killed.
//  4. A catalog that is made anew has nothing of the one before. Its header is in place before the first session is
//     read. Of each session the lock is tried before its files are listed: who held it then may have said what he does
//     in the catalog before, so the session is looked into again; who takes it later finds the new catalog by rule 1.
//  5. Only these lines end the looking into a session: that of who has the turn and the log.lock (keep, removeSession);
//     that of who has the log.lock, found the turn free, and the files as the row says (settle); and that of who found
//     no files and no log.lock to take, unless a `look` came since what he had read of the catalog (settleGone): who
//     begins a session makes its lock before he says so.
//     All others say that the session is `open`, and how far the catalog was `seen` before the look. They do not count
//     where they are older than what was said since, and have to be looked into then.
//  6. A catalog that could not be written to lacks a line. It is removed and emptied (spoil), so that neither those who
//     look for it by name nor those who have it open, as the maker of the next one, go on with it.

// current returns the catalog that is in place, nil if there is none. Nobody needs one before the first list.
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

// reopen opens the catalog that is in place, if it is not that which is open. The lock is held.
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
		// A catalog that is replaced while it is opened is not there either.
		if _, err := c.directory.fs.SizeOf(catalogFile); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	}
}

// announce says in the catalog that a session is about to be written to, unless that was said already in the one that
// is seen. It returns the catalog that has it, nil if there is none. The session's log.lock is held.
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
		// It was replaced: perhaps before the line was in it.
	}
}

// announcing runs f, which changes the files of a session, and has the catalog say so before, unless the one that is
// seen has it. It returns the catalog that has it. The session's log.lock is held.
func (c *catalog) announcing(key string, seen files.File, f func() error) (files.File, error) {
	in, lost := c.announce(key, seen)
	if lost != nil { // one that lacks a line is worse than none
		if err := c.directory.remove(catalogFile); err != nil {
			return nil, fmt.Errorf("session: the catalog can neither be written nor removed: %w",
				errors.Join(lost, err))
		}
	}
	err := f()
	if lost != nil { // somebody may have put another one in its place meanwhile
		if in, lost = c.announce(key, nil); lost != nil {
			err = errors.Join(err, c.directory.remove(catalogFile))
		}
	}
	return in, err
}

// announcing runs f, which writes to the log, and has the catalog say so. The lock is held.
func (l *directoryLog) announcing(f func() error) (err error) {
	c := &l.directory.catalog
	seen := l.announced
	if !l.ofTurn { // without the turn others may have said since that the session is closed
		seen = nil
	}
	l.announced, err = c.announcing(l.key, seen, f)
	c.wake(l.key, l.ofTurn)
	return err
}

// append appends whole lines to the catalog. It returns it; nil if there is none, or not any more.
func (c *catalog) append(text []byte) (files.File, error) {
	c.writing.Lock() // so that nobody closes the file meanwhile
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

// spoil ends the use of a catalog that lacks a line, or has a part of one.
func (c *catalog) spoil(f files.File, cause error) error {
	if err := errors.Join(c.directory.remove(catalogFile), f.Truncate(0)); err != nil {
		return fmt.Errorf("session: the catalog can neither be written nor removed: %w", errors.Join(cause, err))
	}
	return nil
}

// note appends a line that nothing depends on: without it, somebody looks into a log for longer.
func (c *catalog) note(l *catalogLine) {
	if text, err := l.append(nil); err == nil {
		_, _ = c.append(text)
	}
}

// write appends lines to the catalog that was read.
func (c *catalog) write(text []byte) error {
	if err := writeWhole(c.table.file, text); err != nil {
		return errors.Join(err, c.spoil(c.table.file, err))
	}
	if !c.directory.fs.IsLinked(c.table.file, catalogFile) {
		return errCatalog
	}
	return nil
}

package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

// The catalog is made from the logs. A store that is opened compares it with the names and lengths of their files.
// After a reboot, which may have lost unsynced data, it compares it with their content.

// byDirectory finds rows by the directories of their sessions.
type byDirectory struct {
	table *catalogTable
	long  map[string]*catalogRow // whose names do not hold the whole key
}

func (t *catalogTable) byDirectory() *byDirectory {
	b := &byDirectory{table: t, long: map[string]*catalogRow{}}
	for key, r := range t.rows {
		if len(key) > maxKeyName/3 { // a byte of the key takes at most three
			parent, name := keyDirectory(key)
			b.long[parent+"/"+name] = r
		}
	}
	return b
}

func (b *byDirectory) find(dir string) *catalogRow {
	if r := b.long[dir]; r != nil {
		return r
	}
	key, ok := unescapeKey(dir[strings.LastIndexByte(dir, '/')+len("/k-"):])
	if !ok {
		return nil
	}
	return b.table.rows[key]
}

// fits reports whether a row belongs to the stored file.
func (r *catalogRow) fits(s *storedFile) bool {
	return !r.gone && r.file == s.file && r.disk == s.disk && r.log == s.marks.idOf(s.file)
}

// verify compares the table with the files. It returns false if they differ and no writer announced that.
func (c *catalog) verify(ctx context.Context) (bool, error) {
	rows := c.table.byDirectory()
	var mu sync.Mutex
	var doubtful []storedFile
	fitting := map[*catalogRow]bool{}
	err := c.directory.eachStored(ctx, func(s storedFile) error {
		r := rows.find(s.dir)
		mu.Lock()
		defer mu.Unlock()
		if r != nil && (r.look || r.fits(&s)) {
			fitting[r] = true
		} else {
			doubtful = append(doubtful, s)
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	if ok, err := c.table.read(); !ok || err != nil {
		return false, err
	}
	// Whoever changed something in the meantime has announced it before.
	for _, r := range c.table.rows {
		if !fitting[r] && !r.look && !r.gone {
			return false, nil
		}
	}
	for _, s := range doubtful {
		if r := c.table.byDirectory().find(s.dir); r != nil && (r.look || r.fits(&s)) {
			continue
		}
		marks, err := c.directory.marks(s.dir)
		if _, size, err2 := newestFile(c.directory.fs, s.dir); err != nil || err2 != nil ||
			!marks.isDeleted() && size > 0 {
			return false, errors.Join(err, err2)
		}
	}
	return true, nil
}

// build makes the catalog anew. It reuses the rows that fit the files, unless the system was rebooted since.
func (c *catalog) build(ctx context.Context) error {
	fsys := c.directory.fs
	lock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer lock.Close()
	info, err := c.directory.readInfo()
	if err != nil {
		return err
	}
	if c.table == nil || !fsys.IsLinked(c.table.file, catalogFile) {
		t, err := c.open()
		if err != nil {
			return err
		}
		if t != nil {
			t.file.Close()
		}
		if t != nil && t.isComplete(info.ID) && t.boot == fsys.Boot() && t.boot != "" {
			return fmt.Errorf("%w: by another one who made it", errCatalog)
		}
	}
	old := c.table
	trusted := old != nil && old.isComplete(info.ID) && old.boot == fsys.Boot() && old.boot != ""
	id := randomHex(8)
	zero := int64(0)
	header := &catalogLine{Catalog: id, Store: info.ID, Boot: fsys.Boot(), Building: true}
	// From here on writers announce themselves in the new catalog, and those that began before check for it afterwards.
	if err := c.replace(header, &catalogLine{Begin: &zero}, nil); err != nil {
		return err
	}
	if old != nil {
		defer old.file.Close()
	}
	if !trusted {
		old = nil
	}
	rows, err := c.readLogs(ctx, old)
	if err != nil {
		return err
	}
	header.Building = false
	return c.replace(header, &catalogLine{Begin: &zero}, rows)
}

// isComplete reports whether the table is that of a whole catalog of the store.
func (t *catalogTable) isComplete(store string) bool {
	return t.begun && t.whole && !t.building && t.store == store
}

// readLogs returns the lines of all sessions, by key. It reuses the lines of old that fit the files.
func (c *catalog) readLogs(ctx context.Context, old *catalogTable) ([]*catalogLine, error) {
	var rows *byDirectory
	if old != nil {
		rows = old.byDirectory()
	}
	var mu sync.Mutex
	var lines []*catalogLine
	err := c.directory.visit(ctx, true, func(s storedFile) error {
		l, err := c.lineOf(ctx, rows, s)
		if l == nil || err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, l)
		return nil
	})
	slices.SortFunc(lines, func(a, b *catalogLine) int {
		return strings.Compare(a.Key+a.Look, b.Key+b.Look) // one of them is ""
	})
	return lines, err
}

// lineOf returns the line of a session, reusing its row if that fits. nil: there is no session, or it is being deleted.
// If somebody may be changing the session, the line is a `look`.
func (c *catalog) lineOf(ctx context.Context, rows *byDirectory, s storedFile) (l *catalogLine, err error) {
	if rows != nil {
		if r := rows.find(s.dir); r != nil && !r.look && r.fits(&s) {
			l = r.line()
			l.At = 0
		}
	}
	if l == nil && s.file != "" {
		if l, err = c.readLog(ctx, s); err != nil {
			return nil, err
		}
	}
	switch {
	case l != nil:
		l.Open = l.Open || s.busy
	case s.busy:
		if key, ok := unescapeKey(strings.TrimPrefix(s.name, "k-")); ok {
			l = &catalogLine{Look: key}
		}
	}
	return l, nil
}

// readLog returns the line of a session. nil: there is no session, or it is being deleted.
func (c *catalog) readLog(ctx context.Context, s storedFile) (*catalogLine, error) {
	name := logOf(s.file) + logSuffix
	f, err := openToRead(s.in, name, maxArchived)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // it is changing right now, and its writer has announced that
	}
	if err != nil {
		return nil, err
	}
	log := &directoryLog{directory: c.directory, dir: s.dir, name: name, file: f, marks: s.marks}
	defer log.Close()
	isArchive := strings.HasSuffix(s.file, archiveSuffix)
	size := s.disk
	if isArchive {
		if size, err = log.Size(); err != nil {
			return nil, err
		}
	}
	st, err := readStatusOf(ctx, "", log, size)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err == nil && st.Key == "" { // the header is damaged
		st.Key, _, err = c.directory.keyOf(directoryOf(s.dir), s.name)
	}
	if err != nil || st.Key == "" {
		return nil, err
	}
	return statusLine(st, s.file, s.disk, !isArchive && st.Bytes < size)
}

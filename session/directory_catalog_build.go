package session

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/winnowgo/winnow/session/internal/files"
)

// The catalog is made from the logs, and compared with them by whoever opens the store: by the names and lengths of
// their files, and after a start of the system, which may have lost what was not synced, by what they hold.

// storedFile is what a directory says of a session: the file of its newest log.
type storedFile struct {
	dir  string // from the root of the store
	file string
	disk int64

	in   files.FS // the directory that it is in, and its name there, while it is asked for
	name string
}

// eachStored calls f for every session in the directory, from several goroutines.
func (d *directory) eachStored(ctx context.Context, f func(storedFile) error) error {
	parents, err := d.fs.List("s")
	if err != nil {
		return err
	}
	next := make(chan string)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wg sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) { // some of them wait for the disk
		wg.Go(func() {
			for parent := range next {
				if err := d.eachIn(ctx, "s/"+parent, f); err != nil {
					stop(err)
				}
			}
		})
	}
	for _, parent := range parents {
		select {
		case next <- parent:
		case <-ctx.Done():
		}
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}

func (d *directory) eachIn(ctx context.Context, parent string, f func(storedFile) error) error {
	within, err := d.fs.Sub(parent)
	if errors.Is(err, files.ErrLink) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer within.Close()
	names, err := within.List(".")
	if err != nil {
		return err
	}
	for _, name := range names {
		if !strings.HasPrefix(name, "k-") {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		s := storedFile{dir: parent + "/" + name, in: within, name: name}
		if s.file, s.disk, err = newestFile(within, name); err != nil {
			if ok, err2 := within.IsDir(name); !ok && (err2 == nil || errors.Is(err2, files.ErrLink)) {
				continue
			}
			return err
		}
		if s.file == "" {
			continue
		}
		if err := f(s); err != nil {
			return err
		}
	}
	return nil
}

// byDirectory finds rows by the directories of their sessions.
type byDirectory struct {
	table *catalogTable
	long  map[string]*catalogRow // whose names do not say their keys
}

func (t *catalogTable) byDirectory() *byDirectory {
	b := &byDirectory{table: t, long: map[string]*catalogRow{}}
	for key, r := range t.rows {
		if len(key) > maxKeyName/3 { // each byte has three at most
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

// fits says that a row is of the file that is stored.
func (r *catalogRow) fits(s *storedFile) bool { return !r.gone && r.file == s.file && r.disk == s.disk }

// verify compares the table with the files. It returns false if they do not fit, although nobody said so in between.
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
	// Who changed something meanwhile had said so before.
	for _, r := range c.table.rows {
		if !fitting[r] && !r.look && !r.gone {
			return false, nil
		}
	}
	for _, s := range doubtful {
		if r := c.table.byDirectory().find(s.dir); r != nil && (r.look || r.fits(&s)) {
			continue
		}
		deleted, err := c.directory.isBeingDeleted(s.dir)
		if _, size, err2 := newestFile(c.directory.fs, s.dir); err != nil || err2 != nil || !deleted && size > 0 {
			return false, errors.Join(err, err2)
		}
	}
	return true, nil
}

// build makes the catalog anew. What of the table fits the files is taken from there, unless the system was started
// since.
func (c *catalog) build(ctx context.Context) error {
	fsys := c.directory.fs
	lock, err := fsys.Open(catalogLock, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := waitLock(ctx, lock, lastTryOfTurn); err != nil {
		return err
	}
	info, err := c.directory.readInfo()
	if err != nil {
		return err
	}
	if c.table == nil || !fsys.IsLinked(c.table.file, catalogFile) {
		t, err := c.open()
		if err != nil {
			return err
		}
		if t != nil && t.isComplete(info.ID) && t.boot == fsys.Boot() { // another one made it while the lock was waited for
			c.forget()
			c.table = t
			return nil
		}
		if t != nil {
			t.file.Close()
		}
	}
	old := c.table
	trusted := old != nil && old.isComplete(info.ID) && old.boot == fsys.Boot() && old.boot != ""
	id := randomHex(8)
	zero := int64(0)
	header := &catalogLine{Catalog: id, Store: info.ID, Boot: fsys.Boot(), Building: true}
	// From here on those who write say so in the new catalog, and those who began before look there after it.
	if err := c.replace(header, &catalogLine{Begin: &zero}, nil); err != nil {
		return err
	}
	if old != nil {
		_, _ = old.read() // what was said in the old one until then
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

// isComplete says that the table is of a whole catalog of the store.
func (t *catalogTable) isComplete(store string) bool {
	return t.begun && !t.building && t.store == store
}

// readLogs returns the lines of all sessions, by key. Those of old that fit the files are taken as they are.
func (c *catalog) readLogs(ctx context.Context, old *catalogTable) ([]*catalogLine, error) {
	var rows *byDirectory
	if old != nil {
		rows = old.byDirectory()
	}
	var mu sync.Mutex
	var lines []*catalogLine
	err := c.directory.eachStored(ctx, func(s storedFile) error {
		var l *catalogLine
		if rows != nil {
			if r := rows.find(s.dir); r != nil && !r.look && r.fits(&s) {
				l = r.line()
				l.At = 0
			}
		}
		if l == nil {
			var err error
			if l, err = c.readLog(ctx, s); l == nil || err != nil {
				return err
			}
		}
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, l)
		return nil
	})
	slices.SortFunc(lines, func(a, b *catalogLine) int { return strings.Compare(a.Key, b.Key) })
	return lines, err
}

// readLog returns the line of a session; nil: it is none, or being deleted.
func (c *catalog) readLog(ctx context.Context, s storedFile) (*catalogLine, error) {
	name := logOf(s.file) + logSuffix
	f, err := openToRead(s.in, s.name+"/"+name, maxArchived)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // it changes now, and who changes it says so
	}
	if err != nil {
		return nil, err
	}
	log := &directoryLog{directory: c.directory, dir: s.dir, name: name, file: f}
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

// replace puts a catalog in place with a header, lines and what has to follow them, and reads it. What others say
// meanwhile in the one that is there goes into the new one too, if that is the same catalog.
func (c *catalog) replace(header, begin *catalogLine, rows []*catalogLine) error {
	d := c.directory
	var text []byte
	var err error
	for _, l := range slices.Concat([]*catalogLine{header}, rows, []*catalogLine{begin}) {
		if text, err = l.append(text); err != nil {
			return err
		}
	}
	old := c.table
	goesOn := old != nil && old.id == header.Catalog
	if goesOn {
		since, err := old.linesSince(old.begin)
		if err != nil {
			return err
		}
		text = append(text, since...)
	}
	if err := d.writeFile(catalogFile, text, false); err != nil {
		return err
	}
	f, err := c.openFile()
	if err == nil && f == nil {
		err = errCatalog // somebody removed it
	}
	if err != nil {
		return err
	}
	if goesOn {
		late, err := old.linesSince(old.end())
		if err == nil && len(late) > 0 {
			_, err = f.Write(late)
		}
		old.file.Close()
		if err != nil {
			f.Close()
			return err
		}
	}
	c.table = newCatalogTable(f)
	if err := c.read(); err != nil {
		return err
	}
	c.table.order()
	return nil
}

// linesSince returns the whole lines behind a position, and takes them for read.
func (t *catalogTable) linesSince(at int64) ([]byte, error) {
	size, err := t.file.Size()
	if err != nil {
		return nil, err
	}
	text := make([]byte, size-(at-t.shift))
	if n, err := t.file.ReadAt(text, at-t.shift); n < len(text) {
		return nil, err
	}
	text = text[:strings.LastIndexByte(string(text), '\n')+1]
	t.size = at - t.shift + int64(len(text))
	return text, nil
}

// When the lines that do not count any more are most of the catalog, it is written anew.
const (
	leastCatalog = 4 << 20
	mostStale    = 4 // times what counts
)

// tidy writes the catalog anew, if most of it is out of date. Positions stay.
func (c *catalog) tidy() error {
	t := c.table
	written := t.end() - t.begin
	first := t.size - written
	if written < max(cmp.Or(c.least, leastCatalog), mostStale*first) {
		return nil
	}
	lock, err := c.directory.fs.Open(catalogLock, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if free, err := lock.TryLock(); err != nil || !free {
		return err
	}
	if !c.directory.fs.IsLinked(t.file, catalogFile) {
		return nil
	}
	return c.writeAnew()
}

func (c *catalog) writeAnew() error {
	t := c.table
	rows := make([]*catalogLine, len(t.byKey.rows))
	for i, r := range t.byKey.rows {
		rows[i] = r.line()
	}
	dropped := t.dropped
	for _, change := range t.changes {
		if change.Deleted {
			dropped = change.at
		}
	}
	end := t.end()
	begin := &catalogLine{Begin: &end, Dropped: dropped}
	header := &catalogLine{Catalog: t.id, Store: t.store, Boot: t.boot}
	looks := []*catalogLine{}
	for _, r := range t.looks {
		if r.gone {
			looks = append(looks, &catalogLine{Look: r.key})
		}
	}
	t.begin = end // what was read is in the rows
	return c.replace(header, begin, slices.Concat(rows, looks))
}

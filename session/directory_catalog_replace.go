package session

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"slices"

	"github.com/winnowgo/winnow/session/internal/files"
)

// The catalog is replaced whole: when it is made, and when most of it is out of date.

// replace puts a new file in the place of the catalog, with a header, lines and the line that ends them, and reads it.
// If it has the same id, lines that others append to the old file in the meantime are taken over. The lock of the
// catalog is held.
func (c *catalog) replace(header, begin *catalogLine, rows []*catalogLine) error {
	d := c.directory
	header.Written = randomHex(8)
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
		err := c.takeOver(old, f)
		old.file.Close()
		if err != nil {
			f.Close()
			return err
		}
	}
	c.table = newCatalogTable(f, c.by)
	c.table.verified = true
	if err := c.read(); err != nil {
		return err
	}
	c.table.order()
	return nil
}

// takeOver repeats lines that others appended to the old catalog while it was replaced.
func (c *catalog) takeOver(old *catalogTable, f files.File) error {
	late, err := old.linesSince(old.end())
	if err != nil {
		return err
	}
	var text []byte
	for _, piece := range parseCatalog(late) {
		for i := range piece {
			l := &piece[i].line
			if !piece[i].ok {
				return fmt.Errorf("%w: a line is damaged", errCatalog)
			}
			if key := cmp.Or(l.Look, l.Key, l.Deleted); key != "" {
				if text, err = (&catalogLine{Look: key}).append(text); err != nil {
					return err
				}
			}
		}
	}
	if text, err = (&catalogLine{Whole: true}).append(text); err == nil {
		err = writeWhole(f, text)
	}
	return err
}

// linesSince returns the whole lines after a position, and marks them as read.
func (t *catalogTable) linesSince(at int64) ([]byte, error) {
	size, err := t.file.Size()
	if err != nil {
		return nil, err
	}
	if size < t.size {
		return nil, fmt.Errorf("%w: it could not be written to", errCatalog)
	}
	text := make([]byte, size-(at-t.shift))
	if n, err := t.file.ReadAt(text, at-t.shift); n < len(text) {
		return nil, fmt.Errorf("%w: %w", errCatalog, err)
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	t.size = at - t.shift + int64(len(text))
	return text, nil
}

// When most of the catalog is lines that no longer count, it is rewritten.
const (
	leastCatalog = 4 << 20
	mostStale    = 4 // times the size of the lines that count
)

// tidy rewrites the catalog if most of it is out of date. Positions stay valid. If that fails, a later call tries
// again.
func (c *catalog) tidy() {
	if err := c.tidyUp(); err != nil {
		c.forget()
	}
}

func (c *catalog) tidyUp() error {
	t := c.table
	written := t.end() - t.begin
	first := t.size - written
	if c.least >= 0 && written < max(cmp.Or(c.least, leastCatalog), mostStale*first) {
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
	header := &catalogLine{Catalog: t.id, Store: t.store, Boot: t.boot, After: t.written}
	looks := []*catalogLine{}
	for _, r := range t.looks {
		if r.gone {
			looks = append(looks, &catalogLine{Look: r.key})
		}
	}
	t.begin = end // the rows hold what was read
	return c.replace(header, begin, slices.Concat(rows, looks))
}

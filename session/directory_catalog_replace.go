package session

import (
	"cmp"
	"os"
	"slices"
	"strings"
)

// The catalog is replaced whole: when it is made, and when most of it is out of date.

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
	c.table = newCatalogTable(f, c.by)
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

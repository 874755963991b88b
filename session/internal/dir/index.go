package dir

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/internal/errs"
	"github.com/winnowgo/winnow/session/internal/jsonl"
	"github.com/winnowgo/winnow/session/keys"
)

// index is what this store knows of the sessions in a directory. Nothing of it is on the disk. A look visits the
// directories of all sessions and compares the names and lengths of their newest logs with the rows. The status of a
// session is in its log: a row has only what a list is sorted and filtered by, and is read when a list or the feed
// needs that.
type index struct {
	directory *Directory
	asked     atomic.Int64 // looks that were begun

	mu      sync.Mutex
	looked  [2]int64  // number of the newest look; of the newest one that also read all rows
	at      time.Time // of the newest look
	took    time.Duration
	rows    map[string]*row // by the name of the session's directory
	sorted  map[backend.Order][]*row
	follows bool // somebody follows the feed: each look reads all rows, and tells what changed
	feed    feed

	telling sync.Mutex
	written map[string]bool // directories that this store changed since they were last looked at; nil: too many
	changed chan struct{}   // closed when there is another one; nil: nobody waits
}

// row is a session in the index. Except for look, it is replaced and never changed.
type row struct {
	listed        // without isRead only the key
	file   string // of the newest log, or of its archive
	log    string
	disk   int64 // length of the file
	bytes  int64 // of the log, up to the last line that counts
	isRead bool
	look   int64 // the newest look that found it
}

func newIndex(d *Directory) *index {
	return &index{directory: d, rows: map[string]*row{}, feed: feed{id: randomHex(8)}}
}

// fits reports whether the row still describes what is stored. An unfinished line may be replaced by another one of the
// same length.
func (r *row) fits(s *storedFile) bool {
	isWhole := !r.isRead || r.bytes == r.disk || strings.HasSuffix(r.file, archiveSuffix)
	return r.file == s.file && r.disk == s.disk && r.log == s.marks.idOf(s.file) && isWhole
}

// look makes sure that the rows have everything that was acknowledged before the number asked was taken. With read, all
// rows are read. The lock is held.
func (x *index) look(ctx context.Context, asked int64, read bool) error {
	read = read || x.follows
	if x.looked[0] > asked && !read || x.looked[1] > asked { // somebody else's look began after this call
		return nil
	}
	number, began := x.asked.Add(1), time.Now()
	x.takeWritten()
	var mu sync.Mutex
	var all []glance
	err := x.directory.eachStored(ctx, func(s storedFile) error {
		f, err := x.compare(ctx, x.rows[s.name], &s, read)
		mu.Lock()
		defer mu.Unlock()
		all = append(all, f)
		return err
	})
	if err != nil {
		x.missed()
		return err
	}
	for _, f := range all {
		if f.row != nil {
			f.row.look = number
		} else if old := x.rows[f.name]; old != nil { // it is changing right now: the next look tells
			old.look = number
		}
		x.put(f)
	}
	for name, r := range x.rows {
		if r.look != number {
			x.drop(name)
		}
	}
	x.looked[0] = number
	if read {
		x.looked[1] = number
	}
	x.at, x.took = began, time.Since(began)
	return nil
}

// glance is what a look found in a session's directory.
type glance struct {
	name  string
	row   *row // nil: it is changing right now
	isNew bool // nothing is left of the log of the row before
}

// compare returns the row of a session: old if it fits.
func (x *index) compare(ctx context.Context, old *row, s *storedFile, read bool) (f glance, err error) {
	f = glance{name: s.name}
	if old != nil && old.fits(s) && (old.isRead || !read) {
		f.row = old
		return f, nil
	}
	r := &row{file: strings.Clone(s.file), disk: s.disk}
	r.log = s.marks.idOf(r.file)
	if old != nil {
		r.key = old.key
	} else if r.key, err = x.directory.keyIn(s); r.key == "" || err != nil {
		return f, err
	}
	if read {
		r.listed, r.bytes, err = x.directory.listedIn(ctx, r.key, s)
		if errors.Is(err, errs.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			return f, nil
		}
		if err != nil && !errors.Is(err, errBadArchive) { // which concerns no other session
			return f, err
		}
		r.isRead = true
	}
	f.row, err = r, nil
	if old != nil && old.log != r.log {
		f.isNew, err = x.isGone(s, old.file)
	}
	return f, err
}

// isGone reports whether nothing is left of an older log: the session was deleted, and begun anew.
func (x *index) isGone(s *storedFile, file string) (bool, error) {
	names, err := s.in.List(".")
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	isOf := func(name string) bool { return strings.HasPrefix(name, logOf(file)+logSuffix) }
	return !slices.ContainsFunc(names, isOf), err
}

// put puts a row in the place of the one before, and tells followers.
func (x *index) put(f glance) {
	old := x.rows[f.name]
	if f.row == nil || f.row == old {
		return
	}
	x.rows[f.name], x.sorted = f.row, nil
	if !x.follows {
		return
	}
	r := f.row
	c := backend.Change{Key: r.key, Log: r.log, To: r.bytes}
	if old != nil && old.isRead && old.log == r.log {
		if old.bytes == r.bytes {
			return
		}
		if old.bytes < r.bytes {
			c.From = old.bytes
		}
	}
	if f.isNew {
		x.feed.tell(backend.Change{Key: r.key, Deleted: true})
	}
	x.feed.tell(c)
}

// drop removes the row of a session that is gone.
func (x *index) drop(name string) {
	if r := x.rows[name]; r != nil {
		delete(x.rows, name)
		x.sorted = nil
		if x.follows {
			x.feed.tell(backend.Change{Key: r.key, Deleted: true})
		}
	}
}

// logOf returns the log of a file.
func logOf(file string) string {
	return strings.TrimSuffix(strings.TrimSuffix(file, archiveSuffix), logSuffix)
}

// List implements [backend.Backend]. All pages of one listing share the look of the first one.
func (d *Directory) List(ctx context.Context, q backend.Query) (*backend.Page, error) {
	at := listed{}
	var err error
	at.updated, at.key, err = q.Start()
	if err != nil {
		return nil, err
	}
	rows, err := d.index.ordered(ctx, &q)
	if err != nil {
		return nil, err
	}
	p := &backend.Page{}
	for i := firstOf(&q, rows, &at); i < len(rows); {
		var chosen []*row
		for ; i < len(rows) && len(chosen) < q.Size()-len(p.Sessions); i++ {
			if finds(&q, &rows[i].listed) {
				chosen = append(chosen, rows[i])
			}
		}
		found, err := d.statuses(ctx, chosen)
		if err != nil {
			return nil, err
		}
		p.Sessions = append(p.Sessions, found...)
		if len(p.Sessions) < q.Size() { // some were deleted in the meantime, or the list ends
			continue
		}
		if slices.ContainsFunc(rows[i:], func(r *row) bool { return finds(&q, &r.listed) }) {
			last := chosen[len(chosen)-1]
			p.Next = q.Next(last.updated, last.key)
		}
		break
	}
	return p, nil
}

// listingLasts is how long a listing may take from its first to its last page until it looks again.
const listingLasts = time.Minute

// ordered returns all rows in the order of the query, after a look if it asks for the first page.
func (x *index) ordered(ctx context.Context, q *backend.Query) ([]*row, error) {
	read := q.Order == backend.Newest || !q.Since.IsZero() || !q.Until.IsZero() || q.Pinned != nil || q.Archived != nil
	asked := x.asked.Load()
	x.mu.Lock()
	defer x.mu.Unlock()
	isLater := q.After != "" && time.Since(x.at) < listingLasts && (!read || x.looked[1] == x.looked[0])
	if !isLater {
		if err := x.look(ctx, asked, read); err != nil {
			return nil, err
		}
	}
	if rows, ok := x.sorted[q.Order]; ok {
		return rows, nil
	}
	rows := make([]*row, 0, len(x.rows))
	for _, r := range x.rows {
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b *row) int { return compare(q, &a.listed, &b.listed) })
	if x.sorted == nil {
		x.sorted = map[backend.Order][]*row{}
	}
	x.sorted[q.Order] = rows
	return rows, nil
}

// firstOf returns the index of the first row that the page may have.
func firstOf(q *backend.Query, rows []*row, at *listed) int {
	i, isThere := slices.BinarySearchFunc(rows, at, func(r *row, at *listed) int { return compare(q, &r.listed, at) })
	if q.After == "" {
		return 0
	}
	if isThere {
		i++
	}
	return i
}

// statuses reads the status of each row's session. Those that were deleted in the meantime are left out.
func (d *Directory) statuses(ctx context.Context, rows []*row) ([]backend.Status, error) {
	found := make([]*backend.Status, len(rows))
	err := Each(ctx, d.Readers, len(rows), func(i int) (err error) {
		found[i], err = d.status(ctx, rows[i].key)
		if errors.Is(err, errs.ErrNotFound) {
			err = nil
		}
		return err
	})
	var all []backend.Status
	for _, st := range found {
		if st != nil {
			all = append(all, *st)
		}
	}
	return all, err
}

// status returns the status of a session. Of a damaged archive it says only that.
func (d *Directory) status(ctx context.Context, key string) (st *backend.Status, err error) {
	parent, name := keyDirectory(key)
	err = d.visitAt(parent+"/"+name, func(s storedFile) error {
		log, err := d.openIn(&s)
		if errors.Is(err, errBadArchive) {
			st = &backend.Status{Key: key, Log: log.ID(), Damage: 1}
			return nil
		}
		if err != nil {
			return err
		}
		defer log.Close()
		if st, err = backend.ReadStatus(ctx, key, log); err != nil {
			return err
		}
		st.Open, err = isHeld(s.in, turnName)
		return err
	})
	if err == nil && st == nil || errors.Is(err, fs.ErrNotExist) {
		return nil, errs.ErrNotFound
	}
	return st, err
}

// openIn opens the newest log of the session whose directory is being visited.
func (d *Directory) openIn(s *storedFile) (*directoryLog, error) {
	name := logOf(s.file) + logSuffix
	f, err := openToRead(s.in, name, MaxArchived)
	return &directoryLog{directory: d, dir: s.dir, name: name, file: f, marks: s.marks}, err
}

// listedIn reads what lists need to know of the session whose directory is being visited.
func (d *Directory) listedIn(ctx context.Context, key string, s *storedFile) (listed, int64, error) {
	if strings.HasSuffix(s.file, archiveSuffix) {
		if l, bytes, ok := readComment(s.in, s.file, key); ok {
			return l, bytes, nil
		}
	}
	log, err := d.openIn(s)
	if err != nil {
		return listed{key: key}, 0, err
	}
	defer log.Close()
	return readListed(ctx, key, log)
}

// readListed reads what lists need to know of a session, and how many bytes of its log count.
func readListed(ctx context.Context, key string, log backend.Log) (listed, int64, error) {
	size, err := log.Size()
	if size == 0 || err != nil {
		return listed{}, 0, cmp.Or(err, errs.ErrNotFound)
	}
	t, err := jsonl.NewStatusTail(log, size, true)
	if err == nil {
		var s jsonl.Sides
		if err = t.Sides(&s); err == nil {
			st := backend.Status{Key: key, Updated: t.NewestAt, Info: s.Info}
			return listedOf(&st), size, nil
		}
	}
	st, err := backend.ReadStatus(ctx, key, log)
	if err != nil {
		return listed{}, 0, err
	}
	return listedOf(st), st.Bytes, nil
}

// listed is what ordering and filtering need to know about a session.
type listed struct {
	key              string
	updated          time.Time
	pinned, archived bool
}

func listedOf(s *backend.Status) listed {
	isSet := func(b *bool) bool { return b != nil && *b }
	return listed{s.Key, s.Updated, isSet(s.Info.Pinned), isSet(s.Info.Archived)}
}

// compare orders sessions as the list has them.
func compare(q *backend.Query, a, b *listed) int {
	if q.Order == backend.Newest {
		if c := b.updated.Compare(a.updated); c != 0 {
			return c
		}
	}
	return cmp.Compare(a.key, b.key)
}

// finds reports whether the query selects a session.
func finds(q *backend.Query, l *listed) bool {
	switch {
	case !strings.HasPrefix(l.key, q.Prefix),
		len(q.Types) > 0 && !slices.Contains(q.Types, keys.TypeOf(l.key)),
		l.updated.Before(q.Since),
		!q.Until.IsZero() && !l.updated.Before(q.Until):
		return false
	}
	return (q.Pinned == nil || *q.Pinned == l.pinned) && (q.Archived == nil || *q.Archived == l.archived)
}

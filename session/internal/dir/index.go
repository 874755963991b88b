package dir

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sort"
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
	looked  int64     // number of the newest look
	isRead  bool      // it also read all rows
	at      time.Time // when it began
	took    time.Duration
	rows    map[string]*row // by the session's directory
	sorted  map[backend.Order][]*row
	follows bool // somebody follows the feed: each look reads all rows, and tells what changed
	feed    feed

	telling sync.Mutex
	written map[string]bool // directories that this store changed since they were last looked at; nil: too many
	changed chan struct{}   // closed when there is another one; nil: nobody waits
}

// row is a session in the index. It is replaced and never changed.
type row struct {
	listed        // without isRead only the key
	file   string // of the newest log, or of its archive
	log    string
	disk   int64 // length of the file
	isRead bool
}

func newIndex(d *Directory) *index {
	return &index{directory: d, rows: map[string]*row{}, feed: feed{id: randomHex(8)}}
}

// fits reports whether the row still describes what is stored. An unfinished line may be replaced by another one of the
// same length.
func (r *row) fits(s *stored) bool {
	isWhole := !r.isRead || r.Bytes == r.disk || strings.HasSuffix(r.file, archiveSuffix)
	return r.file == s.file && r.disk == s.disk && r.log == s.marks.idOf(s.file) && isWhole
}

// look makes sure that the rows have everything that was acknowledged before the number asked was taken. With read, all
// rows are read. The lock is held.
func (x *index) look(ctx context.Context, asked int64, read bool) error {
	read = read || x.follows
	if x.looked > asked && (x.isRead || !read) { // somebody else's look began after this call
		return nil
	}
	number, began := x.asked.Add(1), time.Now()
	x.takeWritten()
	var mu sync.Mutex
	var all []glance
	err := x.directory.eachStored(ctx, func(s *stored) error {
		f, err := x.compare(ctx, s, read)
		mu.Lock()
		defer mu.Unlock()
		all = append(all, f)
		return err
	})
	if err != nil {
		x.missed()
		return err
	}
	seen := make(map[string]bool, len(all))
	for _, f := range all {
		seen[f.dir] = true
		x.put(f)
	}
	for dir := range x.rows {
		if !seen[dir] {
			x.drop(dir)
		}
	}
	x.looked, x.isRead, x.at, x.took = number, read, began, time.Since(began)
	return nil
}

// glance is what a look found in a session's directory.
type glance struct {
	dir   string
	row   *row // nil: it is changing right now, and the next look tells
	isNew bool // nothing is left of the log of the row before
}

// compare returns the row of a session: the one before if it fits.
func (x *index) compare(ctx context.Context, s *stored, read bool) (f glance, err error) {
	old := x.rows[s.dir]
	f = glance{dir: s.dir}
	if old != nil && old.fits(s) && (old.isRead || !read) {
		f.row = old
		return f, nil
	}
	r := &row{file: strings.Clone(s.file), disk: s.disk}
	r.log = s.marks.idOf(r.file)
	if old != nil {
		r.key = old.key
	} else if r.key, err = s.key(); r.key == "" || err != nil {
		return f, err
	}
	if read {
		r.listed, err = s.listed(ctx, r.key)
		if errors.Is(err, errs.ErrNotFound) {
			return f, nil
		}
		if err != nil && !errors.Is(err, errBadArchive) { // which concerns no other session
			return f, err
		}
		r.isRead = true
	}
	f.row = r
	if old == nil || old.log == r.log {
		return f, nil
	}
	names, err := s.names()
	isOfOld := func(name string) bool { return strings.HasPrefix(name, logOf(old.file)+logSuffix) }
	f.isNew = !slices.ContainsFunc(names, isOfOld) // it was deleted, and begun anew
	return f, err
}

// put puts a row in the place of the one before, and tells followers.
func (x *index) put(f glance) {
	old := x.rows[f.dir]
	if f.row == nil || f.row == old {
		return
	}
	x.rows[f.dir], x.sorted = f.row, nil
	if !x.follows {
		return
	}
	r := f.row
	c := backend.Change{Key: r.key, Log: r.log, To: r.Bytes}
	if old != nil && old.isRead && old.log == r.log {
		if old.Bytes == r.Bytes {
			return
		}
		if old.Bytes < r.Bytes {
			c.From = old.Bytes
		}
	}
	if f.isNew {
		x.feed.tell(backend.Change{Key: r.key, Deleted: true})
	}
	x.feed.tell(c)
}

// drop removes the row of a session that is gone.
func (x *index) drop(dir string) {
	if r := x.rows[dir]; r != nil {
		delete(x.rows, dir)
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
	var at listed
	var err error
	if at.Updated, at.key, err = q.Start(); err != nil {
		return nil, err
	}
	rows, err := d.index.ordered(ctx, &q)
	if err != nil {
		return nil, err
	}
	isAfter := func(i int) bool { return q.After == "" || compare(&q, &rows[i].listed, &at) > 0 }
	p := &backend.Page{}
	var page []*row
	for _, r := range rows[sort.Search(len(rows), isAfter):] {
		if !finds(&q, &r.listed) {
			continue
		}
		if n := len(page); n == q.Size() {
			p.Next = q.Next(page[n-1].Updated, page[n-1].key)
			break
		}
		page = append(page, r)
	}
	p.Sessions, err = d.statuses(ctx, page)
	return p, err
}

// listingLasts is how long a listing may take from its first to its last page until it looks again.
const listingLasts = time.Minute

// ordered returns all rows in the order of the query, after a look if it asks for the first page.
func (x *index) ordered(ctx context.Context, q *backend.Query) ([]*row, error) {
	read := q.Order == backend.Newest || !q.Since.IsZero() || !q.Until.IsZero() || q.Pinned != nil || q.Archived != nil
	asked := x.asked.Load()
	x.mu.Lock()
	defer x.mu.Unlock()
	isLater := q.After != "" && time.Since(x.at) < listingLasts && (x.isRead || !read)
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

// statuses reads the status of each row's session. Those that were deleted in the meantime are left out.
func (d *Directory) statuses(ctx context.Context, rows []*row) ([]backend.Status, error) {
	found := make([]*backend.Status, len(rows))
	err := Each(ctx, d.Readers, len(rows), func(i int) (err error) {
		found[i], err = d.status(ctx, rows[i].key)
		return unless(err, errs.ErrNotFound)
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
	err = d.read(key, func(s *stored) error {
		log, err := s.openNewest()
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
		st.Open, err = s.isHeld()
		return err
	})
	return st, err
}

// listed reads what lists need to know of a session.
func (s *stored) listed(ctx context.Context, key string) (listed, error) {
	if strings.HasSuffix(s.file, archiveSuffix) {
		if l, ok := readComment(s, s.file, key); ok {
			return l, nil
		}
	}
	log, err := s.open(s.file, MaxArchived)
	if err != nil {
		return listed{key: key}, err
	}
	defer log.Close()
	return readListed(ctx, key, log)
}

// readListed reads what lists need to know of a session.
func readListed(ctx context.Context, key string, log backend.Log) (listed, error) {
	l, err := jsonl.ReadInfo(ctx, log, nil)
	if err == nil && l.Size == 0 {
		err = errs.ErrNotFound
	}
	if err != nil {
		return listed{}, err
	}
	isSet := func(b *bool) bool { return b != nil && *b }
	return listed{key, l.Valid, l.Newest.Time, isSet(l.Info.Pinned), isSet(l.Info.Archived)}, nil
}

// listed is what lists need to know about a session. An archive has it in its comment.
type listed struct {
	key      string
	Bytes    int64     `json:"bytes"` // of the log, up to the last line that counts
	Updated  time.Time `json:"updated,omitzero"`
	Pinned   bool      `json:"pinned,omitempty"`
	Archived bool      `json:"archived,omitempty"`
}

// compare orders sessions as the list has them.
func compare(q *backend.Query, a, b *listed) int {
	if q.Order == backend.Newest {
		if c := b.Updated.Compare(a.Updated); c != 0 {
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
		l.Updated.Before(q.Since),
		!q.Until.IsZero() && !l.Updated.Before(q.Until):
		return false
	}
	return (q.Pinned == nil || *q.Pinned == l.Pinned) && (q.Archived == nil || *q.Archived == l.Archived)
}

package session

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"
)

// settleAfter is how long a session without a holder of the turn is looked into before a line marks it as closed: its
// process was killed, or an entry was written beside its branch.
const settleAfter = time.Second

// lookAround looks into the logs of the sessions that may have changed, and records what did. It looks into each one
// once: what is written from here on is for the next call.
func (c *catalog) lookAround(ctx context.Context) error {
	const tries = 10 // several may look at the same time, and an older look may be recorded after a newer one
	if err := c.read(); err != nil {
		return err
	}
	for range tries {
		c.table.outdated = false
		if err := c.lookOnce(ctx); err != nil || !c.table.outdated {
			return err
		}
	}
	return nil
}

func (c *catalog) lookOnce(ctx context.Context) error {
	var lines []byte
	for _, r := range c.table.looks {
		if !c.takeWritten(r) {
			continue
		}
		l, err := c.look(ctx, r)
		if err != nil {
			return err
		}
		if l == nil {
			continue
		}
		l.Seen = c.table.end()
		if lines, err = l.append(lines); err != nil {
			return err
		}
	}
	if len(lines) == 0 {
		return nil
	}
	if err := c.write(lines); err != nil {
		return err
	}
	return c.read()
}

// takeWritten reports whether something may have been written to a session since the last look. If this store has the
// turn and no other writer has announced itself, it knows.
func (c *catalog) takeWritten(r *catalogRow) bool {
	c.listening.Lock()
	defer c.listening.Unlock()
	written, isOurs := c.written[r.key]
	if !isOurs || r.others {
		return true
	}
	c.written[r.key] = false
	return written
}

// untake marks all sessions whose turn this store has as written to: the results of earlier looks are lost.
func (c *catalog) untake() {
	c.listening.Lock()
	defer c.listening.Unlock()
	for key := range c.written {
		c.written[key] = true
	}
}

func (c *catalog) isOurs(key string) bool {
	c.listening.Lock()
	defer c.listening.Unlock()
	_, ok := c.written[key]
	return ok
}

// look looks into the log of a session. It returns a line with what changed, nil if nothing did.
func (c *catalog) look(ctx context.Context, r *catalogRow) (*catalogLine, error) {
	d := c.directory
	parent, name := keyDirectory(r.key)
	dir := parent + "/" + name
	file, size, err := newestFile(d.fs, dir)
	if err != nil {
		return nil, err
	}
	var marks lockMarks
	if file != "" {
		if marks, err = d.marks(dir); err != nil {
			return nil, err
		}
		if marks.isDeleted() {
			file = ""
		}
	}
	switch {
	case file == "" && r.gone:
		return c.settleGone(r, dir)
	case file == "":
		return &catalogLine{Deleted: r.key, Open: true}, nil
	case r.fits(&storedFile{file: file, disk: size, marks: marks}):
		return c.settle(ctx, r, dir)
	}
	r.changed = time.Now()
	st, read, err := c.statusOf(ctx, r)
	if errors.Is(err, ErrNotFound) { // deleted in between, or half written: the next look will tell
		c.lookAgain(r.key)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	again, size, err := newestFile(d.fs, dir)
	if err != nil || again != file || marks.idOf(file) != st.Log { // it is changing right now
		c.lookAgain(r.key)
		return nil, err
	}
	if isArchive := strings.HasSuffix(file, archiveSuffix); !isArchive {
		size = read // the rest was not counted
	}
	return statusLine(st, file, size, true)
}

// logOf returns the log of a file.
func logOf(file string) string {
	return strings.TrimSuffix(strings.TrimSuffix(file, archiveSuffix), logSuffix)
}

// statusOf returns the status of a session, and how long the log was. If possible it updates the row's status with what
// was written since.
func (c *catalog) statusOf(ctx context.Context, r *catalogRow) (st *Status, size int64, err error) {
	log, err := c.directory.Log(ctx, r.key, false)
	if err != nil {
		return nil, 0, err
	}
	defer log.Close()
	if size, err = log.Size(); err != nil {
		return nil, 0, err
	}
	if !r.gone && log.ID() == r.log && r.bytes < size {
		st, err := r.decode()
		if err == nil && st.goOn(ctx, log, size) {
			return &st, size, nil
		}
	}
	st, err = readStatusOf(ctx, r.key, log, size)
	return st, size, err
}

// goOn adds the part of the log after the one that the status covers. It returns false if that part is not all in
// order. An unfinished line or batch is left for later.
func (s *Status) goOn(ctx context.Context, log Log, size int64) bool {
	scan := newScanner(log, size)
	scan.from, scan.valid = s.Bytes, s.Bytes
	err := scan.scan(ctx, func(l *line) error {
		s.addLine(l)
		return nil
	})
	for _, d := range scan.damage {
		if d.Offset < scan.valid {
			return false
		}
	}
	s.Bytes = scan.valid
	return err == nil
}

// isDue reports whether the session was quiet for a while since its last change, or since it was last due.
func (r *catalogRow) isDue() bool {
	due := !r.changed.IsZero() && time.Since(r.changed) >= settleAfter
	if due || r.changed.IsZero() {
		r.changed = time.Now()
	}
	return due
}

// settleGone records that a session does not exist, unless somebody is creating it.
func (c *catalog) settleGone(r *catalogRow, dir string) (*catalogLine, error) {
	if !r.isDue() {
		return nil, nil
	}
	d := c.directory
	lock, err := d.fs.Open(dir+"/"+lockName, os.O_RDWR, 0)
	if err == nil {
		defer lock.Close()
		free, err := lock.TryLock()
		if err != nil || !free || !d.fs.IsLinked(lock, dir+"/"+lockName) {
			return nil, err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if file, _, err := newestFile(d.fs, dir); err != nil || file != "" {
		return nil, err
	}
	// Whoever creates or takes the lock from here on announces that after the part that was read.
	text, err := (&catalogLine{Deleted: r.key, Seen: c.table.end()}).append(nil)
	if err != nil {
		return nil, err
	}
	return nil, c.write(text)
}

// settle records that a session is closed, if nobody has worked on it for a while and the row fits its files.
func (c *catalog) settle(ctx context.Context, r *catalogRow, dir string) (*catalogLine, error) {
	if !r.isDue() {
		return nil, nil
	}
	d := c.directory
	held, err := d.IsHeld(ctx, r.key)
	if err != nil || held {
		return nil, err
	}
	lock, err := d.fs.Open(dir+"/"+lockName, os.O_RDWR, 0)
	if err != nil {
		return nil, nil
	}
	defer lock.Close()
	free, err := lock.TryLock()
	if err != nil || !free || !d.fs.IsLinked(lock, dir+"/"+lockName) {
		return nil, err
	}
	// Whoever takes the turn now announces it in the catalog before an append, and appends under this lock.
	deleted, err := isDeleted(lock)
	if held, err2 := d.IsHeld(ctx, r.key); err != nil || err2 != nil || deleted || held {
		return nil, errors.Join(err, err2)
	}
	file, size, err := newestFile(d.fs, dir)
	if err != nil || file != r.file || size != r.disk {
		return nil, err
	}
	l := r.line()
	l.Open, l.At = false, 0
	text, err := l.append(nil)
	if err != nil {
		return nil, err
	}
	return nil, c.write(text)
}

// keep records that a session is closed, with its status. The holder of the turn calls it after the last append.
func (l *directoryLog) keep(st *Status) {
	if l.announced == nil || !l.ofTurn || l.dead != nil || l.file == nil {
		return
	}
	free, err := l.lock.TryLock()
	if err != nil || !free { // somebody is writing beside the branch
		return
	}
	defer l.lock.Unlock()
	size, err := l.file.Size()
	if err != nil || size != st.Bytes || l.checkCurrent() != nil {
		return
	}
	if line, err := statusLine(st, l.name, size, false); err == nil {
		l.directory.catalog.note(line)
	}
}

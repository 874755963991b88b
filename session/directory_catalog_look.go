package session

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"
)

// settleAfter is how long a session is looked into that nobody has the turn of, before a line says that it is closed:
// its process was killed, or an entry was written beside its branch.
const settleAfter = time.Second

// lookAround looks into the logs of the sessions that may be at work, and writes down what changed. Each is looked
// into once: what is written from here on is for the next call.
func (c *catalog) lookAround(ctx context.Context) error {
	const tries = 10 // others may look at the same time, and write that down later than others that looked later
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

// takeWritten says that something may have been written to a session since the last look. Of those whose turn is taken
// here that is known, as long as nobody else said that he writes.
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

// untake has all sessions whose turn is taken here looked into again: what was found in them is not known any more.
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

// look looks into the log of a session. It returns the line that says what changed, nil if nothing did.
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
	if errors.Is(err, ErrNotFound) { // deleted in between, or not written whole: the next look tells
		c.lookAgain(r.key)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	again, size, err := newestFile(d.fs, dir)
	if err != nil || again != file || marks.idOf(file) != st.Log { // it changes while it is looked at
		c.lookAgain(r.key)
		return nil, err
	}
	if isArchive := strings.HasSuffix(file, archiveSuffix); !isArchive {
		size = read // what came since was not counted
	}
	return statusLine(st, file, size, true)
}

// logOf returns the log that a file is of.
func logOf(file string) string {
	return strings.TrimSuffix(strings.TrimSuffix(file, archiveSuffix), logSuffix)
}

// statusOf returns the status of a session, that of the row with what was written since where that is in order, and
// how long the log was.
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

// goOn adds what lies behind the part of the log that the status is of. It returns false where that is not all in
// order; what is not whole yet is left for later.
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

// isDue says that nothing happened for a while since something changed, or since it was due the last time.
func (r *catalogRow) isDue() bool {
	due := !r.changed.IsZero() && time.Since(r.changed) >= settleAfter
	if due || r.changed.IsZero() {
		r.changed = time.Now()
	}
	return due
}

// settleGone says that there is no session, if nobody is at making one.
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
	// Who makes the lock from here on, or takes it, says so behind what was read.
	text, err := (&catalogLine{Deleted: r.key, Seen: c.table.end()}).append(nil)
	if err != nil {
		return nil, err
	}
	return nil, c.write(text)
}

// settle says that a session is closed, if nobody is at it for a while and it is as the row says.
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
	// Who takes the turn now says so in the catalog before an append, and appends under this lock.
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

// keep says that a session is closed, and what it adds up to. Who has the turn calls it behind the last append.
func (l *directoryLog) keep(st *Status) {
	if l.announced == nil || !l.ofTurn || l.dead != nil || l.file == nil {
		return
	}
	free, err := l.lock.TryLock()
	if err != nil || !free { // somebody writes beside the branch
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

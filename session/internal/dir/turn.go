package dir

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/internal/errs"
	"github.com/winnowgo/winnow/session/internal/files"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// directoryTurn is the kernel's lock on turn.lock. It ends with the process, so it is never stale.
type directoryTurn struct {
	directory *Directory
	key, name string
	file      files.File
	once      sync.Once
}

// holder is the text in turn.lock.
type holder struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
}

// Turn implements [backend.Backend].
func (d *Directory) Turn(ctx context.Context, key string) (backend.Turn, error) {
	if err := backend.CheckKey(key); err != nil {
		return nil, err
	}
	if err := d.queues.Enter(ctx, key); err != nil {
		return nil, &backend.BusyError{Cause: err}
	}
	t, err := d.waitTurn(ctx, key)
	for errors.Is(err, errs.ErrDeleted) && ctx.Err() == nil {
		t, err = d.waitTurn(ctx, key)
	}
	if err == nil {
		return t, nil
	}
	d.queues.Leave(key)
	if ctx.Err() != nil {
		err = d.busy(key, context.Cause(ctx))
	}
	return nil, err
}

// waitTurn waits for the turn of the current session. The error is ErrDeleted if that was deleted in the meantime.
func (d *Directory) waitTurn(ctx context.Context, key string) (*directoryTurn, error) {
	dir, err := d.sessionDir(key, true)
	if err != nil {
		return nil, err
	}
	line := waitingLine{directory: d, name: dir + "/" + nextName}
	defer line.leave()
	if err := line.enter(ctx, 0); err != nil {
		return nil, err
	}
	t := &directoryTurn{directory: d, key: key, name: dir + "/" + turnName}
	t.file, err = d.fs.Open(t.name, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		err = errs.ErrDeleted
	}
	if err != nil {
		return nil, err
	}
	ok, err := t.file.TryLock()
	if !ok && err == nil {
		if err = line.enter(ctx, os.O_CREATE); err == nil {
			err = waitLock(ctx, t.file, lastTryOfTurn)
		}
	}
	if err == nil {
		err = t.Check()
	}
	if err != nil {
		t.file.Close()
		return nil, err
	}
	d.sign(t.file)
	return t, nil
}

// waitingLine is the lock on turn.next. The process that gets the next turn holds it. Without it, a process whose
// goroutines hand the turn to one another would starve other processes, which try the lock only now and then. The first
// process that has to wait creates the file.
type waitingLine struct {
	directory *Directory
	name      string
	file      files.File // nil: nobody has waited yet, or not entered
}

// enter waits until nobody else is next. Without [os.O_CREATE], a missing file means that nobody is in line; with it,
// the error is ErrDeleted if the session was deleted in the meantime.
func (w *waitingLine) enter(ctx context.Context, flag int) (err error) {
	if w.file != nil {
		return nil
	}
	w.file, err = w.directory.lock(ctx, w.name, flag, lastTryOfTurn)
	if flag == 0 {
		err = unless(err, errs.ErrDeleted)
	}
	return err
}

func (w *waitingLine) leave() {
	if w.file != nil {
		w.file.Close() // releases the lock
	}
}

// sign writes the holder into the lock. It ignores errors, because nothing depends on the text.
func (d *Directory) sign(f files.File) {
	host, _ := os.Hostname()
	text, err := json.Marshal(holder{os.Getpid(), host, d.now().UTC()})
	if err != nil || f.Truncate(0) != nil {
		return
	}
	_, _ = f.Write(text)
}

func (d *Directory) busy(key string, cause error) error {
	busy := &backend.BusyError{Cause: cause}
	var h holder
	if text, err := d.readFile(keyDirectory(key) + "/" + turnName); err == nil && json.Unmarshal(text, &h) == nil {
		busy.PID, busy.Host, busy.Since = h.PID, h.Host, h.Since
	}
	return busy
}

func (t *directoryTurn) Log(ctx context.Context) (backend.Log, error) {
	return t.directory.Log(ctx, t.key, true)
}

func (t *directoryTurn) Check() error {
	if !t.directory.fs.IsLinked(t.file, t.name) {
		return errs.ErrDeleted
	}
	return nil
}

func (t *directoryTurn) Release() (err error) {
	t.once.Do(func() {
		err = t.file.Close()
		t.directory.queues.Leave(t.key)
	})
	return err
}

// How often a lock is tried that another process holds: first after firstTry, then less and less often. The lock of an
// append is held for microseconds, that of a turn for as long as a model takes.
const (
	firstTry        = 50 * time.Microsecond
	lastTryOfAppend = time.Millisecond
	lastTryOfTurn   = 5 * time.Millisecond
)

// lock opens a file and takes the kernel's lock on it. The error is ErrDeleted if there is none, or if another one has
// taken its name meanwhile.
func (d *Directory) lock(ctx context.Context, name string, flag int, last time.Duration) (files.File, error) {
	f, err := d.fs.Open(name, os.O_RDWR|flag, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errs.ErrDeleted
	}
	if err != nil {
		return nil, err
	}
	if err = waitLock(ctx, f, last); err == nil && !d.fs.IsLinked(f, name) {
		err = errs.ErrDeleted
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// waitLock takes the kernel's lock on f, or returns the cause of ctx. The kernel has no call that waits for both a lock
// and a context, so waitLock tries the lock repeatedly, with pauses of at most last.
func waitLock(ctx context.Context, f files.File, last time.Duration) error {
	for pause := firstTry; ; pause = min(2*pause, last) {
		ok, err := f.TryLock()
		if ok || err != nil {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// lockMarks is the text of a log.lock. It is empty for nearly all sessions, and only grows: when a log is replaced
// (nextByte) or rewritten (a rewriteByte and the checksum of its name), or the session is deleted (deletedByte).
type lockMarks []byte

const (
	deletedByte = 'd'
	nextByte    = '.'
	rewriteByte = 'W'
)

func readMarks(lock io.ReaderAt) (lockMarks, error) { return io.ReadAll(textOf(lock)) }

// readMarks reads the log.lock of a session. It asks for the length first, because that is cheaper than opening a file,
// and nearly all are empty.
func (s *stored) readMarks() (lockMarks, error) {
	size, err := s.SizeOf(lockName)
	if size > 0 {
		var f files.File
		if f, err = s.Open(lockName, os.O_RDONLY, 0); err == nil {
			defer f.Close()
			return readMarks(f)
		}
	}
	return nil, unless(err, fs.ErrNotExist, files.ErrLink)
}

// isDeleted reports whether the session is deleted.
func (m lockMarks) isDeleted() bool { return bytes.IndexByte(m, deletedByte) >= 0 }

// idOf returns the [backend.Log.ID] of a log, by the name of its file, its archive, or a file beside it. A rewrite
// changes the ID but not the name.
func (m lockMarks) idOf(file string) string {
	name, _, _ := strings.Cut(file, logSuffix)
	if len(m) == 0 {
		return name
	}
	if n := bytes.Count(m, rewriteMark(file)); n > 0 {
		return fmt.Sprintf("%s-r%d", name, n)
	}
	return name
}

// rewriteMark is what a rewrite of a log appends to the lock. It never holds a deletedByte.
func rewriteMark(file string) []byte {
	name, _, _ := strings.Cut(file, logSuffix)
	return fmt.Appendf(nil, "%c%08X", rewriteByte, crc32.Checksum([]byte(name), jsonl.Castagnoli))
}

package session

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/winnowgo/winnow/session/internal/files"
)

// directoryTurn is the kernel's lock on turn.lock. It ends with the process, so it is never stale.
type directoryTurn struct {
	directory *directory
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

// Turn implements [Backend].
func (d *directory) Turn(ctx context.Context, key string) (Turn, error) {
	if err := CheckKey(key); err != nil {
		return nil, err
	}
	if err := d.queues.Enter(ctx, key); err != nil {
		return nil, &BusyError{Cause: err}
	}
	t, err := d.lockTurn(ctx, key)
	if err != nil {
		d.queues.Leave(key)
		return nil, err
	}
	return t, nil
}

func (d *directory) lockTurn(ctx context.Context, key string) (*directoryTurn, error) {
	for {
		t, err := d.waitTurn(ctx, key)
		if err != nil && ctx.Err() != nil {
			return nil, d.busy(key, context.Cause(ctx))
		}
		if t != nil || err != nil {
			return t, err
		}
		if ctx.Err() != nil {
			return nil, d.busy(key, context.Cause(ctx))
		}
	}
}

// waitTurn waits for the turn of the current session. It returns nil if that was deleted in the meantime.
func (d *directory) waitTurn(ctx context.Context, key string) (*directoryTurn, error) {
	dir, err := d.sessionDir(key, true)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	line := waitingLine{directory: d, name: dir + "/" + nextName}
	defer line.leave()
	if linked, err := line.enter(ctx, false); !linked || err != nil {
		return nil, err
	}
	name := dir + "/" + turnName
	f, err := d.fs.Open(name, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ok, err := f.TryLock()
	if !ok && err == nil {
		if ok, err = line.enter(ctx, true); ok && err == nil {
			err = waitLock(ctx, f, lastTryOfTurn)
		}
	}
	if !ok || err != nil || !d.fs.IsLinked(f, name) {
		f.Close()
		return nil, err
	}
	d.sign(f)
	return &directoryTurn{directory: d, key: key, name: name, file: f}, nil
}

// waitingLine is the lock on turn.next. The process that gets the next turn holds it. Without it, a process whose
// goroutines hand the turn to one another would starve other processes, which try the lock only now and then. The first
// process that has to wait creates the file.
type waitingLine struct {
	directory *directory
	name      string
	file      files.File // nil: nobody has waited yet, or not entered
}

// enter waits until nobody else is next. linked is false if the session was deleted in the meantime. Without create, a
// missing file means that nobody is in line.
func (w *waitingLine) enter(ctx context.Context, create bool) (linked bool, err error) {
	if w.file != nil {
		return true, nil
	}
	flag := os.O_RDWR
	if create {
		flag |= os.O_CREATE
	}
	w.file, err = w.directory.fs.Open(w.name, flag, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return !create, nil
	}
	if err == nil {
		err = waitLock(ctx, w.file, lastTryOfTurn)
	}
	return err == nil && w.directory.fs.IsLinked(w.file, w.name), err
}

func (w *waitingLine) leave() {
	if w.file != nil {
		w.file.Close() // releases the lock
	}
}

// sign writes the holder into the lock. It ignores errors, because nothing depends on the text.
func (d *directory) sign(f files.File) {
	host, _ := os.Hostname()
	text, err := json.Marshal(holder{os.Getpid(), host, d.now().UTC()})
	if err != nil || f.Truncate(0) != nil {
		return
	}
	_, _ = f.Write(text)
}

func (d *directory) busy(key string, cause error) error {
	busy := &BusyError{Cause: cause}
	parent, name := keyDirectory(key)
	var h holder
	if text, err := d.readFile(parent + "/" + name + "/" + turnName); err == nil && json.Unmarshal(text, &h) == nil {
		busy.PID, busy.Host, busy.Since = h.PID, h.Host, h.Since
	}
	return busy
}

func (t *directoryTurn) Log(ctx context.Context) (Log, error) {
	return t.directory.Log(ctx, t.key, true)
}

func (t *directoryTurn) Check() error {
	if !t.directory.fs.IsLinked(t.file, t.name) {
		return ErrDeleted
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

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

// directoryTurn is the lock of the kernel on turn.lock. It is gone with the process, so that none is ever stale.
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

// How often the lock of another process is tried. There is no call that waits for it and for a context.
const (
	firstTry = 200 * time.Microsecond
	lastTry  = 5 * time.Millisecond
)

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
	pause := firstTry
	for {
		t, err := d.tryTurn(key)
		if t != nil || err != nil {
			return t, err
		}
		select {
		case <-time.After(pause):
			pause = min(2*pause, lastTry)
		case <-ctx.Done():
			return nil, d.busy(key, context.Cause(ctx))
		}
	}
}

// tryTurn returns nil if another process has the turn.
func (d *directory) tryTurn(key string) (*directoryTurn, error) {
	for {
		dir, err := d.sessionDir(key, true)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) { // deleted in between
				continue
			}
			return nil, err
		}
		name := dir + "/" + turnName
		f, err := d.fs.Open(name, os.O_RDWR|os.O_CREATE, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		ok, err := f.TryLock()
		if !ok || err != nil {
			f.Close()
			return nil, err
		}
		if d.fs.IsLinked(f, name) {
			d.sign(f)
			return &directoryTurn{directory: d, key: key, name: name, file: f}, nil
		}
		f.Close()
	}
}

// sign leaves in the lock who has it. That it cannot is no reason to fail: nothing depends on it.
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

// Package dir keeps logs in a directory: it is the [backend.Backend] on a file system.
package dir

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/internal/errs"
	"github.com/winnowgo/winnow/session/internal/files"
	"github.com/winnowgo/winnow/session/internal/jsonl"
	"github.com/winnowgo/winnow/session/internal/queue"
)

// The page on-disk.md says what each file is for.

const (
	storeFile  = "winnow.json"
	logSuffix  = ".jsonl"
	turnName   = "turn.lock"
	nextName   = "turn.next"
	lockName   = "log.lock"
	failedMark = ".failed"
	tempSuffix = ".tmp" // an unfinished file

	// A byte of a key takes up to 6 bytes of JSON, and the header of a fork has two keys.
	LongestHeader = 2*6*jsonl.MaxKey + 1024
)

// Directory is the [backend.Backend] on a file system.
type Directory struct {
	fs      files.FS
	closed  atomic.Bool
	queues  queue.Queues
	now     func() time.Time
	Readers int  // number of logs read at once
	IsAlone bool // no other process can change anything
	index   *index
	durable durableNames
}

// Open opens or creates a store in fsys.
func Open(fsys files.FS, now func() time.Time) (*Directory, error) {
	d := &Directory{fs: fsys, now: now}
	d.Readers = 2 * runtime.GOMAXPROCS(0) // some of them wait for the disk
	d.index = newIndex(d)
	err := d.checkFormat()
	if errors.Is(err, fs.ErrNotExist) {
		err = d.create()
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

type storeInfo struct {
	Format int    `json:"format"`
	ID     string `json:"id"`
}

func (d *Directory) checkFormat() error {
	text, err := d.readFile(storeFile)
	var info storeInfo
	if err == nil && (json.Unmarshal(text, &info) != nil || info.Format != jsonl.FormatVersion) {
		err = fmt.Errorf("%w: %s is not of format %d", errs.ErrFormat, storeFile, jsonl.FormatVersion)
	}
	return err
}

// create makes a store in a directory without foreign files.
func (d *Directory) create() error {
	names, err := d.fs.List(".")
	if err != nil {
		return err
	}
	for _, name := range names {
		if name != "s" && !strings.HasPrefix(name, storeFile) {
			return fmt.Errorf("%w: the directory has %q in it, and no %s", errs.ErrFormat, name, storeFile)
		}
	}
	text, err := json.Marshal(storeInfo{jsonl.FormatVersion, randomHex(16)})
	if err != nil {
		return err
	}
	if err := unless(d.fs.Mkdir("s", 0o700), fs.ErrExist); err != nil {
		return err
	}
	return d.writeFrom(storeFile, bytes.NewReader(append(text, '\n')), true)
}

func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

func (d *Directory) readFile(name string) ([]byte, error) {
	f, err := d.fs.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(textOf(f))
}

// textOf returns a reader of a file from its beginning to its end.
func textOf(f io.ReaderAt) io.Reader { return io.NewSectionReader(f, 0, math.MaxInt64) }

// writeFrom writes a file atomically. With durable the file survives a power loss.
func (d *Directory) writeFrom(name string, text io.Reader, durable bool) error {
	return d.writeBy(name, durable, func(f files.File) error {
		_, err := io.Copy(f, text)
		return err
	})
}

// writeBy is writeFrom for the text that write produces.
func (d *Directory) writeBy(name string, durable bool, write func(files.File) error) error {
	temp := name + "." + randomHex(4) + tempSuffix
	f, err := d.fs.Open(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil && durable {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = d.fs.Rename(temp, name)
	}
	if err != nil {
		_ = d.fs.Remove(temp) // err says it already
		return err
	}
	if durable {
		return d.fs.SyncDir(path.Dir(name))
	}
	return nil
}

// unless returns err, or nil if it is one of those that are expected.
func unless(err error, expected ...error) error {
	if slices.ContainsFunc(expected, func(e error) bool { return errors.Is(err, e) }) {
		return nil
	}
	return err
}

// locate returns where the directory of a key is.
func (d *Directory) locate(key string) (string, error) {
	if d.closed.Load() {
		return "", errs.ErrClosed
	}
	return keyDirectory(key), backend.CheckKey(key)
}

// sessionDir returns the directory of a key. If it does not exist it is created with create, else the result is "". The
// error is ErrDeleted if it was removed in the meantime.
func (d *Directory) sessionDir(key string, create bool) (string, error) {
	dir, err := d.locate(key)
	if err != nil {
		return "", err
	}
	in, err := d.fs.Sub(dir)
	if err == nil {
		return dir, in.Close()
	}
	if err = unless(err, fs.ErrNotExist); err != nil || !create {
		return "", err
	}
	for _, at := range []string{"s", path.Dir(dir), dir} {
		err := unless(d.fs.Mkdir(at, 0o700), fs.ErrExist)
		if errors.Is(err, fs.ErrNotExist) {
			if err = errs.ErrDeleted; at == "s" { // opening the store anew makes one
				err = fmt.Errorf("%w: the directory of the store was removed", errs.ErrClosed)
			}
		}
		if err != nil {
			return "", err
		}
	}
	return dir, nil
}

// logs returns the names of the logs in a directory, including archived ones, the newest last.
func (d *Directory) logs(dir string) ([]string, error) {
	names, err := d.fs.List(dir)
	return logsAmong(names), unless(err, fs.ErrNotExist)
}

// logsAmong returns the names of logs, including archived ones, the newest last.
func logsAmong(names []string) (logs []string) {
	for _, name := range names {
		if name = strings.TrimSuffix(name, archiveSuffix); strings.HasSuffix(name, logSuffix) {
			logs = append(logs, name)
		}
	}
	return slices.Compact(logs)
}

// stampLayout is the layout of the time in the name of a log, except that the name has a hyphen instead of the point.
const stampLayout = "20060102-150405.000"

// begunAt reads from the name of a log when it was begun.
func begunAt(name string) (at time.Time, err error) {
	n := len(stampLayout)
	if len(name) >= n {
		at, err = time.Parse(stampLayout, name[:n-4]+"."+name[n-3:n])
	}
	if at.IsZero() || err != nil {
		return at, fmt.Errorf("%w: the log %s", errs.ErrFormat, name)
	}
	return at, nil
}

// newLogName returns a name that sorts after those of all logs, even if the clock was set back.
func (d *Directory) newLogName(logs []string) (string, error) {
	now := d.now().UTC().Truncate(time.Millisecond)
	if len(logs) > 0 {
		last, err := begunAt(logs[len(logs)-1])
		if err != nil {
			return "", err
		}
		if !now.After(last) {
			now = last.Add(time.Millisecond)
		}
	}
	return strings.Replace(now.Format(stampLayout), ".", "-", 1) + "-" + randomHex(4) + logSuffix, nil
}

// lockLog opens and takes the lock of the logs in dir, with flag [os.O_CREATE] also if there is none. It finishes an
// interrupted deletion. The error is ErrDeleted if it did so, or if the directory was deleted while it waited: what is
// there now is another session.
func (d *Directory) lockLog(ctx context.Context, dir string, flag int) (*directoryLog, error) {
	f, err := d.lock(ctx, dir+"/"+lockName, flag, lastTryOfAppend)
	if err != nil {
		return nil, err
	}
	l := &directoryLog{directory: d, dir: dir, lock: f}
	if l.marks, err = readMarks(f); err == nil && l.marks.isDeleted() {
		// Whoever deleted the session may have been killed before the mark was on the disk.
		if err = f.Sync(); err == nil {
			err = d.removeAll(dir)
		}
		err = cmp.Or(err, errs.ErrDeleted)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

// remove removes a file. A missing file is not an error.
func (d *Directory) remove(name string) error { return unless(d.fs.Remove(name), fs.ErrNotExist) }

// Close implements [backend.Backend].
func (d *Directory) Close() error {
	if d.closed.Swap(true) {
		return nil
	}
	return d.fs.Close()
}

const (
	// Common file systems limit a name to 255 bytes, and Windows a path to 260 characters: longer keys are cut, and a
	// hash tells them apart.
	maxKeyName     = 120
	keyNamePrefix  = 60
	keyNameHashHex = 32

	keyNameBytes = "abcdefghijklmnopqrstuvwxyz0123456789_-"
)

// keyDirectory returns the directory of a key within the store. Different keys have different names, even on file
// systems that ignore case or normalize Unicode: only keyNameBytes stand for themselves.
func keyDirectory(key string) string {
	sum := sha256.Sum256([]byte(key))
	name := escapeKey(key)
	if len(name) > maxKeyName {
		name = name[:keyNamePrefix] + "~" + hex.EncodeToString(sum[:keyNameHashHex/2])
	}
	return "s/" + hex.EncodeToString(sum[:1]) + "/k-" + name
}

func escapeKey(key string) string {
	var b strings.Builder
	for _, c := range []byte(key) {
		if strings.IndexByte(keyNameBytes, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	return b.String()
}

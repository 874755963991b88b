// Package dir keeps logs in a directory: it is the [backend.Backend] on a file system.
package dir

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
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

// The directory store:
//
//	winnow.json                     {"format":1,"id":"<random>"}
//	s/<hh>/k-<key>/                 hh: first byte of SHA-256 of the key
//	    turn.lock                   the turn; its text names the holder
//	    turn.next                   who gets the next turn; exists once somebody had to wait
//	    log.lock                    held for each append; grows when the log is replaced, by "d" when it is deleted
//	    <time>-<random>.jsonl       a log; the newest is current
//	    <time>-<random>.jsonl.torn-<seq>   a tail that was cut off
//	    <time>-<random>.jsonl.failed       a sync of the log failed; the next opening copies it
//	    <time>-<random>.jsonl.replaced     a log that was copied for that reason
//	    <time>-<random>.jsonl.gz           an archive, in the place of a log

const (
	storeFile  = "winnow.json"
	logSuffix  = ".jsonl"
	turnName   = "turn.lock"
	nextName   = "turn.next"
	lockName   = "log.lock"
	failedMark = ".failed"
	oldSuffix  = ".replaced" // a log that was copied after a failed sync
	tempSuffix = ".tmp"      // an unfinished file
	oldCatalog = "catalog"   // begins the names of what earlier versions made beside s

	// A byte of a key takes up to 6 bytes of JSON, and the header of a fork has two keys.
	LongestHeader = 2*6*jsonl.MaxKey + 1024
)

// Directory is the [backend.Backend] on a file system.
type Directory struct {
	fs      closableFS
	queues  queue.Queues
	now     func() time.Time
	Readers int  // number of logs read at once
	IsAlone bool // no other process can change anything
	index   *index
	durable *durableNames
}

// Open opens or creates a store in fsys.
func Open(fsys files.FS, now func() time.Time) (*Directory, error) {
	d := &Directory{fs: newClosableFS(fsys), now: now, durable: newDurableNames()}
	d.Readers = 2 * runtime.GOMAXPROCS(0) // some of them wait for the disk
	d.index = newIndex(d)
	_, err := d.readInfo()
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

func (d *Directory) readInfo() (info storeInfo, err error) {
	text, err := d.readFile(storeFile)
	if err != nil {
		return info, err
	}
	if err := json.Unmarshal(text, &info); err != nil || info.Format != jsonl.FormatVersion {
		return info, fmt.Errorf("%w: %s is not of format %d", errs.ErrFormat, storeFile, jsonl.FormatVersion)
	}
	return info, nil
}

// create makes a store in a directory without foreign files.
func (d *Directory) create() error {
	names, err := d.fs.List(".")
	if err != nil {
		return err
	}
	for _, name := range names {
		if name != "s" && !strings.HasPrefix(name, storeFile) && !strings.HasPrefix(name, oldCatalog) {
			return fmt.Errorf("%w: the directory has %q in it, and no %s", errs.ErrFormat, name, storeFile)
		}
	}
	text, err := json.Marshal(storeInfo{jsonl.FormatVersion, randomHex(16)})
	if err != nil {
		return err
	}
	if err := d.mkdir("s"); err != nil {
		return err
	}
	return d.writeFile(storeFile, append(text, '\n'), true)
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
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	text := make([]byte, size)
	n, err := f.ReadAt(text, 0)
	if n == len(text) {
		err = nil
	}
	return text[:n], err
}

// writeFile writes a file atomically. With durable the file survives a power loss.
func (d *Directory) writeFile(name string, text []byte, durable bool) error {
	return d.writeFrom(name, bytes.NewReader(text), durable)
}

// writeFrom is writeFile for a text that need not fit into memory.
func (d *Directory) writeFrom(name string, from io.Reader, durable bool) error {
	return d.writeFileBy(name, durable, func(f files.File) error {
		out := bufio.NewWriterSize(f, copySize)
		if _, err := io.Copy(out, from); err != nil {
			return err // Flush would report it again
		}
		return out.Flush()
	})
}

// writeFileBy is writeFile for the text that write produces.
func (d *Directory) writeFileBy(name string, durable bool, write func(files.File) error) error {
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
		return d.fs.SyncDir(directoryOf(name))
	}
	return nil
}

func directoryOf(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i]
	}
	return "."
}

func (d *Directory) mkdir(name string) error {
	if ok, err := d.fs.IsDir(name); ok || err != nil {
		return err
	}
	err := d.fs.Mkdir(name, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// sessionDir returns the directory of a key. If it does not exist it is created with create, else the result is "".
func (d *Directory) sessionDir(key string, create bool) (string, error) {
	if err := backend.CheckKey(key); err != nil {
		return "", err
	}
	parent, name := keyDirectory(key)
	dir := parent + "/" + name
	for _, at := range []string{"s", parent, dir} {
		if create {
			if err := d.mkdir(at); at == "s" && errors.Is(err, fs.ErrNotExist) {
				// Opening the store anew makes one.
				return "", fmt.Errorf("%w: the directory of the store was removed", errs.ErrClosed)
			} else if err != nil {
				return "", err
			}
		} else if ok, err := d.fs.IsDir(at); err != nil || !ok {
			return "", err
		}
	}
	return dir, nil
}

// logs returns the names of the logs in a directory, including archived ones, the newest last.
func (d *Directory) logs(dir string) ([]string, error) {
	names, err := d.fs.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var logs []string
	for _, name := range names {
		if name = strings.TrimSuffix(name, archiveSuffix); strings.HasSuffix(name, logSuffix) {
			logs = append(logs, name)
		}
	}
	return slices.Compact(logs), err
}

// newLogName returns a name that sorts after all others, even if the clock was set back.
func (d *Directory) newLogName(dir string) (string, error) {
	names, err := d.logs(dir)
	if err != nil {
		return "", err
	}
	const stamp = "20060102-150405-000"
	at := d.now().UTC()
	name := strings.Replace(at.Format("20060102-150405.000"), ".", "-", 1)
	if n := len(names); n > 0 && len(names[n-1]) >= len(stamp) && names[n-1][:len(stamp)] >= name {
		newest := names[n-1][:len(stamp)]
		last, err := time.Parse("20060102-150405.000", newest[:15]+"."+newest[16:])
		if err != nil {
			return "", fmt.Errorf("%w: the log %s/%s", errs.ErrFormat, dir, names[n-1])
		}
		name = strings.Replace(last.Add(time.Millisecond).Format("20060102-150405.000"), ".", "-", 1)
	}
	return name + "-" + randomHex(4) + logSuffix, nil
}

// lockLog opens and takes the lock of the logs in dir. It finishes an interrupted deletion; gone is then true. gone is
// also true if the directory was deleted while lockLog waited: what is there now is another session.
func (d *Directory) lockLog(ctx context.Context, dir string) (f files.File, gone bool, err error) {
	f, err = d.fs.Open(dir+"/"+lockName, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, err
	}
	if err := waitLock(ctx, f, lastTryOfAppend); err != nil {
		f.Close()
		return nil, false, err
	}
	if !d.fs.IsLinked(f, dir+"/"+lockName) {
		f.Close()
		return nil, true, nil
	}
	deleted, err := isDeleted(f)
	if err == nil && deleted {
		err = d.removeMarked(dir, f)
	}
	if deleted || err != nil {
		f.Close()
		return nil, deleted, err
	}
	return f, false, nil
}

// remove removes a file. A missing file is not an error.
func (d *Directory) remove(name string) error {
	if err := d.fs.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Close implements [backend.Backend].
func (d *Directory) Close() error {
	if d.fs.closed.Swap(true) {
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
)

// keyDirectory returns the directory of a key within the store. Different keys have different names, even on file
// systems that ignore case or normalize Unicode: only [a-z0-9_-] stand for themselves.
func keyDirectory(key string) (parent, name string) {
	sum := sha256.Sum256([]byte(key))
	name = escapeKey(key)
	if len(name) > maxKeyName {
		name = name[:keyNamePrefix] + "~" + hex.EncodeToString(sum[:keyNameHashHex/2])
	}
	return "s/" + hex.EncodeToString(sum[:1]), "k-" + name
}

func escapeKey(key string) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for i := range len(key) {
		c := key[i]
		if isNameByte(c) {
			b.WriteByte(c)
			continue
		}
		b.Write([]byte{'%', digits[c>>4], digits[c&15]})
	}
	return b.String()
}

// isNameByte reports whether a byte of a key stands for itself in the name of its directory.
func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

// closableFS is the file system of a store. Once the store is closed, its errors say so: the system would only say
// that some file is closed, or that a number names no file.
type closableFS struct {
	files.FS
	closed *atomic.Bool
}

func newClosableFS(fsys files.FS) closableFS { return closableFS{fsys, new(atomic.Bool)} }

// said adds to the error of a call that the store is closed.
func (c closableFS) said(err error) error {
	if err == nil || !c.closed.Load() || errors.Is(err, errs.ErrClosed) {
		return err
	}
	return fmt.Errorf("%w: %w", errs.ErrClosed, err)
}

func (c closableFS) Open(name string, flag int, perm fs.FileMode) (files.File, error) {
	f, err := c.FS.Open(name, flag, perm)
	return f, c.said(err)
}

func (c closableFS) Mkdir(name string, perm fs.FileMode) error {
	return c.said(c.FS.Mkdir(name, perm))
}

func (c closableFS) Rename(from, to string) error { return c.said(c.FS.Rename(from, to)) }

func (c closableFS) Remove(name string) error { return c.said(c.FS.Remove(name)) }

func (c closableFS) List(dir string) ([]string, error) {
	names, err := c.FS.List(dir)
	return names, c.said(err)
}

func (c closableFS) IsDir(name string) (bool, error) {
	ok, err := c.FS.IsDir(name)
	return ok, c.said(err)
}

func (c closableFS) SizeOf(name string) (int64, error) {
	n, err := c.FS.SizeOf(name)
	return n, c.said(err)
}

func (c closableFS) SyncDir(dir string) error { return c.said(c.FS.SyncDir(dir)) }

func (c closableFS) Sub(dir string) (files.FS, error) {
	sub, err := c.FS.Sub(dir)
	if err != nil {
		return nil, c.said(err)
	}
	return closableFS{sub, c.closed}, nil
}

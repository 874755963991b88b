package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/winnowgo/winnow/session/internal/files"
)

// errNotSwept: files that sweep should have removed are still there.
var errNotSwept = errors.New("session: the remains of an interrupted call cannot be removed")

// sweep removes unfinished files, and archives whose log still exists. The lock is held, so nobody is working on them.
func (l *directoryLog) sweep() error {
	d := l.directory
	names, err := d.fs.List(l.dir)
	if err != nil {
		return err
	}
	left := remainsIn(names)
	if len(left) == 0 {
		return nil
	}
	// Whoever restored a log from its archive may have been killed before the log's entry was durable, and only the
	// archive tells. So the archive goes after the entry is durable.
	if err := d.fs.SyncDir(l.dir); err != nil {
		return err
	}
	for _, name := range left {
		if failed := d.remove(l.dir + "/" + name); failed != nil {
			err = errors.Join(err, fmt.Errorf("%w: %w", errNotSwept, failed))
		}
	}
	return errors.Join(err, d.fs.SyncDir(l.dir))
}

// remainsIn returns those of the names in a session's directory that interrupted calls left.
func remainsIn(names []string) (left []string) {
	for _, name := range names {
		if strings.HasSuffix(name, tempSuffix) || isLeftArchive(name, names) {
			left = append(left, name)
		}
	}
	return left
}

// Sweep implements [Backend]. An interrupted call may have left the text of an erased entry
// where nobody looks for copies: the unfinished file of a fork whose process was killed is in a directory without a
// log.
func (d *directory) Sweep(ctx context.Context, keys ...string) error {
	err := d.forgetCatalog()
	for _, key := range keys {
		err = errors.Join(err, d.syncSession(key))
	}
	if err != nil {
		return err
	}
	return d.eachDirectory(ctx, func(ctx context.Context, parent files.FS, s storedFile) error {
		in, err := parent.Sub(s.name)
		if errors.Is(err, files.ErrLink) || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		names, err := in.List(".")
		if err = errors.Join(err, in.Close()); err != nil || len(remainsIn(names)) == 0 {
			return err
		}
		lock, gone, err := d.lockLog(ctx, s.dir)
		if gone || err != nil {
			return err
		}
		l := &directoryLog{directory: d, dir: s.dir, lock: lock}
		return errors.Join(l.sweep(), l.Close())
	})
}

// forgetCatalog removes the list that earlier versions kept beside the logs: it repeats titles.
func (d *directory) forgetCatalog() error {
	names, err := d.fs.List(".")
	if err != nil {
		return err
	}
	for i := range names { // the lock is the last name: while it is there, a removal may not be durable yet
		if !strings.HasPrefix(names[i], oldCatalog) {
			continue
		}
		if names[i] == oldCatalog+".lock" {
			err = errors.Join(err, d.fs.SyncDir("."))
		}
		if err = errors.Join(err, d.remove(names[i])); err != nil {
			return err
		}
	}
	return nil
}

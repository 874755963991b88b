package dir

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/internal/errs"
	"github.com/winnowgo/winnow/session/internal/files"
)

// IsHeld implements [backend.Backend].
func (d *Directory) IsHeld(_ context.Context, key string) (bool, error) {
	dir, err := d.sessionDir(key, false)
	if err != nil || dir == "" {
		return false, err
	}
	return isHeld(d.fs, dir+"/"+turnName)
}

// isHeld reports whether somebody holds a lock.
func isHeld(fsys files.FS, name string) (bool, error) {
	f, err := fsys.Open(name, os.O_RDWR, 0) // NFS grants the lock only on a file that is open for writing
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f, err = fsys.Open(name, os.O_RDONLY, 0) // a store that may only be read
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	free, err := f.TryLock()
	return !free, errors.Join(err, f.Close())
}

// Parts implements [backend.Backend].
func (d *Directory) Parts(_ context.Context, key string) ([]backend.Part, error) {
	dir, err := d.sessionDir(key, false)
	if err != nil || dir == "" {
		return nil, err
	}
	marks, err := d.marks(dir)
	if marks.isDeleted() || err != nil {
		return nil, err
	}
	return partsIn(d.fs, dir, marks)
}

// partsIn lists the parts of the session in a directory of fsys. If a log was archived or restored in the meantime,
// they are listed again: otherwise neither file of it would be seen. A name that stays in the list, although its file
// is gone, is an error: NFS keeps a list for up to a minute, and the log may have another name by now.
func partsIn(fsys files.FS, dir string, marks lockMarks) ([]backend.Part, error) {
	var before []string
	for {
		names, err := fsys.List(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		parts, err := partsNamed(fsys, dir, names, marks)
		if !errors.Is(err, fs.ErrNotExist) || slices.Equal(names, before) {
			return parts, err
		}
		before = names
	}
}

// partsNamed returns the parts among the names in a directory. The error is [fs.ErrNotExist] if a log is gone.
func partsNamed(fsys files.FS, dir string, names []string, marks lockMarks) (parts []backend.Part, err error) {
	newest := -1
	for _, name := range names {
		kind, ok := kindOf(name, names)
		if !ok {
			continue
		}
		part, err := partOf(fsys, dir, name, kind, marks)
		isGone := kind == backend.PartSide && errors.Is(err, fs.ErrNotExist)
		if isGone || errors.Is(err, files.ErrLink) { // not ours
			continue
		}
		if err != nil {
			return nil, err
		}
		if parts = append(parts, part); kind != backend.PartSide {
			newest = len(parts) - 1
		}
	}
	if newest >= 0 {
		parts[newest].Open = true
	}
	return parts, nil
}

// kindOf returns the kind of a file, one of names. ok is false for locks and marks, which hold no content, and for
// remains that the next holder of the lock removes.
func kindOf(name string, names []string) (kind backend.PartKind, ok bool) {
	switch {
	case name == turnName || name == nextName || name == lockName || strings.HasSuffix(name, failedMark):
		return "", false
	case strings.HasSuffix(name, tempSuffix) || isLeftArchive(name, names):
		return "", false
	case strings.HasSuffix(name, logSuffix):
		return backend.PartLog, true
	case strings.HasSuffix(name, logSuffix+archiveSuffix):
		return backend.PartArchive, true
	}
	return backend.PartSide, true
}

// stampLayout is the layout of the time in the name of a log.
const stampLayout = "20060102-150405.000"

func partOf(fsys files.FS, dir, name string, kind backend.PartKind, marks lockMarks) (backend.Part, error) {
	size, err := fsys.SizeOf(within(dir, name))
	if err != nil {
		return backend.Part{}, err
	}
	log, _, _ := strings.Cut(name, logSuffix)
	part := backend.Part{Name: name, Kind: kind, Log: marks.idOf(name), Bytes: size}
	if kind == backend.PartArchive {
		f, err := fsys.Open(within(dir, name), os.O_RDONLY, 0)
		if err != nil {
			return backend.Part{}, err
		}
		part.Time = archiveTime(f)
		return part, f.Close()
	}
	if n := len(stampLayout); len(log) >= n {
		part.Time, _ = time.Parse(stampLayout, log[:n-4]+"."+log[n-3:n])
	}
	return part, nil
}

// OpenPart implements [backend.Backend].
func (d *Directory) OpenPart(_ context.Context, key string, part backend.Part) (backend.Log, error) {
	dir, err := d.sessionDir(key, false)
	if err != nil {
		return nil, err
	}
	if dir == "" || part.Kind == backend.PartSide || !isPartName(part.Name) {
		return nil, errs.ErrNotFound
	}
	marks, err := d.marks(dir)
	if err != nil {
		return nil, err
	}
	if marks.isDeleted() {
		return nil, errs.ErrNotFound
	}
	name := strings.TrimSuffix(part.Name, archiveSuffix)
	f, err := d.openToRead(dir+"/"+name, MaxArchived)
	if errors.Is(err, fs.ErrNotExist) {
		err = errs.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return &directoryLog{directory: d, dir: dir, name: name, file: f, marks: marks}, nil
}

// isPartName reports whether a name stays within the directory of its session, and is that of a part.
func isPartName(name string) bool {
	_, ok := kindOf(name, nil)
	return ok && name != "" && !strings.ContainsAny(name, `/\`) && name != "." && name != ".."
}

// change runs f on the directory of a session, whose turn the caller has, if the parts are unchanged since they were
// listed. Nobody can append to the logs while f runs.
func (d *Directory) change(
	ctx context.Context, turn backend.Turn, listed []backend.Part, f func(l *directoryLog) error,
) error {
	t, ok := turn.(*directoryTurn)
	if !ok || t.directory != d {
		return errors.New("session: the turn is of another store")
	}
	if err := t.Check(); err != nil {
		return err
	}
	parent, name := keyDirectory(t.key)
	dir := parent + "/" + name
	lock, gone, err := d.lockLog(ctx, dir)
	if gone {
		return errs.ErrDeleted
	}
	if err != nil {
		return err
	}
	l := &directoryLog{directory: d, key: t.key, dir: dir, lock: lock}
	err = l.sweep()
	for _, part := range listed {
		err = errors.Join(err, d.checkPart(dir, part))
	}
	if err == nil {
		err = f(l)
		d.index.wrote(dir)
	}
	return errors.Join(err, l.Close())
}

// checkPart returns ErrChanged if a part has changed since it was listed.
func (d *Directory) checkPart(dir string, part backend.Part) error {
	names, err := d.fs.List(dir)
	if err != nil {
		return err
	}
	kind, ok := kindOf(part.Name, names)
	if !ok || kind != part.Kind || !slices.Contains(names, part.Name) {
		return fmt.Errorf("%w: %s", errs.ErrChanged, part.Name)
	}
	now, err := partOf(d.fs, dir, part.Name, kind, nil)
	if err == nil && (now.Bytes != part.Bytes || !now.Time.Equal(part.Time)) {
		err = fmt.Errorf("%w: %s", errs.ErrChanged, part.Name)
	}
	return err
}

// Archive implements [backend.Backend].
func (d *Directory) Archive(
	ctx context.Context, turn backend.Turn, log backend.Part, now time.Time, while ...backend.Part,
) (archive backend.Part, err error) {
	if log.Kind != backend.PartLog {
		return backend.Part{}, fmt.Errorf("session: %s is not a log", log.Name)
	}
	err = d.change(ctx, turn, append(while, log), func(l *directoryLog) error {
		name := l.dir + "/" + log.Name
		f, err := d.fs.Open(name, os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		text := func() io.Reader { return io.NewSectionReader(f, 0, log.Bytes) }
		comment := listedComment(ctx, &directoryLog{directory: d, name: log.Name, file: f})
		head := gzip.Header{Name: log.Name, ModTime: now, Comment: comment}
		err = d.writeFileBy(name+archiveSuffix, true, func(to files.File) error {
			return packTo(to, text, head)
		})
		if err == nil {
			err = l.replaces()
		}
		if err == nil {
			err = d.fs.Remove(name)
		}
		if err != nil {
			return err
		}
		_ = d.fs.Remove(name + failedMark) // the mark is not needed: the archive is on the disk
		if err := d.fs.SyncDir(l.dir); err != nil {
			return err
		}
		archive, err = partOf(d.fs, l.dir, log.Name+archiveSuffix, backend.PartArchive, nil)
		archive.Log = log.Log
		archive.Open = log.Open
		return err
	})
	return archive, err
}

// Remove implements [backend.Backend].
func (d *Directory) Remove(ctx context.Context, turn backend.Turn, part backend.Part, while ...backend.Part) error {
	if part.Kind == backend.PartLog {
		return fmt.Errorf("session: the log %s is archived before it is deleted", part.Name)
	}
	return d.change(ctx, turn, append(while, part), func(l *directoryLog) error {
		left, err := partsIn(d.fs, l.dir, nil)
		if err != nil {
			return err
		}
		if len(left) == 1 { // the session ends with its last part
			return d.removeSession(l.dir, l.lock)
		}
		if err := d.fs.Remove(l.dir + "/" + part.Name); err != nil {
			return err
		}
		return d.fs.SyncDir(l.dir)
	})
}

// Rewrite implements [backend.Backend].
func (d *Directory) Rewrite(
	ctx context.Context, turn backend.Turn, part backend.Part, patches []backend.Patch, lines []byte,
) error {
	if part.Kind == backend.PartSide {
		return fmt.Errorf("session: %s is not a log", part.Name)
	}
	return d.change(ctx, turn, []backend.Part{part}, func(l *directoryLog) error {
		log := l.dir + "/" + strings.TrimSuffix(part.Name, archiveSuffix)
		f, err := d.openToRead(log, MaxArchived)
		if err != nil {
			return err
		}
		defer f.Close()
		size, err := f.Size()
		if err != nil {
			return err
		}
		text := func() io.Reader { return patched(f, size, patches, lines) }
		if err := backend.CheckPatches(size, patches); err != nil {
			return err
		}
		name := strings.TrimSuffix(part.Name, archiveSuffix)
		if err := l.rewrites(strings.TrimSuffix(name, logSuffix)); err != nil {
			return err
		}
		if part.Kind == backend.PartArchive {
			err = d.writeFileBy(l.dir+"/"+part.Name, true, func(to files.File) error {
				return packTo(to, text, gzip.Header{Name: name, ModTime: part.Time})
			})
		} else {
			err = d.writeFrom(l.dir+"/"+part.Name, text(), true)
		}
		if err == nil {
			_ = d.fs.Remove(log + failedMark) // its file is gone
		}
		return err
	})
}

// patched returns a reader of the first size bytes of a log with patches applied and lines appended.
func patched(log io.ReaderAt, size int64, patches []backend.Patch, lines []byte) io.Reader {
	var pieces []io.Reader
	at := int64(0)
	for _, p := range patches {
		pieces = append(pieces, io.NewSectionReader(log, at, p.Offset-at), bytes.NewReader(p.Text))
		at = p.Offset + int64(len(p.Text))
	}
	pieces = append(pieces, io.NewSectionReader(log, at, size-at), bytes.NewReader(lines))
	return io.MultiReader(pieces...)
}

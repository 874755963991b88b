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
	"path"
	"slices"
	"strings"
	"time"

	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/internal/errs"
	"github.com/winnowgo/winnow/session/internal/files"
)

// IsHeld implements [backend.Backend].
func (d *Directory) IsHeld(_ context.Context, key string) (held bool, err error) {
	err = d.read(key, func(s *stored) (err error) {
		held, err = s.isHeld()
		return err
	})
	return held, unlessGone(err)
}

// isHeld reports whether somebody has the turn.
func (s *stored) isHeld() (bool, error) {
	f, err := s.Open(turnName, os.O_RDWR, 0) // NFS grants the lock only on a file that is open for writing
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f, err = s.Open(turnName, os.O_RDONLY, 0) // a store that may only be read
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
func (d *Directory) Parts(_ context.Context, key string) (parts []backend.Part, err error) {
	err = d.read(key, func(s *stored) (err error) {
		parts, err = s.parts()
		return err
	})
	return parts, unlessGone(err)
}

// parts lists the parts of a session. If a log was archived or restored in the meantime, they are listed again:
// otherwise neither file of it would be seen. A name that stays in the list, although its file is gone, is an error:
// NFS keeps a list for up to a minute, and the log may have another name by now.
func (s *stored) parts() ([]backend.Part, error) {
	var before []string
	for {
		names, err := s.names()
		if err != nil {
			return nil, err
		}
		parts, err := s.partsAmong(names)
		if !errors.Is(err, fs.ErrNotExist) || slices.Equal(names, before) {
			return parts, err
		}
		before = names
	}
}

// partsAmong returns the parts among the names in the directory. The error is [fs.ErrNotExist] if a log is gone.
func (s *stored) partsAmong(names []string) (parts []backend.Part, err error) {
	newest := -1
	for _, name := range names {
		kind, ok := kindOf(name, names)
		if !ok {
			continue
		}
		part, err := s.part(name, kind)
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

func (s *stored) part(name string, kind backend.PartKind) (part backend.Part, err error) {
	part = backend.Part{Name: name, Kind: kind, Log: s.marks.idOf(name)}
	if part.Bytes, err = s.SizeOf(name); err != nil {
		return part, err
	}
	if kind != backend.PartArchive {
		part.Time, _ = begunAt(name)
		return part, nil
	}
	head, err := archiveHead(s, name)
	part.Time = head.ModTime.UTC()
	return part, err
}

// OpenPart implements [backend.Backend].
func (d *Directory) OpenPart(_ context.Context, key string, part backend.Part) (log backend.Log, err error) {
	if len(logsAmong([]string{part.Name})) == 0 || strings.ContainsAny(part.Name, `/\`) {
		return nil, errs.ErrNotFound
	}
	err = d.read(key, func(s *stored) (err error) {
		log, err = s.open(part.Name, MaxArchived)
		return err
	})
	return log, err
}

// change runs f on the directory of a session, whose turn the caller has, if the parts are unchanged since they were
// listed. Nobody can append to the logs while f runs.
func (d *Directory) change(
	ctx context.Context, turn backend.Turn, listed []backend.Part, f func(l *directoryLog, parts []backend.Part) error,
) error {
	t, ok := turn.(*directoryTurn)
	if !ok || t.directory != d {
		return errors.New("session: the turn is of another store")
	}
	if err := t.Check(); err != nil {
		return err
	}
	l, err := d.lockLog(ctx, path.Dir(t.name), os.O_CREATE)
	if err != nil {
		return err
	}
	var parts []backend.Part
	if err = l.sweep(); err == nil {
		parts, err = l.parts()
	}
	if err == nil {
		err = checkParts(listed, parts)
	}
	if err == nil {
		err = f(l, parts)
		d.index.wrote(l.dir)
	}
	return errors.Join(err, l.Close())
}

// parts lists the parts of the session. The lock is held.
func (l *directoryLog) parts() (parts []backend.Part, err error) {
	err = l.directory.visit(l.directory.fs, l.dir, l.dir, func(s *stored) (err error) {
		parts, err = s.parts()
		return err
	})
	return parts, err
}

// checkParts returns ErrChanged if one of the listed parts is not among the parts that there are now.
func checkParts(listed, parts []backend.Part) error {
	for _, part := range listed {
		isIt := func(now backend.Part) bool {
			return now.Name == part.Name && now.Kind == part.Kind && now.Bytes == part.Bytes &&
				now.Time.Equal(part.Time)
		}
		if !slices.ContainsFunc(parts, isIt) {
			return fmt.Errorf("%w: %s", errs.ErrChanged, part.Name)
		}
	}
	return nil
}

// Archive implements [backend.Backend].
func (d *Directory) Archive(
	ctx context.Context, turn backend.Turn, log backend.Part, now time.Time, while ...backend.Part,
) (archive backend.Part, err error) {
	if log.Kind != backend.PartLog {
		return backend.Part{}, fmt.Errorf("session: %s is not a log", log.Name)
	}
	err = d.change(ctx, turn, append(while, log), func(l *directoryLog, _ []backend.Part) error {
		name := l.dir + "/" + log.Name
		f, err := d.fs.Open(name, os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		head := gzip.Header{Name: log.Name, ModTime: now, Comment: listedComment(ctx, readLog{f, log.Log})}
		if err := d.writeArchive(name+archiveSuffix, io.NewSectionReader(f, 0, log.Bytes), head); err != nil {
			return err
		}
		if err := l.mark(nextByte); err != nil {
			return err
		}
		if err := d.fs.Remove(name); err != nil {
			return err
		}
		_ = d.fs.Remove(name + failedMark) // the mark is not needed: the archive is on the disk
		if err := d.fs.SyncDir(l.dir); err != nil {
			return err
		}
		parts, err := l.parts()
		isIt := func(p backend.Part) bool { return p.Name == log.Name+archiveSuffix }
		if i := slices.IndexFunc(parts, isIt); i >= 0 {
			archive = parts[i]
		}
		return err
	})
	return archive, err
}

// Remove implements [backend.Backend].
func (d *Directory) Remove(ctx context.Context, turn backend.Turn, part backend.Part, while ...backend.Part) error {
	if part.Kind == backend.PartLog {
		return fmt.Errorf("session: the log %s is archived before it is deleted", part.Name)
	}
	return d.change(ctx, turn, append(while, part), func(l *directoryLog, parts []backend.Part) error {
		if len(parts) == 1 { // the session ends with its last part
			return l.remove()
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
	return d.change(ctx, turn, []backend.Part{part}, func(l *directoryLog, _ []backend.Part) error {
		name := strings.TrimSuffix(part.Name, archiveSuffix)
		f, err := openToRead(d.fs, l.dir+"/"+name, MaxArchived)
		if err != nil {
			return err
		}
		defer f.Close()
		size, err := f.Size()
		if err != nil {
			return err
		}
		if err := backend.CheckPatches(size, patches); err != nil {
			return err
		}
		if err := l.markDurably(rewriteMark(name)...); err != nil {
			return err
		}
		text := patched(f, size, patches, lines)
		if part.Kind == backend.PartArchive {
			err = d.writeArchive(l.dir+"/"+part.Name, text, gzip.Header{Name: name, ModTime: part.Time})
		} else {
			err = d.writeFrom(l.dir+"/"+part.Name, text, true)
		}
		if err == nil {
			_ = d.fs.Remove(l.dir + "/" + name + failedMark) // its file is gone
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

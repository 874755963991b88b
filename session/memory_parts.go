package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// memory is a [Maintainer].
var _ Maintainer = (*memory)(nil)

// IsHeld implements [Maintainer].
func (m *memory) IsHeld(_ context.Context, key string) (bool, error) {
	return m.queues.IsTaken(key), nil
}

// Parts implements [Maintainer].
func (m *memory) Parts(_ context.Context, key string) (parts []Part, err error) {
	l := m.of(key, false)
	if l == nil {
		return nil, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.logs {
		parts = append(parts, t.part(t == l.newest()))
	}
	return parts, nil
}

func (t *memoryText) part(isOpen bool) Part {
	if t.archive == nil {
		return Part{Name: t.id, Kind: PartLog, Log: t.id, Bytes: int64(len(t.text)), Open: isOpen}
	}
	return Part{
		Name: t.id + archiveSuffix, Kind: PartArchive, Log: t.id, Bytes: int64(len(t.archive)),
		Time: archiveTime(bytes.NewReader(t.archive)), Open: isOpen,
	}
}

// unpacked returns the log of an archive.
func (t *memoryText) unpacked() (*memoryText, error) {
	if t.archive == nil {
		return t, nil
	}
	lines, err := readArchive(bytes.NewReader(t.archive))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(lines)
	return &memoryText{id: t.id, text: text}, err
}

// archived returns the archive of a log.
func (t *memoryText) archived(now time.Time) (*memoryText, error) {
	var b bytes.Buffer
	if err := writeArchive(&b, bytes.NewReader(t.text), t.id, now); err != nil {
		return nil, err
	}
	archive := &memoryText{id: t.id, archive: b.Bytes()}
	return archive, checkArchive(bytes.NewReader(archive.archive), bytes.NewReader(t.text))
}

// find returns the index of the part's log, if the part is unchanged since it was listed. The lock is held.
func (l *memoryLogs) find(part Part) (int, error) {
	for i, t := range l.logs {
		if now := t.part(false); now.Name == part.Name && now.Bytes == part.Bytes && now.Time.Equal(part.Time) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%w: %s", ErrChanged, part.Name)
}

// OpenPart implements [Maintainer].
func (m *memory) OpenPart(_ context.Context, key string, part Part) (Log, error) {
	l := m.of(key, false)
	if l == nil {
		return nil, ErrNotFound
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.logs {
		if t.id == strings.TrimSuffix(part.Name, archiveSuffix) {
			t, err := t.unpacked()
			return &memoryLog{of: l, log: t}, err
		}
	}
	return nil, ErrNotFound
}

// change runs f on the logs of a session, whose turn the caller holds, and the index of part among them. It does so
// only if part and all of while are unchanged since they were listed.
func (m *memory) change(turn Turn, part Part, while []Part, f func(l *memoryLogs, i int) error) error {
	t, ok := turn.(*memoryTurn)
	if !ok || t.memory != m {
		return errors.New("session: the turn is of another store")
	}
	l := m.of(t.key, false)
	if l == nil {
		return ErrDeleted
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.deleted {
		return ErrDeleted
	}
	for _, other := range while {
		if _, err := l.find(other); err != nil {
			return err
		}
	}
	i, err := l.find(part)
	if err != nil {
		return err
	}
	return f(l, i)
}

// Archive implements [Maintainer].
func (m *memory) Archive(_ context.Context, turn Turn, log Part, now time.Time, while ...Part) (
	archive Part, err error,
) {
	if log.Kind != PartLog {
		return Part{}, fmt.Errorf("session: %s is not a log", log.Name)
	}
	err = m.change(turn, log, while, func(l *memoryLogs, i int) error {
		t, err := l.logs[i].archived(now)
		if err != nil {
			return err
		}
		l.logs[i] = t
		archive = t.part(i == len(l.logs)-1)
		return nil
	})
	return archive, err
}

// Remove implements [Maintainer].
func (m *memory) Remove(ctx context.Context, turn Turn, part Part, while ...Part) error {
	if part.Kind == PartLog {
		return fmt.Errorf("session: the log %s is archived before it is deleted", part.Name)
	}
	isLast := false
	err := m.change(turn, part, while, func(l *memoryLogs, i int) error {
		l.logs = append(l.logs[:i:i], l.logs[i+1:]...)
		isLast = len(l.logs) == 0
		return nil
	})
	if err == nil && isLast {
		err = m.Delete(ctx, turn.(*memoryTurn).key)
	}
	return err
}

// Rewrite implements [Maintainer].
func (m *memory) Rewrite(_ context.Context, turn Turn, part Part, patches []Patch, lines []byte) error {
	return m.change(turn, part, nil, func(l *memoryLogs, i int) error {
		t, err := l.logs[i].unpacked()
		if err != nil {
			return err
		}
		size := int64(len(t.text))
		if err := CheckPatches(size, patches); err != nil {
			return err
		}
		text, err := io.ReadAll(patched(bytes.NewReader(t.text), size, patches, lines))
		if err != nil {
			return err
		}
		t = &memoryText{id: strconv.Itoa(l.made), text: text}
		l.made++
		if part.Kind == PartArchive {
			if t, err = t.archived(part.Time); err != nil {
				return err
			}
		}
		if l.logs[i] = t; i == len(l.logs)-1 {
			l.feed.tell(Change{Key: l.key, Log: t.id, To: int64(len(text))})
		}
		return nil
	})
}

package upkeep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/internal/dir"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// Copy copies a session into another store, byte for byte, so that the next request is the same there. If both stores
// keep older logs and archives (see [backend.Backend]), these are copied too, as logs. Copy holds the turn of the
// original while it runs, and does not change it.
//
// If the other store already holds the beginning of the original, Copy adds the rest: it finishes an interrupted copy
// and updates an old one. Until Copy has returned, the copy may end anywhere; then all that was copied is durable,
// whatever [session.Options].Durability of the other store is. The error is [session.ErrExists] if the other store
// holds something else under the key, and [session.ErrNotFound] if the session does not exist.
//
// Sealed entries (Options.Seal) are copied as they are: the other store needs the same keys.
func Copy(ctx context.Context, from, to *session.Store, key string) error {
	if from.Backend() == to.Backend() {
		return fmt.Errorf("%w: %q would be copied to itself", session.ErrExists, key)
	}
	parts, err := from.Backend().Parts(ctx, key) // taking the turn of a missing session would create it
	if err == nil && len(parts) == 0 {
		err = session.ErrNotFound
	}
	if err != nil {
		return err
	}
	c := copier{from: from.Backend(), to: to.Backend(), key: key}
	if c.fromTurn, err = c.from.Turn(ctx, key); err != nil {
		return err
	}
	if c.turn, err = c.to.Turn(ctx, key); err == nil {
		err = errors.Join(c.copy(ctx), c.turn.Release())
	}
	if err = errors.Join(err, c.fromTurn.Release()); err != nil {
		return fmt.Errorf("session: copying %q: %w", key, err)
	}
	return nil
}

// copyPiece is how much is copied at once, in bytes. A longer line is copied whole.
const copyPiece = 1 << 20

// copier copies one session.
type copier struct {
	from, to backend.Backend
	fromTurn backend.Turn
	turn     backend.Turn // of the copy
	key      string
}

// copy copies the logs in order, beginning with the one that the copy ends with.
func (c *copier) copy(ctx context.Context) error {
	original, err := c.logs(ctx, c.from, c.fromTurn)
	defer closeAll(original)
	if err != nil {
		return err
	}
	there, err := c.logs(ctx, c.to, c.turn)
	defer closeAll(there)
	if err != nil {
		return err
	}
	if len(there) > len(original) {
		return fmt.Errorf("%w: the copy has more logs than the original", session.ErrExists)
	}
	if len(there) > 0 {
		// An earlier copy may have been killed between a write and its sync. What it wrote before the newest log is
		// durable: only then it began that.
		if err := c.turn.Flush(ctx); err != nil {
			return err
		}
	}
	for i, log := range original {
		size, err := wholeSize(log)
		isNew, done := i >= len(there), int64(0)
		if err == nil && !isNew {
			done, err = sameUpTo(log, size, there[i], i == len(there)-1)
		}
		if err == nil && (isNew || done < size) {
			err = c.append(ctx, log, done, size, isNew && i > 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// logs opens the session's logs in a backend, whose turn is given, the oldest first. It first opens the newest one for
// writing, which repairs it. An archive needs no repair, and stays one.
func (c *copier) logs(ctx context.Context, b backend.Backend, turn backend.Turn) (logs []backend.Log, err error) {
	parts, err := b.Parts(ctx, c.key)
	isOpenLog := func(p backend.Part) bool { return p.Open && p.Kind == backend.PartLog }
	if err == nil && slices.ContainsFunc(parts, isOpenLog) {
		var log backend.Log
		if log, err = turn.Log(ctx); err == nil {
			err = log.Close()
		}
		if err == nil {
			parts, err = b.Parts(ctx, c.key) // the repair may have replaced the log
		}
	}
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		if part.Kind == backend.PartSide {
			continue
		}
		log, err := b.OpenPart(ctx, c.key, part)
		if err != nil {
			return logs, err
		}
		logs = append(logs, log)
	}
	return logs, nil
}

func closeAll(logs []backend.Log) {
	for _, log := range logs {
		log.Close() // they were only read
	}
}

// wholeSize returns where the last whole line of a log ends.
func wholeSize(log backend.Log) (int64, error) {
	size, err := log.Size()
	if err != nil || size == 0 {
		return size, err
	}
	last := []byte{0}
	if n, err := log.ReadAt(last, size-1); n == 0 {
		return 0, err
	}
	if last[0] == '\n' {
		return size, nil
	}
	w := jsonl.Window{Log: log, Size: size}
	return w.StartBefore(size)
}

// sameUpTo returns how long a log of the copy is, which has to be the beginning of the original's. Only the copy's last
// log may be shorter than that.
func sameUpTo(log backend.Log, size int64, there backend.Log, isLast bool) (int64, error) {
	done, err := there.Size()
	if err != nil {
		return 0, err
	}
	if done > size || done < size && !isLast {
		return 0, fmt.Errorf("%w: a log of the copy has %d bytes, and the original %d", session.ErrExists, done, size)
	}
	want, err := dir.Copy(io.Discard, io.NewSectionReader(log, 0, done))
	got, err2 := dir.Copy(io.Discard, io.NewSectionReader(there, 0, done))
	if err = errors.Join(err, err2); err == nil && got != want {
		err = fmt.Errorf("%w: the copy has something else", session.ErrExists)
	}
	return done, err
}

// append copies the bytes between two offsets durably to the end of the copy's newest log, or to the next one, which it
// begins.
func (c *copier) append(ctx context.Context, log backend.Log, at, size int64, isNext bool) (err error) {
	var target backend.Log
	if isNext {
		var first []byte
		if first, err = linesAt(log, 0, size); err == nil {
			target, err = c.turn.Next(ctx, first)
		}
		at = int64(len(first))
	} else {
		target, err = c.turn.Log(ctx)
	}
	if err != nil {
		return err
	}
	for at < size && err == nil {
		var lines []byte
		if lines, err = linesAt(log, at, size); err == nil {
			end := at + int64(len(lines))
			err = target.Append(ctx, at, lines, end == size)
			at = end
		}
	}
	if moved := (*backend.MovedError)(nil); errors.As(err, &moved) {
		err = session.ErrConflict
	}
	return errors.Join(err, target.Close())
}

// linesAt reads whole lines, beginning at an offset.
func linesAt(log backend.Log, at, size int64) ([]byte, error) {
	for n := int64(copyPiece); ; n *= 2 {
		text := make([]byte, min(n, size-at))
		if read, err := log.ReadAt(text, at); read < len(text) {
			return nil, err
		}
		if whole := bytes.LastIndexByte(text, '\n') + 1; whole > 0 {
			return text[:whole], nil
		}
	}
}

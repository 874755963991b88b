package session

import (
	"context"
	"io"
	"slices"
	"strconv"
	"sync"

	"github.com/winnowgo/winnow/session/internal/queue"
)

// memory is the [Backend] of [NewMemory].
type memory struct {
	queues queue.Queues
	mu     sync.Mutex
	logs   map[string]*memoryLogs
	feed   memoryFeed
}

// memoryLogs are the logs of one key.
type memoryLogs struct {
	key     string
	feed    *memoryFeed
	mu      sync.Mutex
	logs    []*memoryText // the oldest first
	made    int           // number of logs ever made
	deleted bool
	status  memoryStatus
}

// memoryText is a log, or its archive. When it is replaced it stays unchanged for its readers.
type memoryText struct {
	id      string
	text    []byte
	archive []byte // nil: not archived
}

// add makes a new log, the newest one. The lock is held.
func (l *memoryLogs) add(lines []byte) *memoryText {
	text := &memoryText{id: strconv.Itoa(l.made), text: slices.Clone(lines)}
	l.made++
	l.logs = append(l.logs, text)
	l.tell(text, 0)
	return text
}

// tell adds what a log has from an offset on to the feed. The lock is held, so that changes come in order.
func (l *memoryLogs) tell(text *memoryText, from int) {
	if to := len(text.text); to > from {
		l.feed.tell(Change{Key: l.key, Log: text.id, From: int64(from), To: int64(to)})
	}
}

// newest returns the newest log, nil if there is none. The lock is held.
func (l *memoryLogs) newest() *memoryText {
	if len(l.logs) == 0 {
		return nil
	}
	return l.logs[len(l.logs)-1]
}

func newMemory() *memory {
	return &memory{logs: map[string]*memoryLogs{}, feed: memoryFeed{id: randomHex(8)}}
}

func (m *memory) of(key string, create bool) *memoryLogs {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.logs[key]
	if l == nil && create {
		l = &memoryLogs{key: key, feed: &m.feed}
		m.logs[key] = l
	}
	return l
}

type memoryTurn struct {
	memory *memory
	key    string
	once   sync.Once

	mu sync.Mutex
	of *memoryLogs // set by the turn's first Log; a deletion leaves it behind
}

func (m *memory) Turn(ctx context.Context, key string) (Turn, error) {
	if err := CheckKey(key); err != nil {
		return nil, err
	}
	if err := m.queues.Enter(ctx, key); err != nil {
		return nil, &BusyError{Cause: err}
	}
	return &memoryTurn{memory: m, key: key}, nil
}

func (t *memoryTurn) Log(ctx context.Context) (Log, error) {
	log, err := t.memory.Log(ctx, t.key, true)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of = log.(*memoryLog).of
	return log, nil
}

// logs returns the logs of the turn.
func (t *memoryTurn) logs() *memoryLogs {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = t.memory.of(t.key, true)
	}
	return t.of
}

func (t *memoryTurn) Next(_ context.Context, lines []byte) (Log, error) {
	l := t.logs()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.deleted {
		return nil, ErrDeleted
	}
	return &memoryLog{of: l, log: l.add(lines)}, nil
}

func (t *memoryTurn) Check() error {
	l := t.logs()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.deleted {
		return ErrDeleted
	}
	return nil
}

func (t *memoryTurn) Release() error {
	t.once.Do(func() { t.memory.queues.Leave(t.key) })
	return nil
}

func (m *memory) Log(_ context.Context, key string, write bool) (Log, error) {
	if err := CheckKey(key); err != nil {
		return nil, err
	}
	l := m.of(key, write)
	if l == nil {
		return nil, ErrNotFound
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.newest()
	switch {
	case text == nil && !write:
		return nil, ErrNotFound
	case text != nil && text.archive != nil:
		var err error
		if text, err = text.unpacked(); err != nil {
			return nil, err
		}
		if write {
			l.logs[len(l.logs)-1] = text
		}
	}
	return &memoryLog{of: l, log: text}, nil
}

func (m *memory) Keys(context.Context) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var keys []string
	for key, l := range m.logs {
		l.mu.Lock()
		if len(l.logs) > 0 {
			keys = append(keys, key)
		}
		l.mu.Unlock()
	}
	return keys, nil
}

func (m *memory) Delete(_ context.Context, key string) error {
	m.mu.Lock() // held to the end: followers hear of the deletion before a new session begins under the key
	defer m.mu.Unlock()
	l := m.logs[key]
	delete(m.logs, key)
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deleted = true
	if l.made > 0 {
		m.feed.tell(Change{Key: key, Deleted: true})
	}
	return nil
}

func (m *memory) Close() error { return nil }

// memoryLog is an open log.
type memoryLog struct {
	of     *memoryLogs
	log    *memoryText // nil: not made yet
	closed bool
}

func (l *memoryLog) ID() string {
	if l.log == nil {
		return ""
	}
	return l.log.id
}

func (l *memoryLog) text() []byte {
	if l.log == nil {
		return nil
	}
	return l.log.text
}

func (l *memoryLog) Size() (int64, error) {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	return int64(len(l.text())), nil
}

func (l *memoryLog) ReadAt(p []byte, off int64) (int, error) {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	text := l.text()
	if off >= int64(len(text)) {
		return 0, io.EOF
	}
	n := copy(p, text[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (l *memoryLog) Append(_ context.Context, end int64, lines []byte, _ bool) error {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	size := int64(len(l.text()))
	switch {
	case l.closed:
		return ErrClosed
	case l.of.deleted:
		return ErrDeleted
	case l.log != l.of.newest():
		return &MovedError{Next: true}
	case end != size:
		return &MovedError{Size: size}
	}
	if l.log == nil {
		l.log = l.of.add(nil)
	}
	l.log.text = append(l.log.text, lines...)
	l.of.tell(l.log, int(size))
	return nil
}

func (l *memoryLog) Close() error {
	l.closed = true
	return nil
}

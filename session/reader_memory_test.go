package session_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/upkeep"
)

// weighedBackend calls weigh at each read of a log.
type weighedBackend struct {
	backend.Backend
	weigh func()
}

type weighedLog struct {
	backend.Log
	weigh func()
}

func (b weighedBackend) Log(ctx context.Context, key string, write bool) (backend.Log, error) {
	l, err := b.Backend.Log(ctx, key, write)
	if err != nil {
		return nil, err
	}
	return weighedLog{l, b.weigh}, nil
}

func (l weighedLog) ReadAt(p []byte, off int64) (int, error) {
	l.weigh()
	return l.Log.ReadAt(p, off)
}

// TestReaderMemory reads logs with long lines, alone and in a batch. What is in use at any read is at most four times
// the longest line.
func TestReaderMemory(t *testing.T) {
	ctx := context.Background()
	const long = 4<<20 + 1 // just more than a buffer that is doubled
	for name, batch := range map[string]int{"alone": 1, "in a batch": 3} {
		t.Run(name, func(t *testing.T) {
			dir, err := session.OpenDirectory(t.TempDir(), &session.Options{Durability: session.OS})
			require.NoError(t, err)
			s := open(t, dir, "k")
			for range 2 {
				messages := make([]winnow.Message, batch)
				for i := range messages {
					messages[i] = session.User(strings.Repeat("x", long))
				}
				require.NoError(t, s.Append(ctx, messages...))
				require.NoError(t, s.Append(ctx, session.User("short")))
			}
			require.NoError(t, s.Close())

			var peak uint64
			weigh := func() {
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc)
			}
			store := session.New(weighedBackend{dir.Backend(), weigh}, nil)
			reads := map[string]func() error{
				"Verify": func() error { _, err := upkeep.Verify(ctx, store, "k"); return err },
				"Entries": func() error {
					for _, err := range store.Entries(ctx, "k") {
						if err != nil {
							return err
						}
						weigh()
					}
					return nil
				},
			}
			for read, f := range reads {
				peak = 0
				weigh()
				before := peak
				require.NoError(t, f())
				t.Logf("%s: %.2f of the longest line", read, float64(peak-before)/long)
				require.LessOrEqual(t, peak-before, uint64(4*long), read)
			}
		})
	}
}

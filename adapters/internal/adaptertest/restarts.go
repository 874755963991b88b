package adaptertest

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/winnowtest"
)

// restartSample: one of this many sampled sessions is replayed, four times each.
const restartSample = 4

// CheckRestarts replays recorded sessions in the SDK's form twice: in a session that stays open, and in one that is
// closed and opened again before each request. The SDK must send the same bytes. send sends values with the SDK's
// client and returns what the server got.
func CheckRestarts[T any](t *testing.T, a winnowtest.Adapter[T], codec session.Codec,
	send func(t *testing.T, values []T) []json.RawMessage) {
	t.Helper()
	windows := []int{16_000, 200_000}
	every := sample * restartSample
	if testing.Short() {
		windows, every = windows[:1], 3*every
	}
	requests, compactions := 0, 0
	eachSession(t, every, func(t *testing.T, history []winnow.Message) {
		steps := perAppend(a.Import(a.Export(history)))
		for _, window := range windows {
			r := replay[T]{adapter: a, codec: codec, send: send, window: window}
			whole, compacted := r.run(t, steps, false)
			restarted, _ := r.run(t, steps, true)
			require.Equal(t, len(whole), len(restarted), "window %d", window)
			for k := range whole {
				require.Equal(t, whole[k], restarted[k], "window %d: request %d after a restart", window, k)
			}
			requests, compactions = requests+len(whole), compactions+compacted
		}
	})
	if requests == 0 || compactions == 0 {
		t.Fatalf("%d requests and %d compactions show nothing", requests, compactions)
	}
	t.Logf("%d requests, %d compactions: 0 differ after a restart", requests, compactions)
}

// replay makes the requests of a recorded session.
type replay[T any] struct {
	adapter winnowtest.Adapter[T]
	codec   session.Codec
	send    func(t *testing.T, values []T) []json.RawMessage
	window  int
}

// seed is the same for all requests.
var seed = maphash.MakeSeed()

// run returns the hashes of the requests.
func (r *replay[T]) run(t *testing.T, steps [][]winnow.Message, restarts bool) (sent []uint64, compactions int) {
	ctx := t.Context()
	now := time.Unix(1_700_000_000, 0)
	clock := func() time.Time { return now }
	store := session.NewMemory(&session.Options{
		Codec: r.codec, Now: clock,
		Manager: func(string) (int, *winnow.Options) { return r.window, &winnow.Options{Now: clock} },
	})
	open := func() *session.Session {
		s, err := store.Open(ctx, "k")
		require.NoError(t, err)
		return s
	}
	s := open()
	defer func() { s.Close() }()
	for i, step := range steps {
		now = now.Add(time.Minute)
		if step[0].Role != winnow.RoleAssistant || i == 0 {
			require.NoError(t, s.Append(ctx, step...))
			continue
		}
		if restarts {
			require.NoError(t, s.Close())
			s = open()
		}
		answer, err := s.DoMessages(ctx, func(_ context.Context, request []winnow.Message) ([]winnow.Message, error) {
			sent = append(sent, r.hash(t, request))
			return step, nil
		})
		if err != nil { // the window is too small for it
			require.NoError(t, s.Append(ctx, step...))
		} else if answer.Request.Compaction != nil {
			compactions++
		}
	}
	return sent, compactions
}

func (r *replay[T]) hash(t *testing.T, request []winnow.Message) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, raw := range r.send(t, r.adapter.Export(request)) {
		h.Write(raw)
		h.WriteByte('\n')
	}
	return h.Sum64()
}

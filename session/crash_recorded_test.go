package session_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/sessiontest"
)

var (
	crashRecorded = flag.Int("crash.recorded", 2, "recorded sessions in which the power is lost after each operation; 0: all")
	crashMessages = flag.Int("crash.messages", 30, "how many messages of each of them, within about 128 KB if there are at most 30; 0: all")
)

// TestCrashRecorded loses power after every file operation of what agents did, as TestCrash does with random programs.
func TestCrashRecorded(t *testing.T) {
	for name, messages := range recorded(t, *crashRecorded) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sum crashSum
			crashRecordedSession(t, name, beginningOf(messages, *crashMessages), &sum)
			require.Positive(t, sum.looks)
			t.Log(sum)
		})
	}
}

// fewMessages is how many messages of a session go test looks at. All that is read after each crash then stays small.
const fewMessages = 30

// beginningOf returns the first messages of a session: at most some, or all.
func beginningOf(messages []winnow.Message, most int) []winnow.Message {
	mostBytes := 128 << 10
	if most == 0 || most > fewMessages {
		mostBytes = math.MaxInt
	}
	bytes := 0
	for i := range messages {
		for _, p := range messages[i].Parts {
			bytes += len(p.Text) + len(p.Arguments)
		}
		if i > 0 && i == most || bytes > mostBytes {
			return messages[:i]
		}
	}
	return messages
}

func crashRecordedSession(t *testing.T, name string, messages []winnow.Message, sum *crashSum) {
	ctx := context.Background()
	hash := fnv.New64()
	hash.Write([]byte(name))
	now := time.Unix(1_700_000_000, 0)
	clock := func() time.Time {
		now = now.Add(time.Second)
		return now
	}
	window := 16_000 // so small that even beginnings are compacted
	if len(messages) > fewMessages {
		window = 32_000
	}
	c := newCrashes(t, name, "k", hash.Sum64(), nil, window)
	c.mayOverflow = true
	store, err := sessiontest.OpenFiles(c.fsys, &session.Options{Now: clock, Manager: func(string) (int, *winnow.Options) {
		return window, &winnow.Options{Now: clock}
	}})
	require.NoError(t, err)
	s := open(t, store, c.key)
	for i, m := range messages {
		shortenIDs(&m)
		// Some programs record an answer with several calls as several messages, before the results.
		unfinished := s.Interrupted()
		isAnswer := m.Role == winnow.RoleAssistant && i > 0 && (unfinished == nil || len(unfinished.Calls) == 0)
		if isAnswer {
			_, err = s.Do(ctx, func(_ context.Context, request []winnow.Message) (winnow.Message, error) {
				requireAccepted(t, request, name)
				return m, nil
			})
			if errors.Is(err, winnow.ErrOverflow) { // it cannot fit in so small a window
				err = s.Append(ctx, m)
			}
		} else {
			err = s.Append(ctx, m)
		}
		require.NoError(t, err)
		c.acknowledge(store)
		if i%8 == 7 { // a restart
			require.NoError(t, s.Close())
			s = open(t, store, c.key)
		}
	}
	require.NoError(t, s.Close())
	sum.add(c)
}

// shortenIDs gives calls ids that the strict provider takes, as if it had made them. Those of others may be longer.
func shortenIDs(m *winnow.Message) {
	const longest = 40
	short := func(id string) string {
		if len(id) <= longest {
			return id
		}
		hash := fnv.New64()
		hash.Write([]byte(id))
		return fmt.Sprintf("call_%x", hash.Sum64())
	}
	m.ToolCallID = short(m.ToolCallID)
	m.Parts = slices.Clone(m.Parts)
	for i := range m.Parts {
		m.Parts[i].ID = short(m.Parts[i].ID)
	}
}

package winnow_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// Refusals for the size of the body in bytes: tokens are not the matter.

func album(pictures, size int) []winnow.Message {
	var h []winnow.Message
	for i := range pictures {
		h = append(h, withImage(userSays("Picture "+itoa(i)), size), modelSays("I see."))
	}
	return append(h, userSays("And what do they show?"))
}

// bytesProvider refuses bodies above a limit of bytes, and counts what JSON makes of them in its own way.
func bytesProvider(limit int, factor float64, says func(n int) error) (call func(messages []winnow.Message) error, refused map[string]bool) {
	refused = map[string]bool{}
	return func(messages []winnow.Message) error {
		_, n := imagesOf(messages)
		for i := range messages {
			n += len(fullText(messages[i]))
		}
		if n = int(float64(n) * factor); n <= limit {
			return nil
		}
		p := fmt.Sprintf("%+v", messages)
		if refused[p] {
			return errors.New("the same body came again")
		}
		refused[p] = true
		return says(n)
	}, refused
}

// A body limit that was only guessed is given up where it cannot be reached.
func TestRecoverBytesWithoutNumbers(t *testing.T) {
	h := album(4, 1<<20)
	h = append(h, modelSays("Cats."), withImage(userSays("And this?"), 9<<20)) // the newest request cannot shrink
	m := newManager(t, 1_000_000, nil)
	call, refused := bytesProvider(19<<19, 1, func(int) error { return errors.New("413 request_too_large") })
	r := prepare(t, m, h)
	for call(r.Messages) != nil {
		var err error
		r, err = m.Recover(t.Context(), h, errors.New("413 request_too_large"))
		require.NoError(t, err, "a body of nine megabytes is taken, if somebody sends it")
	}
	assert.Equal(t, 1, len(refused))
	h = append(h, modelSays("A dog."), userSays("Thanks."))
	r, err := m.Prepare(t.Context(), h)
	require.NoError(t, err, "and the conversation goes on")
	require.NoError(t, call(r.Messages))

	state := snapshotOf(t, m)
	moved := newManager(t, 1_000_000, nil)
	require.NoError(t, moved.Restore([]byte(state)))
	r, err = moved.Prepare(t.Context(), h)
	require.NoError(t, err)
	require.NoError(t, call(r.Messages))
}

// What is learned from a refusal of the body lowers no limit of tokens, and compacts nothing as long as there
// are images and results.
func TestRecoverBytesLeavesTokensAlone(t *testing.T) {
	h := append(album(6, 1<<20), modelCalls("a"), toolSays("a", numbered(4_000)), modelSays("Done."), userSays("Go on."))
	m := newManager(t, 1_000_000, &winnow.Options{FoldAbove: 1})
	budget := prepare(t, m, h).Budget
	for _, cause := range []error{
		errors.New("413 Request body too large: 7000000 bytes > 3000000 bytes maximum"),
		errors.New("413 request_too_large"),
		errors.New("rpc error: code = ResourceExhausted desc = trying to send message larger than max (3000000 vs. 1500000)"),
	} {
		r, err := m.Recover(t.Context(), h, cause)
		require.NoError(t, err)
		assert.Equal(t, budget, r.Budget)
		assert.Nil(t, r.Compaction)
	}
	plain := newManager(t, 1_000_000, &winnow.Options{FoldAbove: 1})
	assert.Equal(t, prepare(t, plain, h[len(h)-1:]).Budget, prepare(t, m, h[len(h)-1:]).Budget)
}

// A provider that counts more bytes than the manager does is taken at its word.
func TestRecoverBytesCountedByTheProvider(t *testing.T) {
	h := album(20, 1<<20)
	m := newManager(t, 1_000_000, &winnow.Options{FoldAbove: 1})
	call, refused := bytesProvider(16<<20, 1.5, func(n int) error {
		return fmt.Errorf("413 Request body is too large: %d bytes, the limit is %d bytes", n, 16<<20)
	})
	r := prepare(t, m, h)
	for err := call(r.Messages); err != nil; err = call(r.Messages) {
		var failed error
		r, failed = m.Recover(t.Context(), h, err)
		require.NoError(t, failed)
	}
	assert.Equal(t, 1, len(refused), "one refusal tells all")
	n, _ := imagesOf(r.Messages)
	assert.GreaterOrEqual(t, n, 3, "and the newest images stay")
}

// A request that was refused is not made again while a run of Recover is open, whoever asks. A run that came to
// nothing is undone: the next one begins from the log.
func TestNoRefusedRequestIsPreparedAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		h     []winnow.Message
		cause error
	}{
		"bytes":  {album(4, 6<<20), errors.New("413 request_too_large")},
		"tokens": {agentSession(20, 4_000), errNoNumbers},
	} {
		m := newManager(t, 200_000, nil)
		sent := map[string]bool{}
		first := prepare(t, m, tt.h)
		r := first
		var err error
		for err == nil {
			require.False(t, sent[payload(r.Messages)], name)
			sent[payload(r.Messages)] = true
			if r, err = m.Recover(t.Context(), tt.h, tt.cause); err != nil {
				break
			}
			moved := newManager(t, 200_000, nil)
			require.NoError(t, moved.Restore([]byte(snapshotOf(t, m))))
			for where, m := range map[string]*winnow.Manager{"here": m, "restored": moved} {
				again := prepare(t, m, tt.h)
				assert.False(t, sent[payload(again.Messages)], "%s, %s: a refused request again", name, where)
			}
		}
		require.ErrorIs(t, err, winnow.ErrOverflow)
		sameMessages(t, first.Messages, prepare(t, m, tt.h).Messages, name)
	}
}

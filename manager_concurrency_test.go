package winnow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// A manager is used from many goroutines: a UI asks for plans while a request is prepared.

// Whatever is called at once, each request is valid, fits and leaves its history alone. Run with -race.
func TestManagerConcurrency(t *testing.T) {
	log := named(append(chat(40, 1_600), agentSession(30, 3_000)...))
	for _, background := range []bool{false, true} {
		t.Run(fmt.Sprintf("background %v", background), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testConcurrency(t, log, background) })
		})
	}
}

func testConcurrency(t *testing.T, log []winnow.Message, background bool) {
	before := deepCopy(log)
	var asked atomic.Int64
	m := newManager(t, 16_000, &winnow.Options{Estimator: byChars, Recall: true, Compact: &winnow.CompactOptions{
		Background: background, BeforeCompact: func(context.Context, []winnow.Message) error { return errors.New("no disk") },
	}, Summarizer: winnow.SummarizerFunc(func(ctx context.Context, r winnow.SummaryRequest) (string, error) {
		for i := range r.Messages { // its own: it may write to them
			r.Messages[i].Parts[0].Text = "overwritten"
		}
		if n := asked.Add(1); n%4 == 3 {
			return "", errDown
		}
		return "## Goal\nsummary", nil
	})})
	defer m.Close()
	check := func(r *winnow.Request, err error) {
		switch {
		case errors.Is(err, winnow.ErrOverflow) || errors.Is(err, winnow.ErrCompaction):
		case assert.NoError(t, err):
			assert.NoError(t, validateRequest(r.Messages))
			assert.LessOrEqual(t, r.Tokens, r.Budget)
		}
	}
	steps := count(30, 20)
	var wg sync.WaitGroup
	work := func(f func(h []winnow.Message)) {
		wg.Go(func() {
			for n := range steps {
				f(log[:2*(1+n*len(log)/2/steps)-1])
			}
		})
	}
	for range 2 {
		work(func(h []winnow.Message) { check(m.Prepare(t.Context(), h)) })
		work(func(h []winnow.Message) {
			r := m.Plan(h)
			assert.NoError(t, validateRequest(r.Messages))
			for k := range r.Edits {
				r.Edits[k] = winnow.Edit{}
			}
		})
	}
	work(func(h []winnow.Message) {
		r, err := m.Compact(t.Context(), h, "")
		if err == nil {
			assert.NoError(t, validateRequest(r.Messages))
		}
	})
	work(func(h []winnow.Message) { check(m.Recover(t.Context(), h, errors.New("prompt is too long"))) })
	work(func([]winnow.Message) {
		state, err := m.Snapshot()
		if assert.NoError(t, err) {
			assert.NoError(t, m.Restore(state))
		}
	})
	work(func(h []winnow.Message) {
		answer, err := m.Recall(t.Context(), h, json.RawMessage(`{"words":"mark100040"}`))
		assert.NoError(t, err)
		assert.NotEmpty(t, answer.Parts)
	})
	wg.Wait()
	sameMessages(t, before, log, "the history was written to")

	r := prepare(t, m, log)
	tool := r.Tokens - estimateAll(byChars, r.Messages) // of Recall
	requestCheck{estimator: byChars, overhead: tool}.check(t, log, r)
}

// No lock is held while a summary is written: what else is asked of the manager meanwhile is answered.
func TestManagerWorksDuringASummary(t *testing.T) {
	h := chat(40, 2_000)
	more := append(h[:len(h):len(h)], userSays("one more"))
	var m *winnow.Manager
	inside := 0
	s := winnow.SummarizerFunc(func(ctx context.Context, _ winnow.SummaryRequest) (string, error) {
		inside++
		state := snapshotOf(t, m)
		require.True(t, m.Plan(more).NeedsCompaction)
		small := prepare(t, m, h[:6])
		require.Len(t, small.Messages, 6)
		require.NoError(t, m.Restore([]byte(state)))
		m.Close()
		return "## Goal\nfine", nil
	})
	m = newManager(t, 16_000, &winnow.Options{Estimator: byChars, Summarizer: s, Now: newClock().Now, Compact: &winnow.CompactOptions{
		Rules: func() string { m.Plan(more); return "Be kind." },
	}})
	done := make(chan *winnow.Request)
	go func() { r, _ := m.Prepare(t.Context(), h); done <- r }()
	select {
	case r := <-done:
		require.NotNil(t, r)
		requestCheck{estimator: byChars}.check(t, h, r)
	case <-time.After(30 * time.Second):
		t.Fatal("the manager waits for itself")
	}
	assert.Positive(t, inside)
	next := prepare(t, m, more)
	assert.Equal(t, "one more", fullText(next.Messages[len(next.Messages)-1]), "appended meanwhile")
}

// The conversation goes on, or back, while a summary of it is written: whichever call ends last, the next
// request is of the history that is passed.
func TestManagerHistoryMovesDuringASummary(t *testing.T) {
	h := chat(40, 2_000)
	fork := named(append(chat(40, 2_000)[:20:20], userSays("another way"), modelSays("as you like"), userSays("good")))
	for _, tt := range []struct {
		name  string
		moved []winnow.Message
	}{
		{"on", append(h[:len(h):len(h)], userSays("one more"))},
		{"back", h[:12]},
		{"another way", fork},
		{"to nothing", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var m *winnow.Manager
			once := false
			s := winnow.SummarizerFunc(func(ctx context.Context, _ winnow.SummaryRequest) (string, error) {
				if !once {
					once = true
					_, err := m.Prepare(ctx, tt.moved)
					assert.NoError(t, err)
				}
				return "## Goal\nfine", nil
			})
			m = newManager(t, 16_000, &winnow.Options{Estimator: byChars, Summarizer: s, Now: newClock().Now})
			first := prepare(t, m, h)
			requestCheck{estimator: byChars}.check(t, h, first)
			r := prepare(t, m, tt.moved)
			require.Equal(t, firstDifference(first.Messages, r.Messages), r.FirstChanged)
			require.LessOrEqual(t, r.Tokens, r.Budget)
			require.NoError(t, validateRequest(r.Messages))
			if n := len(tt.moved); n > 0 {
				require.Equal(t, fullText(tt.moved[n-1]), fullText(r.Messages[len(r.Messages)-1]))
			} else {
				require.Empty(t, r.Messages)
			}
			if len(tt.moved) < len(h) { // a summary of messages that are gone must not be in it
				require.Len(t, r.Messages, len(tt.moved))
				require.Zero(t, summariesIn(r.Messages))
			}
		})
	}
}

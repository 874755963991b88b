package winnow_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// The short way of Prepare gives the request that the long way gives. A manager that was restored from its
// own snapshot has to take the long one.
func TestShortAndLongWayAgree(t *testing.T) {
	ctx := context.Background()
	clock := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	short, equal := 0, 0
	for seed := range uint64(200) {
		h := randomHistory(seed)
		if len(h) == 0 {
			continue
		}
		d := seeded(seed)
		tokens := 0
		for i := range h {
			tokens += winnow.CharsPerToken(4).Estimate(h[i])
		}
		window := 2_000 + tokens*(1+d.IntN(4))/2
		now := clock
		options := &winnow.Options{
			HistoryTurns: d.IntN(3) * 2, MaxBytes: d.IntN(2) * 20_000_000, Now: func() time.Time { return now },
			FoldAbove: []float64{0, 0.05}[d.IntN(2)],
		}
		a, err := winnow.New(window, options)
		require.NoError(t, err)
		b, err := winnow.New(window, options)
		require.NoError(t, err)
		var request winnow.Request
		for n := 0; n < len(h); {
			n = min(len(h), n+1+d.IntN(6))
			now = now.Add(time.Duration(d.IntN(120)) * time.Second)
			state, err := b.Snapshot()
			require.NoError(t, err)
			require.NoError(t, b.Restore(state))
			want, errB := b.Prepare(ctx, h[:n])
			before := request.Messages
			errA := a.PrepareInto(ctx, h[:n], &request)
			require.Equal(t, errB == nil, errA == nil, "seed %d at %d: %v, %v", seed, n, errA, errB)
			if errA != nil {
				break
			}
			if len(before) > 0 && request.FirstChanged == len(before) {
				short++
			}
			if !reflect.DeepEqual(want, &request) { // to find that there is no difference takes cmp far longer
				t.Fatalf("seed %d at %d: long way -, short way +:\n%s", seed, n, cmp.Diff(want, &request))
			}
			equal++
		}
	}
	assert.Greater(t, short, equal/4, "hardly a request went on from the last one")
}

// A message that was changed behind the manager's back is sent as it is now.
func TestShortWayNoticesChanges(t *testing.T) {
	ctx := context.Background()
	grow := func() []winnow.Message {
		h := list(userSays("begin"))
		for i := range 40 {
			id := "call" + itoa(i)
			h = append(h, modelCalls(id), toolSays(id, numbered(3)), userSays("go on "+itoa(i)))
		}
		return h
	}
	for _, c := range []struct {
		name   string
		change func(h []winnow.Message) []winnow.Message
	}{
		{"a message in the middle is another one", func(h []winnow.Message) []winnow.Message { h[50] = hostSays("changed"); return h }},
		{"a text in the middle is another one", func(h []winnow.Message) []winnow.Message { h[3].Parts = list(userSays("changed"))[0].Parts; return h }},
		{"a result became an error", func(h []winnow.Message) []winnow.Message { h[2].IsError = true; return h }},
		{"rewound", func(h []winnow.Message) []winnow.Message { return h[:61] }},
		{"forked", func(h []winnow.Message) []winnow.Message { return append(h[:61:61], userSays("another way")) }},
		{"replaced", func([]winnow.Message) []winnow.Message { return list(userSays("hello")) }},
		{"a call id is used again", func(h []winnow.Message) []winnow.Message {
			return append(h, modelCalls("call3"), toolSays("call3", "again"), userSays("well"))
		}},
		{"a result comes late", func(h []winnow.Message) []winnow.Message { return append(h, toolSays("call3", "late")) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := winnow.New(200_000, nil)
			require.NoError(t, err)
			var r winnow.Request
			h := grow()
			require.NoError(t, m.PrepareInto(ctx, h[:len(h)-3], &r))
			require.NoError(t, m.PrepareInto(ctx, h, &r))
			h = c.change(h)
			require.NoError(t, m.PrepareInto(ctx, h, &r))
			fresh, err := winnow.New(200_000, nil)
			require.NoError(t, err)
			want, err := fresh.Prepare(ctx, h)
			require.NoError(t, err)
			sameMessages(t, want.Messages, r.Messages, "what is sent")
			sameMessages(t, want.History, r.History, "what is kept")
		})
	}
}

func BenchmarkPrepareInto(b *testing.B) {
	ctx := context.Background()
	for _, kind := range []struct {
		name  string
		kind  transcriptKind
		edits bool
	}{{"clean", clean, false}, {"with edits", dirty, true}} {
		for _, n := range []int{200, 2_000, 20_000} {
			h := transcript(n, kind.kind)
			m, err := winnow.New(1_000_000_000, nil)
			require.NoError(b, err)
			var r winnow.Request
			require.NoError(b, m.PrepareInto(ctx, h, &r))
			b.Run(kind.name+"/nothing new/"+itoa(n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := m.PrepareInto(ctx, h, &r); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(kind.name+"/one message/"+itoa(n), func(b *testing.B) {
				grown := append(make([]winnow.Message, 0, n+1_000_000), h...)
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					grown = append(grown, userSays("go on with "+itoa(i)))
					if err := m.PrepareInto(ctx, grown, &r); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

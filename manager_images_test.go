package winnow_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// pictures counts what an image shows: 2 000 tokens.
var pictures = picturesOf(2_000)

// picturesOf counts this number of tokens for each image.
func picturesOf(tokens int) winnow.Estimator {
	return winnow.EstimatorFunc(func(m winnow.Message) int {
		n, _ := imagesOf([]winnow.Message{m})
		return byChars.Estimate(m) + tokens*n
	})
}

// Images in the results of the newest step are left out if the request does not fit otherwise: first the oldest, and no
// more than has to go. The image of the newest request stays.
func TestImagesOfTheNewestStepMustFit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		images, stay int
		summarized   bool
	}{{1, 1, false}, {2, 2, false}, {6, 3, false}, {6, 3, true}} {
		h := []winnow.Message{withImage(userSays("Look at this."), 1_000), modelCalls("a", "b", "c", "d", "e", "f")}
		for i := range 6 {
			result := toolSays(string(rune('a'+i)), "Seen "+itoa(i)+".")
			if i < tt.images {
				result = withImage(result, 1_000)
			}
			h = append(h, result)
		}
		summary := says("## Goal\nGo on.")
		if tt.summarized {
			h = append(chat(12, 4_000), h...)
		}
		m := newManager(t, 10_000, &winnow.Options{Estimator: pictures, Reserve: 1_000, Summarizer: summary})
		plan := m.Plan(h)
		r, err := m.Prepare(t.Context(), h)
		require.NoError(t, err)
		n, _ := imagesOf(r.Messages)
		assert.Equal(t, 1+tt.stay, n)
		if tt.summarized {
			assert.Positive(t, summary.count(), "a summary is asked for: with it the rest can fit")
			continue
		}
		assert.Equal(t, plan.Tokens, r.Tokens)
		again := prepare(t, m, append(h[:len(h):len(h)], modelSays("I see."), userSays("And?")))
		assert.Equal(t, len(r.Messages), again.FirstChanged, "what was sent stays as it was sent")
	}
}

// Where a summary was asked for because the body was too large, no image is left out of a request that fits with it.
func TestImagesStayWhereTheBodyFits(t *testing.T) {
	t.Parallel()
	h := append(chat(35, 2_000), userSays(strings.Repeat("word ", 12_000)), modelCalls("0", "1", "2", "3", "4", "5"))
	for i := range 6 {
		h = append(h, withImage(toolSays(itoa(i), "Seen."), 100))
	}
	summary := says("## Goal\nGo on.")
	m := newManager(t, 200_000, &winnow.Options{Estimator: picturesOf(5_000), Summarizer: summary, MaxBytes: 100_000})
	r, err := m.Prepare(t.Context(), h)
	require.NoError(t, err)
	assert.Positive(t, summary.count())
	n, _ := imagesOf(r.Messages)
	assert.Equal(t, 6, n)
}

// No summary is asked for where the body cannot become small enough whatever it says.
func TestNoSummaryForABodyThatCannotFit(t *testing.T) {
	t.Parallel()
	for _, turns := range []int{60, 35} { // which fit in tokens only with a summary, and without
		testNoSummaryForABody(t, append(chat(turns, 1_000), withImage(userSays("And this?"), 500_000)))
	}
}

func testNoSummaryForABody(t *testing.T, h []winnow.Message) {
	summary := says("## Goal\nGo on.")
	m := newManager(t, 16_000, &winnow.Options{Estimator: byChars, Summarizer: summary, MaxBytes: 400_000})
	_, err := m.Prepare(t.Context(), h)
	require.ErrorIs(t, err, winnow.ErrOverflow)
	assert.Zero(t, summary.count(), "Prepare")
	_, err = m.Compact(t.Context(), h, "")
	require.ErrorIs(t, err, winnow.ErrOverflow)
	assert.Zero(t, summary.count(), "Compact")
}

// Nor does Recover ask for one where the newest request alone is above the limit that the provider named. Above a limit
// that is only guessed it does.
func TestRecoverPaysForNothing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		cause  error
		newest int // characters of the newest request
		calls  int
	}{
		{"above the limit", errors.New("prompt is too long, the limit is 3000 tokens"), 16_000, 0},
		{"within it", errors.New("prompt is too long, the limit is 3000 tokens"), 4_000, 1},
		{"within it, beside a shorter answer", errors.New("prompt is too long, the limit is 3000 tokens"), 10_000, 1},
		{"a body above the limit", errors.New("413 Request body too large: 20000 bytes > 9000 bytes maximum"), 16_000, 0},
		{"a guess", errors.New("input is too long for requested model"), 34_000, 1},
	} {
		summary := says("## Goal\nGo on.")
		m := newManager(t, 16_000, &winnow.Options{Estimator: byChars, Summarizer: summary})
		h := append(chat(12, 800), userSays(strings.Repeat("word ", tt.newest/5)))
		prepare(t, m, h)
		require.Zero(t, summary.count(), tt.name)
		_, err := m.Recover(t.Context(), h, tt.cause)
		if err != nil {
			require.ErrorIs(t, err, winnow.ErrOverflow, tt.name)
		}
		assert.Equal(t, tt.calls, summary.count(), tt.name)
	}
}

// screen adds a picture of 1280×800 pixels to m.
func screen(m winnow.Message) winnow.Message {
	m.Parts = append(m.Parts, winnow.Part{Kind: winnow.KindImage, MediaType: "image/png", Bytes: 300_000, Width: 1280, Height: 800})
	return m
}

// An agent that looks at a screen has the images of its newest three steps in every request, and rewrites its prefix in
// at most 8 of 100 requests, however the images come. What a person shows in the newest turn stays.
func TestNewestImagesStay(t *testing.T) {
	t.Parallel()
	clicks := func(id string) []winnow.Message {
		return callOf(id, "computer", `{"action":"click"}`, "clicked "+id)
	}
	for _, tt := range []struct {
		name   string
		step   func(k int) []winnow.Message
		inTurn bool // all of it is one turn of a person
	}{
		{"in a result", func(k int) []winnow.Message {
			step := clicks("a" + itoa(k))
			return list(step[0], screen(step[1]))
		}, true},
		{"in two results of a step", func(k int) []winnow.Message {
			a, b := clicks("a"+itoa(k)), clicks("b"+itoa(k))
			a[0].Parts = append(a[0].Parts, b[0].Parts...)
			return list(a[0], screen(a[1]), screen(b[1]))
		}, true},
		{"inserted by the host", func(k int) []winnow.Message {
			return append(clicks("a"+itoa(k)), screen(hostSays("The screen after step "+itoa(k)+".")))
		}, true},
		{"always the same, inserted by the host", func(k int) []winnow.Message {
			return append(clicks("a"+itoa(k)), screen(hostSays("The screen now.")))
		}, true},
		{"always the same, in the name of a person", func(k int) []winnow.Message {
			return append(clicks("a"+itoa(k)), screen(userSays("The screen now.")))
		}, false},
	} {
		for _, share := range []float64{0, -1} {
			c := newClock()
			o := &winnow.Options{FoldAbove: share, Estimator: picturesOf(1_400), Now: c.Now}
			m := newManager(t, 200_000, o)
			h := list(screen(userSays("Book a flight as in this picture.")))
			first := len(tt.step(0))
			rewrites, before := 0, 0
			for k := range 100 {
				h = named(append(h, tt.step(k)...))
				r := prepare(t, m, h)
				for i := len(r.Messages) - min(3, k+1)*first; i < len(r.Messages); i++ {
					want, _ := imagesOf(h[len(h)-len(r.Messages)+i:][:1])
					got, _ := imagesOf(r.Messages[i : i+1])
					require.Equal(t, want, got, "%s, FoldAbove %v, step %d: message %d of %d", tt.name, share, k, i, len(r.Messages))
				}
				if r.FirstChanged < before {
					rewrites++
				}
				before = len(r.Messages)
				n, _ := imagesOf(r.Messages)
				require.LessOrEqual(t, n, 1+17*2, "%s, FoldAbove %v, step %d", tt.name, share, k)
				if tt.inTurn {
					require.True(t, holds(r, &h[0]), tt.name)
				}
				c.pass(10 * time.Second)
			}
			assert.LessOrEqual(t, rewrites, 8, "%s, FoldAbove %v", tt.name, share)

			// rewound by 50 steps, in this process and in the next
			heir := newManager(t, 200_000, o)
			require.NoError(t, heir.Restore([]byte(snapshotOf(t, m))))
			h = h[:1+50*first]
			want, _ := imagesOf(h[len(h)-3*first:])
			for _, m := range []*winnow.Manager{m, heir} {
				r := prepare(t, m, h)
				got, _ := imagesOf(r.Messages[len(r.Messages)-3*first:])
				assert.Equal(t, want, got, "%s, FoldAbove %v: rewound", tt.name, share)
			}
		}
	}
}

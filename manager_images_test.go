package winnow_test

import (
	"errors"
	"strings"
	"testing"

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

package winnow_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// What hosts do with messages that were sent: set something on them, wrap them anew, change them in a copy of the list.

// inPlace puts something into each call that no record may stand for, so that old results are edited where they stand.
func inPlace(h []winnow.Message) []winnow.Message {
	for i := range h {
		if h[i].Role == winnow.RoleAssistant && len(h[i].Parts) > 0 {
			h[i].Parts = append(slices.Clip(h[i].Parts), winnow.Part{Kind: winnow.KindOpaque, Bytes: 9})
		}
	}
	return h
}

// FirstChanged is about what a provider is sent. A host may write the first message anew for each call, with a
// clock in it, so that it comes to lie where the one before it lay.
func TestFirstChangedOfAMessageThatIsWrittenAnew(t *testing.T) {
	m := newManager(t, 100_000, nil)
	log := agentSession(4, 200)
	for i := range 99 {
		text := strings.Repeat("You are an agent. ", 20) + fmt.Sprintf("It is %02d:%02d now. ", i/60, i%60) + strings.Repeat("Be kind. ", 20)
		h := append(list(systemSays(text)), log...)
		r := prepare(t, m, h)
		require.Equal(t, 0, r.FirstChanged, "request %d", i)
		require.Equal(t, text, fullText(r.Messages[0]))
		r, h = nil, nil
		runtime.GC()
	}
}

// A host that decodes its log anew for each call drops all that it passed before. What it has changed in the middle of a
// long result is noticed, also where the new text came to lie where the old one lay.
func TestFirstChangedOfALogThatIsReadAnew(t *testing.T) {
	m := newManager(t, 100_000, nil)
	decode := func(i int) []winnow.Message {
		var h []winnow.Message
		for _, seen := range agentSession(2, 200) {
			h = append(h, deepCopy(list(seen))...)
		}
		result := strings.Repeat("a line of the log\n", 100) + fmt.Sprintf("%03d errors\n", i) + strings.Repeat("a line of the log\n", 99)
		return append(h, modelCalls("a"), toolSays("a", result))
	}
	for i := range 99 {
		h := decode(i)
		r := prepare(t, m, h)
		if i > 0 {
			require.Equal(t, len(h)-1, r.FirstChanged, "request %d", i)
		}
		r, h = nil, nil
		runtime.GC()
	}
}

// A history that was rewound behind its summary, but to before the request that was the newest when that was written:
// the request that is the newest now is a message, and not only part of a summary. It stays so in each later request,
// of the manager that goes on, of its Plan and of one that was restored, and these begin with the bytes of the last.
func TestRewoundToBeforeTheRequestOfTheSummary(t *testing.T) {
	for _, wanted := range []string{"", "the first"} {
		o := &winnow.Options{
			Estimator: byChars, Summarizer: says("## Goal\nFix the build."), Now: newClock().Now, Tools: keepAll, NoMinify: true,
			Compact: &winnow.CompactOptions{KeepRecent: 3_000},
		}
		m := newManager(t, 100_000, o)
		h := list(userSays("Fix the build."))
		if wanted != "" {
			h = append(h, modelSays("Which?"), userSays("The first."))
		}
		for i := range 20 {
			h = append(h, callOf("call_"+itoa(i), "exec", `{}`, numbered(60))...)
		}
		h = named(append(h, userSays("And the tests?"), modelSays("They pass.")))
		first := compact(t, m, h).Compaction.FirstKept
		require.Greater(t, first, 4, "some of it is summarized")
		require.Less(t, first, len(h)-4, "the newest request is not")

		in := h[: first+2 : first+2]
		r := prepare(t, m, in)
		require.True(t, r.Messages[0].Summary, "it stands for what is there")
		requestCheck{byChars, 0}.check(t, in, r)
		assert.Equal(t, in[newestRequest(in)], r.Messages[1])
		assert.Len(t, r.Messages, 4)

		in = append(in, modelSays("It is fixed."), userSays("And the tests?"))
		restored := restarted(t, 100_000, o, snapshotOf(t, m))
		plan := m.Plan(in)
		next := prepare(t, m, in)
		assert.Equal(t, len(r.Messages), next.FirstChanged)
		assert.Equal(t, next.Messages, plan.Messages)
		assert.Equal(t, next.Edits, plan.Edits)
		assert.Equal(t, next.Messages, prepare(t, restored, in).Messages)
	}
}

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
	}{{2, 2, false}, {6, 3, false}, {6, 2, true}} { // what people said takes room
		h := []winnow.Message{withImage(userSays("Look at this."), 1_000), modelCalls("a", "b", "c", "d", "e", "f")}
		for i := range 6 {
			result := toolSays(string(rune('a'+i)), "Seen "+itoa(i)+".")
			if i < tt.images {
				result = withImage(result, 1_000)
			}
			h = append(h, result)
		}
		if tt.summarized {
			h = append(chat(12, 4_000), h...)
		}
		summary := says("## Goal\nGo on.")
		r := prepare(t, newManager(t, 10_000, &winnow.Options{Estimator: picturesOf(2_000), Reserve: 1_000, Summarizer: summary}), h)
		n, _ := imagesOf(r.Messages)
		assert.Equal(t, 1+tt.stay, n)
		assert.Equal(t, tt.summarized, summary.count() > 0, "with a summary the rest can fit")
	}
}

// No summary is asked for where the body cannot become small enough whatever it says.
func TestNoSummaryForABodyThatCannotFit(t *testing.T) {
	t.Parallel()
	for _, turns := range []int{60, 35} { // which fit in tokens only with a summary, and without
		h := append(chat(turns, 1_000), withImage(userSays("And this?"), 500_000))
		summary := says("## Goal\nGo on.")
		m := newManager(t, 16_000, &winnow.Options{Estimator: byChars, Summarizer: summary, MaxBytes: 400_000})
		_, err := m.Prepare(t.Context(), h)
		require.ErrorIs(t, err, winnow.ErrOverflow)
		_, err = m.Compact(t.Context(), h, "")
		require.ErrorIs(t, err, winnow.ErrOverflow)
		assert.Zero(t, summary.count())
	}
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
	return withParts(m, winnow.Part{Kind: winnow.KindImage, MediaType: "image/png", Bytes: 300_000, Width: 1280, Height: 800})
}

// An agent that looks at a screen has the images of its newest three steps in every request, and rewrites its prefix in
// at most 8 of 100 requests, however the images come. What a person shows in the newest turn stays.
func TestNewestImagesStay(t *testing.T) {
	t.Parallel()
	clicks := func(id string) []winnow.Message { return callOf(id, "computer", `{"action":"click"}`, "clicked "+id) }
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
			heir := restarted(t, 200_000, o, snapshotOf(t, m))
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

func directory(i int) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"directory":"d%02d"}`, i))
}

// A host that plans with a list of its own, and then prepares that list, is not sent what it has written to an older
// one since: the lists of the older request are of that memory.
func TestPlanOfOtherMemory(t *testing.T) {
	text, err := json.Marshal([]winnow.Message{
		user("go"), call("c0", "list", string(directory(0))), result("c0", "list", "ok"),
		call("c1", "list", string(directory(1))),
		result("c1", "list", strings.Repeat("a line of output 4711\n", 20_000)),
		call("c2", "list", string(directory(2))), result("c2", "list", "ok"),
	})
	require.NoError(t, err)
	var older, newer []winnow.Message
	require.NoError(t, json.Unmarshal(text, &older))
	require.NoError(t, json.Unmarshal(text, &newer))
	m := newManager(t, 100_000, &winnow.Options{})
	for range 3 {
		require.NotEmpty(t, prepare(t, m, older).Edits, "else the request is the history itself")
	}
	m.Plan(newer)
	copy(older[3].Parts[0].Arguments, directory(9))
	assert.Equal(t, string(directory(1)), string(prepare(t, m, newer).Messages[3].Parts[0].Arguments))
}

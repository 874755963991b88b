package winnow_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// A conversation of nothing but text goes on in front of a gateway with a small limit: a summary makes room
// where neither images nor results are left to shrink.
func TestBodyOfTextIsCompacted(t *testing.T) {
	const most = 300_000
	m := newManager(t, 200_000, &winnow.Options{MaxBytes: most, Now: newClock().Now})
	compactions, largest := 0, 0
	for n := 2; n <= 300; n += 2 {
		plan := m.Plan(chat(n, 4_000))
		r := prepare(t, m, chat(n, 4_000))
		require.Equal(t, r.Compaction != nil, plan.NeedsCompaction, "request with %d messages", n)
		require.LessOrEqual(t, r.Bytes, most, "request with %d messages", n)
		largest = max(largest, r.Bytes)
		if r.Compaction != nil {
			compactions++
		}
	}
	assert.Positive(t, compactions)
	assert.Less(t, compactions, 15, "each makes room for many requests")
	assert.Greater(t, largest, most*3/4, "what is allowed is used")

	off := newManager(t, 200_000, &winnow.Options{MaxBytes: most, Now: newClock().Now, Compact: &winnow.CompactOptions{Off: true}})
	_, err := off.Prepare(t.Context(), chat(300, 4_000))
	full := overflowOf(t, err)
	assert.Greater(t, full.Bytes, full.MaxBytes)
}

// A digest stands for the history, and the summarizer that is asked to replace it still fails. A body that is too large
// by then is limited as any other.
func TestBodyOfTextInAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // a call that failed is made again after a pause
		const most = 300_000
		for _, idle := range []time.Duration{time.Minute, time.Hour} {
			c := newClock()
			m := newManager(t, 200_000, &winnow.Options{MaxBytes: most, Now: c.Now, Summarizer: fails(errors.New("503"))})
			degraded := 0
			for n := 2; n <= 300; n += 2 {
				c.pass(idle)
				r := prepare(t, m, chat(n, 4_000))
				require.LessOrEqual(t, r.Bytes, most, "request with %d messages", n)
				if r.Degraded != "" {
					degraded++
				}
			}
			assert.Positive(t, degraded)
		}
	})
}

// Two messages that read the same are two: an older one whose image had to go takes nothing from the newest. The log says
// why it had to go.
func TestNewestRequestKeepsItsImage(t *testing.T) {
	picture := withImage(userSays("What is this?"), 60_000)
	var log strings.Builder
	m := newManager(t, 200_000, &winnow.Options{
		MaxBytes: 100_000, Now: newClock().Now, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	h := list(picture, modelSays("A cat."), userSays("Thanks."), modelSays("Welcome."))
	prepare(t, m, h[:3])
	h = append(h, withImage(userSays("And this?"), 60_000))
	r := prepare(t, m, h)
	images, _ := imagesOf(r.Messages)
	require.Equal(t, 1, images, "the older image had to go")
	assert.Contains(t, log.String(), `reason="the request body is too large"`)
	h = append(h, modelSays("A dog."), picture)
	r = prepare(t, m, h)
	last := r.Messages[len(r.Messages)-1]
	assert.Equal(t, picture.Parts, last.Parts)
}

// System messages are in every request as they are, whatever they hold.
func TestSystemMessageKeepsItsImage(t *testing.T) {
	h := list(withImage(systemSays("The screen looks like this."), 60_000), withImage(userSays("And this?"), 60_000),
		modelSays("It is a form."), userSays("Fill it in."))
	r := prepare(t, newManager(t, 200_000, &winnow.Options{MaxBytes: 100_000}), h)
	assert.Equal(t, h[0], r.Messages[0])
	images, _ := imagesOf(r.Messages)
	assert.Equal(t, 1, images)
}

// screenshots is the history of an agent that works with a screen: a call, a screenshot as its result, again and again.
func screenshots(steps, size int) []winnow.Message {
	h := list(userSays("Book the cheapest flight to Lisbon."))
	for i := range steps {
		id := "call_" + itoa(i)
		h = append(h, modelSends(textPart("Step "+itoa(i)+": I click on the next field and look."), callPart(id, "computer")),
			withImage(toolSays(id, "Screenshot "+itoa(i)+" taken."), size))
	}
	return h
}

// A body that is too large is made smaller by so much that the next requests fit as well.
func TestBodyIsRewrittenRarely(t *testing.T) {
	shots := screenshots(120, 400_000)
	for _, tt := range []struct {
		name    string
		bytes   int // that a body may have
		history []winnow.Message
		most    int // rewrites
	}{
		{"screenshots as results", 10_000_000, shots, 8},
		{"small screenshots, a small limit", 5_000_000, screenshots(120, 300_000), 8},
		{"large screenshots", 16_000_000, screenshots(120, 1_000_000), 8},
		{"twelve screenshots fit", 5_000_000, shots, 11},
		{"pictures of the user", 10_000_000, album(120, 400_000), 8},
		{"large results", 1_000_000, largeResults(120, 30_000), 12},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newClock()
			m := newManager(t, 1_000_000, &winnow.Options{MaxBytes: tt.bytes, Tools: keepAll, Now: c.Now})
			n, before := 0, 0
			for i := 1; i <= len(tt.history); i += 2 {
				r := prepare(t, m, tt.history[:i])
				require.LessOrEqual(t, r.Bytes, tt.bytes)
				if r.FirstChanged < before {
					n++
				}
				before = len(r.Messages)
				c.pass(20 * time.Second)
			}
			assert.Positive(t, n)
			assert.LessOrEqual(t, n, tt.most)
		})
	}
}

// largeResults is the history of an agent that has a log file read in every step.
func largeResults(steps, size int) []winnow.Message {
	h := list(userSays("Find the request that failed."))
	log := strings.Repeat("a line of the log\n", size/18)
	for i := range steps {
		id := "call_" + itoa(i)
		h = append(h, modelSends(textPart("Step "+itoa(i)), callPart(id, "read_log")), toolSays(id, "Log "+itoa(i)+"\n"+log))
	}
	return h
}

// What the newest step brought stays as long as there is anything else to leave out.
func TestBodyKeepsTheNewestStep(t *testing.T) {
	h := screenshots(30, 400_000)
	r := prepare(t, newManager(t, 200_000, &winnow.Options{MaxBytes: 1_000_000}), h)
	n, _ := imagesOf(r.Messages[len(r.Messages)-1:])
	assert.Equal(t, 1, n, "the newest screenshot")
	old := list(userSays("Look."), modelCalls("a"), toolSays("a", strings.Repeat("line\n", 50_000)), modelSays("Seen."))
	r = prepare(t, newManager(t, 1_000_000, &winnow.Options{MaxBytes: 500_000, Tools: keepAll}), append(old, screenshots(1, 400_000)...))
	n, _ = imagesOf(r.Messages)
	assert.Equal(t, 1, n, "an old result goes first")
}

// A body is planned with a tenth to spare. Where the newest request alone takes more than that, the request is sent as
// long as its body fits.
func TestBodyMayTakeAllThatIsAllowed(t *testing.T) {
	const most = 100_000
	history := append(chat(10, 4_000), userSays(strings.Repeat("all of it matters ", 95*most/100/18)))
	var duringFlush *winnow.Request
	for _, tt := range []struct {
		name       string
		summarizer winnow.Summarizer
	}{
		{"a summary", answers("## Goal\nTo answer.")},
		{"a digest", winnow.Digest()},
		{"an outage", fails(errors.New("503"))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := &winnow.Options{MaxBytes: most, Now: newClock().Now, Summarizer: tt.summarizer}
			var m *winnow.Manager
			o.Compact = &winnow.CompactOptions{BeforeCompact: func(context.Context, []winnow.Message) error {
				duringFlush = m.Plan(chat(23, 4_000))
				return nil
			}}
			m = newManager(t, 200_000, o)
			r := prepare(t, m, history)
			assert.LessOrEqual(t, r.Bytes, most)
			assert.Greater(t, r.Bytes, most*9/10)
			assert.NotNil(t, r.Compaction)
			assert.Equal(t, 180_000, r.Budget, "what is planned for the body is not the budget")
			assert.Greater(t, duringFlush.Bytes, most*9/10)
			assert.False(t, duringFlush.NeedsCompaction, "and holds for no other request")
		})
	}
}

// TestTooManyImages: a provider that takes fewer images than a request has gets the newest ones, in that request and in
// all later ones of the conversation.
func TestTooManyImages(t *testing.T) {
	shot := winnow.Part{Kind: winnow.KindImage, MediaType: "image/png", Bytes: 90_000, Width: 640, Height: 480}
	for _, tt := range []struct {
		name    string
		refusal string
		most    int // images that the provider takes
		step    int // images in each step
		sent    int // in the request that is taken
		reason  string
	}{
		{"a limit", "messages: too many images and documents: 21 + 0 > 20", 20, 1, 10, "old ones go down to a low-water mark, so that the prefix is not written again with each new one"},
		{"one step", "Too many images in request: at most 20 images are allowed", 20, 24, 20, "the model works with the newest step: no more of it goes than necessary"},
		{"no limit said", "At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels", 20, 1, 5, "half of what was refused, and of that half again"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := &winnow.Options{FoldAbove: 1}
			m := newManager(t, 1_000_000, o)
			h := list(userSays("Click through the shop."))
			refusals := 0
			for k := 0; refusals == 0 || k%7 > 0; k++ {
				step := callOf("c"+itoa(k), "screenshot", `{"page":`+itoa(k)+`}`, "page")
				for range tt.step {
					step[1].Parts = append(step[1].Parts, shot)
				}
				h = append(h, step...)
				_, r, err := winnow.Do(t.Context(), m, h, func(_ context.Context, messages []winnow.Message) (int, error) {
					if n, _ := imagesOf(messages); n > tt.most {
						refusals++
						return 0, errors.New(tt.refusal)
					}
					return 0, nil
				})
				require.NoError(t, err, tt.reason)
				if n, _ := imagesOf(r.Messages); refusals == 1 && r.Rung != "" {
					assert.Equal(t, tt.sent, n, tt.reason)
					last := r.Messages[len(r.Messages)-1].Parts
					assert.Equal(t, winnow.KindImage, last[len(last)-1].Kind, "the newest is there")
					saysUnseen := func(e winnow.Edit) bool { return strings.Contains(e.Reason, "the model has not seen it") }
					assert.Equal(t, tt.step > 1, slices.ContainsFunc(r.Edits, saysUnseen), "what the model has not seen goes with a word")
				}
			}
			assert.Equal(t, 1, refusals, "the limit is learned for the conversation")
			again := restarted(t, 1_000_000, o, snapshotOf(t, m))
			n, _ := imagesOf(prepare(t, again, h).Messages)
			assert.LessOrEqual(t, n, tt.most, "and in the next process")
		})
	}
	info := winnow.ClassifyError(errors.New("Too much media: 0 document pages + 101 images > 100"))
	assert.Equal(t, winnow.ErrorInfo{Class: winnow.ErrorImages, Limit: 100}, info)
}

// Results in front of the first message of a user are cleared too where the request does not fit otherwise: the model
// has seen them, and of a result that came late it has seen nothing.
func TestResultsBeforeTheFirstRequestAreCleared(t *testing.T) {
	h := list(modelSends(callPart("late", "exec")))
	h = append(h, callOf("old", "read", `{"path":"a.go"}`, strings.Repeat("an old line\n", 250))...)
	h = append(h, userSays("Go on."), modelSends(callPart("new", "exec")), toolSays("new", strings.Repeat("a new word ", 100)),
		toolSays("late", strings.Repeat("a late word ", 60)))
	r := prepare(t, newManager(t, 1_000, &winnow.Options{
		Estimator: winnow.CharsPerToken(4), Reserve: 10, NoMinify: true, FoldAbove: 1,
		Truncate: &winnow.TruncateOptions{MaxShare: 1},
	}), named(h))
	assert.NotContains(t, toldIn(r), "an old line")
	assert.Contains(t, toldIn(r), "a late word")
}

package winnow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// What people said outlives every summary, word for word.

// peopleSaid returns the section of what people said in the summary of a request, or "".
func peopleSaid(r *winnow.Request) string {
	for i := range r.Messages {
		if text := messageText(&r.Messages[i]); r.Messages[i].Summary && strings.Contains(text, "<people-said>") {
			_, section, _ := strings.Cut(text, "<people-said>\n")
			section, _, _ = strings.Cut(section, "</people-said>")
			return section
		}
	}
	return ""
}

// peopleSay are messages of people of whom a summary must not lose any word: what they mean is not told by their words.
var peopleSay = []string{
	"You must deploy to staging-eu.",
	"No, I meant staging-us.",
	"Committe niemals etwas ohne mich zu fragen.",
	"N'utilise jamais la base de production.",
	"絶対に main へ push しないで。",
	"永远不要删除迁移文件。",
	"Никогда не трогай папку vendor.",
	"Varsågod och rör inte loggarna.",
	"Nigdy nie zmieniaj nazw kolumn.",
	"Remind me tomorrow at nine.",
	"B2.",
	"ok",
	"Build it.\nThen:\n\n  - test it\n\t- ship it   \n",
}

// worker is a conversation in which a person says something and the agent works until it is compacted.
type worker struct {
	t *testing.T
	m *winnow.Manager
	h []winnow.Message
	c *clock
	n int
}

func newWorker(t *testing.T, s winnow.Summarizer) *worker {
	c := newClock()
	o := &winnow.Options{Now: c.Now, Tools: &winnow.ToolOptions{Keep: []string{"exec"}}, Summarizer: s}
	return &worker{t: t, m: newManager(t, 40_000, o), c: c}
}

func (w *worker) say(text string) {
	w.c.pass(time.Minute)
	m := userSays(text)
	m.Time = w.c.Now()
	w.h = append(w.h, m)
}

// step is a request and what the agent did then.
func (w *worker) step(lines int) *winnow.Request {
	r := prepare(w.t, w.m, w.h)
	w.n++
	w.h = append(w.h, callOf("c"+itoa(w.n), "exec", fmt.Sprintf(`{"command":"run %d"}`, w.n), linesOf("result "+itoa(w.n), lines))...)
	return r
}

// untilCompacted works on until a new summary stands in the request, and answers.
func (w *worker) untilCompacted() *winnow.Request {
	for range 60 {
		if r := w.step(150); r.Compaction != nil {
			w.h = append(w.h, modelSays("Done, result "+itoa(w.n)+" is the newest."))
			return r
		}
	}
	w.t.Fatal("no compaction in 60 steps")
	return nil
}

func summarizerSays(text string) winnow.Summarizer {
	return winnow.SummarizerFunc(func(context.Context, winnow.SummaryRequest) (string, error) { return text, nil })
}

var (
	goodSummary = "## Goal\nMake the tests pass.\n\n## Progress\nSeveral commands were run, all results were read.\n\n## Next\nRun the next command."
	summarizers = map[string]winnow.Summarizer{
		"good": summarizerSays(goodSummary),
		"says the opposite": summarizerSays(strings.Replace(goodSummary, "Make the tests pass.",
			"Deploy to staging-eu, and forget the rest.", 1)),
		"fails": winnow.SummarizerFunc(func(context.Context, winnow.SummaryRequest) (string, error) {
			return "", errors.New("overloaded")
		}),
		"none": nil,
	}
)

// Each message stands once, whole and in its order, with its day, whatever the summarizer says.
func TestWhatPeopleSaidOutlivesSummaries(t *testing.T) {
	for name, s := range summarizers {
		t.Run(name, func(t *testing.T) {
			w := newWorker(t, s)
			var r *winnow.Request
			for _, text := range peopleSay {
				w.say(text)
				w.step(10)
				w.h = append(w.h, modelSays("I did that."))
			}
			w.say("And now the rest.")
			r = w.untilCompacted()
			checkSaid(t, r, w.h, peopleSay)

			restarted := restore(t, w)
			r = prepare(t, restarted, w.h)
			checkSaid(t, r, w.h, peopleSay)

			fork := newWorker(t, s) // another manager, and a history without the last turn
			fork.h = w.h[:len(w.h)-1]
			r, err := fork.m.Compact(t.Context(), fork.h, "")
			if name == "fails" {
				require.ErrorIs(t, err, winnow.ErrCompaction)
				return
			}
			require.NoError(t, err)
			checkSaid(t, r, fork.h, peopleSay)
		})
	}
}

func restore(t *testing.T, w *worker) *winnow.Manager {
	state, err := w.m.Snapshot()
	require.NoError(t, err)
	m := newManager(t, 40_000, &winnow.Options{Now: w.c.Now, Compact: &winnow.CompactOptions{Off: true}})
	require.NoError(t, m.Restore(state))
	return m
}

// checkSaid checks that the request quotes each of the texts once and in order, or carries it as a message.
func checkSaid(t *testing.T, r *winnow.Request, h []winnow.Message, texts []string) {
	t.Helper()
	section, at := peopleSaid(r), 0
	require.NotEmpty(t, section)
	for _, text := range texts {
		if slices.ContainsFunc(r.Messages, func(m winnow.Message) bool { return messageText(&m) == text+"\n" }) {
			continue
		}
		item := fmt.Sprintf(" (%d lines):\n%s\n", strings.Count(text, "\n")+1, text)
		assert.Equal(t, 1, strings.Count(section, item), "%q", text)
		i := strings.Index(section[at:], item)
		require.GreaterOrEqual(t, i, 0, "%q stands out of order", text)
		head := section[strings.LastIndexByte(section[:at+i], '\n')+1 : at+i]
		assert.Equal(t, "person, "+timeOf(h, text).Format("2006-01-02 15:04"), head)
		at += i + len(item)
	}
}

func timeOf(h []winnow.Message, text string) time.Time {
	for i := range h {
		if strings.TrimSuffix(messageText(&h[i]), "\n") == text {
			return h[i].Time
		}
	}
	return time.Time{}
}

// Over twenty summaries each message stands once and in order, with the bytes it had, so that what the provider has
// cached reaches to the end of what was quoted before.
func TestTwentySummaries(t *testing.T) {
	w := newWorker(t, summarizers["good"])
	last, share := "", 0.0
	var said []string
	for n := range 20 {
		text := peopleSay[n%len(peopleSay)] + " " + itoa(n)
		w.say(text)
		r := w.untilCompacted()
		section := peopleSaid(r)
		if n > 0 {
			checkSaid(t, r, w.h, said)
			require.True(t, n < 2 || strings.HasPrefix(section, last), "summary %d begins with the last one's section", n+1)
		}
		said, last = append(said, text), section
		share = max(share, float64(len(section)/4)/float64(r.Tokens))
	}
	assert.Less(t, share, .1, "of the request")
	t.Logf("at most %.3f of a request", share)
}

// Two people keep their names.
func TestTwoPeople(t *testing.T) {
	w := newWorker(t, summarizers["good"])
	for _, s := range []struct{ speaker, text string }{{"Ann", "Use tabs."}, {"Bo", "No, spaces."}, {"Ann", "Fine."}} {
		w.say(s.text)
		w.h[len(w.h)-1].Speaker = s.speaker
		w.step(10)
		w.h = append(w.h, modelSays("Understood."))
	}
	w.say("Go on.")
	section := peopleSaid(w.untilCompacted())
	for _, want := range []string{", \"Ann\" (1 lines):\nUse tabs.\n", ", \"Bo\" (1 lines):\nNo, spaces.\n", ", \"Ann\" (1 lines):\nFine.\n"} {
		assert.Contains(t, section, want)
	}
}

// What is pinned stands at the same side of the summary for a host that sends its log and for one that sends the last
// request's history on, also where the log begins with answers of the agent.
func TestPinStandsWhereItStood(t *testing.T) {
	for _, leading := range []int{0, 1, 3} {
		for _, turns := range []int{0, 1, 4} { // before the pin
			var order [2]string
			for k, keepsRequest := range []bool{false, true} {
				w := newWorker(t, summarizers["good"])
				for i := range leading {
					w.h = append(w.h, modelSays("An answer in front of all "+itoa(i)+"."))
				}
				for i := range turns {
					w.say("Question " + itoa(i))
					w.h = append(w.h, modelSays("Answer "+itoa(i)))
				}
				w.h = append(w.h, pinned(userSays("The pin.")), modelSays("Yes."))
				w.say("Go on.")
				r := w.untilCompacted()
				for range 20 {
					if keepsRequest {
						w.h = r.History
					}
					r = w.step(150)
				}
				for i := range r.Messages {
					switch m := &r.Messages[i]; {
					case m.Summary:
						order[k] += "summary "
					case m.Pinned:
						order[k] += "pin "
					}
				}
			}
			assert.Equal(t, order[0], order[1], "%d answers and %d turns in front", leading, turns)
		}
	}
}

// After a refusal, too, and by hand.
func TestWhatPeopleSaidOutlivesRecovery(t *testing.T) {
	w := newWorker(t, summarizers["good"])
	for _, text := range peopleSay {
		w.say(text)
		w.step(60)
		w.h = append(w.h, modelSays("I did that."))
	}
	w.say("And now the rest.")
	prepare(t, w.m, w.h)
	refused := errors.New("prompt is too long: 60000 tokens > 9000 maximum")
	r, err := w.m.Recover(t.Context(), w.h, refused)
	require.NoError(t, err)
	require.NotNil(t, r.Compaction)
	checkSaid(t, r, w.h, peopleSay)
}

// So it is where a summary takes the place of a digest, and stands for no more than that one did.
func TestWhatPeopleSaidOutlivesDigest(t *testing.T) {
	fails := true
	c := newClock()
	m := newManager(t, 40_000, &winnow.Options{
		Now: c.Now, Tools: &winnow.ToolOptions{Keep: []string{"exec"}}, Compact: &winnow.CompactOptions{KeepRecent: 4_000},
		Summarizer: winnow.SummarizerFunc(func(context.Context, winnow.SummaryRequest) (string, error) {
			if fails {
				return "", errors.New("overloaded")
			}
			return goodSummary, nil
		}),
	})
	w := &worker{t: t, m: m, c: c}
	for _, text := range peopleSay {
		w.say(text)
		w.step(10)
		w.h = append(w.h, modelSays("I did that."))
	}
	var digested *winnow.Request
	for digested == nil || digested.Compaction == nil {
		w.say("And now the next.") // the newest request stands behind the summary
		digested = w.step(150)
		w.h = append(w.h, modelSays("Done."))
	}
	require.NotEmpty(t, digested.Degraded)
	w.h = append(w.h[:len(w.h)-3], modelSays("Done.")) // nothing new is worth a place in a summary
	fails = false
	w.c.pass(2 * time.Hour)
	w.say("Go on.")
	r := prepare(t, w.m, w.h)
	require.NotNil(t, r.Compaction, "the cache is cold: the digest is replaced")
	require.Empty(t, r.Degraded)
	require.Equal(t, digested.Compaction.FirstKept, r.Compaction.FirstKept)
	checkSaid(t, r, w.h, peopleSay)
}

// What was taken back is not quoted.
func TestRewoundWords(t *testing.T) {
	w := newWorker(t, summarizers["good"])
	w.say("Use tabs.")
	w.step(10)
	w.h = append(w.h, modelSays("Understood."))
	before := len(w.h)
	w.say("Use spaces.")
	require.Contains(t, peopleSaid(w.untilCompacted()), "Use tabs.")
	w.h = w.h[:before]
	w.say("Use both.")
	w.step(10)
	w.h = append(w.h, modelSays("Understood."))
	w.say("Go on.")
	section := peopleSaid(w.untilCompacted())
	assert.Contains(t, section, "Use both.")
	assert.NotContains(t, section, "Use spaces.")
}

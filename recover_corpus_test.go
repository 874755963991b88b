package winnow_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/times"
)

// refuser is a provider with a window of its own. It counts as its own tokenizer does, which is not the
// manager's estimator, and bills what it takes.
type refuser struct {
	window   int
	overhead int
	count    winnow.Estimator
	says     func(tokens, window int) error
	seen     map[string]bool // payloads
	refusals int
	repeats  int
}

func (p *refuser) call(_ context.Context, messages []winnow.Message) (winnow.Usage, error) {
	n := p.overhead + estimateAll(p.count, messages)
	if n > p.window {
		p.refusals++
		if p.seen[payload(messages)] {
			p.repeats++
		}
		p.seen[payload(messages)] = true
		return winnow.Usage{}, p.says(n, p.window)
	}
	return winnow.Usage{Input: n}, nil
}

// A provider has half of the window that the host believes in. Each recorded conversation goes on, and
// after the first refusals what was learned prevents more of them. One without numbers proves little: it takes a second
// one to count, and more to find the limit where a request was much larger than that, or when the guess was forgotten;
// what people said last may take a third of the window.
func TestRecordedSessionsGoOnBehindAHiddenLimit(t *testing.T) {
	most := map[string]int{"with numbers": 2, "without numbers": 6}
	wordings := map[string]func(tokens, window int) error{
		"with numbers": func(tokens, window int) error {
			return fmt.Errorf("400 invalid_request_error: prompt is too long: %d tokens > %d maximum", tokens, window)
		},
		"without numbers": func(int, int) error { return errors.New("Input is too long for requested model.") },
	}
	const window = 40_000
	count := estimatorOf(t, "claude4")
	sample := min(4, times.Of(1))
	if *allRecorded {
		sample = 100
	}
	for name, says := range wordings {
		t.Run(name, func(t *testing.T) {
			sessions, refusals, requests := 0, 0, 0
			for _, path := range recordedFiles(t, 1) {
				history := readRecorded(t, path)
				if sessions == sample {
					break
				}
				if estimateAll(count, history) < window {
					continue
				}
				sessions++
				p := &refuser{window: window / 2, overhead: 1_500, count: count, says: says, seen: map[string]bool{}}
				requests += replayBehind(t, p, window, history)
				refusals += p.refusals
				assert.LessOrEqual(t, p.refusals, most[name], path)
				assert.Zero(t, p.repeats, "a refused payload was sent again: "+path)
			}
			t.Logf("%d sessions, %d requests, %d refusals", sessions, requests, refusals)
			assert.Positive(t, refusals, "nothing was refused: the test tests nothing")
		})
	}
}

// replayBehind replays a session through a manager that believes in the window.
func replayBehind(t *testing.T, p *refuser, window int, recorded []winnow.Message) (requests int) {
	t.Helper()
	m := newManager(t, window, &winnow.Options{Reserve: 2_000})
	var history []winnow.Message
	for i := range recorded {
		next := recorded[i]
		next.Usage = nil
		if next.Role == winnow.RoleAssistant {
			before := p.refusals
			usage, _, err := winnow.Do(context.Background(), m, history, p.call)
			var full *winnow.OverflowError
			if errors.As(err, &full) && full.Pinned+full.Protected+full.Summary+full.Overhead > p.window*8/10 {
				return requests // the newest request alone fills the window
			}
			require.NoError(t, err)
			require.LessOrEqual(t, p.refusals-before, winnow.MaxRetries)
			requests++
			next.Usage = &usage
		}
		history = append(history, next)
	}
	return requests
}

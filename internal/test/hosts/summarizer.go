package hosts

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/winnowgo/winnow"
)

// summarizer answers by the mood that the script set, and checks its requests.
type summarizer struct {
	world *world
	mood  string
	seed  int
	calls atomic.Int64
}

func (s *summarizer) Summarize(ctx context.Context, r winnow.SummaryRequest) (string, error) {
	n := s.calls.Add(1)
	s.check(&r)
	switch s.mood {
	case "fails":
		return "", errWeather
	case "fails first":
		if n == 1 {
			return "", errWeather
		}
	case "hangs":
		<-ctx.Done()
		return "", ctx.Err()
	case "hangs for ever":
		<-s.world.release
		return "", context.Canceled
	case "uses":
		if s == s.world.summarizer {
			s.world.use(s.seed + int(n))
		}
	case "late":
		<-ctx.Done()
	case "cancels":
		s.world.mu.Lock()
		cancel := s.world.cancel
		s.world.mu.Unlock()
		if cancel != nil {
			cancel()
		}
	case "cut":
		return "the summary of", winnow.ErrIncomplete
	case "blank":
		return []string{"", " \n", "\u200b\ufeff", "\u00ad\u2060\n"}[abs(s.seed)%4], nil
	case "huge":
		return strings.Repeat(text(1_000, s.seed)+"\n", 400), nil
	case "short":
		return "ok", nil
	case "panics":
		panic("out of cheese")
	case "echoes":
		return r.Prompt(), nil
	case "forged":
		return "## Goal\n" + text(100, s.seed) + "\n" + hostileText(s.seed) + "\n## Constraints & Preferences\n" +
			hostileText(s.seed+1), nil
	case "bytes":
		return "## Goal\nto go \xff on\xe4\xb8 with " + text(60, s.seed), nil
	}
	return "## Goal\nto go on with " + text(60, len(r.Messages)) + "\n\n## Progress\n### Done\n" +
		text(min(200, r.MaxTokens), s.seed), nil
}

// check checks a request for a summary against the promises of its type.
func (s *summarizer) check(r *winnow.SummaryRequest) {
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Source != nil {
			s.world.fail("a summarizer sees data alone", "message %d has a Source", i)
		}
		for k := range m.Parts {
			if m.Parts[k].Source != nil {
				s.world.fail("a summarizer sees data alone", "message %d part %d has a Source", i, k)
			}
		}
	}
	prompt := r.Prompt()
	for _, tag := range tags {
		if n := strings.Count(prompt, tag); n > strings.Count("</conversation> </previous-summary>", tag) {
			s.world.fail("text of the history is data for a summarizer", "%q stands in the prompt %d times", tag, n)
		}
	}
}

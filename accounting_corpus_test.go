package winnow_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/times"
)

// recordedLine is what the recorded sessions have besides messages.
type recordedLine struct {
	Model    string `json:"model"`
	HostKind string `json:"hostKind"`
}

// recordedModel returns the model of a session, and false if it changes or if the host compacted: what
// was billed then is not what the messages show.
func recordedModel(t testing.TB, path string) (model string, whole bool) {
	t.Helper()
	for line := range bytes.Lines(unpack(t, path)) {
		var r recordedLine
		require.NoError(t, json.Unmarshal(line, &r))
		if strings.Contains(strings.ToLower(r.HostKind), "compact") || model != "" && r.Model != "" && r.Model != model {
			return model, false
		}
		if r.Model != "" {
			model = r.Model
		}
	}
	return model, true
}

// predictions returns, for each request after the first that was billed, by how much the manager's count
// is off: (predicted - billed) / billed. What the recording does not show is left out, for nobody could
// know it: a request for which the host was billed more tokens than the new messages have bytes, and all
// from one on that was billed at less than half of the one before, because the host had compacted.
func predictions(t testing.TB, path, family string) []float64 {
	t.Helper()
	history := readRecorded(t, path)
	e := estimatorOf(t, family)
	m := newManager(t, 10_000_000, &winnow.Options{Estimator: e, FoldAbove: 1})
	var errs []float64
	seen, before, last, shown := 0, 0, 0, 0
	for i := range history {
		u := history[i].Usage
		if history[i].Role != winnow.RoleAssistant || u == nil || u.Prompt() == 0 || failedTurn(&history[i]) {
			continue
		}
		r := prepare(t, m, history[:i])
		for k := last; k < i; k++ {
			shown += shownBytes(&history[k])
		}
		grown := u.Prompt() - before
		if seen++; u.Prompt() < before/2 {
			break
		}
		if seen > 1 && grown <= shown {
			errs = append(errs, float64(r.Tokens-u.Prompt())/float64(u.Prompt()))
		}
		before, last, shown = u.Prompt(), i, 0
	}
	return errs
}

// shownBytes is the size of what is recorded of m.
func shownBytes(m *winnow.Message) int {
	n := 0
	for i := range m.Parts {
		n += len(m.Parts[i].Text) + len(m.Parts[i].Arguments) + m.Parts[i].Bytes
	}
	return n
}

func quantile(sorted []float64, q float64) float64 {
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// The sizes of requests as the manager counts them, against what the providers of the recorded sessions
// billed, with the right tokenizer family and with a wrong one.
func TestPredictedPromptsOfRecordedSessions(t *testing.T) {
	wrong := map[string]string{"gemma": "claude4", "claude4": "o200k"}
	errs := map[string]map[string][]float64{"right": {}, "wrong": {}} // of each family, and of all
	for _, path := range recordedFiles(t, max(4, times.Every(12))) {  // of all, the worst is 23 % too low
		model, whole := recordedModel(t, path)
		if model == "" || !whole {
			continue
		}
		family := winnow.FamilyForModel(model)
		for estimator, name := range map[string]string{"right": family, "wrong": cmp.Or(wrong[family], "claude4")} {
			found := predictions(t, path, name)
			errs[estimator][family] = append(errs[estimator][family], found...)
			errs[estimator]["all"] = append(errs[estimator]["all"], found...)
		}
	}
	for estimator, families := range errs {
		require.NotEmpty(t, families["all"], "no session says what was billed: the test says nothing")
		for family, found := range families {
			if len(found) == 0 {
				continue
			}
			median, p95, worst := report(t, family, estimator, found)
			if family == "all" {
				assert.LessOrEqual(t, median, 0.003)
				assert.LessOrEqual(t, p95, 0.03)
				assert.GreaterOrEqual(t, worst, -0.2)
			}
		}
	}
}

func report(t testing.TB, family, estimator string, errs []float64) (median, p95, worst float64) {
	abs := make([]float64, len(errs))
	worst = slices.Min(errs)
	for i, e := range errs {
		abs[i] = math.Abs(e)
	}
	slices.Sort(abs)
	median, p95 = quantile(abs, 0.5), quantile(abs, 0.95)
	t.Logf("%-10s %s family: %5d requests, median %.2f %%, 95th percentile %.1f %%, worst under %.1f %%", family, estimator, len(errs), median*100, p95*100, worst*100)
	return median, p95, worst
}

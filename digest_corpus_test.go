package winnow

import (
	"compress/gzip"
	"flag"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/identifier"
)

// times is for CI, which passes 3, and for long runs.
var times = flag.Int("times", 1, "how many times as many random histories, and recorded ones, the tests of properties try")

// allRecorded is for the figures that are written down; a sample finds what breaks.
var allRecorded = flag.Bool("recorded", false, "use all recorded sessions, not a sample of them")

// sharedCorpus returns the files of the recorded sessions beside the project, or skips the test.
// WINNOW_SHARED is the directory that holds corpus/ (../shared).
func sharedCorpus(t testing.TB) []string {
	t.Helper()
	dir := os.Getenv("WINNOW_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "shared")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "corpus", "*.jsonl.gz"))
	if len(files) == 0 {
		t.Skip("no recorded sessions in " + dir)
	}
	sort.Strings(files)
	return files
}

func readSession(t testing.TB, path string) []Message {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	messages, err := ReadMessages(z)
	require.NoError(t, err, path)
	return messages
}

// compacted is a session split where a compaction would split it.
type compacted struct {
	file   string
	old    []Message
	tokens int
	used   map[string]bool // identifiers of old that the assistant uses later
	seen   map[string]bool // identifiers of old that occur later at all
}

func identifiersOf(messages []Message, answers bool) map[string]bool {
	set := make(map[string]bool)
	add := func(id string, _ identifier.Kind) { set[id] = true }
	for _, m := range messages {
		if answers && m.Role != RoleAssistant {
			continue
		}
		for _, p := range m.Parts {
			if p.Kind == KindText || p.Kind == KindToolCall {
				identifier.Scan(p.Text, add)
				identifier.Scan(string(p.Arguments), add)
			}
		}
	}
	return set
}

func both(a, b map[string]bool) map[string]bool {
	out := make(map[string]bool)
	for id := range a {
		if b[id] {
			out[id] = true
		}
	}
	return out
}

// compactedSessions splits each session that is long enough at each of the shares.
func compactedSessions(t testing.TB, least int, shares ...float64) []compacted {
	var out []compacted
	for i, path := range sharedCorpus(t) {
		if i%max(1, 9 / *times) != 0 && !*allRecorded {
			continue
		}
		messages := readSession(t, path)
		for _, share := range shares {
			cut := int(float64(len(messages)) * share)
			c := compacted{file: filepath.Base(path), old: messages[:cut]}
			for _, m := range c.old {
				c.tokens += CharsPerToken(4).Estimate(m)
			}
			if c.tokens < least {
				continue
			}
			had := identifiersOf(c.old, false)
			c.used = both(had, identifiersOf(messages[cut:], true))
			c.seen = both(had, identifiersOf(messages[cut:], false))
			out = append(out, c)
		}
	}
	return out
}

// kept counts the identifiers that text holds.
func kept(text string, ids map[string]bool) int {
	n := 0
	for id := range ids {
		if strings.Contains(text, id) {
			n++
		}
	}
	return n
}

func TestDigestKeepsIdentifiers(t *testing.T) {
	if testing.Short() {
		t.Skip("reads a third of the recorded sessions")
	}
	sessions := compactedSessions(t, 20_000, 0.5, 0.7)
	own, err := NewEstimator("")
	require.NoError(t, err)
	for _, tc := range []struct {
		count       string
		estimator   Estimator // counts what is compacted; the digest counts itself, and cautiously
		reduction   int
		least, mean float64 // per cent of what the assistant uses again: of all, and the mean over the splits
	}{
		{"the manager's estimator", own, 20, 97, 97},
		{"chars/4", CharsPerToken(4), 10, 99, 99},
		{"chars/4", CharsPerToken(4), 20, 94, 94},
		{"chars/4", CharsPerToken(4), 40, 81, 81},
	} {
		var used, usedKept, seen, seenKept, tokens, limit int
		mean, splits := 0.0, 0
		for _, c := range sessions {
			most := 0
			for i := range c.old {
				most += tc.estimator.Estimate(c.old[i])
			}
			most /= tc.reduction
			text := digestOf(t, SummaryRequest{Messages: c.old, MaxTokens: most})
			k := kept(text, c.used)
			used, usedKept = used+len(c.used), usedKept+k
			seen, seenKept = seen+len(c.seen), seenKept+kept(text, c.seen)
			tokens, limit = tokens+textTokens(tc.estimator, text), limit+most
			if len(c.used) > 0 {
				mean, splits = mean+float64(k)/float64(len(c.used)), splits+1
			}
		}
		share, meanShare := 100*float64(usedKept)/float64(used), 100*mean/float64(splits)
		t.Logf("%d:1 by %s, %d splits, digests of %d of %d tokens: the assistant uses %d identifiers again, kept %.1f %% (mean of splits %.1f %%); %d occur again, kept %.1f %%",
			tc.reduction, tc.count, len(sessions), tokens, limit, used, share, meanShare, seen, 100*float64(seenKept)/float64(seen))
		slack := 2.0 // the shares of a third of the sessions differ by that from those of all
		if *allRecorded {
			slack = 0
		}
		assert.GreaterOrEqual(t, share, tc.least-slack)
		assert.GreaterOrEqual(t, meanShare, tc.mean-slack)
	}
}

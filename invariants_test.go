package winnow_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/wire"
)

// The invariants of the stages, over random histories and recorded ones.

// count returns how many random histories are tried, or of how many turns one is.
func count(usual, short int) int { return sized(usual, short) * *winnow.Times }

// sized returns how large something is of which more would be another test.
func sized(usual, short int) int {
	if testing.Short() {
		return short
	}
	return usual
}

func TestInvariantsRandom(t *testing.T) {
	t.Parallel()
	n := count(400, 200)
	acted := make([]int, len(stages))
	seed := 0
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d: %s", seed, sketch(randomHistory(uint64(seed))))
		}
	})
	for ; seed < n; seed++ {
		h := randomHistory(uint64(seed))
		for k, s := range stages {
			if checkStage(t, s, h) > 0 {
				acted[k]++
			}
		}
	}
	for k, s := range stages {
		if s.name != "limit 0" {
			assert.Greater(t, acted[k], n/50, "%s had nothing to do in almost all histories: the test says nothing of it", s.name)
		}
	}
}

// A chain of stages is what a manager runs: no stage may undo what another one did.
func TestInvariantsChain(t *testing.T) {
	t.Parallel()
	n := count(350, 200)
	for seed := range n {
		h := randomHistory(uint64(1_000_000 + seed))
		if !validText(h) {
			continue
		}
		out, _ := winnow.RepairToolPairing(h)
		for _, s := range []stage{limitStage(2), stages[9], stages[6]} {
			out, _ = s.run(out)
			rest, edits := winnow.RepairToolPairing(out)
			require.Empty(t, edits, "seed %d: %s leaves something to repair", seed, s.name)
			sameMessages(t, out, rest, s.name)
		}
		require.NoError(t, wire.Rules{Lead: leads(h)}.Check(out), "seed %d", seed)
	}
}

// recordedSessions calls f for each session that real agents recorded. They are not part of the project:
// WINNOW_SHARED says where they are.
func recordedSessions(t *testing.T, f func(t *testing.T, name string, h []winnow.Message)) {
	shared := os.Getenv("WINNOW_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "shared")
	}
	files, err := filepath.Glob(filepath.Join(shared, "corpus", "*.jsonl.gz"))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("the recorded sessions are not here: set WINNOW_SHARED to the folder that holds corpus")
	}
	if every := max(1, sized(9, 12) / *winnow.Times); every < len(files) {
		few := files[:0]
		for i := 0; i < len(files); i += every {
			few = append(few, files[i])
		}
		files = few
	}
	todo := make(chan string)
	for range runtime.GOMAXPROCS(0) {
		t.Run("worker", func(t *testing.T) {
			t.Parallel()
			for file := range todo {
				b, err := os.ReadFile(file)
				require.NoError(t, err)
				z, err := gzip.NewReader(bytes.NewReader(b))
				require.NoError(t, err)
				h, err := winnow.ReadMessages(z)
				require.NoError(t, err, file)
				f(t, strings.TrimSuffix(filepath.Base(file), ".jsonl.gz"), h)
			}
		})
	}
	go func() {
		for _, file := range files {
			todo <- file
		}
		close(todo)
	}()
}

func TestInvariantsRecorded(t *testing.T) {
	recorded := []stage{
		repairStage, limitStage(3), pruneStage("32 000", 32_000, nil), truncateStage("32 000", 32_000, nil),
		truncateStage("head", 8_000, &winnow.TruncateOptions{HeadOnly: true}),
	}
	recordedSessions(t, func(t *testing.T, name string, h []winnow.Message) {
		named(h)
		for _, s := range recorded {
			t.Run(s.name+"/"+name, func(t *testing.T) { checkStage(t, s, h) })
		}
	})
}

// longShapes are histories of n calls in which a careless stage would look through all for each.
var longShapes = []struct {
	name string
	make func(n int) []winnow.Message
}{
	{"an agent's", func(n int) []winnow.Message { return transcript(n, dirty) }},
	{"one id", func(n int) []winnow.Message { return longHistory(n, func(int) string { return "same" }, false) }},
	{"one id, late results", func(n int) []winnow.Message { return longHistory(n, func(int) string { return "same" }, true) }},
	{"empty ids", func(n int) []winnow.Message { return longHistory(n, func(int) string { return "" }, false) }},
	{"late results", func(n int) []winnow.Message { return longHistory(n, itoa, true) }},
	{"one message", func(n int) []winnow.Message {
		return list(userSays("go"), modelCalls(slices.Repeat([]string{"same"}, n)...))
	}},
	{"orphans", func(n int) []winnow.Message { return slices.Repeat(list(toolSays("orphan", "x")), n) }},
	{"a pin far behind", func(n int) []winnow.Message {
		return append(longHistory(n, itoa, false), pinned(toolSays("0", "of the first call")))
	}},
}

// longHistory is n calls of ids, each with its result behind it, or all of the results at the end.
func longHistory(n int, id func(int) string, late bool) []winnow.Message {
	h := list(userSays("go"))
	var results []winnow.Message
	for i := range n {
		h = append(h, modelCalls(id(i)))
		if r := toolSays(id(i), "x"); late {
			results = append(results, r)
		} else {
			h = append(h, r)
		}
	}
	return append(h, results...)
}

// However long a history is, repair makes it valid.
func TestInvariantsLong(t *testing.T) {
	if testing.Short() {
		t.Skip("short: the histories are long")
	}
	for _, shape := range longShapes {
		repaired, _ := winnow.RepairToolPairing(shape.make(20_000))
		require.NoError(t, wire.Rules{Lead: true}.Check(repaired), shape.name)
	}
}

// BenchmarkStagesLong runs the stages on long histories of all shapes. A stage of quadratic time would take 100 times
// as long for 10 times as much.
func BenchmarkStagesLong(b *testing.B) {
	for _, shape := range longShapes {
		for _, n := range benchSizes {
			h := shape.make(n)
			for _, s := range stages {
				b.Run(s.name+"/"+shape.name+"/"+itoa(n), func(b *testing.B) {
					for b.Loop() {
						s.run(h)
					}
				})
			}
		}
	}
}

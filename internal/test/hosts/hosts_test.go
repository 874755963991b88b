package hosts

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	playFor  = flag.Duration("hosts.time", 0, "how long conversations are played, however many these are")
	playMany = flag.Int("hosts.n", 0, "how many conversations are played, however long it takes (100)")
	playSave = flag.String("hosts.save", "", "a directory for the scripts of what is found")
	// From 1 000 on, 300 conversations have all that the test wants to see: Recover truncates in one of a hundred.
	playFrom = flag.Uint64("hosts.seed", 1_000, "the first of them")
)

// play runs a script in simulated time.
func play(t *testing.T, s Script) (failure *Failure, seen map[string]int) {
	synctest.Test(t, func(*testing.T) { failure, seen = Run(s, synctest.Wait) })
	return failure, seen
}

// promise is the one that a script breaks.
func promise(t *testing.T, s Script) string {
	if f, _ := play(t, s); f != nil {
		return f.Promise
	}
	return ""
}

// TestHosts plays random conversations. What breaks a promise is shrunk and printed as a script: it goes to
// testdata, where it stays as a test.
func TestHosts(t *testing.T) {
	t.Parallel()
	end, many := time.Now().Add(*playFor), uint64(max(0, *playMany))
	if many == 0 && *playFor == 0 {
		many = 100
	}
	if many > 0 {
		end = time.Now().Add(1_000 * time.Hour)
	}
	var next, played atomic.Uint64
	next.Store(*playFrom)
	var mu sync.Mutex
	found, seen := map[string]int{}, map[string]int{}
	t.Run("conversations", func(t *testing.T) {
		for k := range runtime.GOMAXPROCS(0) {
			t.Run(fmt.Sprint(k), func(t *testing.T) {
				t.Parallel()
				for time.Now().Before(end) {
					seed := next.Add(1) - 1
					if many > 0 && seed >= *playFrom+many {
						return
					}
					s := Random(seed)
					f, happened := play(t, s)
					played.Add(1)
					mu.Lock()
					for k, n := range happened {
						seen[k] += n
					}
					mu.Unlock()
					if f == nil {
						continue
					}
					mu.Lock()
					found[f.Promise]++
					first := found[f.Promise] == 1
					mu.Unlock()
					if first {
						report(t, seed, s, f)
					}
				}
			})
		}
	})
	t.Logf("%d conversations; broken: %v; what happened: %v", played.Load(), found, seen)
	if played.Load() < 300 {
		return
	}
	for _, what := range []string{
		"request", "compaction", "digest", "epoch", "overflow", "repair", "limit", "trim", "clear", "truncate", "fold", "compact",
		"below", "rung clear", "rung compact", "rung truncate", "rung digest", "rung smallest",
	} {
		assert.Positive(t, seen[what], "%s: it never happened, and the test says nothing of it", what)
	}
}

// report shrinks what was found.
func report(t *testing.T, seed uint64, s Script, f *Failure) {
	fault, isKnown := known[f.Promise]
	if isKnown && *playSave == "" {
		t.Logf("known (%s): seed %d: %.300s", fault, seed, f)
		return
	}
	s.Steps = s.Steps[:f.Step+1]
	small := Shrink(s, f.Promise, 600, func(c Script) string { return promise(t, c) })
	if again, _ := play(t, small); again != nil {
		f = again
	}
	if *playSave != "" {
		text := fmt.Sprintf("# %s: seed %d\n%s", f.Promise, seed, small)
		name := fmt.Sprintf("%s-%d.script", strings.ReplaceAll(f.Promise, " ", "-"), seed)
		assert.NoError(t, os.WriteFile(filepath.Join(*playSave, name), []byte(text), 0o644))
	}
	if isKnown {
		t.Logf("known (%s): seed %d: %v\n%s", fault, seed, f, small)
		return
	}
	t.Errorf("seed %d: %v\nThe script, for testdata:\n%s", seed, f, small)
}

// known names promises that are broken, and the fault that breaks them. What breaks another one fails the test.
var known = map[string]string{}

// TestScripts plays what once broke a promise.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.script"))
	require.NoError(t, err)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			s, err := Parse(text)
			require.NoError(t, err)
			if f, _ := play(t, s); f != nil {
				t.Errorf("%v\n%s", f, s)
			}
		})
	}
}

// A script is what it says: it can be kept, read and played again.
func TestScriptText(t *testing.T) {
	for seed := range uint64(50) {
		s := Random(seed)
		again, err := Parse([]byte(s.String()))
		require.NoError(t, err)
		assert.Equal(t, s, again)
	}
	_, err := Parse([]byte("{}\n{\"do\":\"fly\"}"))
	assert.ErrorContains(t, err, "line 2")
}

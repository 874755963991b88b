package hosts

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
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
	playMany = flag.Uint64("hosts.n", 100, "how many conversations are played, without -hosts.time")
	// From 1 000 on, 300 conversations have all that the test wants to see: Recover truncates in one of a hundred.
	playFrom = flag.Uint64("hosts.seed", 1_000, "the first of them")
)

// play runs a script in simulated time.
func play(t *testing.T, s Script) (failure *Failure, seen map[string]int) {
	synctest.Test(t, func(*testing.T) { failure, seen = Run(s, synctest.Wait) })
	return failure, seen
}

// TestHosts plays random conversations. What breaks a promise is shrunk and printed as a script: it goes to
// testdata, where it stays as a test.
func TestHosts(t *testing.T) {
	t.Parallel()
	began := time.Now()
	var played atomic.Uint64
	var mu sync.Mutex
	found, seen := map[string]bool{}, map[string]int{}
	t.Run("conversations", func(t *testing.T) {
		for k := range runtime.GOMAXPROCS(0) {
			t.Run(fmt.Sprint(k), func(t *testing.T) {
				t.Parallel()
				for {
					n := played.Add(1) - 1
					if *playFor == 0 && n >= *playMany || *playFor > 0 && time.Since(began) > *playFor {
						return
					}
					s := Random(*playFrom + n)
					f, happened := play(t, s)
					mu.Lock()
					for k, n := range happened {
						seen[k] += n
					}
					isNew := f != nil && !found[f.Promise]
					if isNew {
						found[f.Promise] = true
					}
					mu.Unlock()
					if isNew {
						report(t, *playFrom+n, s, f)
					} else if f != nil {
						t.Errorf("seed %d breaks the same promise: %s", *playFrom+n, f.Promise)
					}
				}
			})
		}
	})
	t.Logf("%d conversations from %d on: %v", played.Load(), *playFrom, seen)
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
	s.Steps = s.Steps[:f.Step+1]
	small := Shrink(s, f.Promise, 600, func(c Script) string {
		if f, _ := play(t, c); f != nil {
			return f.Promise
		}
		return ""
	})
	if again, _ := play(t, small); again != nil {
		f = again
	}
	t.Errorf("seed %d: %v\nThe script, for testdata:\n%s", seed, f, small)
}

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

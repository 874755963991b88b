package session_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/test/times"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/sessiontest"
	"github.com/winnowgo/winnow/session/upkeep"
)

// The steps of programs.

func (p *process) say(ctx context.Context, key string) error {
	err := p.session.Append(ctx, session.User("hello"), answer("hello"))
	if err == nil {
		p.acked[key]++
	}
	return err
}

func (p *process) openTo(ctx context.Context, key string) (err error) {
	p.session, err = p.store.Open(ctx, key)
	return err
}

func (p *process) close() error {
	s := p.session
	p.session = nil
	return s.Close()
}

// dropping runs f, which may drop everything that was acknowledged before it ended: until then, nothing counts.
func (p *process) dropping(key string, f func() error) error {
	const many = 1 << 20
	p.acked[key] -= many
	p.dropped[key]++
	err := f()
	p.acked[key] = min(p.acked[key]+many, 0)
	p.dropped[key]++
	return err
}

func (p *process) delete(ctx context.Context, key string) error {
	return p.dropping(key, func() error { return p.store.Delete(ctx, key) })
}

func (p *process) title(ctx context.Context, key, title string) error {
	err := p.store.SetInfo(ctx, key, session.Info{Title: &title})
	if errors.Is(err, session.ErrNotFound) {
		return nil
	}
	return err
}

// list requires that the list has what was acknowledged before the call.
func (p *process) list(ctx context.Context) error {
	before, dropped := maps.Clone(p.acked), maps.Clone(p.dropped)
	page, err := p.store.List(ctx, session.Query{})
	if err != nil {
		return err
	}
	for key, turns := range before {
		if p.dropped[key] > dropped[key] { // in the meantime
			continue
		}
		i := slices.IndexFunc(page.Sessions, func(st session.Status) bool { return st.Key == key })
		if turns > 0 && (i < 0 || page.Sessions[i].Counts.Turns < turns) {
			return fmt.Errorf("%d turns of %q were acknowledged, listed is %+v", turns, key, page.Sessions)
		}
	}
	return nil
}

func (p *process) follow(ctx context.Context) error {
	c, err := p.store.Changes(ctx, p.reader.Cursor)
	if err != nil {
		return err
	}
	return p.reader.Take(c)
}

// steps runs one step after another.
func steps(all ...func(context.Context, *process) error) func(context.Context, *process) error {
	return func(ctx context.Context, p *process) error {
		for _, step := range all {
			if err := step(ctx, p); err != nil && !errors.Is(err, session.ErrDeleted) {
				return err
			}
		}
		return nil
	}
}

type step = func(context.Context, *process) error

func onKey(f func(*process, context.Context, string) error) step {
	return func(ctx context.Context, p *process) error { return f(p, ctx, "k") }
}

var (
	opening   = onKey((*process).openTo)
	saying    = onKey((*process).say)
	deleting  = onKey((*process).delete)
	closing   = func(_ context.Context, p *process) error { return p.close() }
	titling   = func(ctx context.Context, p *process) error { return p.title(ctx, "k", "a title") }
	listing   = func(ctx context.Context, p *process) error { return p.list(ctx) }
	following = func(ctx context.Context, p *process) error { return p.follow(ctx) }
	resetting = func(ctx context.Context, p *process) error {
		return p.dropping("k", func() error { return p.session.Reset(ctx, "test", nil) })
	}
	erasing = func(ctx context.Context, p *process) error {
		return p.dropping("k", func() error {
			_, err := upkeep.Erase(ctx, p.store, "k")
			return err
		})
	}
	archiving = func(ctx context.Context, p *process) error {
		plan, err := upkeep.MakePlan(ctx, p.store, upkeep.Maintenance{ArchiveAfter: 1})
		if err == nil {
			_, err = upkeep.Apply(ctx, p.store, plan)
		}
		return err
	}
)

// storeWithSessions returns a file system with a few sessions.
func storeWithSessions(t *testing.T) *sessiontest.CrashFS {
	fsys := sessiontest.NewCrashFS()
	store, err := sessiontest.OpenFiles(fsys, nil)
	require.NoError(t, err)
	for n := range 3 {
		sayTo(t, store, fmt.Sprint("other", n), 1, "hello")
	}
	sayTo(t, store, "k", 2, "hello")
	require.NoError(t, store.Close())
	return fsys
}

// checkProcesses requires that all live processes, and a new one, list what exists and agree with the feed.
func checkProcesses(t *testing.T, shared *sessiontest.CrashFS, processes []*process) error {
	fresh, err := sessiontest.OpenFiles(shared, nil)
	if err != nil {
		return err
	}
	alive := append(processes, &process{store: fresh, acked: processes[0].acked})
	for i, p := range alive {
		if p.killed && (p.err == nil || errors.Is(p.err, errEnded)) {
			continue
		}
		if p.err != nil {
			return fmt.Errorf("process %d: %w", i, p.err)
		}
		if err := checkListed(t.Context(), p.store, p.acked); err != nil {
			return fmt.Errorf("process %d: %w", i, err)
		}
		if err := p.follow(t.Context()); err != nil {
			return fmt.Errorf("process %d follows: %w", i, err)
		}
		if err := p.reader.Check(t.Context(), p.store); err != nil {
			return fmt.Errorf("process %d: %w", i, err)
		}
	}
	return nil
}

// Scripts that write to a session, and that look at all sessions.
var (
	writers = []script{
		{"goes on", steps(listing, opening, saying), steps(saying, saying)},
		{"opens", following, steps(opening, saying, closing)},
		{"deletes and begins anew", nil, steps(deleting, opening, saying, saying)},
		{"deletes, begins anew and closes", nil, steps(deleting, opening, saying, closing)},
		{"begins anew", deleting, steps(opening, saying, saying)},
		{"resets", steps(opening, saying), steps(resetting, saying)},
		{"sets a title", nil, titling},
		{"sets a title meanwhile", steps(opening, saying), steps(titling, saying)},
		{"erases", nil, erasing},
		{"lists what it says", steps(opening, saying, listing), steps(saying, listing, saying, listing, closing)},
	}
	readers = []script{
		{"lists", listing, listing},
		{"lists for the first time", nil, listing},
		{"follows", following, following},
		{"follows for the first time", nil, following},
		{"follows and lists", steps(listing, following), steps(following, listing, following)},
	}
)

// TestListInterleaved runs two processes at the same time, one or both of which look at all sessions. The second one
// runs between any two operations of the first one, up to any operation; then either ends, is killed, or continues
// later.
func TestListInterleaved(t *testing.T) {
	for _, w := range writers {
		for _, r := range readers {
			t.Run(w.name+", "+r.name, func(t *testing.T) {
				t.Parallel()
				interleave(t, []script{w, r})
				interleave(t, []script{r, w})
			})
		}
	}
	for i, a := range readers {
		for _, b := range readers[i:] {
			t.Run(a.name+", "+b.name, func(t *testing.T) {
				t.Parallel()
				interleave(t, []script{a, b})
			})
		}
	}
}

func interleave(t *testing.T, scripts []script) {
	base := storeWithSessions(t)
	alone := trySchedule(t, base, scripts)
	const more = 40 // the first one may give the second one more to do
	var places [][2]int
	for i := range alone[0] + 1 {
		for j := range alone[1] + more {
			places = append(places, [2]int{i, j})
		}
	}
	random := rand.New(rand.NewPCG(1, 1))
	random.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	for _, at := range places[:min(len(places), times.Of(1))] {
		first, second := segment{process: 0, steps: at[0]}, segment{process: 1, steps: at[1]}
		killed, killedToo := first, second
		killed.kill, killedToo.kill = true, true
		trySchedule(t, base, scripts, first, second)
		trySchedule(t, base, scripts, first, killedToo)
		trySchedule(t, base, scripts, first, second, segment{process: 0, kill: true})
		trySchedule(t, base, scripts, killed, killedToo)
	}
}

// TestListOfASessionThatBeginsAgain: a deletion ends early and the session begins again, while another process
// checks whether it is gone.
func TestListOfASessionThatBeginsAgain(t *testing.T) {
	t.Parallel()
	base := storeWithSessions(t)
	deleter, beginner := script{"deletes", nil, deleting}, script{"begins anew", nil, steps(opening, saying, saying)}
	for _, looker := range []script{
		{"lists", listing, steps(listing, listing)},
		{"follows", following, steps(following, listing, following, listing)},
	} {
		scripts := []script{deleter, looker, beginner}
		count := trySchedule(t, base, scripts)
		random := rand.New(rand.NewPCG(1, 3))
		for range times.Of(50) {
			at := func(i int) int { return random.IntN(count[i] + 40) }
			trySchedule(t, base, scripts,
				segment{process: 0, steps: at(0), kill: true},
				segment{process: 1, steps: at(1)},
				segment{process: 2, steps: at(2), kill: random.IntN(2) == 0})
		}
	}
}

// TestListWithTwoReaders: two processes look at a growing session at the same time.
func TestListWithTwoReaders(t *testing.T) {
	t.Parallel()
	base := storeWithSessions(t)
	writer := script{"goes on", steps(opening, saying), steps(saying, saying, closing)}
	again := script{"begins anew", nil, steps(deleting, opening, saying, closing)}
	reader := script{"lists", listing, steps(listing, listing)}
	for _, w := range []script{writer, again} {
		scripts := []script{w, reader, reader}
		count := trySchedule(t, base, scripts)
		random := rand.New(rand.NewPCG(1, 4))
		for range times.Of(50) {
			var schedule []segment
			for range 6 {
				i := random.IntN(3)
				schedule = append(schedule, segment{process: i, steps: random.IntN(count[i]/2 + 2)})
			}
			trySchedule(t, base, scripts, schedule...)
		}
	}
}

// trySchedule returns how many operations each process began.
func trySchedule(t *testing.T, base *sessiontest.CrashFS, scripts []script, schedule ...segment) (steps []int) {
	synctest.Test(t, func(t *testing.T) {
		shared := base.Clone()
		processes := runSchedule(t, shared, scripts, schedule)
		for _, p := range processes {
			steps = append(steps, p.count)
		}
		shared.Fail(nil)
		if err := checkProcesses(t, shared, processes); err != nil {
			t.Fatalf("%s, schedule %+v: %v", names(scripts), schedule, err)
		}
	})
	return steps
}

func names(scripts []script) (all []string) {
	for _, s := range scripts {
		all = append(all, s.name)
	}
	return all
}

// TestListRandomSchedules: three processes run random scripts by random schedules.
func TestListRandomSchedules(t *testing.T) {
	base := storeWithSessions(t)
	for seed := range times.Of(uint64(25)) {
		random := rand.New(rand.NewPCG(seed, 1))
		scripts := []script{randomScript(random), randomScript(random), randomScript(random)}
		var schedule []segment
		for range random.IntN(12) {
			s := segment{process: random.IntN(3), steps: random.IntN(1 + random.IntN(120)), kill: random.IntN(8) == 0}
			schedule = append(schedule, s)
		}
		trySchedule(t, base, scripts, schedule...)
	}
}

// randomScript returns a script of a few steps. It leaves no session open while it opens another one.
func randomScript(random *rand.Rand) script {
	var all []step
	var names []string
	isOpen := false
	add := func(name string, s step) { all, names = append(all, s), append(names, name) }
	for range 2 + random.IntN(5) {
		switch n := random.IntN(11); {
		case n < 2:
			add("lists", listing)
		case n == 2:
			add("follows", following)
		case n == 3:
			add("titles", titling)
		case isOpen && n < 6:
			add("closes", closing)
			isOpen = false
		case isOpen && n == 6:
			add("resets", resetting)
		case isOpen:
			add("says", saying)
		case n == 4:
			add("deletes", deleting)
		case n == 5:
			add("archives", archiving)
		default:
			add("opens", opening)
			isOpen = true
		}
	}
	if isOpen { // others may wait for the turn
		add("closes", closing)
	}
	return script{name: strings.Join(names, ", "), then: steps(all...)}
}

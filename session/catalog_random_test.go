package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/winnowgo/winnow/session/sessiontest"
)

// TestCatalogRandomSchedules: three processes run random scripts by random schedules.
func TestCatalogRandomSchedules(t *testing.T) {
	base := storeWithCatalog(t)
	for seed := range uint64(schedulesOf(*randomSchedules)) {
		random := rand.New(rand.NewPCG(seed, 1))
		scripts := []script{randomScript(random), randomScript(random), randomScript(random)}
		var schedule []segment
		for range random.IntN(12) {
			s := segment{process: random.IntN(3), steps: random.IntN(1 + random.IntN(120)), kill: random.IntN(8) == 0}
			schedule = append(schedule, s)
		}
		trySchedule(t, base, scripts, schedule...)
		trySchedule(t, withFaults{base, seed}, scripts, schedule...)
	}
}

var errDiskFull = errors.New("the disk is full")

// withFaults is a file system on which operations on the catalog sometimes fail.
type withFaults struct {
	*sessiontest.CrashFS
	seed uint64
}

func (w withFaults) Clone() *sessiontest.CrashFS {
	shared := w.CrashFS.Clone()
	random := rand.New(rand.NewPCG(w.seed, 2))
	shared.Fail(func(op sessiontest.Operation) sessiontest.Fault {
		if !strings.HasPrefix(op.Path, "catalog") || random.IntN(6) > 0 {
			return sessiontest.Fault{}
		}
		return sessiontest.Fault{Err: errDiskFull, Short: -random.IntN(2)}
	})
	return shared
}

// TestErasedTitleIsInNoCatalog erases a session while another process makes a catalog, or is killed while doing so.
func TestErasedTitleIsInNoCatalog(t *testing.T) {
	const secret = "a title that is erased"
	entitled := func(ctx context.Context, p *process) error { return p.title(ctx, "k", secret) }
	makers := []script{
		{"writes the catalog anew", steps(entitled, listing, tidyingNow), listing},
		{"makes the catalog", steps(entitled, listing), making},
	}
	eraser := script{"erases", nil, func(ctx context.Context, p *process) error {
		if err := erasing(ctx, p); err != nil {
			return err
		}
		names, err := p.fs.List(".")
		if err != nil {
			return err
		}
		for _, name := range names {
			text, _ := p.fs.ReadFile(name)
			if bytes.Contains(text, []byte(secret)) {
				return fmt.Errorf("%s has it", name)
			}
		}
		return nil
	}}
	base := storeWithCatalog(t)
	for _, m := range makers {
		for steps := range trySchedule(t, base, []script{m, eraser})[0] + 1 {
			trySchedule(t, base, []script{m, eraser}, segment{process: 0, steps: steps})
			trySchedule(t, base, []script{m, eraser}, segment{process: 0, steps: steps, kill: true})
		}
	}
}

// randomScript returns a script of a few steps. It leaves no session open while it opens another one.
func randomScript(random *rand.Rand) script {
	var all []step
	var names []string
	isOpen := false
	add := func(name string, s step) { all, names = append(all, s), append(names, name) }
	for range 2 + random.IntN(5) {
		switch n := random.IntN(14); {
		case n < 2:
			add("lists", listing)
		case n == 2:
			add("writes anew", tidying)
		case n == 3 && random.IntN(3) == 0:
			add("makes", making)
		case n == 4:
			add("follows", following)
		case n == 5:
			add("waits", waiting)
		case n == 6:
			add("titles", titling)
		case isOpen && n < 9:
			add("closes", closing)
			isOpen = false
		case isOpen && n == 9:
			add("resets", resetting)
		case isOpen:
			add("says", saying)
		case n == 7:
			add("deletes", deleting)
		case n == 8:
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

package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/winnowgo/winnow/cmd/winnow/internal/inspect"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/backend"
	"github.com/winnowgo/winnow/session/upkeep"
)

// days is a duration flag that also accepts days: 30d.
type days time.Duration

func (d *days) String() string { return time.Duration(*d).String() }

func (d *days) Set(text string) error {
	if n, ok := strings.CutSuffix(text, "d"); ok {
		f, err := strconv.ParseFloat(n, 64)
		if err != nil || !(f >= 0 && f < 100_000) {
			return fmt.Errorf("want days as in 30d")
		}
		*d = days(f * 24 * float64(time.Hour))
		return nil
	}
	v, err := time.ParseDuration(text)
	if err != nil || v < 0 {
		return fmt.Errorf("want a duration as in 30d or 12h")
	}
	*d = days(v)
	return nil
}

func (p *program) maintain(ctx context.Context, args []string) (int, error) {
	var policy upkeep.Maintenance
	dry := p.flags.Bool("dry-run", false, "shows what would be done, and does nothing")
	reference := p.flags.Bool("reference", false, "the rules of OpenClaw: 500 sessions, archived after 30d")
	p.flags.Var((*days)(&policy.ArchiveAfter), "archive-after", "archives what nobody used for so long: 30d, 12h")
	p.flags.IntVar(&policy.MaxSessions, "max-sessions", 0, "archives the oldest sessions above so many")
	p.flags.Var((*days)(&policy.CronRuns), "cron-runs", "deletes the sessions of jobs that ran so long ago")
	p.flags.BoolVar(&policy.ResetLogs, "reset-logs", false, "archives the logs of before a session began anew")
	p.flags.Var((*days)(&policy.KeepArchives), "keep-archives", "deletes archives that are so old")
	p.flags.Int64Var(&policy.MaxBytes, "max-bytes", 0, "deletes the oldest archives above so many bytes")
	if _, err := p.parse(args, 0, 0); err != nil {
		return 0, err
	}
	if *reference && policy != (upkeep.Maintenance{}) {
		return 0, problemf("sessions maintain: -reference is a policy of its own; leave out the others")
	}
	if *reference {
		policy = *upkeep.ReferenceMaintenance()
	}
	if policy == (upkeep.Maintenance{}) {
		return 0, problemf("sessions maintain: no rule is given: -reference, -archive-after D, -max-sessions N, " +
			"-cron-runs D, -reset-logs, -keep-archives D, -max-bytes N")
	}
	store, err := p.open(false)
	if err != nil {
		return 0, err
	}
	defer store.Close()
	plan, err := upkeep.MakePlan(ctx, store, policy)
	if err != nil {
		return 0, err
	}
	if *dry {
		return exitOK, p.planned(plan)
	}
	applied, err := upkeep.Apply(ctx, store, plan)
	if err != nil {
		return 0, err
	}
	if p.json {
		return exitOK, p.print(applied)
	}
	if err := p.actions(applied.Done, applied.Kept); err != nil {
		return 0, err
	}
	_, err = fmt.Fprintf(p.stdout, "%s done, %s freed\n", count(len(applied.Done), "action"), size(applied.Freed))
	return exitOK, err
}

// planned prints what would be done.
func (p *program) planned(plan *upkeep.Plan) error {
	if p.json {
		return p.print(plan)
	}
	if err := p.actions(plan.Actions, plan.Kept); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.stdout, "%s of %s would be done, which frees about %s of %s; nothing was changed\n",
		count(len(plan.Actions), "action"), count(plan.Sessions, "session"), size(plan.Frees), size(plan.Bytes))
	return err
}

func (p *program) actions(done []upkeep.Action, kept []upkeep.Kept) error {
	var rows [][]string
	for _, a := range done {
		rows = append(rows, []string{string(a.Op), inspect.Plain(a.Key), inspect.Plain(a.Part.Name), size(a.Part.Bytes),
			string(a.Reason)})
	}
	for _, k := range kept {
		rows = append(rows, []string{"keep", inspect.Plain(k.Key), inspect.Plain(k.Part), "",
			string(k.Reason) + ": " + inspect.Plain(k.Why)})
	}
	return p.table(rows)
}

func (p *program) erase(ctx context.Context, args []string) (int, error) {
	yes := p.flags.Bool("yes", false, "")
	store, rest, err := p.begin(args, 1, -1)
	if err != nil {
		return 0, err
	}
	defer store.Close()
	key, entries := rest[0], rest[1:]
	parts, err := store.Parts(ctx, key)
	if err != nil {
		return 0, unknown(err, key)
	}
	if len(parts) == 0 {
		return 0, unknown(session.ErrNotFound, key)
	}
	if !*yes {
		return 0, problemf("sessions erase: nothing was changed; %s would be erased for good: -yes does it",
			what(parts, entries))
	}
	var receipt *upkeep.Receipt
	if len(entries) == 0 {
		receipt, err = upkeep.Erase(ctx, store, key)
	} else {
		receipt, err = upkeep.EraseEntries(ctx, store, key, "", entries...)
	}
	if err != nil {
		return 0, err
	}
	if p.json {
		return exitOK, p.print(receipt)
	}
	p.erased(receipt)
	return exitOK, nil
}

// erased prints what was erased, and where copies may remain.
func (p *program) erased(receipt *upkeep.Receipt) {
	fmt.Fprintf(p.stdout, "%s: %s erased\n", inspect.Plain(receipt.Key), what(receipt.Parts, receipt.Entries))
	if len(receipt.With) > 0 {
		fmt.Fprintf(p.stdout, "with them: %s\n", inspect.Plain(strings.Join(receipt.With, ", ")))
	}
	for _, c := range receipt.Copies {
		fmt.Fprintf(p.stdout, "copies erased in %s: %s\n", inspect.Plain(c.Key),
			inspect.Plain(strings.Join(c.Entries, ", ")))
	}
	if len(receipt.Forks) > 0 {
		fmt.Fprintf(p.stdout, "copies in forks remain: %s\n", inspect.Plain(strings.Join(receipt.Forks, ", ")))
	}
	if len(receipt.Unread) > 0 {
		fmt.Fprintf(p.stdout, "may have copies, and cannot be read: %s\n",
			inspect.Plain(strings.Join(receipt.Unread, ", ")))
	}
}

// what describes what is erased.
func what(parts []backend.Part, entries []string) string {
	if len(entries) > 0 {
		return "the content of " + inspect.Plain(strings.Join(entries, ", "))
	}
	bytes := int64(0)
	for _, p := range parts {
		bytes += p.Bytes
	}
	return count(len(parts), "file") + " with " + size(bytes)
}

package upkeep_test

import (
	"context"
	"fmt"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/upkeep"
)

func maintain(ctx context.Context, store *session.Store, dryRun bool) error {
	plan, err := upkeep.MakePlan(ctx, store, *upkeep.ReferenceMaintenance())
	if err != nil {
		return err
	}
	for _, a := range plan.Actions {
		fmt.Println(a.Op, a.Key, a.Part.Kind, a.Part.Bytes, a.Reason)
	}
	if dryRun {
		return nil
	}
	applied, err := upkeep.Apply(ctx, store, plan) // what changed since is left alone, and named in applied.Kept
	fmt.Println(len(applied.Done), "done,", len(applied.Kept), "left alone")
	return err
}

// A session that nobody wrote to for 40 days is archived, and can still be read.
func ExampleMakePlan() {
	ctx := context.Background()
	now := time.Date(2026, 5, 2, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	store := session.NewMemory(&session.Options{Now: clock, Manager: func(string) (int, *winnow.Options) {
		return 200_000, &winnow.Options{Now: clock}
	}})
	s, err := store.Open(ctx, "agent:a:main")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := s.Append(ctx, session.User("Hello.")); err != nil {
		fmt.Println(err)
	}
	s.Close()
	now = now.AddDate(0, 0, 40)
	for _, dryRun := range []bool{true, false} {
		if err := maintain(ctx, store, dryRun); err != nil {
			fmt.Println(err)
		}
	}
	v, err := store.Read(ctx, "agent:a:main")
	fmt.Println(len(v.History), "messages", err)
	// Output:
	// archive agent:a:main log 270 age
	// archive agent:a:main log 270 age
	// 1 done, 0 left alone
	// 1 messages <nil>
}

// A message that a person wrote by mistake is erased. The conversation continues.
func ExampleEraseEntries() {
	ctx := context.Background()
	store := session.NewMemory(nil)
	s, err := store.Open(ctx, "chat")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := s.Append(ctx, session.User("My password is correct horse battery staple.")); err != nil {
		fmt.Println(err)
	}
	id := s.View().IDs[0]
	s.Close()

	receipt, err := upkeep.EraseEntries(ctx, store, "chat", "", id)
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := store.Read(ctx, "chat")
	fmt.Println(receipt.Entries, v.History[0].Parts[0].Text, err)
	// Output:
	// [e2] [erased] <nil>
}

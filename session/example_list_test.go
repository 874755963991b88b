package session_test

import (
	"context"
	"fmt"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/keys"
)

// filled returns a store with three sessions.
func filled() *session.Store {
	ctx := context.Background()
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	store := session.NewMemory(&session.Options{Now: func() time.Time { return at }})
	for _, key := range []string{"agent:main:main", "agent:main:irc:group:go", "agent:main:irc:direct:anna"} {
		at = at.Add(time.Hour)
		s, err := store.Open(ctx, key)
		if err != nil {
			panic(err)
		}
		s.UseModel("large")
		answer := winnow.Message{Role: winnow.RoleAssistant, Usage: &winnow.Usage{Input: 100, Output: 20}}
		answer.Parts = []winnow.Part{{Text: "hello"}}
		if err := s.Append(ctx, session.User("hello"), answer); err != nil {
			panic(err)
		}
		if err := s.Close(); err != nil {
			panic(err)
		}
	}
	return store
}

func ExampleStore_List() {
	page, err := filled().List(context.Background(), session.Query{Order: session.Newest, Limit: 2})
	if err != nil {
		panic(err)
	}
	for _, st := range page.Sessions {
		fmt.Println(st.Key, st.LastInteraction.Format(time.TimeOnly))
	}
	fmt.Println("more:", page.Next != "") // Query.After of the next page
	// Output:
	// agent:main:irc:direct:anna 15:00:00
	// agent:main:irc:group:go 14:00:00
	// more: true
}

func ExampleStore_All() {
	groups := session.Query{Prefix: "agent:main:", Types: []keys.Type{keys.Group}}
	for st, err := range filled().All(context.Background(), groups) {
		if err != nil {
			panic(err)
		}
		fmt.Println(st.Key)
	}
	// Output: agent:main:irc:group:go
}

func ExampleStore_Status() {
	st, err := filled().Status(context.Background(), "agent:main:main")
	if err != nil {
		panic(err)
	}
	sum := st.Counts.Models["large"].Sum
	fmt.Println(st.Counts.Turns, st.Counts.Messages, sum.Input, sum.Output)
	// Output: 1 map[assistant:1 user:1] 100 20
}

func ExampleStore_NextChanges() {
	ctx := context.Background()
	store := filled()
	all, err := store.NextChanges(ctx, "") // "": a reader without a cursor gets everything
	if err != nil {
		panic(err)
	}
	fmt.Println(all.Resync, len(all.Changes))
	if err := store.Delete(ctx, "agent:main:main"); err != nil {
		panic(err)
	}
	next, err := store.NextChanges(ctx, all.Cursor)
	if err != nil {
		panic(err)
	}
	for _, c := range next.Changes {
		fmt.Println(c.Key, c.Deleted)
	}
	// Output:
	// true 3
	// agent:main:main true
}

func ExampleStatus_Add() {
	// What a backend that keeps the status of its sessions does with the lines that its Append gets.
	st := session.Status{Key: "k", Log: "1"}
	st.Add([]byte(`{"seq":1,"id":"e1","type":"session","time":"2026-11-22T12:00:00Z","format":1,"key":"k"}` + "\n"))
	st.Add([]byte(`{"seq":2,"id":"e2","parentId":"e1","type":"message","time":"2026-11-22T12:00:01Z",` +
		`"message":{"role":"user","parts":[{"text":"hello"}]}}` + "\n"))
	fmt.Println(st.Counts.Turns, st.Created.Format(time.TimeOnly), st.Updated.Format(time.TimeOnly))
	// Output: 1 12:00:00 12:00:01
}

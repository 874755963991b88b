package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/follow"
	"github.com/winnowgo/winnow/session/keys"
	"github.com/winnowgo/winnow/session/resets"
)

// ask stands for the host's call of its model.
func ask(_ context.Context, messages []winnow.Message) (winnow.Message, error) {
	text := fmt.Sprintf("That was message %d.", len(messages))
	return winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Text: text}}}, nil
}

func reply(ctx context.Context, store *session.Store, key, text string) (string, error) {
	s, err := store.Open(ctx, key) // waits for its turn
	if err != nil {
		return "", err
	}
	defer s.Close()
	if err := s.Begin(ctx, session.User(text)); err != nil { // on disk when it returns, and once, however often it is tried
		return "", err
	}
	answer, err := s.Do(ctx, ask) // prepare, write down, call, recover, append
	return answer.Text(), err
}

func Example() {
	store := session.NewMemory(nil) // or OpenDirectory
	for _, text := range []string{"Hello.", "And now?"} {
		answer, err := reply(context.Background(), store, "telegram:42", text)
		fmt.Println(answer, err)
	}
	// Output:
	// That was message 1. <nil>
	// That was message 3. <nil>
}

func ExampleSession_Interrupted() {
	ctx := context.Background()
	store := session.NewMemory(nil)
	s, err := store.Open(ctx, "k")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	call := winnow.Part{Kind: winnow.KindToolCall, ID: "call_1", Name: "deploy"}
	err = s.Append(ctx, session.User("Deploy it."), winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{call}})
	fmt.Println(err)
	// The program is killed while the tool runs, and started again.
	fmt.Println(s.Interrupted().Calls[0].Name)
	fmt.Println(s.Abandon(ctx)) // a result that says so; the model decides
	fmt.Println(s.Interrupted().Unanswered)
	// Output:
	// <nil>
	// deploy
	// <nil>
	// true
}

func ExampleSession_Rewind() {
	ctx := context.Background()
	store := session.NewMemory(nil)
	s, err := store.Open(ctx, "k")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	must := func(err error) {
		if err != nil {
			fmt.Println(err)
		}
	}
	must(s.Append(ctx, session.User("Name a colour.")))
	question := s.Leaf()
	must(s.Append(ctx, answer("Red.")))
	must(s.Rewind(ctx, question)) // the first answer stays in the log, on its own branch
	must(s.Append(ctx, answer("Blue.")))
	fmt.Println(texts(s.View()))
	// Output:
	// [Name a colour. Blue.]
}

// A conversation begins anew each day at 4 o'clock, and groups after a pause of an hour; threads never do.
func Example_resets() {
	policy := resets.Reference()
	policy.Base.Location = time.UTC
	policy.ByType = map[keys.Type]resets.Rule{
		keys.Group:  {Mode: resets.Idle, Idle: time.Hour},
		keys.Thread: {},
	}
	night := time.Date(2026, 5, 2, 3, 30, 0, 0, time.UTC)
	for _, key := range []string{"agent:a:main", "agent:a:slack:group:7", "agent:a:slack:group:7:thread:9"} {
		d := policy.For(key).Decide(night, night.Add(40*time.Minute))
		fmt.Println(key, d.Due)
	}
	rest, ok := policy.Trigger("/new what is the weather?")
	fmt.Println(rest, ok)
	// Output:
	// agent:a:main true
	// agent:a:slack:group:7 false
	// agent:a:slack:group:7:thread:9 false
	// what is the weather? true
}

// Entries are encrypted with the newest key. Old ones are read as long as their keys are there.
func ExampleAESGCM() {
	keys := map[string][]byte{"2026-10": make([]byte, 32), "2026-11": bytes.Repeat([]byte{7}, 32)} // from a key store
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	for _, newest := range []string{"2026-10", "2026-11"} {
		store, err := session.OpenDirectory(dir, &session.Options{Seal: &session.AESGCM{
			ID: func() string { return newest },
			Key: func(id string) ([]byte, error) {
				if key, ok := keys[id]; ok {
					return key, nil
				}
				return nil, errors.New("no such key")
			},
		}})
		if err != nil {
			panic(err)
		}
		s, err := store.Open(context.Background(), "agent:main:main")
		if err != nil {
			panic(err)
		}
		if err := s.Append(context.Background(), session.User("sealed with "+newest)); err != nil {
			panic(err)
		}
		for _, m := range s.View().History {
			fmt.Println(m.Parts[0].Text)
		}
		s.Close()
		store.Close()
	}
	// Output:
	// sealed with 2026-10
	// sealed with 2026-10
	// sealed with 2026-11
}

// memoryIndex stands for the index in which a host finds old messages.
type memoryIndex struct{ Cursor string }

func (*memoryIndex) Add(e *entry.Entry) error {
	if e.Message != nil {
		fmt.Println(e.Message.Role, e.Message.Parts[0].Text)
	}
	return nil
}

func (i *memoryIndex) Save(cursor string) error {
	i.Cursor = cursor
	return errors.New("that is enough for an example")
}

func index(ctx context.Context, store *session.Store, in *memoryIndex) error {
	follower := follow.New(store, in.Cursor, nil)
	for {
		changes, err := follower.Next(ctx) // 100 000 bytes or 50 messages of a session that are new
		if err != nil {
			return err
		}
		for _, change := range changes.Changes {
			for e, err := range store.ReadChange(ctx, change) {
				if errors.Is(err, session.ErrNotFound) { // deleted, or another change tells of it
					break
				}
				if err == nil {
					err = in.Add(e)
				}
				if err != nil {
					return err
				}
			}
		}
		if err := in.Save(changes.Cursor); err != nil {
			return err
		}
	}
}

func Example_follow() {
	store := session.NewMemory(nil)
	if _, err := reply(context.Background(), store, "agent:main:main", "Where is the key?"); err != nil {
		fmt.Println(err)
	}
	fmt.Println(index(context.Background(), store, &memoryIndex{}))
	// Output:
	// user Where is the key?
	// assistant That was message 1.
	// that is enough for an example
}

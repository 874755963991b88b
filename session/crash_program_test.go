package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
)

// program is a random sequence of what a host does with a session.
type program struct {
	t      testing.TB
	random *rand.Rand
	store  *session.Store
	s      *session.Session
	key    string
	n      int      // messages so far
	leaves []string // entries that were the newest once
	forks  []string // keys of sessions that were forked off
	seal   session.Sealer
	now    time.Time
}

func (p *program) clock() time.Time {
	p.now = p.now.Add(time.Second)
	return p.now
}

// window is so small that conversations of a few messages are compacted.
const window = 4_000

func (p *program) options() *session.Options {
	return &session.Options{Now: p.clock, Seal: p.seal, Manager: func(string) (int, *winnow.Options) {
		return window, &winnow.Options{Now: p.clock}
	}}
}

func (p *program) words() string {
	p.n++
	return fmt.Sprintf("message %d: %s", p.n, strings.Repeat(fmt.Sprintf("word%d ", p.random.IntN(1000)), 1+p.random.IntN(120)))
}

func (p *program) model(_ context.Context, request []winnow.Message) (winnow.Message, error) {
	requireAccepted(p.t, request, "")
	if p.random.IntN(3) > 0 {
		return answer(p.words()), nil
	}
	p.n++
	return call(fmt.Sprintf("call_%d", p.n), "exec"), nil
}

// step does one thing. ok says that the program goes on.
func (p *program) step(ctx context.Context) error {
	if p.s == nil {
		var err error
		p.s, err = p.store.Open(ctx, p.key)
		return err
	}
	switch n := p.random.IntN(20); {
	case n < 1: // what the manager knows is not durable by itself, and may be what a log begins with
		_, err := p.s.Prepare(ctx)
		return err
	case n < 5:
		var batch []winnow.Message
		for range 1 + p.random.IntN(3) {
			batch = append(batch, session.User(p.words()))
		}
		return p.s.Append(ctx, batch...)
	case n < 11:
		if i := p.s.Interrupted(); i != nil && len(i.Calls) > 0 {
			return p.s.Append(ctx, session.Result(i.Calls[0].ID, "exec", p.words()))
		} else if i == nil {
			if err := p.s.Append(ctx, session.User(p.words())); err != nil {
				return err
			}
		}
		_, err := p.s.Do(ctx, p.model)
		return err
	case n < 12:
		_, err := p.s.Compact(ctx, "")
		return onlyStorage(err)
	case n < 13:
		ids := p.s.View().IDs
		if len(ids) == 0 {
			return nil
		}
		m := winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "edited " + p.words()}}}
		return onlyStorage(p.s.Edit(ctx, ids[p.random.IntN(len(ids))], &m, "test"))
	case n < 15:
		if leaf := p.s.Leaf(); leaf != "" {
			p.leaves = append(p.leaves, leaf)
		}
		if len(p.leaves) == 0 {
			return nil
		}
		return p.s.Rewind(ctx, p.leaves[p.random.IntN(len(p.leaves))])
	case n < 16:
		p.leaves = nil
		return p.s.Reset(ctx, "test", json.RawMessage(`{"a":1}`))
	case n < 17:
		title := p.words()
		err := p.store.SetInfo(ctx, p.key, session.Info{Title: &title})
		return onlyStorage(err)
	case n < 18:
		key := fmt.Sprintf("fork-%d-%d", p.n, p.random.IntN(1<<30))
		err := p.store.Fork(ctx, p.key, "", key)
		if err == nil {
			p.forks = append(p.forks, key)
		}
		return onlyStorage(err)
	default:
		err := p.s.Close()
		p.s = nil
		return err
	}
}

// onlyStorage drops errors that do not come from the storage: nothing to compact, a missing entry.
func onlyStorage(err error) error {
	if err == nil || strings.Contains(err.Error(), "compaction") || strings.Contains(err.Error(), "not found") {
		return nil
	}
	return err
}

func isVolatile(line string) bool {
	isOf := func(t entry.Type) bool { return strings.Contains(line, `"type":"`+string(t)+`"`) }
	isFirst := !strings.Contains(line, `"batch"`) || strings.Contains(line, `"batch":[1,`)
	isState := isOf(entry.TypeState) && isFirst // behind an edit or a compaction it is durable
	isState = isState || isOf(entry.TypeUsage) && strings.Contains(line, `"window"`)
	return isState || isOf(entry.TypeStatus) || isOf(entry.TypeFlush)
}

package hosts

import (
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/histories"
)

// Odd hosts: what the scenes of a conversation do not have. They are strewn over it by dice of their own, so that the
// scenes of a seed stay what they are.

// strew adds odd steps to a script, and perhaps an odd setting.
func strew(s *Script, seed uint64) {
	g := &writer{rand.New(rand.NewPCG(seed, 0x6f6464))}
	s.Setting.Clock = g.chance(12)
	if s.Setting.Host == "" && g.chance(15) {
		s.Setting.Host = "drops"
	}
	if g.chance(8) {
		s.Steps = slices.Insert(s.Steps, 0, Step{Do: "mood", As: "uses", Seed: g.IntN(1_000)})
	}
	if g.chance(50) {
		return
	}
	for range 1 + g.IntN(4) {
		step := Step{Seed: g.IntN(1_000)}
		switch n := g.IntN(100); {
		case n < 20:
			step.Do, step.At = "again", g.IntN(12)
		case n < 35:
			step.Do = "rollback"
		case n < 50:
			step.Do, step.At = "mutate", g.IntN(12)
		case n < 70:
			step.Do, step.N, step.Many = "uneven", g.size(max(1_000, s.Setting.Window)), 2+g.IntN(9)
		case n < 80:
			step.Do, step.As = "thought", g.words(50, "unsigned")
		case n < 86:
			step.Do, step.N = "disk", 1+g.IntN(3)
		case n < 93:
			step.Do, step.As = "restart", "model"
		default:
			step.Do, step.As = "mood", one(g, "late", "cancels", "uses", "uses")
		}
		at := g.IntN(len(s.Steps) + 1)
		s.Steps = slices.Insert(s.Steps, at, step)
	}
}

// useAgain lets hosts use ids of calls again, and ask for plans at any time, of any part of their history.
func useAgain(s *Script, seed uint64) {
	g := &writer{rand.New(rand.NewPCG(seed, 0x696473))}
	if g.chance(30) {
		s.Setting.IDs = one(g, -1, 1, 2, 8, 40)
		if g.chance(40) {
			s.Setting.Host = "keeps"
		}
	}
	for range g.IntN(4) {
		step := Step{Do: "plan", N: g.IntN(30), As: one(g, "", "part", "other")}
		s.Steps = slices.Insert(s.Steps, g.IntN(len(s.Steps)+1), step)
	}
}

// callID returns the id of the next call, the k-th of its message.
func (w *world) callID(k int) string {
	switch n := w.setting.IDs; {
	case n < 0:
		return ""
	case n > 0:
		return "call_" + itoa((w.serial+k)%n)
	}
	return "call_" + itoa(w.serial) + "_" + itoa(k)
}

// again adds a copy of an old message: a host that tried to store it twice did so.
func (w *world) again(s *Step) {
	if i := w.at(s); i >= 0 && w.history[i].Source != nil {
		m := histories.Copy(w.history[i : i+1])[0]
		for _, p := range m.Parts {
			delete(w.bound, p.Signature) // nothing says which of both is the one that answered
		}
		w.add(m)
	}
}

// rollback plays a new process with an older state: the host's newest one was not on the disk yet.
func (w *world) rollback(*Step) {
	if len(w.states) == 0 {
		return
	}
	m := w.newManager(w.summarizer)
	if err := m.Restore(w.states[0]); err != nil {
		w.fail("a snapshot can be restored", "%v", err)
		return
	}
	w.goOnWith(m, w.states[0])
	w.unknown, w.unsettled, w.usage, w.sentAt = true, false, true, -1
	w.dropped = true // records may stand elsewhere than the last request says
	clear(w.bound)
}

// mutate overwrites a text in place, and passes a copy of the list alone.
func (w *world) mutate(s *Step) {
	i := w.at(s)
	if i < 0 || w.history[i].Source == nil || len(w.history[i].Parts) == 0 {
		return
	}
	w.history = slices.Clone(w.history)
	m := &w.history[i]
	if p := &m.Parts[0]; p.Kind == winnow.KindText && p.Signature == "" && p.Text != "" {
		p.Text = "[" + text(len(p.Text)/2+3, s.Seed) + "]"
		w.overwritten[m.ID] = true
		if m.Role == winnow.RoleUser {
			w.said[m.Injected] += letters(p.Text) + "|"
		}
	}
	w.version++
	w.earlier = nil // they share the parts
}

// uneven adds parallel calls whose results have very different sizes: one is large.
func (w *world) uneven(s *Step) {
	m := histories.Model()
	m.StopReason = "toolUse"
	var results []winnow.Message
	for k := range max(1, s.Many) {
		id := w.callID(k)
		n := 1 + abs(s.Seed)%40
		if k == abs(s.Seed)%max(1, s.Many) {
			n = 3 * max(1, s.N)
		}
		m.Parts = append(m.Parts, histories.Call(id, "read"))
		results = append(results, histories.Tool(id, text(n, s.Seed+k)))
	}
	w.add(m)
	for _, r := range results {
		w.add(r)
	}
}

// thought adds an answer that is nothing but thinking.
func (w *world) thought(s *Step) {
	m := histories.Model(histories.Think("hm, "+text(30, s.Seed), w.sign()))
	if s.is("unsigned") {
		m.Parts[0].Signature = ""
	}
	w.add(m)
}

// use calls the manager while it waits for a summary: only once for each call, and never while a summary is made in the
// background, because what the world knows belongs to the goroutine that plays the script.
func (w *world) use(n int) {
	if w.isUsed || w.options.Background {
		return
	}
	w.isUsed = true
	h := deepCopy(w.history)
	if n%2 == 0 {
		h = h[:len(h)-min(len(h), abs(n)/10%9)]
	}
	ctx := w.life // the call may outlast the one that asked for the summary
	var r *winnow.Request
	var err error
	switch abs(n) / 2 % 5 {
	case 0, 1:
		r, err = w.manager.Prepare(ctx, h)
	case 2:
		r, err = w.manager.Compact(ctx, h, "")
	case 3:
		r, err = w.manager.Recover(ctx, h, errTooLong)
		w.usage = true
	default:
		if err = w.manager.Restore(w.states[0]); err != nil {
			w.fail("a snapshot can be restored", "%v", err)
		}
		w.unknown, w.usage, w.dropped, w.deltas, w.base = true, true, true, nil, w.states[0]
		clear(w.bound)
		return
	}
	w.seen["used"]++
	if err != nil {
		return
	}
	if len(h) < len(w.history) {
		clear(w.bound) // the answers behind h look like answers to this request
	}
	if r.Tokens > r.Budget {
		w.fail("it fits, or there is an error", "in a summary: %d tokens, and a budget of %d", r.Tokens, r.Budget)
	}
	w.checkWire(h, r.Messages, "Messages")
	w.checkVerbatim(h, r.Messages, "Messages")
	w.checkEdits(h, r)
	if w.provider.calls == 0 { // else a request that was refused, which the world has not noted, is the last one
		w.checkFirstChanged(r)
	}
	w.noteSent(r.Messages)
}

var errDisk = errors.New("no space left on the disk")

// disk lets the next writes of the journal fail.
func (w *world) disk(s *Step) { w.full = s.N }

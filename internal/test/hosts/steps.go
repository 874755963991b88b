package hosts

import (
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/histories"
)

// steps are the possible steps of a script, by name.
var steps map[string]func(*world, *Step)

func init() {
	steps = map[string]func(*world, *Step){
		// messages
		"user": (*world).user, "system": (*world).system, "answer": (*world).answer, "call": (*world).call,
		"late": (*world).lateResults, "import": (*world).importHistory,
		// changes of messages by the host
		"pin": (*world).pin, "unpin": (*world).unpin, "rename": (*world).rename, "bill": (*world).bill,
		"source": (*world).source, "redact": (*world).redact,
		"undo": (*world).undo, "clear": (*world).clearHistory, "forget": (*world).forget, "drop": (*world).drop,
		"insert": (*world).insert, "stream": (*world).stream,
		// odd hosts
		"again": (*world).again, "rollback": (*world).rollback, "mutate": (*world).mutate,
		"uneven": (*world).uneven, "thought": (*world).thought, "disk": (*world).disk,
		// the world
		"pass": (*world).pass, "limit": (*world).limit, "weather": (*world).weather, "mood": (*world).mood,
		"gc": func(*world, *Step) {
			runtime.GC()
		},
		// calls of the manager
		"prepare": (*world).prepare, "plan": (*world).plan, "compact": (*world).compact, "recover": (*world).recover,
		"do":      (*world).do,
		"restart": (*world).restart, "damage": (*world).damage, "lose": (*world).lose,
		"recall": (*world).recall,
	}
}

// user adds a message of a person or, injected, of the host.
func (w *world) user(s *Step) {
	m := histories.User(text(s.N, s.Seed))
	if s.is("reminder") { // hosts insert the same text again and again
		m = histories.User(text(900, 1))
	}
	m.Injected, m.Pinned = s.is("injected"), s.is("pinned")
	w.inserted(&m, s)
	w.vary(&m, s)
	w.add(m)
}

// inserted says what the host knows of a text that it inserts: that it may go, or what it states.
func (w *world) inserted(m *winnow.Message, s *Step) {
	if !m.Injected {
		return
	}
	if m.Transient = s.is("transient"); s.is("told") {
		m.InForce = []string{"rule " + itoa(abs(s.Seed)%3)}
	}
	if s.is("told") && s.is("both") {
		m.InForce = append(m.InForce, "rule both")
	}
}

// vary changes a message as the words of a step say.
func (w *world) vary(m *winnow.Message, s *Step) {
	switch {
	case s.is("rule"):
		m.Parts = append(m.Parts, histories.Text("Never deploy to host-"+itoa(s.Seed)+" before I confirm. Always run "+
			"the tests."))
	case s.is("hostile"):
		m.Parts = append(m.Parts, histories.Text(hostileText(s.Seed)))
		m.StopReason = map[bool]string{true: hostileText(s.Seed + 3)}[m.Role == winnow.RoleAssistant]
	case s.is("blank"):
		m.Parts = append(m.Parts, histories.Text([]string{"", " \n", "\t", "\u00a0"}[abs(s.Seed)%4]))
	case s.is("empty"):
		m.Parts = nil
	case s.is("bytes"):
		m.Parts = append(m.Parts, histories.Text("cut\xe4\xb8 "+text(20, s.Seed)+"\xff"))
	}
	if s.is("image") {
		p := histories.Image()
		p.Bytes = 500 + abs(s.Seed)*37%9_000
		m.Parts = append(m.Parts, p)
	}
	if s.is("opaque") {
		m.Parts = append(m.Parts, winnow.Part{Kind: winnow.KindOpaque, MediaType: "application/pdf", Bytes: 300})
	}
}

func (w *world) system(s *Step) { w.add(histories.System("Mind: " + text(s.N, s.Seed))) }

// answer adds a message of the model without calls.
func (w *world) answer(s *Step) {
	m := histories.Model(histories.Text(text(max(1, s.N), s.Seed)))
	m.StopReason = "stop"
	w.vary(&m, s)
	w.think(&m, s)
	if s.is("error") {
		m.StopReason = "error"
	}
	if s.is("billed") {
		m.Usage = &winnow.Usage{Input: max(1, w.provider.accepts), Output: 10}
		w.usage = true
	}
	w.add(m)
}

// think adds thinking in front or, to an answer, at the end: no model thinks after its calls.
func (w *world) think(m *winnow.Message, s *Step) {
	if !s.is("thinks") {
		return
	}
	p := histories.Think("hm, "+text(1+s.N/3, s.Seed+1), w.sign())
	if s.is("unsigned") {
		p.Signature = ""
	}
	if s.is("hostile") && p.Signature != "" && w.options.Thinking != string(winnow.ThinkingBound) {
		p.Signature += hostileText(s.Seed + 2)
	}
	at := 0
	if s.is("last") && s.Do == "answer" {
		at = len(m.Parts)
	}
	m.Parts = slices.Insert(m.Parts, at, p)
}

// call adds a message with calls, and their results as the step says.
func (w *world) call(s *Step) {
	m := histories.Model()
	m.StopReason = "toolUse"
	if s.is("speaks") {
		m.Parts = append(m.Parts, histories.Text(text(60, s.Seed+2)))
	}
	var results []winnow.Message
	for k := range max(1, s.Many) {
		id := w.callID(k)
		name := histories.ToolNames[(abs(s.Seed)+k)%len(histories.ToolNames)]
		switch {
		case s.is("reused"):
			id = "call_again"
		case s.is("noid"):
			id = ""
		case s.is("hostile"):
			id = strings.ToValidUTF8(hostileText(s.Seed+k), "") + itoa(w.serial)
		}
		p := histories.Call(id, name)
		p.Arguments = json.RawMessage(`{"path":"dir/file_` + itoa(abs(s.Seed)%7) + `.go","n":` + itoa(k) + `}`)
		r := histories.Tool(id, text(max(1, s.N-k*s.N/9), s.Seed+3*k))
		r.ToolName = name
		if s.is("hostile") {
			p.Arguments, r.Details = hostileArguments(s.Seed), hostileDetails(s.Seed+k)
			p.Name += hostileText(s.Seed + 1)
			r.ToolName = p.Name
		}
		if s.is("plan") {
			todo := `{"todos":[{"content":"` + text(20, s.Seed) + `","status":"pending"}]}`
			p.Name, p.Arguments = "todo_write", json.RawMessage(todo)
			r.ToolName = p.Name
		}
		if s.is("skill") {
			p.Name, p.Arguments = "skill", json.RawMessage(`{"name":"s`+itoa(abs(s.Seed)%2)+`"}`)
			r.ToolName = p.Name
		}
		if s.is("unchanged") {
			r.Parts = []winnow.Part{histories.Text("File unchanged since the last read.")}
		}
		if s.is("broken") {
			p.Arguments = json.RawMessage(`{"path": "sr`)
		}
		if s.is("terminal") {
			r.Parts = []winnow.Part{histories.Text(terminalText(s.N, s.Seed+k))}
		}
		r.IsError = s.is("fails")
		m.Parts = append(m.Parts, p)
		w.vary(&r, s)
		results = append(results, r)
	}
	w.think(&m, s)
	if s.is("aborted") {
		m.StopReason = "aborted"
	}
	w.add(m)
	w.results(s, results)
}

func (w *world) results(s *Step, results []winnow.Message) {
	if s.is("reversed") {
		slices.Reverse(results)
	}
	for k, r := range results {
		switch {
		case s.is("pending"), s.is("some") && k > 0:
			w.late = append(w.late, r)
			continue
		case s.is("missing"):
			continue
		case s.is("twice"):
			w.add(r)
		}
		w.add(r)
	}
	if s.is("orphan") {
		w.add(histories.Tool("ghost_"+itoa(w.serial), text(20, s.Seed)))
	}
}

// lateResults adds the results that were delayed.
func (w *world) lateResults(*Step) {
	for _, r := range w.late {
		w.add(r)
	}
	w.late = nil
}

// importHistory continues from a transcript of another host, unchanged.
func (w *world) importHistory(s *Step) {
	w.isMixed = true
	h := histories.Random(uint64(abs(s.Seed)))
	for _, m := range h[:min(len(h), max(0, s.N))] {
		for k := range m.Parts {
			m.Parts[k].Source = nil
			if w.options.Thinking == string(winnow.ThinkingBound) {
				m.Parts[k].Signature = "" // nobody knows what it is bound to
			}
		}
		m.Usage = nil
		w.add(m)
	}
}

func (w *world) pin(s *Step)   { w.set(s, func(m *winnow.Message) { m.Pinned = true }) }
func (w *world) unpin(s *Step) { w.set(s, func(m *winnow.Message) { m.Pinned = false }) }

func (w *world) rename(s *Step) {
	if w.setting.NoIDs {
		return
	}
	w.serial++
	id := "m" + itoa(w.serial)
	w.set(s, func(m *winnow.Message) { w.answered[id], m.ID = w.answered[m.ID], id })
}

func (w *world) bill(s *Step) {
	w.set(s, func(m *winnow.Message) {
		if m.Role == winnow.RoleAssistant {
			m.Usage = &winnow.Usage{Input: max(1, w.provider.accepts), Output: 7}
			w.usage = true
		}
	})
}

func (w *world) source(s *Step) {
	w.serial++
	w.set(s, func(m *winnow.Message) { m.Source = tag{serial: w.serial} })
}

// redact overwrites a secret with the same number of other characters.
func (w *world) redact(s *Step) {
	w.set(s, func(m *winnow.Message) {
		for k := range m.Parts {
			switch p := &m.Parts[k]; {
			case p.Kind == winnow.KindText && len(p.Text) > 40:
				p.Text = p.Text[:len(p.Text)/3] + strings.Repeat("*", 10) + p.Text[len(p.Text)/3+10:]
			case p.Kind == winnow.KindToolCall && json.Valid(p.Arguments):
				p.Arguments = json.RawMessage(strings.Replace(string(p.Arguments), "file", "****", 1))
			}
			if m.Role == winnow.RoleUser {
				w.said[m.Injected] += letters(m.Parts[k].Text) + "|"
			}
		}
	})
}

// set changes the message that a step names, unless the library made it.
func (w *world) set(s *Step, f func(m *winnow.Message)) {
	if i := w.at(s); i >= 0 && w.history[i].Source != nil {
		w.change(i, f)
	}
}

func (w *world) undo(s *Step)       { w.cut(max(1, s.N)) }
func (w *world) clearHistory(*Step) { w.cut(len(w.history)) }
func (w *world) forget(s *Step) {
	w.history, w.isMixed = slices.Clone(w.history[min(len(w.history), s.N):]), true
	w.version++
}
func (w *world) pass(s *Step)    { w.now = w.now.Add(time.Duration(s.N) * time.Second) }
func (w *world) weather(s *Step) { w.provider.weather = s.As }
func (w *world) mood(s *Step)    { w.summarizer.mood, w.summarizer.seed = s.As, s.Seed }
func (w *world) drop(s *Step) {
	if i := w.at(s); i >= 0 {
		w.history, w.dropped = slices.Delete(slices.Clone(w.history), i, i+1), true
		w.isMixed = true
		w.version++
	}
}

// insert inserts a message before another one.
func (w *world) insert(s *Step) {
	if i := w.at(s); i >= 0 {
		m := histories.User(text(max(1, s.N), s.Seed))
		m.Injected = s.is("injected")
		w.inserted(&m, s)
		w.history = slices.Insert(slices.Clone(w.history), i, w.own(m))
		w.version++
	}
}

// stream replaces the newest message in place by a longer one: the model is still writing.
func (w *world) stream(s *Step) {
	i := len(w.history) - 1
	if i < 0 || w.history[i].Role != winnow.RoleAssistant || w.history[i].Source == nil {
		return
	}
	m := histories.Copy(w.history[i:])[0]
	for k := len(m.Parts) - 1; k >= 0; k-- {
		if m.Parts[k].Kind == winnow.KindText {
			m.Parts[k].Text += text(max(1, s.N), s.Seed)
			break
		}
	}
	w.history[i] = m
	w.version++
	w.earlier = nil // they share the list that the host has just modified
}

// limit sets the provider's limits from now on, and whether it tells them.
func (w *world) limit(s *Step) {
	if s.is("bytes") {
		w.provider.bytes = s.N
	} else {
		w.provider.limit = s.N
	}
	w.provider.words = abs(s.Seed)
}

package hosts

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/histories"
)

// Failure is a promise that was broken.
type Failure struct {
	Promise string // which, in a word or two
	Step    int    // index of the step
	Text    string // what was seen
}

func (f *Failure) Error() string { return fmt.Sprintf("%s, at step %d: %s", f.Promise, f.Step, f.Text) }

// world is a host with its manager, and the manager's environment.
type world struct {
	setting Setting
	step    int
	seen    map[string]int // events and their number

	mu      sync.Mutex // protects failure: summarizers in the background see some
	failure *Failure

	history []winnow.Message // the host's history
	serial  int              // number of messages so far
	version int              // of the history
	late    []winnow.Message // delayed results
	said    map[bool]string  // letters of everything that users said, and (true) of what hosts said for them
	fresh   int              // number of rebuilds by a host that rebuilds its messages
	dropped bool             // the host has taken messages out

	answered map[string]bool // messages that an answer followed, by ID; without IDs all

	manager    *winnow.Manager
	summarizer *summarizer
	options    Setting // the manager's current options: a restart may change them
	now        time.Time
	settle     func() // waits for background work
	release    chan struct{}

	provider provider
	sent     []uint64 // the last request, message by message
	sentAt   int      // version of the history it was made for
	earlier  []kept
	bound    map[string]uint64 // signatures of thinking, and the messages before it

	recalled    recalled
	overwritten map[string]bool // messages by id, whose text the host replaced: they answer no Recall any more

	states  [][]byte           // the newest states, the oldest first
	isOther bool               // the conversation was held with another model before
	isMixed bool               // messages were left out or imported: made names may rest on others
	isUsed  bool               // a summarizer has used the manager in this call
	full    int                // how many more writes of the journal fail
	cancel  context.CancelFunc // ends the call of the manager
	life    context.Context    // ends with the script

	base   []byte   // a state …
	deltas [][]byte // … and the deltas in the journal since

	unknown bool // what the manager takes for the last request: its state was lost or damaged, or nobody saw it
	recount bool // another estimator counts edits when they are next sent
	damaged bool // the library did not write the texts of the state
	// a compaction failed: a restored manager tries it again, and a running one may not, or has counted its growth from
	// an earlier restart
	unsettled bool
	wasAbove  bool // the history was so large, or so much was refused, that old work may be folded
	usage     bool // some of the provider's counts are known
}

// kept is a request that its owner still holds.
type kept struct {
	messages []winnow.Message
	wire     []uint64
}

// Run plays a script. It returns the first broken promise, or nil, and counts of events. settle waits until nothing
// runs in the background: synctest.Wait.
func Run(s Script, settle func()) (failure *Failure, seen map[string]int) {
	seen = map[string]int{}
	w := &world{
		seen:    seen,
		setting: s.Setting, options: s.Setting, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), settle: settle,
		release: make(chan struct{}), bound: map[string]uint64{}, said: map[bool]string{}, sentAt: -1,
		overwritten: map[string]bool{}, answered: map[string]bool{"": s.Setting.NoIDs},
	}
	life, end := context.WithCancel(context.Background())
	defer end()
	w.life = life
	defer func() {
		if p := recover(); p != nil {
			failure = &Failure{"no panic", w.step, fmt.Sprintf("%v\n%s", p, debug.Stack())}
		}
		close(w.release) // summarizers that hang
		if w.manager != nil {
			w.manager.Close()
		}
	}()
	w.summarizer = &summarizer{world: w}
	w.manager = w.newManager(w.summarizer)
	for i := range s.Steps {
		w.step = i
		steps[s.Steps[i].Do](w, &s.Steps[i])
		w.settle()
		w.checkEarlier()
		if w.failed() {
			return w.failure, seen
		}
	}
	return nil, seen
}

// fail records the first broken promise.
func (w *world) fail(promise, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failure == nil {
		w.failure = &Failure{promise, w.step, fmt.Sprintf(format, args...)}
	}
}

// failed reports whether a promise was broken.
func (w *world) failed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failure != nil
}

// goOnWith plays a new process with another manager, whose state is the base of the journal.
func (w *world) goOnWith(m *winnow.Manager, state []byte) {
	w.manager.Close()
	w.manager, w.base, w.deltas = m, state, nil
}

// newManager makes a manager with the current options.
func (w *world) newManager(s *summarizer) *winnow.Manager {
	m, err := winnow.New(w.window(), w.managerOptions(s))
	if err != nil {
		panic(err) // the settings are ours
	}
	return m
}

func (w *world) window() int {
	if w.options.Window > 0 {
		return w.options.Window
	}
	return 4_000
}

var hostRules = "Rules of the workspace: name the ticket."

func (w *world) managerOptions(s *summarizer) *winnow.Options {
	o := &w.options
	c := &winnow.CompactOptions{
		Off: o.Off, KeepRecent: o.KeepRecent, Background: o.Background, SummarizerWindow: o.Summarizer,
	}
	if o.Flush != "" {
		c.BeforeCompact = func(_ context.Context, history []winnow.Message) error { return w.flush(s, history) }
	}
	if o.Rules {
		c.Rules = func() string { return hostRules }
	}
	out := &winnow.Options{
		HistoryTurns: o.Turns, Reserve: o.Reserve, Overhead: o.Overhead, MaxBytes: o.MaxBytes,
		Thinking: winnow.ThinkingPolicy(o.Thinking), FoldAbove: o.FoldAbove, Compact: c, WholeSteps: o.WholeSteps,
		Cache: &winnow.CacheOptions{None: o.NoCache},
		Tools: toolOptions[o.Tools%len(toolOptions)], Truncate: truncateOptions[o.Truncate%len(truncateOptions)],
		NoMinify: o.Minify%2 == 1,
		Now:      func() time.Time { return w.now }, Estimator: w.estimator(), Summarizer: s,
	}
	if o.Digest {
		out.Summarizer = nil
	}
	if o.Thinking != "" { // else the model's name would say it
		out.Model = modelNames[o.Model%len(modelNames)]
	}
	out.Recall = o.Recall
	if o.Journal && s == w.summarizer {
		out.Journal = func(delta []byte) error {
			if w.full > 0 {
				w.full--
				return errDisk
			}
			w.deltas = append(w.deltas, delta)
			return nil
		}
	}
	return out
}

// flush is the host's function before a compaction: it uses the manager, fails, or does not return. It may run in the
// background, where the world's own history changes.
func (w *world) flush(s *summarizer, history []winnow.Message) error {
	switch w.options.Flush {
	case "asks":
		if s == w.summarizer {
			w.manager.Plan(deepCopy(history))
		}
	case "panics":
		panic("out of memory files")
	case "fails":
		return errWeather
	}
	return nil
}

func (w *world) estimator() winnow.Estimator {
	if w.options.Estimator == 0 {
		return winnow.CharsPerToken(4)
	}
	e, err := winnow.NewEstimator("")
	if err != nil {
		panic(err) // the standard one is always there
	}
	return e
}

var toolOptions = []*winnow.ToolOptions{
	nil,
	{Keep: []string{"read"}},
	{Keep: []string{"*"}},
	{Plan: []string{"exec"}, Skill: []string{"search"}, Read: []string{"fetch"}},
}

var modelNames = []string{"", "claude-opus-4-6", "gpt-5.2", "gemini-2.5-pro"}

var truncateOptions = []*winnow.TruncateOptions{
	nil,
	{MaxChars: 1_500, MinKeepChars: 300},
	{HeadOnly: true, MinKeepChars: 100, Notice: "\n[cut]"},
	{MaxShare: 0.05, MinKeepChars: -1},
}

// tag is what a host also knows about a message: where it comes from, and whether it has the marker of the provider's
// cache.
type tag struct {
	serial, fresh int
	marker        bool
}

// tick writes the time into the system message in front of the history.
func (w *world) tick() {
	if !w.setting.Clock {
		return
	}
	w.serial++
	now := "It is second " + itoa(w.serial) + "."
	if len(w.history) > 0 && w.history[0].Role == winnow.RoleSystem && w.history[0].Source != nil {
		w.change(0, func(m *winnow.Message) { m.Parts = []winnow.Part{histories.Text(now)} })
		return
	}
	w.history = slices.Insert(slices.Clone(w.history), 0, w.own(histories.System(now)))
	w.version++
}

// list returns the list that the host passes: its own list (""), a copy that shares no memory with it (copies; drops,
// which also keeps no request), or a list that it makes from its own values each
// time, with the marker of the provider's cache on the newest (rebuilds).
func (w *world) list() []winnow.Message {
	switch w.setting.Host {
	case "copies", "drops":
		return deepCopy(w.history)
	case "rebuilds":
		out := histories.Copy(w.history)
		w.fresh++
		for i := range out {
			if t, ok := out[i].Source.(tag); ok {
				out[i].Source = tag{t.serial, w.fresh, i == len(out)-1}
			}
		}
		return out
	}
	return w.history
}

// deepCopy returns a copy that shares no memory with h.
func deepCopy(h []winnow.Message) []winnow.Message {
	out := histories.Copy(h)
	for i := range out {
		out[i].ToolCallID, out[i].ToolName = strings.Clone(out[i].ToolCallID), strings.Clone(out[i].ToolName)
		for k := range out[i].Parts {
			p := &out[i].Parts[k]
			p.Text, p.Signature, p.ID, p.Name = strings.Clone(p.Text), strings.Clone(p.Signature), strings.Clone(p.ID),
				strings.Clone(p.Name)
		}
	}
	return out
}

// add appends a message to the history.
func (w *world) add(m winnow.Message) {
	w.history = append(w.history, w.own(m))
	w.version++
}

// own sets the fields that the host sets on each of its messages.
func (w *world) own(m winnow.Message) winnow.Message {
	w.serial++
	if m.ID = "m" + itoa(w.serial); w.setting.NoIDs {
		m.ID = ""
	}
	m.Source = tag{serial: w.serial}
	if m.Role == winnow.RoleUser {
		for i := range m.Parts {
			w.said[m.Injected] += letters(m.Parts[i].Text) + "|"
		}
	}
	return m
}

// change replaces message i, in a copy of the list.
func (w *world) change(i int, f func(m *winnow.Message)) {
	w.history = slices.Clone(w.history)
	m := histories.Copy(w.history[i : i+1])[0]
	f(&m)
	w.history[i] = m
	w.version++
}

// at returns the message that a step names, or -1.
func (w *world) at(s *Step) int {
	if len(w.history) == 0 {
		return -1
	}
	return len(w.history) - 1 - abs(s.At)%len(w.history)
}

// cut drops the newest n messages.
func (w *world) cut(n int) {
	w.history = slices.Clone(w.history[:max(0, len(w.history)-n)])
	w.version++
}

// accept takes a sent request. A host of the kind "keeps" takes over its history.
func (w *world) accept(r *winnow.Request) {
	w.noteSent(r.Messages)
	if w.setting.Host == "keeps" {
		w.history = slices.Clone(r.History)
		w.version++
	}
	if w.sentAt = w.version; len(r.Messages) == 0 || isOpen(r.Messages) {
		w.sentAt = -1
	}
	if w.setting.Host != "drops" {
		w.earlier = append(w.earlier, kept{r.Messages, w.sent}, kept{r.History, wireForms(r.History)})
		w.earlier = w.earlier[max(0, len(w.earlier)-4):]
	}
}

// noteSent remembers what was sent last.
func (w *world) noteSent(messages []winnow.Message) {
	w.sent, w.sentAt = wireForms(messages), -1
	w.noteHandles(messages)
	w.provider.tokens, w.provider.body = w.provider.count(messages), body(messages)
}

// isOpen reports whether messages are empty or calls wait for their results: nobody sends such a request.
func isOpen(messages []winnow.Message) bool {
	n := len(messages)
	return n > 0 && messages[n-1].Role == winnow.RoleAssistant &&
		slices.ContainsFunc(messages[n-1].Parts, func(p winnow.Part) bool { return p.Kind == winnow.KindToolCall })
}

// sign returns the signature of thinking that answers the last request, or "" if the host has changed its history
// since.
func (w *world) sign() string {
	if w.options.Thinking != string(winnow.ThinkingBound) {
		return "sig" + itoa(w.serial)
	}
	if w.sentAt != w.version {
		return ""
	}
	s := "sig" + itoa(w.serial)
	w.bound[s] = together(w.sent)
	return s
}

// context returns a context that ends when the step says so.
func (w *world) context(s *Step) (context.Context, context.CancelFunc) {
	most := time.Hour
	if s.is("short") { // shorter than the pause in front of a second call, whose length is random
		most = 400 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(context.Background(), most)
	if s.is("ended") {
		cancel()
	}
	w.mu.Lock()
	w.cancel = cancel
	w.mu.Unlock()
	return ctx, cancel
}

var errWeather = errors.New("503 overloaded_error: try again later")

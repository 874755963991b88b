package transport

import (
	"bytes"
	"container/list"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/wire"
)

// chain is a hash of the first messages of a history, and of what they were sent to.
type chain [16]byte

// conversation is a history that grows, with its manager. Its fields are guarded by the lock of conversations.
type conversation struct {
	name    string
	manager *winnow.Manager
	file    *file // nil: its state is not kept
	recent  *list.Element
	size    int64 // of the memory that it takes, about
	newest  []winnow.Message
	told    winnow.CacheUse // that Options.Done knows of
	task    task            // only where the client sets a budget for it
	inFront inFront         // of the newest request whose answer was counted

	chains  []chain // of each beginning of its last history
	begun   chain   // by which it is found, see history
	reach   int     // how many messages that history has up to its newest answer; 0: it has none
	covered int     // for how many messages a summary stands, at most
	busy    int     // how many of its requests are being answered
}

// conversations finds the conversation that a request continues.
type conversations struct {
	most   int    // are kept
	memory int64  // that they may take, in bytes
	dir    string // where the state of each is kept ("": nowhere)

	mu     sync.Mutex
	size   int64                     // of those in memory, about
	begun  map[chain][]*conversation // by conversation.begun, those that were used last at the end
	recent *list.List                // of *conversation, the one that was used last in front
	stored map[chain]string          // names of files, by the hashes in them
}

// history is the history of a request, as conversations look at it.
type history struct {
	isNamed bool    // by a key of the host's
	begun   chain   // of that key, or of the beginning up to the first message which is no system prompt
	chains  []chain // of each beginning, from the empty one on
	turn    int     // how many messages the one up to the newest answer with something behind it has; 0: there is none
	size    int64   // of the memory that a conversation takes which has it

	messages []winnow.Message
}

// A conversation has its newest history as it was read, and until the answer as it came too: of files of 10 KB that
// takes 1.3 times the body, of many short messages 1.5 times, and one body more until the answer.
const memoryPerBody = 2

// way is how a request goes on with a conversation.
type way uint8

const (
	anew  way = iota // with none
	goOn             // it is its next request
	clone            // with a copy: the conversation may go on differently
	renew            // in its place, without its state: the client has changed it
)

// conversation returns the one that q continues, or a new one.
func (t *Transport) conversation(r *http.Request, q *query) (*conversation, error) {
	window, o := t.options(r, q)
	estimator := o.Estimator
	if estimator == nil {
		var err error
		if estimator, err = winnow.NewEstimator(winnow.FamilyForModel(o.Model)); err != nil {
			return nil, err
		}
	}
	for i := range q.history {
		q.tokens += estimator.Estimate(q.history[i])
	}
	h := t.historyOf(r, q)
	l := t.conversations
	l.mu.Lock()
	defer l.mu.Unlock()
	found, how, file := l.find(h)
	if how == goOn {
		l.note(found, h)
		return found, nil
	}
	if o.Summarizer == nil && t.o.Summarize != "" {
		o.Summarizer = t.summarizerFor(q.form)
	}
	if q.beside != "" && o.Overhead == 0 {
		o.Overhead = tokensOf(estimator, q.beside)
	}
	if o.Reserve == 0 {
		if err := q.checkRoom(window, o.Overhead, estimator); err != nil {
			return nil, err
		}
		o.Reserve = q.answer
	}
	name := newName()
	if how == renew {
		name = found.name
		l.forget(found)
	}
	c, err := l.begin(window, o, name, file)
	if err != nil {
		return nil, err
	}
	if how == clone {
		if err := c.takeState(found); err != nil {
			return nil, err
		}
	} else if how == renew && c.file != nil && found.file.path != "" {
		c.file.path, c.file.size = found.file.path, mostAppended+1 // a snapshot takes the place of the old state
	}
	l.note(c, h)
	return c, nil
}

// options returns the window and the options of a manager for q, as far as each of its requests needs them.
func (t *Transport) options(r *http.Request, q *query) (window int, o *winnow.Options) {
	o = &winnow.Options{}
	if t.o.Manager != nil {
		var host *winnow.Options
		if window, host = t.o.Manager(r, q.model); host != nil {
			*o = *host
		}
	}
	if o.Model == "" {
		o.Model = q.model
	}
	if o.Logger == nil {
		o.Logger = t.o.Logger
	}
	if o.Cache == nil {
		o.Cache = q.prices(t.o.MarkCache)
	}
	o.Recall = o.Recall || t.o.Recall
	beta := strings.Join(r.Header.Values("Anthropic-Beta"), ",")
	if isVertex(r.URL.Path) {
		beta += string(value(q.whole).Get("anthropic_beta"))
	}
	if window == 0 && strings.Contains(beta, "context-1m") {
		window = 1_000_000
	}
	return window, o
}

// defaultWindow is that of a model that the table does not know.
const defaultWindow = 200_000

// begin returns a new conversation of a name, or the one that a file has the state of.
func (l *conversations) begin(window int, o *winnow.Options, name, from string) (*conversation, error) {
	c := &conversation{name: name}
	var state []byte
	var deltas [][]byte
	if from != "" {
		c.name, state, deltas = readFile(l.dir, from)
	}
	o.Logger = o.Logger.With("conversation", c.name)
	if l.dir != "" {
		c.file = &file{dir: l.dir, name: c.name}
		o.Journal = c.file.journal(o.Journal)
	}
	m, err := winnow.New(window, o)
	if err != nil && window == 0 {
		m, err = winnow.New(defaultWindow, o)
	}
	if err != nil {
		return nil, err
	}
	c.manager = m
	if from == "" {
		return c, nil
	}
	if err := m.Restore(state, deltas...); err != nil {
		o.Logger.Warn("winnow: a conversation's state cannot be restored", "error", err)
		c.name = newName() // the file stays as it is
		c.file.name = c.name
		return c, nil
	}
	c.file.path, c.told = from, m.CacheUse()
	return c, nil
}

// takeState restores c from the state of another conversation with the same history.
func (c *conversation) takeState(of *conversation) error {
	state, err := of.manager.Snapshot()
	if err != nil {
		return err
	}
	if err := c.manager.Restore(state); err != nil {
		return err
	}
	c.told, c.task = c.manager.CacheUse(), task{of.task.of, maps.Clone(of.task.sent)}
	if c.file != nil {
		c.file.begin(state)
	}
	return nil
}

// History returns the newest history that a client sent of a conversation, by the name in [Exchange], and nil for one
// that is not in memory. Do not change it.
func (t *Transport) History(name string) []winnow.Message {
	l := t.conversations
	l.mu.Lock()
	defer l.mu.Unlock()
	for e := l.recent.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*conversation); c.name == name {
			return c.newest
		}
	}
	return nil
}

// cacheUse returns what became of tokens in the provider's cache since it was asked the last time.
func (l *conversations) cacheUse(c *conversation) winnow.CacheUse {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := c.told
	c.told = c.manager.CacheUse()
	return c.told.Plus(-1, before)
}

// find returns the conversation that has the longest beginning of h, and how h goes on with it. file is one with the
// state of a conversation that is not in memory. The lock is held.
//
// Clients rewrite their newest message, such as its reminders, ask something aside, and send a request again whose
// answer broke off: what differs behind the newest answer alone goes on as well, as long as no summary stands for it.
// While a request is being answered, another one is another branch. Where a client has changed something before that
// answer, such as old results, thinking, or the time in a text of its own, the state would keep what costs more than to
// begin anew. Any other history is another conversation.
func (l *conversations) find(h *history) (c *conversation, how way, file string) {
	common := 0
	for _, of := range slices.Backward(l.begun[h.begun]) {
		if h.isNamed {
			return of, goOn, ""
		}
		n := of.common(h)
		is := anew
		switch {
		case n <= common:
		case n == len(of.chains)-1, n >= max(of.reach, of.covered) && of.busy == 0:
			is = goOn
		case n >= max(of.reach, of.covered):
			is = clone
		case n < of.reach && of.busy == 0 && of.goesOn(h.messages[n:]):
			is = renew
		}
		if is != anew {
			c, common, how = of, n, is
		}
	}
	for i := len(h.chains) - 1; i > common; i-- {
		if name := l.stored[h.chains[i]]; name != "" {
			return nil, anew, name
		}
	}
	return c, how, ""
}

// goesOn reports whether messages have the newest answer of c, which calls a tool, and the same result behind it. Other
// answers may be the same by chance.
func (c *conversation) goesOn(messages []winnow.Message) bool {
	answer, result := &c.newest[c.reach-1], &c.newest[c.reach]
	for i := 1; i < len(messages) && result.Role == winnow.RoleTool; i++ {
		if isAlike(&messages[i-1], answer) && isAlike(&messages[i], result) {
			return true
		}
	}
	return false
}

// isAlike reports whether two messages are the same but for thinking, which clients leave out later.
func isAlike(m, of *winnow.Message) bool {
	isThinking := func(p winnow.Part) bool { return p.Kind == winnow.KindThinking }
	said := func(m *winnow.Message) []winnow.Part { return slices.DeleteFunc(slices.Clone(m.Parts), isThinking) }
	return m.Role == of.Role && m.ToolCallID == of.ToolCallID &&
		slices.EqualFunc(said(m), said(of), func(a, b winnow.Part) bool {
			return a.Kind == b.Kind && a.Text == b.Text && a.ID == b.ID && bytes.Equal(a.Arguments, b.Arguments)
		})
}

// common returns how many messages the last history of c and h have in common from the beginning on.
func (c *conversation) common(h *history) int {
	return sort.Search(min(len(c.chains), len(h.chains))-1, func(i int) bool { return c.chains[i+1] != h.chains[i+1] })
}

// note makes h the last history of c, and lets conversations go that were not used for longest. The lock is held.
func (l *conversations) note(c *conversation, h *history) {
	if c.recent != nil {
		l.forget(c)
	}
	c.chains, c.begun, c.reach, c.covered = h.chains, h.begun, h.turn, max(c.covered, h.turn)
	c.busy++
	l.begun[c.begun] = append(l.begun[c.begun], c)
	c.recent = l.recent.PushFront(c)
	c.size, c.newest = h.size, h.messages
	l.size += c.size
	for l.recent.Len() > l.most || l.size > l.memory && l.recent.Len() > 1 {
		l.forget(l.recent.Back().Value.(*conversation))
	}
}

// forget takes c out of all lists. Its file stays.
func (l *conversations) forget(c *conversation) {
	l.recent.Remove(c.recent)
	l.size -= c.size
	c.recent = nil
	list := slices.DeleteFunc(l.begun[c.begun], func(x *conversation) bool { return x == c })
	if l.begun[c.begun] = list; len(list) == 0 {
		delete(l.begun, c.begun)
	}
}

// wrote notes that the state of c is that behind its last history.
func (l *conversations) wrote(c *conversation) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.name(c)
}

// name names the file of c. The lock is held.
func (l *conversations) name(c *conversation) error {
	if c.file == nil {
		return nil
	}
	chains := c.chains[len(c.chains)-1:]
	if c.reach > 0 && c.covered <= c.reach {
		chains = []chain{chains[0], c.chains[c.reach]}
	}
	old, now, err := c.file.moveTo(chains, c.manager.Snapshot)
	for _, of := range chainsIn(old) {
		if l.stored[of] == old {
			delete(l.stored, of)
		}
	}
	for _, of := range chainsIn(now) {
		l.stored[of] = now
	}
	return err
}

// answered notes that r was sent for q, and answered.
func (l *conversations) answered(c *conversation, q *query, r *winnow.Request) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(c.newest) > 0 && &c.newest[0] == &q.history[0] { // the body is not needed any more
		c.newest = q.wire.Detached(q.whole)
	}
	c.noteSent(q, r.Messages)
	c.covered = 0
	for _, e := range r.Edits {
		if e.Op == winnow.OpCompact {
			c.covered = max(c.covered, e.Index+1)
		}
	}
	return l.name(c)
}

// leave notes that a request of c is answered, or failed.
func (l *conversations) leave(c *conversation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.busy--
}

// historyOf returns what is compared of the history of q: in each API without the system prompt.
func (t *Transport) historyOf(r *http.Request, q *query) *history {
	scope := strings.Join([]string{q.form.name, r.URL.Scheme, r.URL.Host, q.model}, "\x00")
	h := &history{chains: make([]chain, len(q.history)+1), messages: q.history,
		size: int64(memoryPerBody * float64(len(q.whole)))}
	hash := sha256.New()
	text, begun, asks := []byte(scope), 0, 0
	for i := range h.chains {
		hash.Write(text)
		var sum [sha256.Size]byte
		copy(h.chains[i][:], hash.Sum(sum[:0]))
		if i == len(q.history) {
			break
		}
		m := &q.history[i]
		if text = text[:0]; m.Role == winnow.RoleSystem && begun == 0 { // it may have the time in it
			continue
		}
		text = appendMessage(text, m)
		if begun == 0 {
			begun = i + 1
		}
		if m.Role == winnow.RoleAssistant && i+1 < len(q.history) { // the last one may go on
			h.turn = i + 1
		}
		if isRequest(m) {
			asks = i + 1
		}
	}
	q.task = h.chains[asks]
	h.begun = h.chains[begun]
	if t.o.Key != nil {
		if key := t.o.Key(r); key != "" {
			sum := sha256.Sum256([]byte(scope + "\x00" + key))
			h.begun, h.isNamed = chain(sum[:len(h.begun)]), true
		}
	}
	return h
}

// appendMessage appends what m says to a text, so that different messages give different texts. What marks the prompt
// cache is not of it: clients move that.
func appendMessage(to []byte, m *winnow.Message) []byte {
	to = appendFields(to, string(m.Role), m.ToolCallID, m.ToolName, strconv.FormatBool(m.IsError))
	to = binary.AppendUvarint(to, uint64(len(m.Parts)))
	for k := range m.Parts {
		p := &m.Parts[k]
		to = appendFields(to, string(p.Kind), p.Text, p.Signature, p.ID, p.Name, string(p.Arguments), p.MediaType)
		if p.Kind == winnow.KindImage || p.Kind == winnow.KindOpaque {
			to = wire.AppendSource(to, p)
		}
	}
	return to
}

func appendFields(to []byte, texts ...string) []byte {
	for _, s := range texts {
		to = binary.AppendUvarint(to, uint64(len(s)))
		to = append(to, s...)
	}
	return to
}

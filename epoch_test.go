package winnow

import (
	"cmp"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/test/times"
)

// epochByDefinition is epochFrom by its definition: for each part where an epoch may begin, what it saves in the requests
// ahead against what is written to the cache again.
func epochByDefinition(d *epoch, list []part) int {
	read, write, ahead := d.opts.Cache.ReadPrice, d.opts.Cache.WritePrice, 5.0
	if d.opts.Cache.None {
		read, write = 1, 1
	}
	if d.opts.Cache.TTL >= time.Hour {
		ahead = 8
	}
	best, from := 0.0, len(list)
	for k := len(list) - 1; k >= 0; k-- {
		saving, behind := 0.0, 0.0
		for _, p := range list[k:] {
			saving += float64(p.saving)
		}
		for i := list[k].index; i < len(d.items); i++ {
			behind += float64(d.items[i].tokens())
		}
		if gain := ahead*read*saving - (write-read)*(behind-saving); gain > best*(1+1e-12)+1e-9 {
			best, from = gain, k
		}
	}
	return from
}

var cachePrices = []struct {
	name    string
	options *CacheOptions
}{
	{"default", nil},
	{"reading at half", &CacheOptions{ReadPrice: 0.5, WritePrice: 1}},
	{"writing at twice", &CacheOptions{WritePrice: 2}},
	{"reading at a quarter, writing free", &CacheOptions{ReadPrice: 0.25, WritePrice: 1}},
	{"nothing is saved", &CacheOptions{ReadPrice: 1, WritePrice: 1}},
	{"reading is free", &CacheOptions{ReadPrice: -1}},
}

func TestWhenItPays(t *testing.T) {
	paid, never := 0, 0
	for _, prices := range cachePrices {
		for seed := range uint64(40) {
			r := rand.New(rand.NewPCG(seed, 5))
			d := replayed(t, Options{Cache: prices.options}, longWork(r, 10+r.IntN(80)))
			list := d.staleParts(warmSteps, holdNothing)
			want := epochByDefinition(d, list)
			require.Equal(t, want, d.epochFrom(list), "%s, seed %d", prices.name, seed)
			if want < len(list) {
				paid++
			} else {
				never++
			}
		}
	}
	assert.Greater(t, paid, 50)
	assert.Greater(t, never, 50)
}

// simulation sends a conversation through a manager and prices each request as a provider with a prompt cache does: what
// is the same as in the request before is read, the rest is written. The clock goes ten seconds a request, so
// that the cache never expires. Answers cost the same with and without a manager.
type simulation struct {
	m           *Manager
	last        *Request
	now         time.Time
	read, write float64

	requests, epochs int
	cost, uncut      float64 // of the requests, and of those with the whole history
}

func newSimulation(t testing.TB, window int, o Options) *simulation {
	t.Helper()
	s := &simulation{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	o.Estimator, o.Now, o.NoMinify = CharsPerToken(4), func() time.Time { return s.now }, true
	m := newOfAnySize(t, window, &o)
	s.m = m
	s.read, s.write = m.opts.Cache.ReadPrice, m.opts.Cache.WritePrice
	if m.opts.Cache.None {
		s.read, s.write = 1, 1
	}
	return s
}

func charTokens(messages []Message) (n float64) {
	for i := range messages {
		n += float64(CharsPerToken(4).Estimate(messages[i]))
	}
	return n
}

// send prepares the next request. It returns the draft of it before anything was rewritten, and whether an epoch began.
func (s *simulation) send(t testing.TB, in []Message) (before *epoch, rewrites bool) {
	t.Helper()
	before = replay(s.m, in)
	r := prepare(t, s.m, in)
	same, added := 0, len(in)
	if s.last != nil {
		same, added = r.FirstChanged, len(in)-len(s.last.Messages)
		rewrites = r.FirstChanged < len(s.last.Messages)
	}
	s.cost += s.read*charTokens(r.Messages[:same]) + s.write*charTokens(r.Messages[same:])
	s.uncut += s.read*charTokens(in[:len(in)-added]) + s.write*charTokens(in[len(in)-added:])
	if rewrites {
		s.epochs++
	}
	s.requests++
	s.last, s.now = r, s.now.Add(10*time.Second)
	return before, rewrites
}

// While the cache is warm, all in all a conversation costs less than without epochs, though one that ends just behind an
// epoch may cost more. Nothing that is not stale is rewritten, and the same request asked for again is the same.
func TestEpochsPay(t *testing.T) {
	t.Parallel()
	for _, prices := range cachePrices {
		t.Run(prices.name, func(t *testing.T) {
			t.Parallel()
			cost, uncut, requests, epochs, worst := 0.0, 0.0, 0, 0, 0.0
			for seed := range times.Of(uint64(8)) {
				r := rand.New(rand.NewPCG(seed, 6))
				s := newSimulation(t, 100_000_000, Options{Cache: prices.options})
				eachRequest(inPlaceWork(longWork(r, 10+r.IntN(150))), func(in []Message) {
					before, epoch := s.send(t, in)
					if !epoch {
						return
					}
					stale := map[int]bool{}
					for _, p := range before.staleParts(warmSteps, holdNothing) {
						stale[p.index] = true
					}
					for i, m := range s.last.Messages {
						if charTokens([]Message{*before.items[i].sent}) != charTokens([]Message{m}) {
							require.True(t, stale[i], "seed %d at %d: message %d was rewritten and is not stale", seed, len(in), i)
						}
					}
					again := prepare(t, s.m, in)
					require.Len(t, again.Messages, again.FirstChanged, "seed %d at %d: asked again, another request", seed, len(in))
				})
				cost, uncut, requests, epochs = cost+s.cost, uncut+s.uncut, requests+s.requests, epochs+s.epochs
				worst = max(worst, s.cost/s.uncut)
			}
			t.Logf("%d requests, %d epochs, cost %.3f of never rewriting, at worst %.3f", requests, epochs, cost/uncut, worst)
			if s := prices.options; s != nil && s.ReadPrice < 0 {
				assert.Zero(t, epochs, "what is read for nothing is never worth writing")
				return
			}
			assert.Positive(t, epochs)
			assert.Less(t, cost, uncut)
			assert.Less(t, worst, 1.2)
		})
	}
}

// Without a cache every token is paid each time: what is stale goes at once, and nothing longer protected does.
func TestEpochsWithoutCache(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 8))
		s := newSimulation(t, 100_000_000, Options{Cache: &CacheOptions{None: true}})
		eachRequest(inPlaceWork(longWork(r, 60)), func(in []Message) {
			before, _ := s.send(t, in)
			for _, p := range before.staleParts(warmSteps, holdNothing) {
				require.False(t, sameParts(&in[p.index].Parts[0], &s.last.Messages[p.index].Parts[0]), "seed %d: message %d is stale and still sent", seed, p.index)
			}
			kept := 0
			for i := len(in) - 1; i >= 0 && kept < warmSteps; i-- {
				require.True(t, sameParts(&in[i].Parts[0], &s.last.Messages[i].Parts[0]), "seed %d: message %d is one of the newest", seed, i)
				if in[i].Role == RoleAssistant {
					kept++
				}
			}
		})
		require.LessOrEqual(t, s.cost, s.uncut)
	}
}

// A request that does not fit goes down to lowWater in one epoch, and no further than it has to with what is not stale.
func TestEpochMakesRoom(t *testing.T) {
	s := newScript()
	for i := range 200 {
		s.call("read", `{"path":"`+strconv.Itoa(i)+`"}`, output(100)) // 1 000 tokens each
	}
	sim := newSimulation(t, 100_000, Options{Compact: &CompactOptions{Off: true}, Reserve: 10_000, FoldAbove: 0.89})
	last := 0
	eachRequest(s.history, func(in []Message) {
		_, epoch := sim.send(t, in)
		if epoch && last > 85_000 {
			require.LessOrEqual(t, sim.last.Tokens, 54_000, "60 % of what a request may have")
			require.Greater(t, sim.last.Tokens, 54_000-10_000, "and not much less")
		}
		last = sim.last.Tokens
	})
	assert.Positive(t, sim.epochs)
	assert.Less(t, sim.epochs, 30)
}

// Histories of agents, and drafts of requests for them, for the tests of what an epoch does.

func userSays(s string) Message { return Message{Role: RoleUser, Parts: []Part{{Text: s}}} }

func assistantSays(s string, calls ...Part) Message {
	return Message{Role: RoleAssistant, Parts: append([]Part{{Text: s}}, calls...)}
}

func toolCall(id, name, args string) Part {
	return Part{Kind: KindToolCall, ID: id, Name: name, Arguments: json.RawMessage(args)}
}

func resultOf(id, name, text string, failed bool) Message {
	return Message{Role: RoleTool, ToolCallID: id, ToolName: name, IsError: failed, Parts: []Part{{Text: text}}}
}

// agentScript writes the history of an agent, call by call.
type agentScript struct {
	history []Message
	calls   int
}

func newScript() *agentScript { return &agentScript{history: []Message{userSays("begin")}} }

// call adds a call with its result and returns the index of the result; that of the call is one less.
func (s *agentScript) call(tool, arguments, result string) int {
	id := "call" + strconv.Itoa(s.calls)
	s.calls++
	s.history = append(s.history, Message{Role: RoleAssistant, Parts: []Part{toolCall(id, tool, arguments)}}, resultOf(id, tool, result, false))
	return len(s.history) - 1
}

// answers adds n calls. No two are alike and none is stale, so n more requests carry what is in front of them.
func (s *agentScript) answers(n int) {
	for range n {
		s.call("step", `{"n":`+strconv.Itoa(s.calls)+`}`, "done")
	}
}

// output is n lines of forty characters, ten tokens each.
func output(lines int) string {
	return strings.Repeat("a line of output which is not very long\n", lines)
}

// written are the arguments of a call that writes a file.
func written(path string, lines int) string {
	return `{"path":"` + path + `","content":"` + strings.Repeat(`a line of the file which is forty long\n`, lines) + `"}`
}

// replayed is the epoch of a request before anything is rewritten in it, and has counted by characters.
func replayed(t testing.TB, o Options, history []Message) *epoch {
	t.Helper()
	o.Estimator = CharsPerToken(4)
	return replay(newOfAnySize(t, 1_000_000, &o), history)
}

// newOfAnySize is New, for a manager that folds what is stale in short histories too.
func newOfAnySize(t testing.TB, window int, o *Options) *Manager {
	t.Helper()
	c := Options{}
	if o != nil {
		c = *o
	}
	c.FoldAbove = cmp.Or(c.FoldAbove, -1)
	return newManager(t, window, &c)
}

// replay is the epoch of the manager's next request before anything is rewritten in it.
func replay(m *Manager, history []Message) *epoch {
	d := beginDraft(&m.begin(history, nil).basis, m.state.checkpoint, nil, map[key]*edit{})
	newReading(d).read()
	d.replayHistory()
	return newEpoch(d)
}

// isPart reports whether a part of list begins at message index.
func isPart(list []part, index int) bool {
	return slices.ContainsFunc(list, func(p part) bool { return p.index == index })
}

// randomScript is the history of an agent that reads, writes and runs, some of it again and some of it in vain.
func randomScript(r *rand.Rand, calls int) *agentScript {
	s := newScript()
	for range calls {
		n := strings.Repeat("x", r.IntN(3)*r.IntN(200))
		var i int
		switch r.IntN(6) {
		case 0:
			i = s.call("read", `{"path":"`+strconv.Itoa(r.IntN(5))+`"}`, output(r.IntN(100)))
		case 1:
			i = s.call("write", written("f"+strconv.Itoa(r.IntN(5))+n, r.IntN(60)), "ok")
		case 2:
			i = s.call("exec", `{"command":"`+strconv.Itoa(r.IntN(4))+`"}`, output(r.IntN(100)))
		case 3:
			s.history = append(s.history, userSays("go on "+n))
			continue
		case 4:
			s.history = append(s.history, assistantSays("well "+n))
			continue
		default:
			i = s.call("exec", `{"command":"`+strconv.Itoa(s.calls)+n+`"}`, output(r.IntN(300)))
		}
		s.history[i].IsError = r.IntN(8) == 0
		s.history[i].Pinned = r.IntN(30) == 0
		if r.IntN(20) == 0 {
			s.history[i].Parts = append(s.history[i].Parts, Part{Kind: KindImage, Bytes: 500})
		}
		if r.IntN(10) == 0 {
			s.history[i-1].Parts[0].Signature = "sig"
		}
	}
	return s
}

// longWork is the history of an agent that works without a pause: files, commands and what it writes, of random
// sizes. No call is made twice.
func longWork(r *rand.Rand, calls int) []Message {
	s := newScript()
	scale := 1 + r.IntN(4)
	for i := range calls {
		n := r.IntN(20) * r.IntN(20) * scale / 2 // lines: many short results and few long ones
		number := strconv.Itoa(i)
		switch r.IntN(5) {
		case 0:
			s.call("read", `{"path":"file_`+number+`.go"}`, "file "+number+"\n"+output(n))
		case 1:
			s.call("write", written("file_"+number+".go", n/2), "ok")
		case 2:
			s.history = append(s.history, userSays("request "+number+" "+output(r.IntN(3))))
		case 3:
			s.history = append(s.history, assistantSays("answer "+number+" "+output(r.IntN(9))))
		default:
			s.call("exec", `{"command":"run `+number+`"}`, "ran it\n"+output(n)+"name_"+number+"\n")
		}
	}
	return s.history
}

// inPlaceWork is h with calls that no record may stand for, so that old results are cleared in their place. Nobody knows
// its tools, so no file is in work.
func inPlaceWork(h []Message) []Message {
	s := agentScript{history: h}
	for i := range h {
		if hasCalls(&h[i]) {
			h[i].Parts[0].Name = "my_" + h[i].Parts[0].Name
			h[i+1].ToolName = h[i].Parts[0].Name
			s.inPlace(i + 1)
		}
	}
	return h
}

// eachRequest calls f with each prefix of h that a model would be sent.
func eachRequest(h []Message, f func(in []Message)) {
	for n := 1; n <= len(h); n++ {
		if n == len(h) || h[n].Role == RoleAssistant {
			f(h[:n])
		}
	}
}

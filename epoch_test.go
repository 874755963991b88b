package winnow

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/rewrite"
)

// pays is rewrite.Prices.From by its definition: for each message where an epoch may begin, what the parts behind it have cost
// since they became stale against what the epoch costs.
func pays(d *draft, list []rewrite.Part, later int) int {
	v := d.view
	prices := d.prices()
	read, write := prices.Read, prices.Write
	best, from := 0.0, len(list)
	for k := len(list) - 1; k >= 0; k-- {
		if list[k].Overdue+later < 0 {
			continue
		}
		paid, saving, behind := 0.0, 0.0, 0.0
		for _, p := range list[k:] {
			if p.Overdue+later >= 0 {
				saving += float64(p.Saving)
				paid += read * float64(p.Saving) * float64(p.Overdue+later)
			}
		}
		for i := list[k].Index; i < len(v.messages); i++ {
			behind += float64(v.tokens[i])
		}
		if gain := paid - (write-read)*(behind-saving) + read*saving; gain > best*(1+1e-12)+1e-9 {
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
			list := d.staleParts(false, maxLook)
			for later := range maxLook {
				want := pays(d, list, later)
				require.Equal(t, want, d.prices().From(list, d.view.tokens, later), "%s, seed %d, %d requests later", prices.name, seed, later)
				if want < len(list) {
					paid++
				} else {
					never++
				}
			}
			first := 1
			for most := max(maxLook, len(d.view.messages)/8); first < most; first++ {
				if list := d.staleParts(false, most); pays(d, list, first) < len(list) {
					break
				}
			}
			require.Equal(t, first, d.nextEpoch(nil), "%s, seed %d: the next epoch", prices.name, seed)
		}
	}
	assert.Greater(t, paid, 500)
	assert.Greater(t, never, 500)
}

// simulation sends a conversation through a manager and prices each request as a provider with a prompt cache does: what
// is the same as in the request before is read, the rest is written. The clock goes ten seconds a request, so
// that the cache never expires. Answers cost the same with and without a manager.
type simulation struct {
	m           *Manager
	last        *Request
	now         time.Time
	read, write float64

	requests, epochs, looks, lookedAt int     // lookedAt: messages of the request of the last search
	cost, uncut                       float64 // of the requests, and of those with the whole history
}

func newSimulation(t testing.TB, window int, o Options) *simulation {
	t.Helper()
	s := &simulation{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	o.Estimator, o.Now, o.Minify = CharsPerToken(4), func() time.Time { return s.now }, &MinifyOptions{Off: true}
	m := newOfAnySize(t, window, &o)
	s.m = m
	prices := (&draft{settings: &m.settings}).prices()
	s.read, s.write = prices.Read, prices.Write
	return s
}

func charTokens(messages []Message) (n float64) {
	for i := range messages {
		n += float64(CharsPerToken(4).Estimate(messages[i]))
	}
	return n
}

// send prepares the next request. It returns the draft of it before anything was rewritten, and whether an epoch began.
func (s *simulation) send(t testing.TB, in []Message) (before *draft, epoch bool) {
	t.Helper()
	before = replay(s.m, in)
	look := s.m.ledger.epochSearch
	r, err := s.m.Prepare(t.Context(), in)
	require.NoError(t, err)
	if s.m.ledger.epochSearch != look {
		s.looks++
		s.lookedAt = len(r.Messages)
	}
	same, added := 0, len(in)
	if s.last != nil {
		same, added = r.FirstChanged, len(in)-len(s.last.Messages)
		epoch = r.FirstChanged < len(s.last.Messages)
	}
	s.cost += s.read*charTokens(r.Messages[:same]) + s.write*charTokens(r.Messages[same:])
	s.uncut += s.read*charTokens(in[:len(in)-added]) + s.write*charTokens(in[len(in)-added:])
	if epoch {
		s.epochs++
	}
	s.requests++
	s.last, s.now = r, s.now.Add(10*time.Second)
	return before, epoch
}

// While the cache is warm: an epoch never costs more than what its parts have cost since they became stale; the search is
// left out only where it would find nothing among what was there at the last one; and all in all a conversation costs less
// than without epochs, though one that ends just behind an epoch may cost more.
func TestEpochsPay(t *testing.T) {
	t.Parallel()
	for _, prices := range cachePrices {
		t.Run(prices.name, func(t *testing.T) {
			t.Parallel()
			cost, uncut, requests, epochs, looks, worst := 0.0, 0.0, 0, 0, 0, 0.0
			for seed := range uint64(25) {
				r := rand.New(rand.NewPCG(seed, 6))
				s := newSimulation(t, 100_000_000, Options{Cache: prices.options})
				eachRequest(inPlaceWork(longWork(r, 10+r.IntN(150))), func(in []Message) {
					due := s.m.ledger.epochSearch.IsDue(countAnswers(in))
					known := s.lookedAt
					before, epoch := s.send(t, in)
					list := before.staleParts(false, 0)
					if epoch {
						require.True(t, due, "seed %d at %d: without a search", seed, len(in))
						requireRule(t, s, before, list)
						return
					}
					if s.requests > 1 && !due {
						var old []rewrite.Part
						for _, p := range list {
							if p.Index < known {
								old = append(old, p)
							}
						}
						require.Equal(t, len(old), pays(before, old, 0), "seed %d at %d: an epoch that pays was not looked for", seed, len(in))
					}
				})
				cost, uncut, requests, epochs, looks = cost+s.cost, uncut+s.uncut, requests+s.requests, epochs+s.epochs, looks+s.looks
				worst = max(worst, s.cost/s.uncut)
				require.LessOrEqual(t, s.cost, 2*s.uncut, "seed %d: the rule is within twice of never rewriting", seed)
			}
			t.Logf("%d requests, %d epochs, %d searches, cost %.3f of never rewriting, at worst %.3f", requests, epochs, looks, cost/uncut, worst)
			if s := prices.options; s != nil && s.ReadPrice < 0 {
				assert.Zero(t, epochs, "what is read for nothing is never worth writing")
				return
			}
			assert.Positive(t, epochs)
			assert.Less(t, cost, uncut)
			assert.Less(t, worst, 1.1)
			assert.Less(t, looks, requests, "every request was searched")
		})
	}
}

// requireRule: what was dropped has cost as much, in requests that carried it stale, as writing what is behind it does.
func requireRule(t testing.TB, s *simulation, before *draft, list []rewrite.Part) {
	t.Helper()
	overdue := map[int]int{}
	for _, p := range list {
		overdue[p.Index] = p.Overdue
	}
	paid, saved := 0.0, 0.0
	for i, m := range s.last.Messages {
		was := charTokens(before.view.messages[i : i+1])
		if saving := was - charTokens([]Message{m}); saving != 0 {
			require.Contains(t, overdue, i, "message %d was rewritten and is not stale", i)
			require.Positive(t, saving)
			saved += saving
			paid += s.read * saving * float64(overdue[i])
		}
	}
	price := (s.write-s.read)*charTokens(s.last.Messages[s.last.FirstChanged:]) - s.read*saved
	require.GreaterOrEqual(t, paid+1e-6, price, "the epoch at message %d", s.last.FirstChanged)
	require.Positive(t, saved, "an epoch that drops nothing")
}

// An edit that only seems to save tokens neither starts an epoch nor makes each request search for one.
func TestEpochsSaveWhatTheyClaim(t *testing.T) {
	for name, e := range map[string]Estimator{
		"each the same": EstimatorFunc(func(Message) int { return 5_000 }),
		"short is dear": EstimatorFunc(func(m Message) int {
			return 4_000 + len(joinedText(&m))/100
		}),
		"marks are dear": EstimatorFunc(func(m Message) int {
			return int(charTokens([]Message{m})) + 2_000*strings.Count(joinedText(&m), "left out")
		}),
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			m, err := New(100_000_000, &Options{Estimator: e, Now: func() time.Time { return now }})
			require.NoError(t, err)
			looks, requests := 0, 0
			eachRequest(longWork(rand.New(rand.NewPCG(7, 7)), 150), func(in []Message) {
				look := m.ledger.epochSearch
				before := len(m.ledger.sent)
				tokens := replay(m, in).view.total
				r, err := m.Prepare(t.Context(), in)
				require.NoError(t, err)
				if r.FirstChanged < before {
					require.Less(t, r.Tokens, tokens, "it was rewritten and is not smaller")
				}
				if requests++; m.ledger.epochSearch != look {
					looks++
				}
			})
			assert.Less(t, looks, requests/2)
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
			for _, p := range before.staleParts(false, 0) {
				require.False(t, sameParts(&in[p.Index].Parts[0], &s.last.Messages[p.Index].Parts[0]), "seed %d: message %d is stale and still sent", seed, p.Index)
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

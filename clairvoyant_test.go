package winnow_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// clairvoyant is a host that knows what will come. Before each request it may fold all work in front of a place into
// records, and it does so where that costs the least in the end.
type clairvoyant struct {
	cache    winnow.CacheOptions
	requests []int       // number of messages of each
	times    []time.Time // of the requests
	whole    []int       // tokens of what stands in front of each message
	folded   []int       // the same, with all work as records
	isStep   []bool      // whether a message begins a step
	above    int         // nothing is folded while the messages take no more tokens
}

// recordShare is how many tokens a record of the clairvoyant has for each of the work that it stands for. Winnow's have
// .12 in these sessions, and those of some half of that: the bound shall be one in each.
const recordShare = 0.05

// clairvoyantOf returns the clairvoyant for a session that was sent without folding anything.
func clairvoyantOf(t *testing.T, s sentSession, cache winnow.CacheOptions) *clairvoyant {
	c := &clairvoyant{cache: cache, requests: s.requests, times: s.times}
	whole, folded := 0, 0.0
	for i := range s.last {
		m := &s.last[i]
		c.whole, c.folded = append(c.whole, whole), append(c.folded, int(folded))
		c.isStep = append(c.isStep, m.Role != winnow.RoleTool)
		isCall := func(p winnow.Part) bool { return p.Kind == winnow.KindToolCall }
		n := float64(estimatorOf(t, "").Estimate(*m))
		whole += int(n)
		if m.Role == winnow.RoleTool || slices.ContainsFunc(m.Parts, isCall) {
			n *= recordShare
		}
		folded += n
	}
	c.whole = append(c.whole, whole)
	return c
}

// tokens returns the size of a request with all work in front of a place folded.
func (c *clairvoyant) tokens(request, place int) int {
	return twinSystem + c.folded[place] + c.whole[c.requests[request]] - c.whole[place]
}

// cost returns the least that all prompts cost together, in uncached tokens, by dynamic programming over the place up
// to which work is folded.
func (c *clairvoyant) cost() float64 {
	best := []float64{promptCost(c.tokens(0, 0), 0, c.cache)} // by place
	for n := 1; n < len(c.requests); n++ {
		isWarm := c.times[n].Sub(c.times[n-1]) <= c.cache.TTL
		next := slices.Repeat([]float64{math.Inf(1)}, c.requests[n-1]+1)
		for was, before := range best {
			isLarge := c.tokens(n, was)-twinSystem > c.above
			for place := was; place < len(next); place++ { // the model has seen all that stands in front of it
				read := twinSystem + c.folded[was]
				switch {
				case place > was && (!c.isStep[place] || !isLarge):
					continue
				case !isWarm:
					read = 0
				case place == was:
					read = c.tokens(n-1, was)
				}
				next[place] = min(next[place], before+promptCost(c.tokens(n, place), read, c.cache))
			}
		}
		best = next
	}
	return slices.Min(best)
}

// promptCost returns what a prompt costs.
func promptCost(all, read int, c winnow.CacheOptions) float64 {
	return c.ReadPrice*float64(read) + c.WritePrice*float64(all-read)
}

// sentSession is what a manager has sent.
type sentSession struct {
	cost     float64 // of all prompts
	requests []int   // number of messages of each
	times    []time.Time
	last     []winnow.Message
}

// sendBilled sends a session as a manager makes it, to a provider that caches exact prefixes.
func sendBilled(t *testing.T, h []winnow.Message, foldAbove float64, cache winnow.CacheOptions) (s sentSession) {
	c, e := newClock(), estimatorOf(t, "")
	m := newManager(t, 200_000, &winnow.Options{Now: c.Now, Estimator: e, FoldAbove: foldAbove, Cache: &cache, Overhead: twinSystem})
	var before []string
	for n := range h {
		if h[n].Role != winnow.RoleAssistant || n == 0 || h[n-1].Role == winnow.RoleAssistant {
			continue
		}
		c.follow(h[n].Time)
		s.last = prepare(t, m, h[:n]).Messages
		keys, read, all, same := make([]string, len(s.last)), twinSystem, twinSystem, true
		for i := range s.last {
			keys[i] = fmt.Sprint(s.last[i].Role, s.last[i].Parts)
			tokens := e.Estimate(s.last[i])
			if same = same && i < len(before) && keys[i] == before[i]; same {
				read += tokens
			}
			all += tokens
		}
		if before == nil || c.Now().Sub(s.times[len(s.times)-1]) > cache.TTL {
			read = 0
		}
		s.cost += promptCost(all, read, cache)
		s.requests, s.times, before = append(s.requests, len(keys)), append(s.times, c.Now()), keys
	}
	return s
}

// TestClairvoyant compares what the prompts of twenty short sessions cost by default with the least that somebody pays
// who knows what will come: without any rule, and if nothing may go from less than 40 000 tokens, as by default. The
// figures stand in BENCHMARKS.md.
func TestClairvoyant(t *testing.T) {
	if !*replayTimes {
		t.Skip("on request: -replay; half a minute")
	}
	var sessions [][]winnow.Message
	for _, file := range recordedFiles(t, 1) {
		h := readNamed(t, file)
		if n := estimateAll(estimatorOf(t, ""), h); n > 50_000 && n < 150_000 && len(h) < 400 && len(sessions) < 20 {
			sessions = append(sessions, h)
		}
	}
	five := 5 * time.Minute
	for _, cache := range []winnow.CacheOptions{
		{TTL: five, ReadPrice: .1, WritePrice: 1.25}, {TTL: time.Hour, ReadPrice: .1, WritePrice: 2},
		{TTL: five, ReadPrice: .05, WritePrice: 1.25}, {TTL: five, ReadPrice: .025, WritePrice: 1.25},
	} {
		var ours, none, least, ruled float64
		var regret, ruledRegret []float64
		for _, h := range sessions {
			byDefault, unfolded := sendBilled(t, h, 0, cache), sendBilled(t, h, 1, cache)
			c := clairvoyantOf(t, unfolded, cache)
			a := c.cost()
			c.above = 36_000 // with shorter records it would be above 40 000 later than Winnow is
			b := c.cost()
			require.LessOrEqual(t, a, b)
			require.LessOrEqual(t, b, 1.001*unfolded.cost, "it may send everything, too")
			require.LessOrEqual(t, b, 1.001*byDefault.cost, "nobody is below it")
			ours, none, least, ruled = ours+byDefault.cost, none+unfolded.cost, least+a, ruled+b
			regret, ruledRegret = append(regret, byDefault.cost/a-1), append(ruledRegret, byDefault.cost/b-1)
		}
		said := func(of float64, each []float64) string {
			slices.Sort(each)
			return fmt.Sprintf("%.3f of it, regret %+.3f, median %+.3f, %+.3f to %+.3f", of/none, ours/of-1, each[len(each)/2], each[0], each[len(each)-1])
		}
		t.Logf("%v, reads at %v: default %.3f of sending everything; clairvoyant %s; with the rule %s", cache.TTL, cache.ReadPrice, ours/none, said(least, regret), said(ruled, ruledRegret))
	}
}

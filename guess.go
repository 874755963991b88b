package winnow

import "github.com/winnowgo/winnow/internal/count"

// A provider may refuse a request as too long without saying what it allows. Some say so of requests that have
// another fault. So what follows from such a refusal is a hypothesis: it counts by its evidence, it is raised as
// requests near it are taken, and it ages out.

const (
	// A refusal counts at once from this share of what was believed to fit, and from doubtShare when it is the
	// second one there with nothing as large taken in between. One of a smaller request is hardly about its size:
	// it takes three.
	countsFrom, doubtShare = 0.85, 0.4
	// A request from this share of the limit on is near it, and raises it by raiseShare when it is taken; up to
	// belowRefused of the smallest request that was refused, as long as that is remembered.
	nearShare, raiseShare, belowRefused = 0.85, 0.05, 0.9
	// So many requests are taken until a refusal is forgotten. Each refusal that counts doubles it.
	patience, mostPatience = 100, 800
)

// guess is such a hypothesis, with its evidence. Sizes are in tokens, or in bytes of a body.
type guess struct {
	limit    int // what a request may have; 0: nothing is guessed
	refused  int // the smallest refused request that limit rests on; 0: that was too long ago
	refusals int // runs of Recover that say so
	doubtful int // the newest refused request that did not count; 0: none
	doubts   int // runs of Recover with such a request
	age      int // requests taken since the last refusal
}

// refusedSizes are the requests that were refused without numbers in one run of Recover.
type refusedSizes struct {
	first, smallest int
}

func (s *refusedSizes) add(n int) {
	if s.first == 0 {
		s.first, s.smallest = n, n
	}
	s.smallest = min(s.smallest, n)
}

// settle returns what becomes of g, which was there before a run of Recover in which these requests were refused.
// A request of size taken was accepted at last, within limit. believed is what was believed to fit; 0: anything.
func (g guess) settle(s refusedSizes, limit, taken, believed int) guess {
	if s.first == 0 {
		return g
	}
	doubts := 1
	if g.doubtful > 0 && s.first >= count.Share(g.doubtful, countsFrom) {
		doubts += g.doubts
	}
	if doubts < g.needed(s.first, believed) {
		g.doubtful, g.doubts, g.age = s.first, doubts, 0
		return g
	}
	return guess{limit: max(limit, taken), refused: s.smallest, refusals: g.refusals + 1}
}

// needed is how many runs with such a refusal it takes until it counts.
func (g guess) needed(first, believed int) int {
	switch {
	case believed == 0 || first >= count.Share(believed, countsFrom):
		return 1
	case first < count.Share(believed, doubtShare):
		return 3
	case g.limit > 0: // and that limit was too high
		return 1
	}
	return 2
}

// take learns that a request of size n was accepted. told is what may be sent without g; 0: anything.
func (g *guess) take(n, told int) {
	if *g == (guess{}) || n <= 0 {
		return
	}
	g.age++
	if g.age >= min(patience<<min(g.refusals, 8), mostPatience) {
		g.refused, g.doubtful, g.doubts = 0, 0, 0
	}
	if n >= g.doubtful {
		g.doubtful, g.doubts = 0, 0
	}
	if g.limit > 0 && n >= count.Share(g.limit, nearShare) {
		g.raise(n)
	}
	if g.limit > 0 && told > 0 && g.limit >= told || g.limit == 0 && g.doubtful == 0 {
		*g = guess{}
	}
}

func (g *guess) raise(n int) {
	if n >= g.refused {
		g.refused = 0
	}
	next := count.Add(g.limit, max(1, count.Share(g.limit, raiseShare)))
	if g.refused > 0 {
		next = min(next, max(g.limit, count.Share(g.refused, belowRefused)))
	}
	g.limit = max(next, n)
}

// least is the smaller of two limits of which 0 means none.
func least(a, b int) int {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

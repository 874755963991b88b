package accounting

import "github.com/winnowgo/winnow/internal/count"

// A guess is a limit that a provider enforces without telling it.
//
// A provider may refuse a request as too long without saying what it allows. Some say so of requests that have another
// fault. So what follows from such a refusal is a hypothesis: it counts by its evidence, is raised as requests near it
// are accepted, and expires.

const (
	// A refusal counts at once if the request had at least this share of what was believed to fit. From doubtShare on
	// it counts if it is the second one, and no request as large was accepted in between. A refusal of a smaller
	// request is hardly about its size: it takes three.
	countsFrom, doubtShare = 0.85, 0.4
	// A request of at least this share of the limit is near it, and raises it by raiseShare when it is accepted, up to
	// belowRefused of the smallest request that was refused, as long as that is remembered.
	nearShare, raiseShare, belowRefused = 0.85, 0.05, 0.9
	// How many requests are accepted until a refusal is forgotten. Each refusal that counts doubles the number.
	patience, mostPatience = 100, 800
)

// Limit is such a hypothesis, with its evidence. Sizes are in tokens, or in bytes of a body.
type Limit struct {
	Most int `json:"limit,omitempty"` // what a request may have; 0: nothing is guessed

	// the smallest refused request that Most rests on; 0: that was too long ago
	Refused  int `json:"refused,omitempty"`
	Refusals int `json:"refusals,omitempty"` // recoveries that are evidence for Most
	Doubtful int `json:"doubtful,omitempty"` // the newest refused request that did not count; 0: none
	Doubts   int `json:"doubts,omitempty"`   // recoveries with such a request
	Age      int `json:"age,omitempty"`      // requests accepted since the last refusal
}

// Refused are the requests that were refused without numbers in one recovery.
type Refused struct {
	First    int `json:"first"`
	Smallest int `json:"smallest"`
}

// Add adds a request of that size.
func (s *Refused) Add(n int) {
	if s.First == 0 {
		s.First, s.Smallest = n, n
	}
	s.Smallest = min(s.Smallest, n)
}

// Settle returns what becomes of g after a recovery in which these requests were refused. In the end a request of size
// taken was accepted, within limit. believed is what was believed to fit; 0: anything.
func (g Limit) Settle(s Refused, limit, taken, believed int) Limit {
	if s.First == 0 {
		return g
	}
	doubts := 1
	if g.Doubtful > 0 && s.First >= count.Share(g.Doubtful, countsFrom) {
		doubts += g.Doubts
	}
	if doubts < g.needed(s.First, believed) {
		g.Doubtful, g.Doubts, g.Age = s.First, doubts, 0
		return g
	}
	return Limit{Most: max(limit, taken), Refused: s.Smallest, Refusals: g.Refusals + 1}
}

// needed returns how many recoveries with a first refusal of this size it takes until the guess counts.
func (g Limit) needed(first, believed int) int {
	switch {
	case believed == 0 || first >= count.Share(believed, countsFrom):
		return 1
	case first < count.Share(believed, doubtShare):
		return 3
	case g.Most > 0: // and that limit was too high
		return 1
	}
	return 2
}

// Take learns that a request of size n was accepted. told is what may be sent without g; 0: anything.
func (g *Limit) Take(n, told int) {
	if *g == (Limit{}) || n <= 0 {
		return
	}
	g.Age++
	if g.Age >= min(patience<<min(g.Refusals, 8), mostPatience) {
		g.Refused, g.Doubtful, g.Doubts = 0, 0, 0
	}
	if n >= g.Doubtful {
		g.Doubtful, g.Doubts = 0, 0
	}
	if g.Most > 0 && n >= count.Share(g.Most, nearShare) {
		g.raise(n)
	}
	if isOfNoUse := g.Most == 0 && g.Doubtful == 0; isOfNoUse || g.Most > 0 && told > 0 && g.Most >= told {
		*g = Limit{}
	}
}

func (g *Limit) raise(n int) {
	if n >= g.Refused {
		g.Refused = 0
	}
	next := count.Add(g.Most, max(1, count.Share(g.Most, raiseShare)))
	if g.Refused > 0 {
		next = min(next, max(g.Most, count.Share(g.Refused, belowRefused)))
	}
	g.Most = max(next, n)
}

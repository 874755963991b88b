package hosts

import (
	"math/rand/v2"
	"strings"
)

// Random writes the script of a seed.
func Random(seed uint64) Script {
	g := &writer{rand.New(rand.NewPCG(seed, 0x686f737473))}
	s := Script{Setting: g.setting()}
	window := s.Setting.Window
	scenes := 3 + g.IntN(16)
	if g.chance(3) {
		scenes *= 5
	}
	for range scenes {
		s.Steps = append(s.Steps, g.scene(window)...)
	}
	strew(&s, seed)
	useAgain(&s, seed)
	return s
}

type writer struct{ *rand.Rand }

func (g *writer) chance(percent int) bool { return g.IntN(100) < percent }

func one[T any](g *writer, of ...T) T { return of[g.IntN(len(of))] }

// setting returns a plain host for one of three conversations, and an odd one for the others.
func (g *writer) setting() Setting {
	s := Setting{Window: one(g, 1_000, 1_500, 2_500, 2_500, 4_000, 4_000, 8_000)}
	s.Host = one(g, "", "", "copies", "drops", "rebuilds", "keeps", "drops")
	s.FoldAbove = one(g, 0, 0, -1, -1, 0.05, 0.2, 1)
	s.Recall = g.chance(40)
	s.Minify = one(g, 0, 0, 1)
	if g.chance(33) {
		return s
	}
	s.NoIDs, s.Journal = g.chance(6), g.chance(15)
	s.Thinking = one(g, "", "", "dropped", "bound", "bound")
	s.Off, s.NoCache, s.Background, s.Digest, s.Rules = g.chance(15), g.chance(20), g.chance(10), g.chance(15),
		g.chance(20)
	odd := func(percent int, of ...int) int {
		if !g.chance(percent) {
			return 0
		}
		return one(g, of...)
	}
	s.Turns = odd(20, 1, 2, 3, 6)
	s.Reserve = odd(15, s.Window/2, 10)
	s.Overhead = odd(15, 100, s.Window/4)
	s.MaxBytes = odd(15, 3*s.Window, 6*s.Window)
	s.KeepRecent = odd(30, 50, s.Window/10, s.Window/2)
	s.Summarizer = odd(15, 2_000, 8_000)
	if g.chance(15) {
		s.Flush = one(g, "asks", "fails", "panics")
	}
	s.Tools, s.Truncate, s.Estimator = odd(40, 1, 2, 3), odd(30, 1, 2, 3), odd(15, 1)
	s.WholeSteps = odd(20, 1, 5, 12)
	return s
}

// scene returns the steps between two requests, usually including one of them.
func (g *writer) scene(window int) []Step {
	var out []Step
	add := func(s Step) {
		s.Seed = g.IntN(1_000)
		out = append(out, s)
	}
	switch n := g.IntN(100); {
	case n < 60:
		g.turn(window, add)
	case n < 72:
		g.changes(add)
	case n < 80:
		g.world(window, add)
	case n < 84:
		add(Step{Do: "import", N: 1 + g.IntN(30)})
	case n < 87:
		add(Step{Do: "system", N: 10 + g.IntN(60)})
	}
	g.question(window, add)
	return out
}

// size returns a number of characters: most texts are short, and some fill a good part of the window.
func (g *writer) size(window int) int {
	switch n := g.IntN(100); {
	case n < 60:
		return 1 + g.IntN(150)
	case n < 90:
		return 100 + g.IntN(window)
	case n < 98:
		return g.IntN(2 * window)
	}
	return g.IntN(8 * window)
}

// words returns some of the given words, each with a chance in percent.
func (g *writer) words(percent int, of ...string) string {
	var out []string
	for _, w := range of {
		if g.chance(percent) {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}

func (g *writer) turn(window int, add func(Step)) {
	if g.chance(70) {
		add(Step{Do: "user", N: min(g.size(window), window),
			As: g.words(7, "injected", "pinned", "rule", "hostile", "blank", "empty", "image", "opaque")})
		if g.chance(5) {
			add(Step{Do: "user", N: g.size(window), As: g.words(15, "injected", "bytes")})
		}
		if g.chance(12) {
			add(Step{Do: "user", As: "injected reminder " + one(g, "", "transient")})
		}
		if g.chance(15) {
			add(Step{Do: "user", N: min(g.size(window), window),
				As: "injected " + one(g, "transient", "told", "told", "told both") + g.words(7, " hostile")})
		}
	}
	for range g.IntN(3) {
		if g.chance(60) {
			g.question(window, add)
		}
		add(Step{Do: "call", N: g.size(window), Many: one(g, 0, 0, 0, 2, 3, 6),
			As: strings.TrimSpace(g.words(35, "thinks", "speaks") + " " +
				g.words(12, "terminal") + " " + g.words(4, "reused", "noid", "hostile", "broken", "fails", "aborted",
				"reversed", "pending", "some", "missing", "twice", "orphan", "image", "unsigned", "blank", "bytes") +
				" " + g.words(6, "plan", "skill", "unchanged"))})
	}
	if g.chance(15) {
		add(Step{Do: "late"})
	}
	if g.chance(25) {
		add(Step{Do: "recall", At: g.IntN(20), N: g.IntN(200),
			As: one(g, "", "", "", "", "find", "find", "lines", "words", "pattern", "forged", "raw")})
	}
	if g.chance(55) {
		g.question(window, add)
		add(Step{Do: "answer", N: g.size(window),
			As: g.words(12, "thinks", "billed", "thinks", "last", "error", "hostile", "blank")})
	}
	if g.chance(8) {
		for range 1 + g.IntN(3) {
			add(Step{Do: "stream", N: 1 + g.IntN(300)})
			add(Step{Do: "prepare"})
		}
	}
}

// changes adds changes of the history by the host.
func (g *writer) changes(add func(Step)) {
	near := func() int { return one(g, 0, 1, 2, 3, g.IntN(8), g.IntN(40)) }
	for range 1 + g.IntN(3) {
		switch n := g.IntN(100); {
		case n < 18:
			add(Step{Do: "pin", At: near()})
		case n < 26:
			add(Step{Do: "unpin", At: near()})
		case n < 34:
			add(Step{Do: "rename", At: near()})
		case n < 42:
			add(Step{Do: "bill", At: near()})
		case n < 48:
			add(Step{Do: "source", At: near()})
		case n < 56:
			add(Step{Do: "redact", At: near()})
		case n < 76:
			add(Step{Do: "undo", N: 1 + g.IntN(1+g.IntN(12))})
		case n < 80:
			add(Step{Do: "undo", N: g.IntN(60)})
		case n < 82:
			add(Step{Do: "clear"})
		case n < 86:
			add(Step{Do: "forget", N: 1 + g.IntN(10)})
		case n < 93:
			add(Step{Do: "drop", At: near()})
		default:
			add(Step{Do: "insert", At: near(), N: 1 + g.IntN(80),
				As: g.words(50, "injected") + one(g, "", " transient", " told")})
		}
	}
}

// world adds events outside of the host.
func (g *writer) world(window int, add func(Step)) {
	switch n := g.IntN(100); {
	case n < 25:
		add(Step{Do: "pass", N: one(g, 10, 100, 290, 301, 4_000, -5, -301, -90_000, 1_000_000)})
	case n < 45:
		add(Step{Do: "limit", N: window/8 + g.IntN(window)})
	case n < 53:
		add(Step{Do: "limit", N: 500 + g.IntN(5*window), As: "bytes"})
	case n < 58:
		add(Step{Do: "limit"})
	case n < 70:
		add(Step{Do: "weather", As: one(g, "", "", "outage", "rate", "auth", "opaque", "once", "once")})
	case n == 70 && g.chance(20):
		add(Step{Do: "gc"})
	default:
		add(Step{Do: "mood", As: one(g, "", "", "", "fails", "fails first", "hangs", "hangs for ever", "cut", "blank",
			"huge", "short", "panics", "echoes", "forged", "forged", "bytes")})
	}
}

// question adds a call of the manager.
func (g *writer) question(window int, add func(Step)) {
	switch n := g.IntN(100); {
	case n < 66:
		add(Step{Do: "prepare", As: g.words(2, "ended", "short")})
	case n < 70:
		add(Step{Do: "plan"})
	case n < 76:
		add(Step{Do: "compact", As: g.words(5, "hostile", "ended", "short")})
	case n < 82:
		add(Step{Do: "recover", As: one(g, "", "", "bytes", "bytes", "tokens", "outage"),
			N: one(g, 0, window/2+g.IntN(window), window/2+g.IntN(4*window), 300+g.IntN(window))})
	case n < 92:
		add(Step{Do: "do", As: g.words(2, "ended", "short")})
	case n < 97:
		add(Step{Do: "restart", As: one(g, "", "", "", "wider", "narrower", "turns", "cache", "estimator", "cuts",
			"off", "fold", "minify", "recall")})
	case n < 99:
		add(Step{Do: "damage", As: one(g, "", "", "", "cut")})
	default:
		add(Step{Do: "lose"})
	}
}

package overflow

// hit is what a sentence says.
type hit uint8

const (
	hitNone   hit = iota
	hitBytes      // the body is too large
	hitChars      // one text has too many characters
	hitTokens     // the prompt is too long for the window
)

// sentence is one sentence with what several families ask for.
type sentence struct {
	ts      []token
	roles   role
	text    role // of the whole text
	window  bool // names the context window or the model's length
	over    bool // says that something is more than something
	tooBig  int  // index of the "long" in "too long", -1 for none
	rel     int  // index of the first word of the relation, -1 for none
	number  bool // has a number that can be a limit
	several bool // has two of them
	code    bool
}

func (s *sentence) has(r role) bool { return s.roles&r != 0 }

func (s *sentence) word(words ...string) bool { return hasWord(s.ts, words...) }

func (s *sentence) at(i int) token { return tokenFrom(s.ts, i) }

// readSentence finds the context window and the relation in a sentence.
func readSentence(ts []token, text role, code bool) *sentence {
	s := &sentence{ts: ts, roles: rolesOf(ts), text: text, tooBig: -1, rel: -1, code: code}
	for i, t := range ts {
		next, second := s.at(i+1), s.at(i+2)
		s.window = s.window || s.namesWindow(i)
		switch {
		case t.role&rOver != 0,
			t.role&rMore != 0 && s.within(i+1, 5, rThan) && !s.isMinimum(i),
			isOutside(t.s) && s.within(i+1, 5, rMax|rCapacity|rContext),
			isOneOf(t.s, "not cannot doesnt wont cant") && (next.s == "fit" || second.s == "fit"),
			t.s == "no" && next.s == "longer" && isOneOf(second.s, "fit fits"),
			t.isNum && next.s == ">" && second.isNum:
			s.over = true
		case t.role&rToo != 0 && (next.role&(rBig|rToken) != 0 || second.role&rBig != 0 && next.sign):
			s.over, s.tooBig = true, i+1
		}
		if s.over && s.rel < 0 {
			s.rel = i
		}
		if t.isNum && t.n >= minLimit {
			s.number, s.several = true, s.number
		}
	}
	return s
}

// namesWindow reports whether the word at i, with those behind it, names the context window: "context window", "a
// context of 4096", "a 4096 token context", "the model's predefined maximum length".
func (s *sentence) namesWindow(i int) bool {
	t, next, second := s.ts[i], s.at(i+1), s.at(i+2)
	switch {
	case t.role&rContext != 0:
		isSized := next.isNum || next.role&rSkip != 0 && second.isNum
		return isSized || (t.role|next.role|second.role)&rCapacity != 0
	case t.isNum:
		return next.role&rToken != 0 && second.role&rContext != 0
	case t.role&(rMax|rCapacity) != 0:
		return next.role&rContext != 0 || t.role&rCapacity != 0 && next.role&rSkip != 0 && second.role&rContext != 0
	case t.s != "model" && t.s != "models":
		return false
	}
	if next.s == "window" {
		return true
	}
	for k := i + 1; k <= i+4; k++ {
		if s.at(k).role&rLength != 0 {
			return true
		}
		if unknown := s.at(k).role == 0 && !s.at(k).sign; !unknown && s.at(k).role&rMax == 0 {
			return false
		}
	}
	return false
}

// within reports whether one of the n words from i on has one of the roles.
func (s *sentence) within(i, n int, roles role) bool { return roleIn(s.ts, i, i+n, roles) }

// isMinimum reports whether the "greater" at i is what is asked for: "should be greater than 1024".
func (s *sentence) isMinimum(i int) bool {
	return s.at(i-1).s == "be" && isOneOf(s.at(i-2).s, "should must to")
}

// hit runs the families over the sentences of one text.
func (s *segment) hit() hit {
	if s.says&pArrayLong != 0 {
		return hitNone
	}
	if s.says&pStringLong != 0 { // OpenAI: "Invalid 'input[0].id': string too long"
		if containsAny(s.lower, ".text:", ".output:", ".content:", ".arguments:", "prompt:", "input:") {
			return hitChars // a field that a shorter history shortens
		}
		return hitNone
	}
	best := hitNone
	if s.wide {
		best = hitWide(s.lower)
	}
	for said := range sentences(s.tokens) {
		best = max(best, readSentence(said, s.roles, s.code).hit())
	}
	return best
}

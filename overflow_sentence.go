package winnow

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

// compare finds the context window and the relation.
func (s *sentence) compare() {
	for i, t := range s.ts {
		next, second := s.at(i+1), s.at(i+2)
		switch {
		case t.role&rContext != 0 && (t.role&rCapacity != 0 || next.role&rCapacity != 0 || second.role&rCapacity != 0),
			t.role&rContext != 0 && (next.isNum || next.role&rSkip != 0 && second.isNum), // "a context of 4096"
			t.role&rMax != 0 && next.role&rContext != 0,
			t.isNum && next.role&rToken != 0 && second.role&rContext != 0,                                           // "a 4096 token context"
			t.role&rCapacity != 0 && (next.role&rContext != 0 || next.role&rSkip != 0 && second.role&rContext != 0), // tamaño del contexto
			(t.s == "model" || t.s == "models") && (next.s == "window" || next.role&rLength != 0 || next.s == "len" || next.role&rMax != 0 && second.role&rLength != 0):
			s.window = true
		}
		switch {
		case t.role&rOver != 0,
			t.role&rMore != 0 && s.thanWithin(i+1, 5),
			(t.s == "over" || t.s == "above" || t.s == "past" || t.s == "outside" || t.s == "sobre") && (s.limitWithin(i+1, 5) || next.isNum),
			(t.s == "not" || t.s == "cannot" || t.s == "doesnt" || t.s == "wont" || t.s == "cant") && (next.s == "fit" || second.s == "fit"),
			t.s == "no" && next.s == "longer" && (second.s == "fit" || second.s == "fits"),
			t.isNum && next.s == ">" && second.isNum:
			s.over = true
		}
		if t.role&rToo != 0 && (next.role&rBig != 0 || second.role&rBig != 0 && next.sign) {
			s.tooBig = i + 1
			s.over = true
		}
		if s.over && s.rel < 0 {
			s.rel = i
		}
		if t.isNum && t.n >= minLimit {
			s.number, s.several = true, s.number
		}
	}
}

// plainSubject says that the relation stands close behind what is sent, with no field between: the "id"
// of "request id 7: prompt is too long" is not what is too long, that of "messages[2].id exceeds" is.
func (s *sentence) plainSubject() bool {
	for k := s.rel + 1; k <= s.rel+2 && k < len(s.ts); k++ {
		if s.ts[k].role&(rField|rMedia) != 0 && s.ts[k].s != "cache" {
			return false // "exceeds maximum header size"
		}
	}
	for k := s.rel - 1; k >= 0 && k >= s.rel-4; k-- {
		switch t := s.ts[k]; {
		case t.role&(rField|rMedia) != 0:
			return false
		case t.role&(rInput|rContext) != 0 || t.s == "tokens" || t.s == "sequence":
			if k > 1 && s.ts[k-1].role&rSkip != 0 { // "the packet for a query"
				k--
			}
			return !(k > 0 && s.ts[k-1].role&(rField|rMedia) != 0)
		}
	}
	return false
}

func (s *sentence) at(i int) token {
	if i < 0 || i >= len(s.ts) {
		return token{}
	}
	return s.ts[i]
}

func (s *sentence) thanWithin(i, n int) bool {
	for k := i; k < i+n && k < len(s.ts); k++ {
		if s.ts[k].role&rThan != 0 {
			return true
		}
	}
	return false
}

func (s *sentence) limitWithin(i, n int) bool {
	for k := i; k < i+n && k < len(s.ts); k++ {
		if s.ts[k].role&(rMax|rCapacity|rContext) != 0 {
			return true
		}
	}
	return false
}

func (s *sentence) word(w string) bool { return hasWord(s.ts, w) }

func endsSentence(sign string) bool { return sign == "." || sign == ";" || sign == "!" || sign == "?" }

func rolesOf(ts []token) role {
	var all role
	for i := range ts {
		all |= ts[i].role
	}
	return all
}

package overflow

import "slices"

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

func (s *sentence) word(w string) bool { return hasWord(s.ts, w) }

// anyWord reports whether one of the words is in the sentence.
func (s *sentence) anyWord(words ...string) bool {
	return slices.ContainsFunc(words, s.word)
}

func (s *sentence) at(i int) token { return tokenFrom(s.ts, i) }

func isModel(word string) bool { return word == "model" || word == "models" }

func isOutside(word string) bool {
	switch word {
	case "over", "above", "past", "outside":
		return true
	}
	return false
}

func negates(word string) bool {
	switch word {
	case "not", "cannot", "doesnt", "wont", "cant":
		return true
	}
	return false
}

// compare finds the context window and the relation.
func (s *sentence) compare() {
	for i, t := range s.ts {
		next, second := s.at(i+1), s.at(i+2)
		switch {
		case t.role&rContext != 0 && (t.role&rCapacity != 0 || next.role&rCapacity != 0 || second.role&rCapacity != 0),
			t.role&rContext != 0 && (next.isNum || next.role&rSkip != 0 && second.isNum), // "a context of 4096"
			t.role&rMax != 0 && next.role&rContext != 0,
			t.isNum && next.role&rToken != 0 && second.role&rContext != 0, // "a 4096 token context"

			// "the size of the context"
			t.role&rCapacity != 0 && (next.role&rContext != 0 || next.role&rSkip != 0 && second.role&rContext != 0),
			isModel(t.s) && (next.s == "window" || next.s == "len" || s.lengthBehind(i)):
			s.window = true
		}
		switch {
		case t.role&rOver != 0,
			t.role&rMore != 0 && s.thanWithin(i+1, 5) && !s.isMinimum(i),
			isOutside(t.s) && (s.limitWithin(i+1, 5) || s.numberBehindSkips(i+1)),
			negates(t.s) && (next.s == "fit" || second.s == "fit"),
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

// numberBehindSkips reports whether a number comes next, perhaps behind small words: "over the model's 131072".
func (s *sentence) numberBehindSkips(i int) bool {
	for s.at(i).role&rSkip != 0 {
		i++
	}
	return s.at(i).isNum
}

// isMinimum reports whether the "greater" at i is what is asked for: "should be greater than 1024".
func (s *sentence) isMinimum(i int) bool {
	before := s.at(i - 2).s
	return s.at(i-1).s == "be" && (before == "should" || before == "must" || before == "to")
}

// lengthBehind reports whether a length is the model's at i: "the model's predefined maximum length".
func (s *sentence) lengthBehind(i int) bool {
	if s.at(i+1).role&rLength != 0 {
		return true
	}
	for k := i + 1; k <= i+3; k++ {
		if s.at(k).role&rMax != 0 && s.at(k+1).role&rLength != 0 {
			return true
		}
		if s.at(k).role != 0 || s.at(k).sign {
			return false
		}
	}
	return false
}

// plainSubject reports whether the relation stands close behind what is sent, with no field between: the "id"
// of "request id 7: prompt is too long" is not what is too long, that of "messages[2].id exceeds" is.
func (s *sentence) plainSubject() bool {
	for k := s.rel + 1; k <= s.rel+2 && k < len(s.ts); k++ {
		if s.ts[k].role&(rField|rMedia) != 0 && s.ts[k].s != "cache" {
			return false // "exceeds maximum header size"
		}
	}
	for k, words := s.rel-1, 0; k >= 0 && words < 4; k-- {
		switch t := s.ts[k]; {
		case t.sign && t.s != ":", t.isNum:
			continue // "Prompt length (10240) exceeds"
		case t.role&(rField|rMedia) != 0:
			return false
		case t.role&(rInput|rContext) != 0 || t.s == "tokens" || t.s == "sequence":
			if k > 1 && s.ts[k-1].role&rSkip != 0 { // "the packet for a query"
				k--
			}
			return !(k > 0 && s.ts[k-1].role&(rField|rMedia) != 0)
		}
		words++
	}
	return false
}

// bodyBesideRelation reports whether it is the body that is too large, whatever else is named: "function payload too
// large", "request body exceeded DATA_UPLOAD_MAX_MEMORY_SIZE".
func (s *sentence) bodyBesideRelation() bool {
	k := s.rel - 1
	for k >= 0 && s.ts[k].role&rSkip != 0 {
		k--
	}
	switch s.at(k).s {
	case "body", "payload":
		return true
	case "data":
		return s.at(k-1).s == "request"
	}
	return false
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

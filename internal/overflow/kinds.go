package overflow

// What a number in a refusal counts is told by the words around it.

// count is what a number in a refusal stands for.
type count uint8

const (
	countNone    count = iota
	countTotal         // what was compared with the limit
	countInput         // what was sent
	countOutput        // what is reserved for the answer
	countLimit         // what is allowed
	countDelta         // by how much the limit is exceeded
	countIgnored       // an id, a line, a version
)

// kind says what the number at i counts, by the words around it: the words behind it where they decide
// ("(5000) exceeds …"), then the nearest telling word before it. over: that word was "exceeded".
func (c *counts) kind(ts []token, i int) (kind count, over bool) {
	switch back := behind(ts, i); back {
	case countTotal:
		if back = c.before(ts, i); back == countOutput || back == countLimit && endsWithin(ts, i) {
			return back, false // "a maximum of 8192 tokens exceeded"
		}
		return countTotal, false
	case countLimit, countDelta, countIgnored:
		return back, false
	}
	before := c.before(ts, i)
	if before == countLimit || before == countDelta {
		c.pairs(ts, i)
		isApart := isSign(ts, i-1, ":") || isSign(ts, i-1, "(")
		return before, isApart && (roleAt(ts, i-2, rOver) || roleAt(ts, i-3, rOver))
	}
	if before == countOutput && roleAt(ts, i-1, rOutParam) {
		return before, false // "max_tokens 16384 and prompt tokens 120111"
	}
	if ahead := ahead(ts, i); ahead != countNone {
		return ahead, false
	}
	return before, false
}

// endsWithin reports whether the relation behind the number i has no other side: "8192 tokens exceeded for this model".
func endsWithin(ts []token, i int) bool {
	k := skipUnit(ts, i+1)
	if !roleAt(ts, k, rOver) {
		return false
	}
	for end := min(k+6, len(ts)); k+1 < end && !ts[k+1].endsSentence(); {
		k++
		if ts[k].isNum && ts[k].n >= minLimit || ts[k].role&(rMax|rContext|rCapacity) != 0 {
			return isSign(ts, k-1, ":") || roleAt(ts, k-1, rActual) // "exceeded: got 9000"
		}
	}
	return true
}

// behind reads the words directly behind a number.
func behind(ts []token, i int) count {
	k := skipUnit(ts, i+1)
	if isSign(ts, k, "-") && roleAt(ts, k+1, rToken) {
		k = skipUnit(ts, k+1) // "the 8192-token window"
	}
	for isOneOf(wordOf(ts, k), ") is are was were cannot which") || isSign(ts, k, ",") && roleAt(ts, k+1, rToo) {
		k++
	}
	if k >= len(ts) {
		return countNone
	}
	t, next := ts[k], tokenFrom(ts, k+1)
	isBeside := k == skipUnit(ts, i+1) && isLess(ts[i].n, ts, k+1)
	switch {
	case isOneOf(t.s, "requested given received sent") && (next.s == "" || next.sign || next.s == "but"):
		return countTotal // "140000 requested, 131072 available"
	case t.s == "available" && isRequested(ts, i):
		return countLimit
	case leftBehind(ts, k):
		return countIgnored // "312 tokens left"
	case t.role&(rContext|rMax) != 0 && (isOneOf(next.s, "= :") || next.role&rCapacity != 0 && isSign(ts, k+2, "=")):
		return countNone // "n_prompt=9000 n_ctx=8192 ctx_len=8192"
	case t.role&rOver != 0 && next.s == "by", t.role&rContext != 0 && next.role&rToken == 0:
		return countLimit // "a limit of 8192 exceeded by …", "an 8192 token context"
	case isBeside && isOneOf(t.s, "over above beyond"):
		return countDelta // "512 tokens beyond the limit of 8192"
	case t.role&rToo != 0 && next.s == "small":
		return countLimit // "a context of 8192 tokens is too small"
	case t.role&(rOver|rMore|rToo) != 0, isOneOf(t.s, "over above >"):
		return countTotal
	case t.role&(rMax|rHolds) != 0, t.s == "window":
		return countLimit
	}
	return countNone
}

// isLess reports whether n is less than the number that comes in the few words from k on, or none comes.
func isLess(n int32, ts []token, k int) bool {
	for end := min(k+6, len(ts)); k < end; k++ {
		if ts[k].isNum {
			return n < ts[k].n
		}
	}
	return roleIn(ts, k-6, k, rMax|rCapacity|rContext)
}

// roleIn reports whether a token from one place up to another has one of the roles.
func roleIn(ts []token, from, to int, roles role) bool {
	to = min(to, len(ts))
	return rolesOf(ts[max(0, min(from, to)):max(0, to)])&roles != 0
}

// isRequested reports whether the number before or behind the i-th is what was requested: what is available is a limit.
func isRequested(ts []token, i int) bool {
	for k := max(0, i-9); k < min(i+9, len(ts)); k++ {
		for n := k - 2; ts[k].s == "requested" && n <= k+2; n++ {
			if n >= 0 && n != i && isNum(ts, n) {
				return true
			}
		}
	}
	return false
}

// leftBehind reports whether the words from k on tell that a number is what is left: "1500 tokens of context remain".
func leftBehind(ts []token, k int) bool {
	for end := k + 4; k < end && k < len(ts) && !ts[k].isNum && !ts[k].sign; k++ {
		switch t := ts[k]; {
		case isOneOf(t.s, "leaves leaving"), t.role&(rOver|rMore|rThan|rToo|rHolds) != 0:
			return false
		case t.role&rLeft != 0:
			return true
		}
	}
	return false
}

// before reads the words before a number, nearest first. A word that only hints decides if none is more telling.
func (c *counts) before(ts []token, i int) count {
	weak := countNone
	for k := i - 1; k >= 0 && k >= i-9; k-- {
		t := &ts[k]
		if t.isNum {
			break
		}
		if t.sign {
			switch {
			case t.s == "<" && weak == countInput:
				return countInput // "context 8192 < prompt 9000"
			case isOneOf(t.s, "< >") && !isSign(ts, k-1, "-"):
				return countLimit
			}
			if endsBefore(ts, k, weak != countNone) {
				break
			}
			continue
		}
		kind, decided := c.beforeWord(ts, k, i)
		if decided {
			return kind
		}
		if kind != countNone {
			weak = kind
		}
	}
	return weak
}

// endsBefore reports whether what stands before the sign at k belongs to something else than the number behind it.
// isTold says that some word behind the sign hints at what is counted.
func endsBefore(ts []token, k int, isTold bool) bool {
	switch sign := ts[k].s; sign {
	case ".", ";", "!", "?":
		return true
	case ":": // Message:"9500 tokens …": what stands before is another field
		return isTold || roleAt(ts, k-1, rMessage)
	case "=", "{", "]":
		return isTold
	case "(": // "contextOverflow(tokens: 9100, limit: 8192)"
		return isTold && roleAt(ts, k-1, rOver)
	}
	return false
}

// beforeWord reads the word at k before the number at i. What is not decided only hints at what is counted.
func (c *counts) beforeWord(ts []token, k, i int) (kind count, decided bool) {
	t, last := &ts[k], tokenFrom(ts, k-1)
	switch {
	case t.s == "least":
		c.atLeast = c.atLeast || ts[i].n >= minLimit // and not "max_tokens must be at least 1"
		return countNone, false
	case isOneOf(t.s, "minimum draft used"):
		return countNone, true
	case t.s == "by" && k == i-1:
		return countDelta, true
	case isOneOf(t.s, "over above within"):
		return countLimit, true
	case t.role&rInput != 0 && isSign(ts, i-1, "=") && k >= i-3:
		return countInput, last.role&rMax == 0 // prompt=9000, prompt_tokens=9000, and not max_input_tokens=9000
	case t.role == 0:
		kind = beforeWide(t.s)
		return kind, kind != countNone
	case contextTooBig(ts, k) && onlySigns(ts[k+1:i]):
		return countInput, true // "context too long: 12000": no window is too long
	case isOneOf(t.s, "sum current"):
		return countNone, false // part of the name of what is counted: "the max length of current question is 20000"
	case t.s == "available" && k >= i-2 && isRequested(ts, i):
		return countLimit, true // "requested 140000, available 131072"
	case t.role&rLeft != 0 && k >= i-4 && last.s != ">", t.role&rField != 0 && k >= i-2:
		return countIgnored, true
	case t.s == "only" && k == i-1, t.s == "to" && last.s == "up":
		return countLimit, true
	case last.s == "available" && roleIn(ts, k-5, k-1, rOver|rThan): // "exceeds the available context size"
	case last.role&rLeft != 0 && t.role&(rContext|rCapacity|rLength|rMax) != 0:
		return countIgnored, true // "available context: 512"
	}
	if kind := beforeAnswer(ts, k, i); kind != countNone {
		return kind, true
	}
	return beforeRole(ts, k, i)
}

// beforeRole reads a word by its role alone.
func beforeRole(ts []token, k, i int) (kind count, decided bool) {
	t := ts[k]
	switch {
	case t.role&rMax != 0 && roleAt(ts, k+1, rOutput): // "input and maximum output tokens (35000)"
		return countNone, false
	case t.role&rMax != 0 && isPlus(ts, k-1):
		if roleAt(ts, k-2, rInput|rLength) {
			return countTotal, true // "prompt length + max tokens (2301)"
		}
		return countOutput, true // "prompt (5000) + max tokens (4096)"
	case isLimitWord(ts, k, i), isTotal(t.s) && roleAt(ts, k-1, rMax): // max_total_num_tokens
		return countLimit, true
	case isTotal(t.s):
		return countTotal, true
	case t.role&rActual != 0:
		return countInput, true
	case t.role&(rInput|rLength|rToken|rRequest|rCapacity) != 0:
		return countInput, false
	}
	return countNone, false
}

// isLimitWord reports whether the k-th token makes the number at i a limit: not in "cannot handle 9000 tokens".
func isLimitWord(ts []token, k, i int) bool {
	t := ts[k]
	switch {
	case t.role&(rMax|rContext|rLess) != 0, t.role&rHolds != 0 && !isOneOf(wordBefore(ts, k), "cannot cant not doesnt"):
		return true
	case t.role&rThan != 0:
		return k >= i-4 && !isSign(ts, i-1, ":")
	case t.role&rOver != 0:
		return k >= i-4 && wordOf(ts, k+1) != "by" // "8192 exceeded by a prompt of 9000"
	}
	return isOneOf(t.s, "window room range")
}

// beforeAnswer reads the answer's words before the number at i: its own room, or the last part of a sum's name.
func beforeAnswer(ts []token, k, i int) count {
	t := ts[k]
	if t.role&rOutput == 0 {
		return countNone
	}
	first := k // of "requested maximum output"
	for first > 0 && ts[first-1].role&(rMax|rActual|rSkip|rOutput) != 0 && ts[first-1].s != "and" {
		first--
	}
	isSum := isPlus(ts, first-1)
	joined := isSum || wordOf(ts, first-1) == "and"
	part := joined && first > 1 && endsAddend(ts, first-2)
	switch {
	case isSum && !part && k < i-1 && !ts[i-1].sign:
		return countTotal // "prompt + max_tokens would be 41200"
	case t.role&rOutParam != 0, k == i-1, k == i-2 && (!joined || !isSign(ts, i-1, "(")):
		return countOutput
	case k >= i-3 && (part || !joined && ts[k+1].role&rToken != 0):
		return countOutput // "input (10000) + output (2000)", "output tokens (2000)"
	}
	return countNone
}

// endsAddend reports whether a number, or what stands behind one, ends at k: "10000 input tokens".
func endsAddend(ts []token, k int) bool {
	if isSign(ts, k, ")") {
		return true
	}
	for n := 0; n < 3 && roleAt(ts, k, rToken|rInput); n++ {
		k--
	}
	return k >= 0 && isNum(ts, k)
}

// ahead reads what a number belongs to in the words behind it: "4012 in the messages", "1024 max_new_tokens".
func ahead(ts []token, i int) count {
	for k := i + 1; k < len(ts) && k <= i+6; k++ {
		switch t := ts[k]; {
		case t.isNum, t.sign, t.s == "plus":
			return countNone
		case t.role&rOutput != 0:
			return countOutput
		case t.role&(rInput|rActual) != 0:
			return countInput
		}
	}
	return countNone
}

// contextTooBig reports whether the word at k is the "long" of a context that is "too long".
func contextTooBig(ts []token, k int) bool {
	if ts[k].role&rBig == 0 || !roleAt(ts, k-1, rToo) {
		return false
	}
	of := k - 2
	for of > 0 && (ts[of].role&rSkip != 0 || isAuxiliary(ts[of].s)) {
		of--
	}
	return roleAt(ts, of, rContext) || roleAt(ts, of, rCapacity) && roleAt(ts, of-1, rContext)
}

// onlySigns reports whether no word and no number stands among ts, other than a unit.
func onlySigns(ts []token) bool {
	for i := range ts {
		if !ts[i].sign && ts[i].role&rToken == 0 {
			return false
		}
	}
	return true
}

// isTotal reports whether a word is said of prompt and answer together.
func isTotal(w string) bool {
	return isOneOf(w, "total totals sum requested require requires need needs")
}

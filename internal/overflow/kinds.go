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

// counts are the numbers of an error; the first of each kind counts.
type counts struct {
	unit                               Unit
	total, input, output, limit, delta int
	second                             int  // a second limit
	left                               int  // the largest number that no word explains
	leftTokens                         int  // the largest of them that counts tokens
	atLeast                            bool // the provider stopped counting: a lower bound
	afterOver                          bool // a limit stood directly behind "exceeded:"
	exceeding                          bool // the limit stood behind "exceeds …:", in the text that is read
	isPair                             bool // the second limit is what that is compared with
	isOther                            bool // the second limit is one of the input alone
}

// kind says what the number at i counts, by the words around it: the words behind it where they decide
// ("(5000) exceeds …"), then the nearest telling word before it. over: that word was "exceeded".
func (c *counts) kind(ts []token, i int) (kind count, over bool) {
	back := c.behind(ts, i)
	switch back {
	case countTotal:
		back = c.before(ts, i)
		if back == countOutput || back == countLimit && endsWithin(ts, i) {
			return back, false // "max_prompt_len 8192 exceeded: 9000", "a maximum of 8192 tokens exceeded"
		}
		return countTotal, false
	case countLimit, countDelta, countIgnored:
		return back, false
	}
	back = c.before(ts, i)
	if back == countLimit || back == countDelta {
		c.pairs(ts, i)
		isApart := i > 1 && (ts[i-1].s == ":" || ts[i-1].s == "(")
		return back, isApart && (roleAt(ts, i-2, rOver) || roleAt(ts, i-3, rOver))
	}
	if back == countOutput && roleAt(ts, i-1, rOutParam) {
		return back, false // "max_tokens 16384 and prompt tokens 120111"
	}
	switch ahead := ahead(ts, i); {
	case ahead == countOutput && promised(ts, i):
		return countIgnored, false
	case ahead != countNone:
		return ahead, false
	}
	return back, false
}

// endsWithin reports whether the relation behind the number i and its unit has no other side: "a window of 8192 tokens
// exceeded for this model".
func endsWithin(ts []token, i int) bool {
	k := skipUnit(ts, i+1)
	if isSign(ts, k, ")") {
		k++
	}
	if k >= len(ts) || ts[k].role&rOver == 0 {
		return false
	}
	if isSign(ts, k+1, ":") {
		return true
	}
	for k++; k < len(ts) && k < skipUnit(ts, i+1)+7 && !(ts[k].sign && endsSentence(ts[k].s)); k++ {
		if ts[k].isNum && ts[k].n >= minLimit || ts[k].role&(rMax|rContext|rCapacity) != 0 || ts[k].s == "by" {
			return false
		}
	}
	return true
}

// promised reports whether a number is one of several that a model supports: "supports 32000 input tokens and
// 8000 output tokens".
func promised(ts []token, i int) bool {
	for i--; i >= 0 && !(ts[i].sign && endsSentence(ts[i].s)); i-- {
		if w := ts[i].s; w == "supports" || w == "accepts" || w == "allows" || w == "permits" {
			return true
		}
	}
	return false
}

// behind reads the words directly behind a number.
func (c *counts) behind(ts []token, i int) count {
	k := skipUnit(ts, i+1)
	if isSign(ts, k, "-") && roleAt(ts, k+1, rToken) {
		k = skipUnit(ts, k+1) // "the 8192-token window"
	}
	for k < len(ts) && (leadsOn(ts[k].s) || ts[k].s == "," && roleAt(ts, k+1, rToo)) {
		k++
	}
	if k >= len(ts) {
		return countNone
	}
	t := ts[k]
	switch {
	case t.s == "requested" && (k+1 == len(ts) || ts[k+1].sign):
		return countTotal // "140000 requested, 131072 available"
	case t.s == "available" && isRequested(ts, i):
		return countLimit
	case leftBehind(ts, k):
		return countIgnored // "312 tokens left"
	case k == i+1 && t.s == "more" && tokenAt(ts, skipUnit(ts, k+1)).role&rThan != 0:
		return countDelta // "20000 more tokens than the window"
	case t.s == "," && isSign(ts, i-1, "(") && roleAt(ts, k+1, rMax) && numberFrom(ts, k+2, 3) > 0:
		return countTotal // "the context window (9000 tokens, maximum 8192)"
	case (t.s == "를" || t.s == "을") && containsAny(wordAt(ts, k+1), "초과", "넘"):
		return countLimit // 131072를 초과했습니다
	case t.role&(rContext|rMax) != 0 && (isSign(ts, k+1, "=") || isSign(ts, k+1, ":")):
		return countNone // "n_prompt=9000 n_ctx=8192"
	case t.role&rContext != 0 && i > 0 && isTotal(ts[i-1].s),
		t.s == "of" && roleAt(ts, k+1, rContext) && i > 0 && isTotal(ts[i-1].s):
		return countTotal // "would need 132096 tokens of context"
	case t.role&rOver != 0 && k+1 < len(ts) && ts[k+1].s == "by", t.role&rContext != 0:
		return countLimit // "a limit of 8192 exceeded by …", "an 8192 token context"
	case isAbove(t.s) && numberFrom(ts, k+1, 6) == 0,
		isAbove(t.s) && numberFrom(ts, k+1, 6) > ts[i].n && k == skipUnit(ts, i+1):
		return countDelta // "3200 tokens over the limit", "512 tokens beyond the limit of 8192"
	case t.role&rToo != 0 && wordAt(ts, k+1) == "small":
		return countLimit // "a context of 8192 tokens is too small"
	case t.role&rToo != 0 && k == skipUnit(ts, i+1) && k > i+1 && numberFrom(ts, k+1, 7) > ts[i].n:
		return countDelta // "2727 tokens too long for the 16384-token window"
	case t.role&rOver != 0, t.role&rMore != 0, t.role&rToo != 0, t.s == "over", t.s == "above", t.s == ">":
		return countTotal
	case t.role&rMax != 0, t.role&rHolds != 0, t.s == "window",
		t.s == "of" && k+1 < len(ts) && ts[k+1].role&rContext != 0:
		return countLimit
	}
	return countNone
}

// isRequested reports whether the number before the i-th, or the one behind it, is what was requested: what is
// available beside it is a limit.
func isRequested(ts []token, i int) bool {
	for k, t := range ts {
		if t.s != "requested" || k < i-9 || k > i+9 {
			continue
		}
		for n := k - 2; n <= k+2; n++ {
			if n >= 0 && n != i && isNum(ts, n) {
				return true
			}
		}
	}
	return false
}

// numberFrom returns the first number of the n tokens from i on, 0 for none.
func numberFrom(ts []token, i, n int) int32 {
	for k := i; k < i+n && k < len(ts); k++ {
		if ts[k].isNum {
			return ts[k].n
		}
	}
	return 0
}

// negated reports whether the verb at k is denied: what a model "cannot handle" is what was sent.
func negated(ts []token, k int) bool {
	switch wordBefore(ts, k) {
	case "cannot", "cant", "not", "doesnt":
		return true
	}
	return false
}

// leftBehind reports whether the words from k on tell that a number is what is left: "1500 tokens of context remain".
func leftBehind(ts []token, k int) bool {
	for end := k + 4; k < end && k < len(ts) && !ts[k].isNum && !ts[k].sign; k++ {
		switch t := ts[k]; {
		case t.s == "leaves", t.s == "leaving", t.role&(rOver|rMore|rThan|rToo|rHolds) != 0:
			return false
		case t.role&rLeft != 0:
			return true
		}
	}
	return false
}

// before reads the words before a number, nearest first, up to the number before it.
func (c *counts) before(ts []token, i int) count {
	weak := countNone
	for k := i - 1; k >= 0 && k >= i-9; k-- {
		t := &ts[k]
		switch {
		case t.isNum:
			return weak
		case t.sign:
			if kind, decided := beforeSign(ts, k, &weak); decided {
				return kind
			}
		case t.role == 0:
			if kind, decided := c.beforePlain(ts, k, i); decided {
				return kind
			}
		default:
			if kind, decided := beforeWord(ts, k, i, &weak); decided {
				return kind
			}
		}
	}
	return weak
}

// namesInput reports whether the limit at i is one of the input alone: "maximum input 122880".
func namesInput(ts []token, i int) bool {
	for i--; i >= 0 && !ts[i].isNum; i-- {
		if ts[i].role&rInput != 0 {
			return true
		}
	}
	return false
}

// beforeSign reads the sign at k before a number.
func beforeSign(ts []token, k int, weak *count) (kind count, decided bool) {
	if isOfTag(ts, k) {
		return *weak, true // <Message>Input is too long: 9000 tokens</Message>
	}
	switch sign := ts[k].s; sign {
	case ".", ";", "!", "?":
		return *weak, true
	case ":":
		ofMessage := k > 0 && ts[k-1].role&rMessage != 0 // Message:"9500 tokens …": what stands before is another field
		return *weak, *weak != countNone || ofMessage
	case "=", "{", "]":
		return *weak, *weak != countNone
	case "(":
		// "contextOverflow(tokens: 9100, limit: 8192)"
		return *weak, *weak != countNone && k > 0 && ts[k-1].role&rOver != 0
	case "<":
		return countLimit, true
	case ">":
		if !isSign(ts, k-1, "-") {
			return countLimit, true
		}
		*weak = countInput // "too long -> 140000"
	}
	return countNone, false
}

// beforePlain reads the word at k, which has no role, before the number at i.
func (c *counts) beforePlain(ts []token, k, i int) (kind count, decided bool) {
	switch w := ts[k].s; w {
	case "least":
		c.atLeast = c.atLeast || ts[i].n >= minLimit // and not "max_tokens must be at least 1"
	case "minimum", "draft":
		return countNone, true
	case "by":
		return countDelta, k == i-1
	case "enough": // "no window is large enough for this request (312000 tokens)"
		return countInput, ts[k+1].s == "for"
	case "over", "above", "within":
		return countLimit, true
	default:
		kind = beforeWide(w)
		return kind, kind != countNone
	}
	return countNone, false
}

// beforeWord reads the word at k before the number at i. A word that only hints at what is counted goes into weak.
func beforeWord(ts []token, k, i int, weak *count) (kind count, decided bool) {
	t := &ts[k]
	switch {
	case t.role&rInput != 0 && assigned(ts, k, i):
		return countInput, true // prompt=9000, prompt_tokens=9000
	case contextTooBig(ts, k) && onlySigns(ts[k+1:i]):
		return countInput, true // "context too long: 12000": no window is too long
	case isPartOfName(ts, k):
		return countNone, false
	case t.role&rActual != 0 && k > 0 && (ts[k-1].s == "model" || ts[k-1].s == "models"):
		return countLimit, true // "the model takes 8192"
	case t.s == "available" && k >= i-2 && isRequested(ts, i):
		return countLimit, true // "requested 140000, available 131072"
	case t.role&rLeft != 0 && k >= i-4 && !(t.s == "available" && isSign(ts, k-1, ">")):
		return countIgnored, true
	case t.role&rField != 0 && k >= i-2, t.s == "size" && k > 0 && ts[k-1].s == "batch":
		return countIgnored, true
	case t.s == "used":
		return countNone, true
	case t.s == "to" && k > 1 && ts[k-1].s == "up" && isSum(ts[k-2].s):
		return countTotal, true // "your messages add up to 140000 tokens"
	case t.s == "only" && k == i-1, t.s == "to" && k > 0 && ts[k-1].s == "up", t.role&rFull != 0 && fitsIn(ts, k, i):
		return countLimit, true
	case t.s == "take" && k > 0 && (ts[k-1].s == "would" || ts[k-1].s == "will"):
		return countTotal, true
	case t.role&(rContext|rCapacity|rLength|rMax) != 0 && ofWhatIsLeft(ts, k):
		return countIgnored, true // "available context: 512"
	}
	if kind := beforeAnswer(ts, k, i); kind != countNone {
		return kind, true
	}
	switch {
	case t.role&rMax != 0 && k+1 < len(ts) && ts[k+1].role&rOutput != 0: // "input and maximum output tokens (35000)"
	case t.role&rMax != 0 && isPlus(ts, k-1):
		if roleAt(ts, k+1, rToken) && roleAt(ts, k-2, rInput|rLength|rToken) && !endsAddend(ts, k-2) {
			return countTotal, true // "prompt length + max tokens (2301)"
		}
		return countOutput, true // "prompt (5000) + max tokens (4096)"
	case t.role&rOver != 0 && ts[k+1].s == "by":
		*weak = countInput // "exceeded by a request with 20000"
	case beforeLimit(ts, k, i):
		return countLimit, true
	case isTotal(t.s) && roleAt(ts, k-1, rMax):
		return countLimit, true // max_total_num_tokens
	case t.role&rActual != 0:
		if isTotal(t.s) {
			return countTotal, true
		}
		return countInput, true
	case t.role&(rInput|rLength|rToken|rRequest|rCapacity) != 0:
		*weak = countInput
	}
	return countNone, false
}

// beforeLimit reports whether the k-th token makes the number at i a limit.
func beforeLimit(ts []token, k, i int) bool {
	t := ts[k]
	switch {
	case t.role&(rMax|rContext) != 0, t.role&rHolds != 0 && !negated(ts, k):
		return true
	case t.role&rThan != 0:
		return k >= i-4 && !isSign(ts, i-1, ":")
	case t.role&rOver != 0:
		return k >= i-4
	}
	switch t.s {
	case "window", "room", "range":
		return true
	case "past":
		return k >= i-2
	}
	return t.role&rLess != 0
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
	joined := isPlus(ts, first-1) || first > 0 && ts[first-1].s == "and"
	part := joined && first > 1 && endsAddend(ts, first-2)
	inWords := k < i-1 && !ts[i-1].sign
	switch {
	case joined && !part && inWords && isPlus(ts, first-1):
		return countTotal // "prompt + max_tokens would be 41200"
	case t.role&rOutParam != 0, k == i-1, k == i-2 && (!joined || !isSign(ts, i-1, "(")):
		return countOutput
	case k >= i-3 && part, k >= i-3 && !joined && ts[k+1].role&rToken != 0:
		return countOutput // "input (10000) + output (2000)", "output tokens (2000)"
	}
	return countNone
}

// skipsToNumber reports whether a number with its unit ends at k: "10000 input tokens".
func skipsToNumber(ts []token, k int) bool {
	for n := 0; n < 3 && k > 0 && ts[k].role&(rToken|rInput) != 0; n++ {
		k--
	}
	return k >= 0 && ts[k].isNum
}

// ahead reads what a number belongs to in the words behind it: "4012 in the messages", "1024 max_new_tokens".
func ahead(ts []token, i int) count {
	for k := i + 1; k < len(ts) && k <= i+6; k++ {
		t := ts[k]
		switch {
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

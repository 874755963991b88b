package overflow

// outputCap reports whether the cap on the answer is what was refused: a shorter history does not help. The
// sign is that the text names the answer, and what is sent only as what the answer must leave room for.
func outputCap(r *reading) bool {
	var all capReading
	for _, s := range r.segments {
		if !s.code {
			all.first = true
			for said := range sentences(s.tokens) {
				all.read(said)
			}
			all.named = all.named || containsAny(s.lower, answerWide...)
			all.input = all.input || containsAny(s.lower, inputWide...)
		}
	}
	return all.named && !all.input && (all.lead || !all.window)
}

// capReading is what the sentences of an error say of a cap on the answer.
type capReading struct {
	named  bool // the answer
	input  bool // what is sent
	window bool
	lead   bool // the name of a parameter is the first that is named
	first  bool // nothing was named so far in the text
}

// read takes one sentence. A client's words in front, "failed to send the prompt: …", say nothing of sizes.
func (c *capReading) read(ts []token) {
	input, window, named := false, false, false
	for k := range ts {
		t := &ts[k]
		if isOfCap(ts, k) {
			if !named && saysNothing(ts, k) {
				input, window, c.first = false, false, true
			}
			named = true
			c.lead = c.lead || t.role&rOutParam != 0 && c.first
		}
		input = input || t.role&(rInput|rMessage) == rInput
		window = window || t.role&rContext != 0 || t.s == "total" && rolesOf(ts)&rOutput != 0
		c.first = c.first && t.role&(rInput|rContext|rToken|rOutput) == 0
	}
	if named || !saysNothing(ts, len(ts)) {
		c.named, c.input, c.window = c.named || named, c.input || input, c.window || window
	}
}

// isOfCap reports whether the word at k names the answer's room: "output tokens", "max tokens must be", "the maximum
// tokens you requested", "a maximum tokens value".
func isOfCap(ts []token, k int) bool {
	t, behind := ts[k], tokenFrom(ts, k+2)
	if t.role&rOutput != 0 {
		return t.role&rOutParam != 0 || nearToken(ts, k) || answerTooLong(ts, k)
	}
	if t.role&rMax == 0 || !roleAt(ts, k+1, rToken) {
		return false
	}
	return isOneOf(behind.s, "value you requested") || t.s == "max" && behind.role&rMust != 0
}

// saysNothing reports whether the words in front of the k-th neither give a size nor say how two compare, and are no
// part of a sum with what begins there: "prompt and max_tokens".
func saysNothing(ts []token, k int) bool {
	for k > 0 && k < len(ts) && ts[k-1].role&(rMax|rActual|rSkip|rOutput) != 0 && ts[k-1].s != "and" {
		k--
	}
	if k > 0 && k < len(ts) && isOneOf(ts[k-1].s, "and or with plus + & /") {
		return false
	}
	for _, t := range ts[:k] {
		if t.isNum && t.n >= leastCounted || t.role&(rOver|rToo|rBig|rMore|rReduce|rFull|rLeft|rThan|rMust) != 0 {
			return false
		}
	}
	return true
}

// answerTooLong reports whether the k-th word, which names an answer, is what is too long: "Output too long", "The
// answer would exceed the limit". A word in front may make it something else, such as the
// output of a tool, which is sent.
func answerTooLong(ts []token, k int) bool {
	if k > 0 && !ts[k-1].sign && ts[k-1].role&(rSkip|rActual|rMax) == 0 {
		return false
	}
	k++
	for roleAt(ts, k, rSkip|rMust) || isAuxiliary(wordOf(ts, k)) {
		k++
	}
	t, next := tokenFrom(ts, k), tokenFrom(ts, k+1)
	isMore := t.role&rToo != 0 && next.role&rBig != 0 || t.role&rMore != 0 && next.role&rThan != 0
	return isMore || t.role&rOver != 0 || isOutside(t.s)
}

// isAuxiliary reports whether a word may stand between an answer and what is said of it: "would be", "text is".
func isAuxiliary(word string) bool { return isOneOf(word, "would was cant not text") }

// nearToken reports whether tokens, or a length, stand beside the k-th token: "output tokens", "maximum output length".
func nearToken(ts []token, k int) bool {
	for i := max(0, k-1); i < min(len(ts), k+4); i++ {
		if ts[i].role&(rToken|rLength) != 0 || i == k+1 && (ts[i].s == "budget" || ts[i].s == "limit") {
			return true
		}
	}
	return false
}

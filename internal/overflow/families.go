package overflow

// The families of overflow texts. Each asks for roles within one sentence, in any order unless the order is what tells:
// what is sent + how it is too much + what it is compared with. No family knows a provider; where one provider's habit
// is the reason for a rule, its name stands beside it.

// hit runs the families over the sentences of one text.
func (s *segment) hit() hit {
	if s.says&(pStringLong|pArrayLong) != 0 {
		return s.stringField()
	}
	best := hitNone
	if s.wide {
		best = hitWide(s.lower)
	}
	for said := range sentences(s.tokens) {
		if best = max(best, hitSentence(said, s.roles, s.code)); best == hitTokens {
			break
		}
	}
	return best
}

// stringField says whether a field that is too long is one that a shorter history shortens: OpenAI's "Invalid
// 'input[0].id': string too long".
func (s *segment) stringField() hit {
	if s.says&pArrayLong != 0 {
		return hitNone
	}
	for _, field := range [...]string{".text:", ".output:", ".content:", ".arguments:", "prompt:", "input:"} {
		if s.has(field) {
			return hitChars
		}
	}
	return hitNone
}

// hasAbove reports whether a sentence without another relation has one of the small words, or a sign, that make one.
func hasAbove(ts []token, roles role) bool {
	if roles&(rInput|rToken|rContext|rRequest) == 0 {
		return false
	}
	if roles&(rFull|rBytes) != 0 {
		return true
	}
	for i := range ts {
		switch ts[i].s {
		case ">", "over", "above", "window":
			return true
		}
	}
	return false
}

// mayTell reports whether a sentence names what can be too large and has a word that can say so: most have not.
func mayTell(ts []token, roles role) bool {
	if roles&(rInput|rRequest|rToken|rContext|rCapacity|rBytes|rToo) == 0 {
		return false
	}
	return roles&(rContext|rOver|rToo|rMore|rMax|rMust|rHolds|rReduce) != 0 || hasAbove(ts, roles)
}

func hitSentence(ts []token, text role, code bool) hit {
	roles := rolesOf(ts)
	if roles&(rInput|rField|rActual) == rInput|rField|rActual && needsBlocks(ts) {
		return hitTokens
	}
	if !mayTell(ts, roles) {
		return hitNone
	}
	if roles&(rContext|rToken) == rContext && hasWord(ts, "contexts") {
		return hitNone // the number of contexts of a browser, or of an engine
	}
	s := sentence{ts: ts, roles: roles, text: text, tooBig: -1, rel: -1, code: code}
	s.compare()
	if s.isOfPart() {
		return hitNone
	}
	if s.isChars() {
		return hitChars
	}
	if s.isTokens() {
		if !s.has(rContext|rToken|rLength) && s.has(rChars|rBytes) {
			if s.has(rBytes) {
				return hitBytes
			}
			return hitChars
		}
		return hitTokens
	}
	if s.isBytes() {
		return hitBytes
	}
	return hitNone
}

// isOfPart reports whether the sentence is about an id, a cache block or an image, and not about the prompt or the
// body.
func (s *sentence) isOfPart() bool {
	if s.window || s.bodyBesideRelation() {
		return s.has(rMedia) && s.word("encoder")
	}
	if s.has(rField) && !s.plainSubject() {
		return true
	}
	return s.has(rMedia) && (!s.has(rToken) || s.word("encoder"))
}

// isTokens runs the families that mean the prompt.
func (s *sentence) isTokens() bool {
	if s.countsOther() {
		return false
	}
	isBounded := s.has(rMax|rCapacity) || s.number
	isOfTokens := isBounded || s.has(rInput) || s.code
	subject := s.has(rInput) && !s.onlyMessageFrame() || s.word("sequence") && s.word("length")
	switch {
	case s.window && s.over, s.has(rToo|rContext) && s.tooSmall():
		// "exceeds the context window", "context length exceeded"
		return true
	case s.over && s.has(rContext) && (s.has(rInput|rToken|rMax|rRequest) || s.contextBeside()):
		// "when context overflows", "context too large"
		return true
	case s.tooBig >= 0 && s.subjectTooBig(): // "prompt is too long", "too many tokens"
		return true
	case subject && s.exceeds() && (isBounded || s.holds()): // "Prompt exceeds max length"
		return true
	case subject && (s.word("oversize") || s.word("oversized") || s.fitsNowhere()):
		return true
	case s.over && isOfTokens && s.countsTokens(): // "token limit exceeded"
		return true
	case s.over && s.word("length") && s.isOfRequest(): // "Request exceeds maximum length"
		return true
	case s.declares(): // "This model's maximum context length is 4096 tokens"
		return true
	case s.demands(): // "inputs must have less than 2048 tokens"
		return true
	case s.reduces(): // "Please reduce the length of the messages"
		return true
	}
	return s.fills() // "the context window is full"
}

// fitsNowhere reports whether the sentence ends with the word that something does not fit.
func (s *sentence) fitsNowhere() bool {
	for i, t := range s.ts {
		isLast := i+1 == len(s.ts) || s.ts[i+1].sign
		if t.s == "fit" && isLast && (negates(s.at(i-1).s) || negates(s.at(i-2).s)) {
			return true
		}
	}
	return false
}

// needsBlocks reports whether a prompt needs more of a server's cache than there is. A cache that is only full has room
// again when others have finished.
func needsBlocks(ts []token) bool {
	for _, verb := range [...]string{"needs", "requires", "need", "require"} {
		if hasWord(ts, verb) {
			return hasWord(ts, "kv") && hasWord(ts, "blocks")
		}
	}
	return false
}

// holds reports whether the other side of the relation is what somebody has room for: "longer than this provider
// serves".
func (s *sentence) holds() bool {
	for k := max(s.rel, 0); k < len(s.ts); k++ {
		if s.ts[k].role&rHolds != 0 || s.ts[k].s == "process" || s.ts[k].s == "what" {
			return true
		}
	}
	return false
}

// tooSmall reports whether a window is "too small", or none is "large enough".
func (s *sentence) tooSmall() bool {
	for i, t := range s.ts {
		if t.role&rBig != 0 && s.at(i+1).s == "enough" && s.anyWord("no", "not", "none") {
			return s.window
		}
		if t.role&rToo != 0 && s.at(i+1).s == "small" {
			return s.window || s.has(rContext) && s.has(rInput|rRequest|rToken)
		}
	}
	return false
}

// contextBeside reports whether nothing unknown stands between "context" and the relation: a context menu is something
// else.
func (s *sentence) contextBeside() bool {
	for i, t := range s.ts {
		if t.role&rContext == 0 {
			continue
		}
		k := i + 1
		for k < s.rel && (s.ts[k].role != 0 || s.ts[k].sign && s.ts[k].s != ":") {
			k++
		}
		if k >= s.rel {
			return true
		}
	}
	return false
}

// onlyMessageFrame reports whether the subject is a "message" whose size is counted: gRPC's frames, Kimi's "total
// message size".
func (s *sentence) onlyMessageFrame() bool {
	if s.has(rToken | rContext | rLength) {
		return false
	}
	return !inputWord(s.ts) && (s.word("size") || s.has(rMore|rBytes))
}

// exceeds reports whether the sentence is about more than is taken, of something else than messages.
func (s *sentence) exceeds() bool { return s.over && s.tooBig < 0 && !s.countsMessages() }

func (s *sentence) isOfRequest() bool {
	return s.has(rRequest) && !s.contentLength() || s.code && s.word("content")
}

// subjectTooBig looks for what is "too long".
func (s *sentence) subjectTooBig() bool {
	big := s.at(s.tooBig)
	if big.sign {
		big = s.at(s.tooBig + 1)
	}
	switch {
	case big.role&rToken != 0 || big.s == "many":
		return s.hasBehind(s.tooBig, rToken|rChars|rBytes) && !s.has(rOutParam)
	case s.has(rContext):
		return true
	case s.has(rInput) && !(s.has(rRequest) && s.has(rBytes)):
		return true
	case s.text&rToken != 0 && s.anyWord("text", "content", "document", "question"):
		return true
	case s.word("thread") && big.s == "long":
		return true
	case s.has(rToken):
		return s.countsTokens() // and not a credential, or bufio's "token too long"
	case s.has(rRequest):
		// GitHub Models: "body too large … Max size: 8000 tokens"
		return big.s == "long" || big.s == "lengthy" || s.text&(rToken|rContext) != 0
	}
	return false
}

// hasBehind reports whether a word with one of the roles stands at i or behind it, or, in the plural, before it.
func (s *sentence) hasBehind(i int, roles role) bool {
	end := i
	for end < len(s.ts) && s.ts[end].s != "for" { // "too many sessions for this token"
		end++
	}
	return rolesOf(s.ts[i:end])&roles != 0 || s.has(roles) && (s.has(roles&^rToken) || s.countsTokens())
}

// declares finds a limit that is only stated: nobody states it unless it was broken.
func (s *sentence) declares() bool {
	isLeast := s.word("minimum") || s.word("least") && !s.window
	if !s.number || isLeast || !s.window && !s.has(rContext|rInput) {
		return false
	}
	if s.several && s.word("window") && s.has(rInput) && s.has(rToken) { // "needs 131900 tokens, model window 131072"
		return true
	}
	// "150000 tokens sent, the context allows 128000 tokens"
	if s.several && s.has(rContext) && s.has(rToken) && s.has(rMax) {
		return true
	}
	if s.window && (s.has(rMax|rInput) || s.anyWord("only", "got", "but", "<")) {
		return true
	}
	if !s.has(rInput) || s.countsMessages() {
		return false
	}
	if s.word("range") && s.has(rLength) { // DashScope
		return true
	}
	return s.has(rMax) && s.has(rLength|rChars|rToken)
}

// demands finds a condition that was not met: "inputs must have less than 2048 tokens".
func (s *sentence) demands() bool {
	bounded := s.number || s.window && s.has(rLess)
	if !bounded || !s.has(rMust|rHolds) || s.word("least") || s.countsMessages() {
		return false
	}
	isUpTo := s.word("to") && s.word("up")
	isLess := isUpTo || s.has(rLess) || s.word("<")
	return s.sizesInput() && (isLess || s.supportsOnly())
}

// sizesInput reports whether the length of what is sent is the matter.
func (s *sentence) sizesInput() bool {
	if s.has(rInput) && s.has(rToken|rLength|rChars) {
		return true
	}
	return s.has(rToken) && s.has(rLength|rContext) && !s.has(rOutput)
}

// supportsOnly finds what a model supports beside what it got: "the token count is 9000 but it only supports 8192".
func (s *sentence) supportsOnly() bool {
	if s.several && (s.word("only") || s.word("but")) {
		return true
	}
	return s.word("supports") && (s.several || s.word("prompt"))
}

// reduces finds advice that only helps against an overflow.
func (s *sentence) reduces() bool {
	if !s.has(rReduce) {
		return false
	}
	for i, t := range s.ts {
		if t.role&rReduce == 0 || i > 0 && s.ts[i-1].s == "not" {
			continue
		}
		for k := i + 1; k <= i+6 && k < len(s.ts); k++ {
			if s.ts[k].role&(rInput|rContext) != 0 {
				return true
			}
		}
	}
	return false
}

// isLength reports whether the sentence names tokens, or the length of what is sent.
func (s *sentence) isLength() bool { return s.has(rToken) || s.has(rInput) && s.word("length") }

// fills finds a window that has no room left.
func (s *sentence) fills() bool {
	if s.has(rMax) && s.word("reached") && s.isLength() {
		return true // GitHub Models: tokens_limit_reached; "the conversation has reached its maximum length"
	}
	if !s.has(rContext) {
		return false
	}
	for i, t := range s.ts {
		if t.role&rContext != 0 && s.at(i+1).s == "shift" && s.word("disabled") {
			return true // llama.cpp: the window is full, and nothing may be dropped from it
		}
		if t.isNum && t.n > 100 && s.at(i+1).s == "%" {
			return true // "the context is at 103%"
		}
		none := t.isNum && t.n == 0 || t.s == "no" && s.at(i+1).role&(rToken|rContext) != 0
		if none && leftBehind(s.ts, skipUnit(s.ts, i+1)) {
			return true // "there are 0 tokens left in the context window"
		}
	}
	if s.has(rFull) || s.word("insufficient") && !s.word("memory") || s.word("exhaustion") {
		return true
	}
	return s.word("ran") && s.word("out") || s.word("not") && s.word("enough")
}

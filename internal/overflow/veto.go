package overflow

import "strings"

func (v verdict) diagnosis(r *reading) Diagnosis {
	switch v {
	case vetoRate:
		return Diagnosis{Class: ClassRateLimit, Rate: tokenRate(r)}
	case vetoQuota:
		return Diagnosis{Class: ClassQuota}
	case vetoAuth:
		return Diagnosis{Class: ClassAuth}
	case vetoBusy:
		return Diagnosis{Class: ClassOverloaded}
	case vetoTimeout:
		return Diagnosis{Class: ClassTimeout}
	}
	return Diagnosis{}
}

// veto looks at the status and at each text. The texts go first where they are more exact: a 429 may be
// a quota, a 400 an invalid key. bySaying reports that it was a text, and not the status alone.
func veto(r *reading, status int) (v verdict, bySaying bool) {
	found := vetoNone
	output := false
	for i := range r.n {
		s := &r.segments[i]
		switch v := vetoText(s, status); v {
		case vetoNone:
		case vetoGo, vetoTimeout:
			return v, true
		case vetoOther:
			output = true
		default:
			if found == vetoNone || found == vetoRate && v == vetoQuota {
				found = v
			}
		}
	}
	if found == vetoQuota && isOfRate(r) {
		found = vetoRate
	}
	if found == vetoRate && status == 404 {
		found = vetoNone // Azure's deployment that does not exist: "please wait a moment"
	}
	if found != vetoNone {
		return found, true
	}
	if status == 403 && r.says(pFlagged) {
		return vetoOther, true // OpenRouter: a policy refused the words, not the key
	}
	if v := vetoStatus(status); v != vetoNone {
		return v, false
	}
	if output || outputCap(r) {
		return vetoOther, true
	}
	return vetoNone, false
}

// isOfRate reports whether a quota is one of a rate: AWS and DashScope throttle for a quota of tokens per minute, and
// Gemini names the minute only in the id of the quota. What is used up for a day does not come back in a minute.
func isOfRate(r *reading) bool {
	if r.names(rDay) {
		return false
	}
	for i := range r.n {
		s := &r.segments[i]
		if s.roles&rRate != 0 && s.has("throttl") || s.roles&rTime != 0 && s.isPerMinute() {
			return true
		}
	}
	return false
}

// vetoStatus is what the status alone rules out.
func vetoStatus(status int) verdict {
	switch status {
	case 401, 403:
		return vetoAuth
	case 402:
		return vetoQuota
	case 408, 504, 522, 524: // the last two are Cloudflare's
		return vetoTimeout
	case 429:
		return vetoRate
	case 502, 503, 529, 520, 521, 523, 530: // the last four are Cloudflare's: the server behind it is down
		return vetoBusy
	}
	return vetoNone
}

// vetoText looks at one text.
func vetoText(s *segment, status int) verdict {
	if s.roles&rHint == 0 {
		if talk(s) {
			return vetoOther
		}
		return vetoRates(s)
	}
	switch {
	case s.says&(pCancelled|pGo) != 0, s.says&(pRequestEnded|pTimeout) == pRequestEnded,
		s.says&pGoBody != 0 && status != 413:
		return vetoGo
	case s.says&pTimedOut != 0:
		return vetoTimeout
	case talk(s), s.says&pFlagged != 0, s.says&pUsage != 0 && answered(s.tokens):
		return vetoOther
	case s.says&pKey != 0:
		if v := vetoRates(s); v != vetoNone {
			return v // "api key quota exceeded"
		}
		return vetoAuth
	case s.says&pBusy != 0:
		return vetoBusy
	}
	return vetoRates(s)
}

// answered finds tokens that were billed for an answer: what was answered was not refused.
func answered(ts []token) bool {
	for i := range ts {
		isAnswer := (ts[i].s == "completion" || ts[i].s == "output") && wordAt(ts, i+1) == "tokens"
		isField := isSign(ts, i+2, "=") || isSign(ts, i+2, ":")
		if isAnswer && isField && isNum(ts, i+3) && ts[i+3].n > 0 {
			return true
		}
	}
	return false
}

// talk reports whether a text is about overflows instead of being one: an assistant's or a user's sentence, a
// line of source code, a commit message. Callers should not pass such a text, but logs and proxies do.
func talk(s *segment) bool {
	raw := s.raw
	switch {
	case s.code:
		return false
	case strings.Contains(raw, "\", //"), strings.Contains(raw, ") {") && strings.Contains(raw, "return "):
		return true
	case s.wide && containsAny(s.lower, "我", "わたし", "私は"):
		return true
	case s.roles&rHint == 0:
	case s.says&pFirstPerson != 0 && (strings.HasPrefix(raw, "I ") || strings.Contains(raw, " I ")):
		return true
	case s.says&pExplain != 0, s.says&pReturns != 0 && s.has(" when "), strings.HasPrefix(s.lower, "why "),
		strings.HasPrefix(s.lower, "how "), strings.HasPrefix(s.lower, "curl:"):
		return true
	}
	head := s.lower[:min(len(s.lower), 40)]
	return containsAny(head, "fix(", "feat(", "docs(", "test(", "chore(", "refactor(")
}

// outputCap reports whether the cap on the answer is what was refused: a shorter history does not help. The
// sign is that the text names the answer, and what is sent only as what the answer must leave room for.
func outputCap(r *reading) bool {
	var all capReading
	for i := range r.n {
		if s := &r.segments[i]; !s.code {
			all.first = true
			for said := range sentences(s.tokens) {
				all.read(said)
			}
			if s.wide {
				all.named = all.named || containsAny(s.lower, answerWide...)
				all.input = all.input || containsAny(s.lower, inputWide...)
			}
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

// isOfCap reports whether the word at k names the answer's room.
func isOfCap(ts []token, k int) bool {
	t := ts[k]
	if t.role&rOutput != 0 {
		return t.role&rOutParam != 0 || nearToken(ts, k) || answerTooLong(ts, k)
	}
	return t.role&rMax != 0 && k+2 < len(ts) && ts[k+1].role&rToken != 0 && answerCap(t, ts[k+2])
}

// saysNothing reports whether the words in front of the k-th neither give a size nor say how two compare, and are no
// part of a sum with what begins there: "prompt and max_tokens".
func saysNothing(ts []token, k int) bool {
	for k > 0 && k < len(ts) && ts[k-1].role&(rMax|rActual|rSkip|rOutput) != 0 && ts[k-1].s != "and" {
		k--
	}
	if k > 0 && k < len(ts) && joins(ts, k-1) {
		return false
	}
	for _, t := range ts[:k] {
		if t.isNum && t.n >= leastCounted || t.role&(rOver|rToo|rBig|rMore|rReduce|rFull|rLeft|rThan|rMust) != 0 {
			return false
		}
	}
	return true
}

// joins reports whether the word or sign at k makes one sum, or one list, of what stands around it.
func joins(ts []token, k int) bool {
	switch ts[k].s {
	case "and", "or", "with", "plus", "+", "&", "/":
		return true
	}
	return false
}

// answerCap reports whether "max tokens" is what a request asks for, by the word before it and the one behind:
// "max tokens must be", "the maximum tokens you requested", "a maximum tokens value".
func answerCap(most, behind token) bool {
	switch behind.s {
	case "value", "you", "requested":
		return true
	}
	return most.s == "max" && behind.role&rMust != 0
}

// answerTooLong reports whether the k-th word, which names an answer, is what is too long: "Output too long", "The
// answer would exceed the limit". A word in front may make it something else, such as the
// output of a tool, which is sent.
func answerTooLong(ts []token, k int) bool {
	if k > 0 && !ts[k-1].sign && ts[k-1].role&(rSkip|rActual|rMax) == 0 {
		return false
	}
	k++
	for k < len(ts) && (ts[k].role&(rSkip|rMust) != 0 || isAuxiliary(ts[k].s)) {
		k++
	}
	switch {
	case roleAt(ts, k, rToo):
		return roleAt(ts, k+1, rBig)
	case roleAt(ts, k, rMore):
		return roleAt(ts, k+1, rThan)
	}
	return roleAt(ts, k, rOver) || k < len(ts) && isOutside(ts[k].s)
}

// isAuxiliary reports whether a word may stand between an answer and what is said of it: "would be", "text is".
func isAuxiliary(word string) bool {
	switch word {
	case "would", "was", "cant", "not", "text":
		return true
	}
	return false
}

// nearToken reports whether tokens, or a length, stand beside the k-th token: "output tokens", "maximum output length".
func nearToken(ts []token, k int) bool {
	for i := max(0, k-1); i < min(len(ts), k+4); i++ {
		if ts[i].role&(rToken|rLength) != 0 || i == k+1 && (ts[i].s == "budget" || ts[i].s == "limit") {
			return true
		}
	}
	return false
}

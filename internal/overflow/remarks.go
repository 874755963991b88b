package overflow

import "strings"

// A rate or a quota is often told beside a refusal and not as one: "(quota used: 12%)". Its words rule an overflow out
// in their own sentence only.

// besideRates reads what is left of the texts without the sentences and the brackets that tell of rates and quotas. It
// reports false where that is no overflow. Where a rate or a quota is the refusal itself, the rest must name what is
// too long or give both sizes, and advice to send less does not count: it helps against both.
func besideRates(r *reading, status int) (Diagnosis, bool) {
	rest := &reading{budget: readingBudget}
	isRefusal := false
	for _, s := range r.segments {
		if !s.code {
			_, refuses := withoutRates(s.raw, false)
			isRefusal = isRefusal || refuses
		}
	}
	for _, s := range r.segments {
		switch {
		case !s.code:
			text, _ := withoutRates(s.raw, isRefusal)
			rest.add(text, false)
		case vetoRates(s) != vetoNone:
			return Diagnosis{}, false // a code says what the whole error is
		default:
			rest.add(s.raw, true)
		}
	}
	rest.codeNumber, rest.jsonTokens, rest.jsonLimit = r.codeNumber, r.jsonTokens, r.jsonLimit
	if v, bySaying := veto(rest, status); bySaying && v != vetoOther {
		return Diagnosis{}, false
	}
	d := judge(rest, status)
	if !isRefusal {
		return d, d.IsRecoverable()
	}
	isNamed := rest.names(rContext) || rest.names(rInput) && namesPrompt(rest)
	return d, d.Class == ClassOverflow && (isNamed || d.Size > 0 && d.Limit > 0)
}

// withoutRates returns a text without the remarks on rates and quotas, and whether one of these is itself a refusal.
func withoutRates(text string, alsoAdvice bool) (rest string, refuses bool) {
	var b strings.Builder
	keep := func(said string) {
		s := lex(said, false)
		switch {
		case vetoRates(s) != vetoNone:
			refuses = refuses || s.isRefusal()
		case alsoAdvice && s.isAdvice():
		default:
			b.WriteString(said)
		}
	}
	// the name of an error in front is said of the whole: "QuotaExceeded: …"
	name, said, _ := strings.Cut(text, ": ")
	if !strings.Contains(name, " ") && vetoRates(lex(name, false)) == vetoQuota {
		text, refuses = said, true
	}
	for open := 0; open >= 0; {
		if open = strings.IndexAny(text, "([（"); open >= 0 {
			size := strings.IndexAny(text[open:], ")]）")
			if size < 0 {
				break
			}
			b.WriteString(text[:open])
			keep(text[open : open+size])
			text = text[open+size:]
		}
	}
	text = b.String() + text
	b.Reset()
	for text != "" {
		end := len(text)
		for _, mark := range [...]string{". ", "; ", "! ", "? ", "\n", " - ", " | ", "。", "；"} {
			if i := strings.Index(text[:end], mark); i >= 0 {
				end = i + len(mark)
			}
		}
		keep(text[:end])
		text = text[end:]
	}
	return b.String(), refuses
}

// isRefusal reports whether a sentence on a rate or a quota says that it is used up, or that one should wait.
func (s *segment) isRefusal() bool {
	if s.wide || s.says&pPace != 0 || s.roles&(rOver|rToo|rFull|rReduce|rMust) != 0 {
		return true
	}
	return hasWord(s.tokens, "wait") || hasWord(s.tokens, "again") || hasWord(s.tokens, "retry")
}

// isAdvice reports whether a sentence only advises to send less.
func (s *segment) isAdvice() bool {
	if s.roles&rReduce == 0 || s.roles&(rOver|rToo|rMore) != 0 {
		return false
	}
	for i := range s.tokens {
		if isNum(s.tokens, i) && s.tokens[i].n >= leastCounted {
			return false
		}
	}
	return true
}

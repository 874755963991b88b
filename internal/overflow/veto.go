package overflow

import (
	"slices"
	"strings"
)

// verdict is what rules an overflow out, as a rate limit or a cap on the answer does, which are about tokens too.
type verdict string

const (
	vetoNone    = verdict(ClassOther)
	vetoGo      = verdict("go")            // Go's own error, as text
	vetoOther   = verdict("other")         // an output cap, or a text that only talks about overflows
	vetoRate    = verdict(ClassRateLimit)  // too much in too short a time
	vetoQuota   = verdict(ClassQuota)      // a budget of money, tokens or requests
	vetoAuth    = verdict(ClassAuth)       // key, permission
	vetoBusy    = verdict(ClassOverloaded) // overloaded, down
	vetoTimeout = verdict(ClassTimeout)    // no answer in time
)

func (v verdict) diagnosis(r *reading) Diagnosis {
	switch v {
	case vetoGo, vetoOther:
		return Diagnosis{}
	case vetoRate:
		return Diagnosis{Class: ClassRateLimit, Rate: tokenRate(r)}
	}
	return Diagnosis{Class: Class(v)}
}

// veto looks at the status and at each text. The texts go first where they are more exact: a 429 may be
// a quota, a 400 an invalid key. bySaying reports that it was a text, and not the status alone.
func veto(r *reading, status int) (v verdict, bySaying bool) {
	found := vetoNone
	output := false
	for _, s := range r.segments {
		switch v := vetoText(s, status); {
		case v == vetoGo, v == vetoTimeout:
			return v, true
		case v == vetoOther:
			output = true
		case found == vetoNone, found == vetoRate && v == vetoQuota:
			found = v
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
	return slices.ContainsFunc(r.segments, func(s *segment) bool {
		return strings.Contains(s.lower, "throttl") || s.says&pPerMinute != 0
	})
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
	switch {
	case s.says&(pCancelled|pGo) != 0, s.says&(pRequestEnded|pTimeout) == pRequestEnded,
		s.says&pGoBody != 0 && status != 413:
		return vetoGo
	case s.says&pTimedOut != 0:
		return vetoTimeout
	case talk(s), s.says&pFlagged != 0, s.hasWord("usage") && answered(s.tokens):
		return vetoOther
	}
	if s.says&pBusy != 0 && s.says&(pKey|pKeyName) == 0 {
		return vetoBusy
	}
	return s.account()
}

// account looks for what is wrong with who asks: a rate, a quota, a key that is not only named beside an overflow.
func (s *segment) account() verdict {
	v := vetoRates(s) // first: "api key quota exceeded"
	isOfPrompt := s.roles&(rInput|rContext) != 0 && s.hit() == hitTokens
	if v == vetoNone && (s.says&pKey != 0 || s.says&pKeyName != 0 && !isOfPrompt) {
		return vetoAuth
	}
	return v
}

// answered finds tokens that were billed for an answer: what was answered was not refused.
func answered(ts []token) bool {
	for i := range ts {
		isAnswer := isOneOf(ts[i].s, "completion output") && wordAt(ts, i+1) == "tokens"
		if isAnswer && isOneOf(wordOf(ts, i+2), "= :") && isNum(ts, i+3) && ts[i+3].n > 0 {
			return true
		}
	}
	return false
}

// talk reports whether a text only is about overflows: a sentence of somebody, code, a commit. Logs pass such on.
func talk(s *segment) bool {
	switch {
	case s.code:
		return false
	case strings.Contains(s.raw, "\", //"), strings.Contains(s.raw, ") {") && strings.Contains(s.raw, "return "),
		s.wide && containsAny(s.lower, "我", "わたし", "私は"),
		strings.Contains(" "+s.raw, " I "), s.hasWord("explain"),
		s.hasWord("returns") && strings.Contains(s.lower, " when "):
		return true
	}
	first, _, _ := strings.Cut(s.lower, " ")
	head := s.lower[:min(len(s.lower), 40)]
	return isOneOf(first, "why how") ||
		containsAny(head, "curl: (", "fix(", "feat(", "docs(", "test(", "chore(", "refactor(")
}

// vetoRates looks for the words of rates and quotas, which talk about tokens and limits as overflows do.
func vetoRates(s *segment) verdict {
	if strings.Contains(s.lower, "prompt tokens limit exceeded: ") {
		return vetoQuota // OpenRouter's wording for what the credits still pay for, with status 402
	}
	isIn := s.says&pInMinutes != 0 && s.roles&(rToken|rRequest) != 0 && s.roles&(rMax|rOver) != 0
	isSpan := s.says&pThisMinute != 0 || isIn
	isUsage := s.hasWord("usage") && s.hasWord("rate")
	rate := s.says&(pPace|pRate) != 0 || s.roles&rRate != 0 || isSpan || isUsage
	perMinute := s.says&pPerMinute != 0 || isSpan
	quota := s.says&(pUsageLimit|pQuota) != 0 || s.says&pCost != 0 && s.hasWord("budget") ||
		slices.ContainsFunc(s.tokens, func(t token) bool { return t.role&rQuota != 0 && t.s != "quota" })
	for i, t := range s.tokens { // and not "(e.g. check quota)"
		quota = quota || t.s == "quota" && wordOf(s.tokens, i-1) != "check"
	}
	if s.wide {
		rate = rate || containsAny(s.lower, rateWide...)
		perMinute = perMinute || containsAny(s.lower, minuteWide...)
		quota = quota || containsAny(s.lower, quotaWide...)
	}
	if s.hasWord("resets") && !rate {
		quota = quota || s.roles&rMax != 0 || s.hasWord("usage") && s.roles&rFull != 0
	}
	switch {
	case rate && (perMinute || !quota):
		return vetoRate
	case quota:
		return vetoQuota
	case s.wide && containsAny(s.lower, busyWide...):
		return vetoBusy
	case s.wide && containsAny(s.lower, deniedWide...):
		return vetoAuth
	}
	return vetoNone
}

package overflow

import "strings"

// verdict is what rules an overflow out, whatever else the text says: rate limits talk about tokens and
// limits, too, and so do caps on the answer.
type verdict string

const (
	vetoNone    verdict = ""
	vetoGo      verdict = "go"      // Go's own error, as text
	vetoOther   verdict = "other"   // an output cap, or a text that only talks about overflows
	vetoRate    verdict = "rate"    // too much in too short a time
	vetoQuota   verdict = "quota"   // a budget of money, tokens or requests
	vetoAuth    verdict = "auth"    // key, permission
	vetoBusy    verdict = "busy"    // overloaded, down
	vetoTimeout verdict = "timeout" // no answer in time
)

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
	if found == vetoQuota && isThrottled(r) {
		found = vetoRate
	}
	if found != vetoNone {
		return found, true
	}
	if v := vetoStatus(status); v != vetoNone {
		return v, false
	}
	if output || outputCap(r) {
		return vetoOther, true
	}
	return vetoNone, false
}

// isThrottled says that a quota is one of a rate: AWS and DashScope throttle for a quota of tokens per minute, and
// what is used up for a day is not throttled.
func isThrottled(r *reading) bool {
	if r.names(rDay) {
		return false
	}
	for i := range r.n {
		if s := &r.segments[i]; s.roles&rRate != 0 && s.has("throttl") {
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
	case 502, 503, 529:
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
	case s.says&(pCancelled|pGo) != 0, s.says&(pRequestEnded|pTimeout) == pRequestEnded, s.says&pGoBody != 0 && status != 413:
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

// vetoRates looks for the words of rates and quotas. They need not stand in one sentence with the rest.
func vetoRates(s *segment) verdict {
	if s.hasAll(rInput|rToken|rMax|rOver) && s.has("prompt tokens limit exceeded: ") {
		return vetoQuota // OpenRouter's wording for what the credits still pay for, with status 402
	}
	exhausted := s.hasAll(rMax|rFull) && s.has("limit exhausted")
	if !s.wide && s.roles&(rRate|rPer|rQuota|rDay|rHint|rToken) == 0 && !s.hasAll(rBig|rRequest) && !s.hasAll(rToo|rRequest) && !exhausted {
		return vetoNone
	}
	rate, perMinute := s.says&pPace != 0, false
	quota := s.says&pUsageLimit != 0 || exhausted || s.says&pCost != 0 && s.has("budget")
	for i := range s.tokens {
		t := &s.tokens[i]
		if t.role&(rRate|rPer|rQuota|rDay|rTime|rHint|rToken|rToo|rBig) == 0 {
			continue
		}
		next := s.after(i)
		if t.role&rTime != 0 && s.isSpan(i) {
			rate, perMinute = true, true
		}
		perMinute = perMinute || t.role&rPer != 0 && (next.s == "minute" || next.s == "min")
		switch {
		case t.role&rRate != 0,
			t.s == "rate" && (next.role&(rCapacity|rMax) != 0 || s.says&pUsage != 0 || s.isRateOf(i)),
			t.role&rPer != 0 && (next.role&rTime != 0 || next.isNum && s.after(i+1).role&rTime != 0),
			t.role&rToken != 0 && i+2 < len(s.tokens) && s.tokens[i+1].s == "/" && (s.tokens[i+2].s == "s" || s.tokens[i+2].role&rTime != 0), // tokens/s
			t.role&rBig != 0 && (t.s == "many" || t.s == "viele" || t.s == "много") && next.role&rRequest != 0,
			t.role&rToo != 0 && (next.role&rRequest != 0 || next.s == "de" && s.after(i+1).role&rRequest != 0), // demasiadas solicitudes
			t.role&rTime != 0 && (next.s == "window" || next.s == "period" || next.s == "interval"),
			t.s == "please" && next.s == "wait",
			t.s == "again" && next.s == "in", t.s == "retry" && (next.s == "in" || next.s == "after"):
			rate = true
		case t.role&rQuota != 0, t.s == "today" || t.s == "todays",
			t.role&rDay != 0 && (next.role&(rCapacity|rToken|rRequest) != 0 || i > 0 && (s.tokens[i-1].role&rPer != 0 || s.tokens[i-1].s == "this")):
			quota = true
		}
	}
	if s.wide {
		rate = rate || containsAny(s.lower, "频繁", "頻繁", "频率", "限流", "速率", "每分钟", "并发", "每秒", "限速", "流控", "过快", "过于频繁", "请求太多", "请求过多", "レート制限", "毎分", "分あたり", "毎秒", "秒あたり", "リクエストが多すぎ", "초당", "요청이 너무 많", "속도 제한", "분당")
		perMinute = perMinute || containsAny(s.lower, "每分钟", "毎分", "分あたり", "분당")
		quota = quota || containsAny(s.lower, "配额", "額度", "额度", "余额", "欠费", "充值", "每日", "할당량", "利用枠", "残高", "잔액", "免费额", "套餐", "用量已", "次数已用", "免费调用", "利用上限", "クレジット")
	}
	quota = quota || s.says&pResets != 0 && s.roles&rMax != 0 && !rate
	switch {
	case rate && perMinute, rate && !quota:
		return vetoRate
	case quota:
		return vetoQuota
	case s.wide && containsAny(s.lower, "繁忙", "过载", "混雑", "과부하"):
		return vetoBusy
	case s.wide && deniesWide(s.lower):
		return vetoAuth
	}
	return vetoNone
}

// deniesWide says that a text of a script without spaces is about keys and permissions.
func deniesWide(s string) bool {
	return containsAny(s, "无效的令牌", "令牌无效", "令牌已过期", "令牌过期", "密钥", "未授权", "无权", "没有权限", "鉴权", "认证失败", "身份验证",
		"認証", "権限", "キーが無効", "인증", "권한", "키가 유효")
}

// isSpan says that something was counted in the time at i: "for this minute", "90000 tokens in 1 minute".
func (s *segment) isSpan(i int) bool {
	if i == 0 {
		return false
	}
	if before := s.tokens[i-1]; !before.isNum || i == 1 {
		return before.s == "this" || before.s == "current"
	}
	w := s.tokens[i-2].s
	return (w == "in" || w == "within") && s.roles&(rToken|rRequest) != 0 && s.roles&(rMax|rOver) != 0
}

// isRateOf says that the rate at i is one of requests or tokens: "request rate", "rate of input tokens".
func (s *segment) isRateOf(i int) bool {
	of := rRequest | rToken | rInput
	if (i == 0 || s.tokens[i-1].sign) && s.after(i).role&rOver != 0 {
		return true // AWS: "Rate exceeded"
	}
	if s.roles&of != 0 && rolesOf(s.tokens[max(0, i-3):i])&rToo != 0 {
		return true // "at too high a rate"
	}
	return i > 0 && s.tokens[i-1].role&of != 0 || s.after(i).s == "of" && s.after(i+1).role&of != 0
}

// answered finds tokens that were billed for an answer: what was answered was not refused.
func answered(ts []token) bool {
	for i := range ts {
		if (ts[i].s == "completion" || ts[i].s == "output") && wordAt(ts, i+1) == "tokens" && (isSign(ts, i+2, "=") || isSign(ts, i+2, ":")) && isNum(ts, i+3) && ts[i+3].n > 0 {
			return true
		}
	}
	return false
}

// talk says that a text is about overflows instead of being one: an assistant's or a user's sentence, a
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
	case s.says&pExplain != 0, s.says&pReturns != 0 && s.has(" when "), strings.HasPrefix(s.lower, "why "), strings.HasPrefix(s.lower, "how "), strings.HasPrefix(s.lower, "curl:"):
		return true
	}
	head := s.lower[:min(len(s.lower), 40)]
	return containsAny(head, "fix(", "feat(", "docs(", "test(", "chore(", "refactor(")
}

// outputCap says that the cap on the answer is what was refused: a shorter history does not help. The
// sign is that the text names the answer, and what is sent only as what the answer must leave room for.
func outputCap(r *reading) bool {
	named, input, window, lead := false, false, false, false
	for i := range r.n {
		s := &r.segments[i]
		if s.code {
			continue
		}
		if !s.wide && s.roles&rOutput == 0 && s.roles&(rMax|rToken) != rMax|rToken {
			input = input || s.roles&rInput != 0 && (s.roles&rMessage == 0 || inputWord(s.tokens))
			window = window || s.roles&rContext != 0
			continue
		}
		first := true
		for k := range s.tokens {
			t := &s.tokens[k]
			if t.role == 0 {
				continue
			}
			if t.role&rOutput != 0 && (t.role&rOutParam != 0 || nearToken(s.tokens, k)) {
				named = true
				lead = lead || t.role&rOutParam != 0 && first
			}
			if t.role&rMax != 0 && k+2 < len(s.tokens) && s.tokens[k+1].role&rToken != 0 && answerCap(*t, s.tokens[k+2]) {
				named = true
			}
			input = input || t.role&rInput != 0 && t.role&rMessage == 0
			window = window || t.role&rContext != 0 || t.s == "total"
			first = first && t.role&(rInput|rContext|rToken|rOutput) == 0
		}
		if s.wide && containsAny(s.lower, "输出", "輸出", "出力", "출력") {
			named = true
		}
		input = input || s.wide && containsAny(s.lower, "输入", "輸入", "入力", "입력", "上下文", "コンテキスト", "컨텍스트")
	}
	return named && !input && (lead || !window)
}

// answerCap says that "max tokens" is what a request asks for, by the word before it and the one behind:
// "max tokens must be", "the maximum tokens you requested", "a maximum tokens value".
func answerCap(most, behind token) bool {
	return most.s == "max" && behind.role&rMust != 0 || behind.s == "value" || behind.s == "you" || behind.s == "requested"
}

// nearToken says that tokens, or a length, stand beside the k-th token: "output tokens", "maximum output length".
func nearToken(ts []token, k int) bool {
	for i := max(0, k-1); i < min(len(ts), k+4); i++ {
		if ts[i].role&(rToken|rLength) != 0 || i == k+1 && ts[i].s == "budget" {
			return true
		}
	}
	return false
}

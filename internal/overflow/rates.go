package overflow

// Rates and quotas: refusals that talk about tokens and limits, as overflows do.

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

// rPaced is what a word must be for a rate or a quota to be looked for beside it.
const rPaced = rRate | rPer | rQuota | rDay | rTime | rHint | rToken | rToo | rBig

// vetoRates looks for the words of rates and quotas. They need not stand in one sentence with the rest.
func vetoRates(s *segment) verdict {
	if s.hasAll(rInput|rToken|rMax|rOver) && s.has("prompt tokens limit exceeded: ") {
		return vetoQuota // OpenRouter's wording for what the credits still pay for, with status 402
	}
	exhausted := s.hasAll(rMax|rFull) && s.has("limit exhausted")
	if !exhausted && !s.mayTellPace() {
		return vetoNone
	}
	rate, perMinute := s.says&pPace != 0, s.isPerMinute()
	quota := exhausted || s.says&pUsageLimit != 0 || s.says&pCost != 0 && s.has("budget")
	for i := range s.tokens {
		role := s.tokens[i].role
		if role&rPaced == 0 {
			continue
		}
		if role&rTime != 0 && s.isSpan(i) {
			rate, perMinute = true, true
		}
		switch {
		case s.isRate(i):
			rate = true
		case s.isQuota(i):
			quota = true
		}
	}
	if s.wide {
		rate = rate || containsAny(s.lower, rateWide...)
		perMinute = perMinute || containsAny(s.lower, minuteWide...)
		quota = quota || containsAny(s.lower, quotaWide...)
	}
	if s.says&pResets != 0 && !rate {
		quota = quota || s.roles&rMax != 0 || s.says&pUsage != 0 && s.roles&rFull != 0
	}
	switch {
	case rate && perMinute, rate && !quota:
		return vetoRate
	case quota:
		return vetoQuota
	case s.wide && containsAny(s.lower, "繁忙", "过载", "访问量过大", "负载过高", "混雑", "과부하"):
		return vetoBusy
	case s.wide && containsAny(s.lower, deniedWide...):
		return vetoAuth
	}
	return vetoNone
}

// mayTellPace reports whether a text has a word that a rate or a quota is told with: most have not.
func (s *segment) mayTellPace() bool {
	return s.wide || s.roles&(rRate|rPer|rQuota|rDay|rTime|rHint|rToken) != 0 ||
		s.roles&rRequest != 0 && s.roles&(rBig|rToo) != 0
}

// isPerMinute reports whether something is counted per minute.
func (s *segment) isPerMinute() bool {
	for i := range s.tokens {
		if next := s.after(i).s; s.tokens[i].role&rPer != 0 && (next == "minute" || next == "min") {
			return true
		}
	}
	return false
}

// isRate reports whether the word at i, with those beside it, tells of too much in too short a time.
func (s *segment) isRate(i int) bool {
	t, next := &s.tokens[i], s.after(i)
	switch {
	case t.role&rRate != 0:
		return true
	case t.role&rPer != 0:
		return next.role&rTime != 0 || next.isNum && s.after(i+1).role&rTime != 0
	case t.role&rToken != 0: // tokens/s
		return isSign(s.tokens, i+1, "/") && (wordAt(s.tokens, i+2) == "s" || tokenAt(s.tokens, i+2).role&rTime != 0)
	case t.role&rTime != 0:
		if isSign(s.tokens, i-1, "/") && roleAt(s.tokens, i-2, rRequest|rToken) {
			return true // 20 requests/min
		}
		return next.s == "window" || next.s == "period" || next.s == "interval"
	}
	switch t.s {
	case "rate":
		return next.role&(rCapacity|rMax) != 0 || s.says&pUsage != 0 || s.isRateOf(i)
	case "many":
		return next.role&rRequest != 0 || next.role == 0 && s.after(i+1).role&rRequest != 0 // too many open requests
	case "please":
		return next.s == "wait"
	case "again":
		return next.s == "in"
	case "retry":
		return next.s == "in" || next.s == "after"
	}
	return false
}

// isQuota reports whether the word at i, with those beside it, tells of a budget that is used up.
func (s *segment) isQuota(i int) bool {
	t := &s.tokens[i]
	if t.role&rQuota != 0 {
		return t.s != "quota" || !wordBeside(s.tokens, i, isCheck)
	}
	switch t.s {
	case "today", "todays":
		return true
	}
	if t.role&rDay == 0 {
		return false
	}
	next := s.after(i)
	perDay := t.s == "tpd" || t.s == "rpd" || i > 0 && isPer(s.tokens[i-1])
	if next.s == "free" {
		next = s.after(i + 1) // "your daily free limit"
	}
	return perDay || next.role&(rCapacity|rToken|rRequest) != 0 || next.s == "allocation"
}

// isCheck reports whether a word in front of a quota only says where to look: "(e.g. check quota)".
func isCheck(word string) bool { return word == "check" }

// isPer reports whether a span of time behind t is one that t counts in: "per day", "1000 calls / month", "by day".
func isPer(t token) bool {
	switch t.s {
	case "this", "by", "/":
		return true
	}
	return t.role&rPer != 0
}

// isSpan reports whether something was counted in the time at i: "for this minute", "90000 tokens in 1 minute".
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

// isRateOf reports whether the rate at i is one of requests or tokens: "request rate", "rate of input tokens".
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

// The words of scripts without spaces, as parts of a text.
var (
	rateWide = []string{
		"频繁", "頻繁", "频率", "限流", "速率", "每分钟", "并发", "每秒", "限速", "流控", "过快", "过于频繁", "请求太多", "请求过多",
		"レート制限", "毎分", "分あたり", "毎秒", "秒あたり", "リクエストが多すぎ", "초당", "요청이 너무 많", "속도 제한", "분당",
	}
	minuteWide = []string{"每分钟", "毎分", "分あたり", "분당"}
	quotaWide  = []string{
		"配额", "額度", "额度", "余额", "欠费", "充值", "每日", "免费额", "套餐", "用量已", "次数已用", "免费调用", "时的使用上限",
		"利用枠", "残高", "利用上限", "クレジット", "할당량", "잔액",
	}
	deniedWide = []string{
		"无效的令牌", "令牌无效", "令牌已过期", "令牌过期", "密钥", "未授权", "无权", "没有权限", "鉴权", "认证失败", "身份验证",
		"認証", "権限", "キーが無効", "인증", "권한", "키가 유효",
	}
)

package overflow

import (
	"strings"

	"github.com/winnowgo/winnow/internal/prose"
)

// A rate, a quota or a key is often told beside a refusal and not as one: "(quota used: 12%)". Its words rule an
// overflow out in their own sentence only.

// besideAccount reads what is left of the texts without the sentences and the brackets that tell of these. It reports
// false where that is no overflow. Where one of them is the refusal itself, the rest must name what is too long or give
// both sizes, and advice to send less does not count: it helps against both.
func besideAccount(r *reading, status int) (Diagnosis, bool) {
	var rest *reading
	var told remarks
	for range 2 { // the second time it is known whether one of them refuses
		rest, told.cutsAdvice = &reading{budget: readingBudget}, told.refuse
		for _, s := range r.segments {
			switch {
			case !s.code:
				rest.add(told.cut(s.raw), false)
			case s.account() != vetoNone:
				return Diagnosis{}, false // a code says what the whole error is
			default:
				rest.add(s.raw, true)
			}
		}
	}
	rest.codeNumber, rest.jsonTokens, rest.jsonLimit = r.codeNumber, r.jsonTokens, r.jsonLimit
	if v, bySaying := veto(rest, status); bySaying && v != vetoOther {
		return Diagnosis{}, false
	}
	d := judge(rest, status)
	isSized := d.Size > 0 && d.Limit > 0
	isNamed := rest.names(rContext) || rest.names(rInput) && namesPrompt(rest)
	switch {
	case told.wrap:
		return d, d.Class == ClassOverflow && isSized
	case told.refuse:
		return d, d.Class == ClassOverflow && (isNamed || isSized)
	}
	return d, d.IsRecoverable()
}

// What may be a remark of its own: a bracket, and a sentence with its end.
var (
	bracket = prose.NewPattern(`[(\[（][^)\]）]*[)\]）]`)
	remark  = prose.NewPattern(`(?s).+?(?:[.;!?] |\n| [-|] |[。；]|$)`)
)

// remarks are what a text tells of rates, quotas and keys.
type remarks struct {
	refuse     bool // one of them is itself a refusal
	wrap       bool // one of them stands in front of what is kept
	cutsAdvice bool // to send less
}

// cut returns text without such remarks.
func (x *remarks) cut(text string) string {
	return remark.Get().ReplaceAllStringFunc(bracket.Get().ReplaceAllStringFunc(text, x.kept), x.kept)
}

// kept returns what stays of one remark.
func (x *remarks) kept(said string) string {
	s := lex(said, false)
	v := s.account()
	if v == vetoNone {
		if x.cutsAdvice && s.isAdvice() {
			return ""
		}
		return said
	}
	x.refuse = x.refuse || v == vetoAuth || s.isRefusal()
	// In front may stand an error's name, "QuotaExceeded: …", or what a wrapper says of itself: "quota project p: …".
	front, inner := lex("", false), said
	for n := 0; front.account() == vetoNone; n++ {
		name, behind, isFront := strings.Cut(inner, ": ")
		if !isFront || n == maxNesting {
			return ""
		}
		front, inner = lex(front.raw+name+" ", false), behind
	}
	isName := strings.Count(front.raw, " ") == 1 && front.account() == vetoQuota
	if !isName && (front.isRefusal() || lex(inner, false).roles&(rInput|rContext) == 0) {
		return ""
	}
	inner = x.kept(inner)
	x.wrap = x.wrap || !isName && inner != ""
	return inner
}

// isRefusal reports whether a sentence on a rate or a quota says that it is used up, or that one should wait.
func (s *segment) isRefusal() bool {
	if s.wide || s.says&pPace != 0 || s.roles&(rOver|rToo|rFull|rReduce|rMust) != 0 {
		return true
	}
	return s.hasWord("wait", "again", "retry")
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

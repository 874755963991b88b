// Package overflow reads what a provider's error says: that a prompt is too long, by how much, or something else.
package overflow

import "slices"

// Diagnose reads err in the order that the errors of real providers ask for: what Go itself says, the codes that mean
// one thing, what rules an overflow out, and the families of overflow texts last. own says that an error of the chain
// is the caller's own refusal: its numbers are estimates, and what the provider said is what it wraps.
func Diagnose(err error, own func(error) bool) Diagnosis {
	if err == nil {
		return Diagnosis{}
	}
	f := gather(err, own)
	switch {
	case f.cancelled:
		return Diagnosis{}
	case f.timeout:
		return Diagnosis{Class: ClassTimeout}
	}
	r := &reading{budget: readingBudget}
	r.read(&f)
	if f.status == 0 {
		f.status = r.status()
	} else if f.status == 404 && r.bodyStatus == 413 { // IIS's 404.13
		f.status = 413
	}
	d := judge(r, f.status)
	if d.Final = f.own; f.own && d.Class == ClassOther {
		d.Class = ClassOverflow // the caller's own refusal, with no provider's error in it
	}
	return d
}

// judge decides between the classes.
func judge(r *reading, status int) Diagnosis {
	v, bySaying := veto(r, status)
	if v == vetoGo {
		return Diagnosis{}
	}
	if d, ok := singleRequest(r, v); ok {
		return d
	}
	if (v == vetoRate || v == vetoQuota || v == vetoAuth) && bySaying {
		if d, ok := besideAccount(r, status); ok {
			return d
		}
	}
	if d, ok := tooManyImages(r); ok && (v == vetoNone || v == vetoOther) {
		return d
	}
	d := match(r, status)
	if d.Class == ClassOverflow && d.Unit == UnitTokens && !measure(r, &d) {
		return Diagnosis{} // the answer alone does not fit: an output cap
	}
	switch {
	case v == vetoNone && d.Class == ClassOther && r.says(pDrained) && !r.names(rMore|rBytes):
		return vetoRate.diagnosis(r)
	case v == vetoNone:
		return d
	case d.Class == ClassBytes && !bySaying && (v == vetoBusy || v == vetoTimeout):
		return d // what stands behind the gateway refused the body
	case d.Class != ClassOverflow, v == vetoOther && !(hardCode(r) && !outputCap(r)):
		return v.diagnosis(r)
	case hardCode(r):
		return d // a code that means one thing wins over the status and over the words around it
	case passedOn(r, v, bySaying, d):
		return d
	}
	return v.diagnosis(r)
}

// passedOn reports whether a gateway's status stands around another server's overflow: the status is what the gateway
// made of the refusal, and to wait would be to wait for ever. Where the words say busy, too, the overflow must come
// with a limit: "service unavailable: too many tokens" is a server's load.
func passedOn(r *reading, v verdict, bySaying bool, d Diagnosis) bool {
	switch v {
	case vetoTimeout:
		return !bySaying
	case vetoBusy:
		return !bySaying || d.Limit > 0
	case vetoRate:
		return !bySaying && d.Limit > 0 && d.Size > d.Limit && r.names(rContext)
	}
	return false
}

// singleRequest finds a rate limit that one request alone exceeds ("Limit 6000, Requested 12328"):
// waiting never helps, a smaller request does. Groq and OpenAI.
func singleRequest(r *reading, v verdict) (Diagnosis, bool) {
	if v != vetoNone && v != vetoRate && v != vetoQuota {
		return Diagnosis{}, false
	}
	for _, s := range r.segments {
		if !s.hasAll(rMax | rActual) {
			continue
		}
		limit, requested := numberBehind(s.tokens, "limit"), numberBehind(s.tokens, "requested")
		if limit >= minLimit && requested > limit && s.roles&(rMedia|rContext) == 0 {
			return Diagnosis{Class: ClassOverflow, Size: requested, Limit: limit}, true
		}
	}
	return Diagnosis{}, false
}

// match runs the families over all texts; the most telling one decides.
func match(r *reading, status int) Diagnosis {
	best := hitNone
	for _, s := range r.segments {
		best = max(best, s.hit())
	}
	if best < hitTokens && hardNumber(r) {
		best = hitTokens
	}
	if best == hitNone && (outnumbers(r) || refusesSize(status) && r.pairsTokens()) {
		best = hitTokens
	}
	if best == hitTokens && status == 413 && !namesPrompt(r) {
		best = hitBytes // AWS API Gateway: "Request Too Long"
	}
	if best == hitNone && status == 413 && !refusesUpload(r) {
		best = hitBytes // the status says it all: a proxy's page, an empty body, Copilot's "failed to parse request"
	}
	switch best {
	case hitTokens:
		return Diagnosis{Class: ClassOverflow}
	case hitChars:
		return measureSizes(r, Diagnosis{Class: ClassOverflow, Unit: UnitChars})
	case hitBytes:
		return measureSizes(r, Diagnosis{Class: ClassBytes, Unit: UnitBytes})
	}
	return Diagnosis{}
}

// comparesSizes reports whether a text is about how large the prompt is and how large it may be, in whatever words.
func (s *segment) comparesSizes() bool {
	if s.code || s.roles&(rMedia|rField|rPer) != 0 {
		return false
	}
	switch {
	case s.roles&rContext != 0:
		return s.roles&(rInput|rToken|rActual) != 0
	case s.hasAll(rInput | rToken):
		return true
	}
	// "the maximum number of tokens is 128000, and you sent 140000", but not of an answer and not in a span of time
	if !s.hasAll(rToken|rActual) || s.roles&(rMax|rHolds|rLess) == 0 {
		return false
	}
	return s.roles&(rOutput|rTime|rDay|rQuota|rRate) == 0
}

// outnumbers reports whether a text, in whatever sentences, gives the size of a prompt and a smaller one of a context.
func outnumbers(r *reading) bool {
	if r.jsonLimit >= minLimit && r.jsonTokens > r.jsonLimit {
		return true
	}
	for _, s := range r.segments {
		if !s.comparesSizes() {
			continue
		}
		var c counts
		c.read(s.tokens, UnitTokens)
		size := max(c.input, c.total)
		if c.input > 0 && c.total == 0 {
			size += c.output
		}
		if size == 0 && s.roles&rContext != 0 {
			size = c.leftTokens // "to send 135000 tokens to a model with a context of 131072"
		}
		if c.limit >= minLimit && size > c.limit {
			return true
		}
	}
	return false
}

// hardCode reports whether a code of the body names the overflow and nothing else.
func hardCode(r *reading) bool {
	isHard := func(s *segment) bool { return s.code && s.hasAll(rContext|rOver) }
	return slices.ContainsFunc(r.segments, isHard) || hardNumber(r)
}

// hardNumber knows the codes that are numbers and mean an overflow wherever they stand, of Z.ai and Baidu Qianfan.
// MiniMax's 2013 and Z.ai's 1210 are not among them: they also mean a broken pairing and any bad parameter.
func hardNumber(r *reading) bool {
	return slices.Contains(r.codeNumber, "1261") || slices.Contains(r.codeNumber, "336103")
}

// refusesUpload reports whether a file was too large, and not the request that holds the conversation.
func refusesUpload(r *reading) bool {
	return slices.ContainsFunc(r.segments, func(s *segment) bool { return s.roles&(rMedia|rRequest) == rMedia })
}

// namesPrompt reports whether some text is about tokens or the prompt. A text about a request or a "message" does not
// count: an SDK calls the text of the error itself a message.
func namesPrompt(r *reading) bool {
	isOfPrompt := func(s *segment) bool { return s.wide || inputWord(s.tokens) }
	return slices.ContainsFunc(r.segments, isOfPrompt) || r.names(rToken|rContext) || hardNumber(r)
}

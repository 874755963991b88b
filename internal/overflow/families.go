package overflow

// The families of overflow texts. Each asks for roles within one sentence, in any order unless the order is what tells:
// what is sent + how it is too much + what it is compared with. No family knows a provider; where one provider's habit
// is the reason for a rule, its name stands beside it.
func (s *sentence) hit() hit {
	switch {
	case s.needsBlocks():
		return hitTokens
	case s.isOfPart(), s.text&rMemory != 0 && !s.has(rInput): // a server's, whatever is sent to it
		return hitNone
	case s.number && !s.has(rToken|rContext) && s.word("expected") && s.word("actual"):
		return hitChars // Bedrock Titan: "expected maxLength: 42000, actual: 150180"
	case s.isTokens():
		switch {
		case s.has(rContext | rToken | rLength):
		case s.has(rBytes):
			return hitBytes
		case s.has(rChars):
			return hitChars
		}
		return hitTokens
	case s.isBytes():
		return hitBytes
	}
	return hitNone
}

// isTokens runs the families that mean the prompt.
func (s *sentence) isTokens() bool {
	isBounded := s.has(rMax|rCapacity) || s.number
	isOtherSide := isBounded || s.has(rHolds) || s.word("what", "fit")
	isCompared := s.over && s.tooBig < 0 && isOtherSide
	isOfTokens := isBounded || s.has(rInput) || s.code
	subject := s.has(rInput) && !s.isMessageFrame() || s.word("sequence")
	switch {
	case s.window && s.over: // "exceeds the context window", "context length exceeded"
		return true
	case s.has(rContext) && s.isSmall(): // "the context is too small for your messages"
		return s.window || s.has(rInput|rRequest|rToken)
	case s.over && s.has(rContext) && (s.has(rInput|rToken|rMax|rRequest) || s.contextBeside()):
		return true // "when context overflows", "context too large"
	case s.tooBig >= 0 && s.subjectTooBig(): // "prompt is too long", "too many tokens"
		return true
	case subject && isCompared && !s.countsThings(): // "Prompt exceeds max length"
		return true
	case s.over && s.word("length") && s.isOfRequest(): // "Request exceeds maximum length"
		return true
	case s.over && isOfTokens && s.countsTokens(): // "token limit exceeded"
		return true
	case s.declares(): // "This model's maximum context length is 4096 tokens"
		return true
	case s.demands(): // "inputs must have less than 2048 tokens"
		return true
	}
	return s.reduces() || s.fills() // "Please reduce the length of the messages", "the context window is full"
}

// isOfPart reports whether the sentence is about an id, a cache block or an image, and not about the prompt or the
// body: the "id" of "request id 7: prompt is too long" is not what is too long, that of "messages[2].id exceeds" is.
func (s *sentence) isOfPart() bool {
	if s.window || s.bodyBesideRelation() {
		return s.word("encoder")
	}
	if s.has(rField) && !s.plainSubject() {
		return true
	}
	return s.has(rMedia) && !s.has(rToken)
}

// plainSubject reports whether the relation stands close behind what is sent, with no field between.
func (s *sentence) plainSubject() bool {
	if s.within(s.rel+1, 2, rField|rMedia) {
		return false // "exceeds maximum header size"
	}
	for k, words := s.rel-1, 0; k >= 0 && words < 4; k-- {
		switch t := s.ts[k]; {
		case t.sign && t.s != ":", t.isNum:
			continue // "Prompt length (10240) exceeds"
		case t.role&(rField|rMedia) != 0:
			return false
		case t.role&(rInput|rContext) != 0 || t.s == "tokens" || t.s == "sequence":
			if s.at(k-1).role&rSkip != 0 { // "the packet for a query"
				k--
			}
			return s.at(k-1).role&(rField|rMedia) == 0
		}
		words++
	}
	return false
}

// bodyBesideRelation reports whether it is the body that is too large: "function payload too large".
func (s *sentence) bodyBesideRelation() bool {
	k := s.rel - 1
	for s.at(k).role&rSkip != 0 {
		k--
	}
	return isOneOf(s.at(k).s, "body payload") || s.at(k).s == "data" && s.at(k-1).s == "request"
}

// needsBlocks reports whether a prompt needs more cache than a server has. One that is only full has room again later.
func (s *sentence) needsBlocks() bool {
	return s.has(rInput) && s.word("needs", "requires", "need", "require") && s.word("kv") && s.word("blocks")
}

// isSmall reports whether a window is "too small", or none is "large enough".
func (s *sentence) isSmall() bool {
	return s.has(rToo) && s.word("small") || s.word("enough") && s.word("no", "not", "none")
}

// contextBeside reports whether nothing unknown stands between "context" and the relation: not in "context menu".
func (s *sentence) contextBeside() bool {
	for i, t := range s.ts {
		k := i + 1
		for k < s.rel && (s.ts[k].role != 0 || s.ts[k].sign && s.ts[k].s != ":") {
			k++
		}
		if t.role&rContext != 0 && k >= s.rel {
			return true
		}
	}
	return false
}

// isMessageFrame reports whether the subject is a "message" whose size is counted, such as gRPC's frames.
func (s *sentence) isMessageFrame() bool {
	return !s.has(rToken|rContext|rLength) && !inputWord(s.ts) && (s.word("size") || s.has(rMore|rBytes))
}

// subjectTooBig looks for what is "too long".
func (s *sentence) subjectTooBig() bool {
	big := s.at(s.tooBig)
	switch {
	case big.role&rToken != 0 || big.s == "many":
		return s.has(rToken|rChars|rBytes) && (s.has(rChars|rBytes) || s.countsTokens())
	case s.has(rContext | rInput):
		return true
	case s.has(rToken):
		return s.countsTokens() // and not a credential, or bufio's "token too long"
	case s.has(rRequest):
		// GitHub Models: "body too large … Max size: 8000 tokens"
		return isOneOf(big.s, "long lengthy") || s.text&(rToken|rContext) != 0
	}
	return s.text&rToken != 0 && s.word("text", "content", "document")
}

// declares finds a limit that is only stated: nobody states it unless it was broken.
func (s *sentence) declares() bool {
	switch {
	case !s.number || s.word("minimum") || s.word("least") && !s.window:
		return false
	case s.window && (s.has(rMax|rInput) || s.word("only", "got", "but", "<")):
		return true
	case s.several && s.has(rContext) && s.has(rToken) && s.has(rMax):
		return true // "150000 tokens sent, the context allows 128000 tokens"
	case !s.has(rInput) || s.countsThings():
		return false
	case s.word("range") && s.has(rLength): // DashScope
		return true
	}
	return s.has(rMax) && s.has(rLength|rChars|rToken)
}

// demands finds a condition that was not met: "inputs must have less than 2048 tokens".
func (s *sentence) demands() bool {
	isBounded := s.number || s.window && s.has(rLess)
	if !isBounded || !s.has(rMust|rHolds) || s.word("least") || s.countsThings() {
		return false
	}
	isSize := s.has(rToken) && s.has(rLength|rContext) && !s.has(rOutput)
	if !isSize && !(s.has(rInput) && s.has(rToken|rLength|rChars)) {
		return false
	}
	isLess := s.has(rLess) || s.word("<") || s.word("up") && s.word("to")
	return isLess || s.several && s.word("only", "but", "supports", "cannot")
}

// reduces finds advice that only helps against an overflow.
func (s *sentence) reduces() bool {
	for i, t := range s.ts {
		if t.role&rReduce != 0 && s.at(i-1).s != "not" && s.within(i+1, 6, rInput|rContext) {
			return true
		}
	}
	return false
}

// fills finds a window that has no room left.
func (s *sentence) fills() bool {
	isLength := s.has(rToken) || s.has(rInput) && s.word("length")
	if isLength && s.has(rMax) && s.word("reached") {
		return true // GitHub Models: tokens_limit_reached; "the conversation has reached its maximum length"
	}
	if !s.has(rContext) {
		return false
	}
	for i, t := range s.ts {
		if t.isNum && t.n > 100 && s.at(i+1).s == "%" {
			return true // "the context is at 103%"
		}
		if t.role&rContext != 0 && s.at(i+1).s == "shift" && s.word("disabled") {
			return true // llama.cpp: the window is full, and nothing may be dropped from it
		}
		isNone := t.s == "0" || t.s == "no" && s.at(i+1).role&(rToken|rContext) != 0
		if isNone && leftBehind(s.ts, skipUnit(s.ts, i+1)) {
			return true // "there are 0 tokens left in the context window"
		}
	}
	if s.has(rFull) || s.word("insufficient", "exhaustion") && !s.word("memory") {
		return true
	}
	return s.word("ran") && s.word("out") || s.word("not") && s.word("enough")
}

// isBytes runs the families that mean the body.
func (s *sentence) isBytes() bool {
	if s.text&(rToken|rContext) != 0 || s.countsThings() || s.word("response", "received", "download") {
		return false // of the answer
	}
	isSized := s.has(rBytes|rMore) || s.word("size", "body", "payload", "length")
	switch {
	case s.over && s.has(rRequest|rMessage|rBytes):
		return s.tooBig >= 0 || isSized && s.has(rMax|rCapacity|rRequest)
	case !s.has(rRequest) || !s.has(rMax|rHolds):
		return false
	}
	sizes := 0 // "the body is 12 MB, the gateway accepts 10 MB"
	for i, t := range s.ts {
		if t.isNum && s.at(i+1).role&rBytes != 0 {
			sizes++
		}
	}
	return sizes > 1
}

// isOfRequest reports whether the sentence is about the request, and not about its body: "request Content-Length".
func (s *sentence) isOfRequest() bool {
	return s.has(rRequest) && !s.word("content", "body") || s.code && s.word("content")
}

// countsTokens reports whether tokens are counted: one "token" alone is a credential.
func (s *sentence) countsTokens() bool {
	for i, t := range s.ts {
		behind := i + 1
		if s.at(behind).s == "-" { // "Token-Limit"
			behind++
		}
		isMeasured := s.code || s.at(behind).role&(rLength|rCapacity|rMax) != 0
		if t.role&rToken != 0 && (t.s != "token" || isMeasured || s.countedAt(i)) {
			return true
		}
	}
	return false
}

// leastCounted is above the status codes of HTTP, which SDKs write before a message: "400 Token too long".
const leastCounted = 600

// countedAt reports whether the word at i is counted, as credentials are not: "number of token", "9000 Token".
func (s *sentence) countedAt(i int) bool {
	before := s.at(i - 1)
	if before.isNum && before.n >= leastCounted {
		return !isOneOf(s.at(i-2).s, "code error line status at position offset column")
	}
	return before.role&rLength != 0 || s.at(i-2).role&rLength != 0 && !before.sign
}

// countsThings reports whether the number of messages, or of something other than text, is the matter.
func (s *sentence) countsThings() bool {
	if s.has(rToken | rChars) {
		return false
	}
	for i, t := range s.ts {
		of := s.at(i + 2)
		switch {
		case t.isNum && isCountable(s.at(i+1).s):
			return !s.has(rContext)
		case t.s == "number" && s.at(i+1).s == "of" && (of.role == 0 || isCountable(of.s)):
			return true
		case t.s == "many" && isCountable(s.at(i+1).s):
			return true
		}
	}
	return false
}

// isCountable reports whether w names things that a limit counts, however long each of them is.
func isCountable(w string) bool { return isOneOf(w, "messages inputs prompts blocks texts") }

func isOutside(word string) bool { return isOneOf(word, "over above past outside") }

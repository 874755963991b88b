package overflow

// isBytes runs the families that mean the body.
func (s *sentence) isBytes() bool {
	if s.text&(rToken|rContext) != 0 || s.countsMessages() || s.isOfAnswer() {
		return false
	}
	if !s.over {
		return s.declaresBytes()
	}
	body := s.has(rRequest) || s.has(rMessage) || s.has(rBytes) && !s.has(rMedia)
	if !body {
		return false
	}
	if s.tooBig < 0 && s.contentLength() {
		return true
	}
	sized := s.has(rBytes|rMore) || s.word("size") || s.word("body") || s.word("payload")
	if s.tooBig >= 0 || sized && s.has(rMax|rCapacity) {
		return true
	}
	return s.has(rRequest) && s.has(rMore) && s.has(rBytes)
}

// contentLength reports whether the sentence names the length of a body as HTTP does: IIS's "a request that exceeds the
// request content length".
func (s *sentence) contentLength() bool {
	for i, t := range s.ts {
		isLong := s.at(i+1).s == "length" || s.at(i+1).s == "-" && s.at(i+2).s == "length"
		if isLong && (t.s == "content" || t.s == "body") {
			return s.has(rRequest) && !s.has(rInput|rToken|rContext)
		}
	}
	return false
}

// isOfAnswer reports whether it is not the request that is too large.
func (s *sentence) isOfAnswer() bool {
	return s.word("response") || s.word("received") || s.word("download")
}

// declaresBytes reports whether the size of the request stands beside what is taken: "the body is 12 MB, the gateway
// accepts 10 MB".
func (s *sentence) declaresBytes() bool {
	if !s.has(rRequest) || !s.has(rBytes) {
		return false
	}
	sizes, taken := 0, s.has(rMax)
	for i, t := range s.ts {
		if t.isNum && s.at(i+1).role&rBytes != 0 {
			sizes++
		}
		taken = taken || t.role&rHolds != 0
	}
	return sizes > 1 && taken
}

// isChars is Bedrock Titan's "expected maxLength: 42000, actual: 150180".
func (s *sentence) isChars() bool {
	if !s.number || !s.has(rMax) || !s.has(rActual) || s.has(rToken|rContext) {
		return false
	}
	return s.word("expected") && s.word("actual")
}

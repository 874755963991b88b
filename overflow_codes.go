package winnow

// What is told by codes, fields and the status instead of by sentences.

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

// hardCode says that a code of the body names the overflow and nothing else.
func hardCode(r *reading) bool {
	for i := range r.n {
		s := &r.segments[i]
		if s.code && s.roles&rContext != 0 && s.roles&rOver != 0 {
			return true
		}
	}
	return hardNumber(r)
}

// hardNumber knows the codes that are numbers and mean an overflow wherever they stand. MiniMax's 2013
// and Z.ai's 1210 are not among them: they also mean a broken pairing and any bad parameter.
func hardNumber(r *reading) bool {
	for _, c := range r.codeNumber {
		if c == "1261" || c == "336103" { // Z.ai; Baidu Qianfan
			return true
		}
	}
	return false
}

// saysMore says that a body with status 413 is more than the status in words. An empty one may mean
// anything, a page was made by a proxy, and what is too large of an upload is no message.
func saysMore(r *reading) bool {
	if r.page {
		return false
	}
	for i := range r.n {
		s := &r.segments[i]
		if s.has("no body") || s.roles&rMedia != 0 && s.roles&rRequest == 0 {
			return false
		}
		words := 0
		for _, t := range s.tokens {
			switch t.s {
			case "http", "error", "status", "code", "request", "failed", "with", "api", "response", "server", "returned", "the":
			default:
				if !t.sign && !t.isNum {
					words++
				}
			}
		}
		if words >= 2 && !s.code {
			return true
		}
	}
	return false
}

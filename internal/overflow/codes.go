package overflow

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

// refusesUpload says that a file was too large, and not the request that holds the conversation.
func refusesUpload(r *reading) bool {
	for i := range r.n {
		if roles := r.segments[i].roles; roles&rMedia != 0 && roles&rRequest == 0 {
			return true
		}
	}
	return false
}

package overflow

// What is told by codes, fields and the status instead of by sentences.

// hardCode reports whether a code of the body names the overflow and nothing else.
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

// refusesUpload reports whether a file was too large, and not the request that holds the conversation.
func refusesUpload(r *reading) bool {
	for i := range r.n {
		if roles := r.segments[i].roles; roles&rMedia != 0 && roles&rRequest == 0 {
			return true
		}
	}
	return false
}

// namesPrompt reports whether some text is about tokens or the prompt. A text about a request or a "message" does not
// count: an SDK calls the text of the error itself a message.
func namesPrompt(r *reading) bool {
	for i := range r.n {
		if s := &r.segments[i]; s.wide || inputWord(s.tokens) {
			return true
		}
	}
	return r.names(rToken|rContext) || hardNumber(r)
}

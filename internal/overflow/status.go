package overflow

// status reads the HTTP status from the body or the beginning of the text: "Error code: 413 - {", "status code: 429".
func (r *reading) status() int {
	for _, s := range r.segments {
		ts := s.tokens
		for k := 0; k < len(ts) && k < 16; k++ {
			if isStatus(ts, k) {
				return int(ts[k].n)
			}
		}
	}
	return r.bodyStatus
}

// isStatus reports whether the number at k is an HTTP status, by its size and the word before it.
func isStatus(ts []token, k int) bool {
	t := ts[k]
	if !t.isNum || t.n < 400 || t.n > 599 || len(t.s) != 3 {
		return false
	}
	switch wordBefore(ts, k) {
	case "", "error", "code", "status", "http", "exception", "statuscode", "failed":
		return true
	}
	if isSign(ts, k-1, ":") && k > 1 && k+1 < len(ts) && ts[k-2].role == 0 {
		return true // "call 3 of 7: 400 …"
	}
	return isSign(ts, k-1, "<") && isSign(ts, k+1, ">")
}

// standsInFront reports whether the number at k is a status in front of the words of a server: "failed with 400 Input
// tokens exceed …". What counts tokens stands behind a word that says so.
func standsInFront(ts []token, k int) bool {
	if t := ts[k]; t.n < 400 || t.n > 599 || len(t.s) != 3 {
		return false
	}
	behind := tokenFrom(ts, k+1)
	if behind.sign && behind.s != "-" && behind.s != ":" {
		return false
	}
	before := tokenFrom(ts, k-1)
	if before.sign && before.s != "(" && before.s != "=" {
		before = tokenFrom(ts, k-2) // "message: 400 Input", "exception - 400 Input"
		isCounted := behind.sign || behind.role&(rToken|rInput|rBytes|rChars) != 0
		return before.isNum || !isCounted || before.role&^(rInput|rMessage|rRequest) == 0
	}
	return before.role == 0 || isSign(ts, k-2, "/") // of a path
}

// refusesSize reports whether a request that is too large may get this status. 0: the status is not known.
func refusesSize(status int) bool {
	switch status {
	case 0, 400, 413, 422, 500:
		return true
	}
	return false
}

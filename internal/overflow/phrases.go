package overflow

// Phrases mean something only as a whole, and mostly that an error is not an overflow. One pass finds all of them, at
// their characteristic words (those with rHint), instead of a search for each.

// phraseAt returns the phrases that the word at i belongs to.
func phraseAt(ts []token, i int) phrase {
	next := func(w string) bool { return wordAt(ts, i+1) == w }
	before := func(w string) bool { return i > 0 && ts[i-1].s == w }
	switch ts[i].s {
	case "canceled", "cancelled":
		return when(before("context"), pCancelled) | when(before("request"), pRequestEnded)
	case "bufio":
		return when(next("scanner"), pGo)
	case "udp", "sendto", "sendmsg":
		return pGo
	case "http":
		return when(isSign(ts, i+1, ":") && wordsAt(ts, i+2, "request", "body", "too", "large"), pGoBody)
	case "deadline":
		return when(next("exceeded"), pTimedOut)
	case "timed":
		return when(next("out"), pTimedOut)
	case "time":
		return when(isSign(ts, i+1, "-") && next("out"), pTimedOut)
	case "took", "taking":
		return when(wordsAt(ts, i+1, "too", "long") || wordsAt(ts, i+1, "longer", "than"), pTimedOut)
	case "timeout":
		return pTimeout | when(i > 0 && waitsFor(ts[i-1].s) || runsOut(ts, i), pTimedOut)
	case "etimedout", "esockettimedout":
		return pTimedOut
	case "flagged", "moderation":
		return pFlagged
	case "quickly", "fast", "often", "frequently", "frequent":
		return when(i > 0 && ts[i-1].role&rToo != 0, pPace)
	case "slow":
		return when(next("down"), pPace)
	case "last", "past", "previous":
		behind := tokenAt(ts, i+1)
		return when(behind.role&rTime != 0 || behind.isNum && tokenAt(ts, i+2).role&rTime != 0, pPace)
	case "refills":
		return when(next("in") || next("at"), pPace)
	case "parallel":
		return when(tokenAt(ts, i+1).role&rRequest != 0 && rolesOf(ts)&(rOver|rFull|rToo) != 0, pPace)
	case "exhausted":
		return when(wordBeside(ts, i, isResource), pDrained) // Google says so of whatever it counts
	case "resets":
		return pResets
	case "usage":
		return pUsage | when(next("limit") || next("limits"), pUsageLimit)
	case "cost":
		return when(before("current"), pCost)
	case "explain":
		return pExplain
	case "returns":
		return pReturns
	case "i":
		return pFirstPerson
	case "string":
		return when(tooLongAt(ts, i+1) || wordsAt(ts, i+1, "should", "have", "at", "most"), pStringLong)
	case "array":
		return when(tooLongAt(ts, i+1), pArrayLong)
	}
	return doorPhraseAt(ts, i)
}

// doorPhraseAt is phraseAt for what keeps a request out before anybody reads it: a key, a server that is busy.
func doorPhraseAt(ts []token, i int) phrase {
	next := func(w string) bool { return wordAt(ts, i+1) == w }
	before := func(w string) bool { return i > 0 && ts[i-1].s == w }
	switch ts[i].s {
	case "unauthorized", "unauthenticated", "authentication", "forbidden", "jwt", "bearer", "apikey":
		return pKey
	case "revoked":
		return when(revokes(ts, i), pKey)
	case "credential", "credentials":
		return when(refused(ts, i), pKey)
	case "signature":
		return when(before("request") || next("exception"), pKey)
	case "authorized":
		return when(before("not"), pKey)
	case "denied":
		return when(before("access"), pKey)
	case "api":
		return when(next("key") || next("keys") || next("token") && tooMuch(ts, i+2), pKey)
	case "access", "security":
		return when(next("token"), pKey)
	case "session", "refresh", "auth":
		return when(next("token") && tooMuch(ts, i+2), pKey)
	case "login":
		return when(next("fail") || next("failed") || next("failure"), pKey)
	case "sign":
		return when(next("in"), pKey)
	case "permission", "permissions":
		return when(next("denied") || before("insufficient") || before("no") || before("lacks"), pKey)
	case "scopes":
		return when(before("missing"), pKey)
	case "invalid":
		return when(invalidToken(ts, i), pKey)
	case "expired":
		token := i - 1
		for token > 0 && (ts[token].s == "is" || ts[token].s == "has" || ts[token].s == "been") {
			token--
		}
		return when(next("token") || token >= 0 && (ts[token].s == "token" || ts[token].s == "session"), pKey)
	case "authorization":
		return when(refused(ts, i) || next("required") || next("failed"), pKey)
	}
	return busyPhraseAt(ts, i)
}

// busyPhraseAt is phraseAt for a server that has no room for anybody.
func busyPhraseAt(ts []token, i int) phrase {
	next := func(w string) bool { return wordAt(ts, i+1) == w }
	before := func(w string) bool { return i > 0 && ts[i-1].s == w }
	switch ts[i].s {
	case "overloaded":
		return pBusy
	case "service", "temporarily":
		return when(next("unavailable"), pBusy)
	case "upstream":
		return when(wordsAt(ts, i+1, "connect", "error"), pBusy)
	case "gateway":
		return when(before("bad"), pBusy)
	case "loading":
		return when(before("currently") || before("still"), pBusy)
	case "ready":
		return when((before("not") || before("isnt")) && wordBeside(ts, i, isServer), pBusy)
	case "healthy":
		return when(before("no"), pBusy) // Envoy: "no healthy upstream"
	case "traffic", "load":
		return when(before("high") || before("heavy"), pBusy)
	case "capacity":
		return when(before("over") || before("at"), pBusy)
	case "busy":
		return when(i > 0 && saysBusy(ts[i-1].s), pBusy)
	case "demand":
		return when(before("high"), pBusy)
	}
	return 0
}

// wordBeside reports whether one of the few words in front of the i-th is of some kind.
func wordBeside(ts []token, i int, is func(word string) bool) bool {
	for k := max(0, i-4); k < i; k++ {
		if is(ts[k].s) {
			return true
		}
	}
	return false
}

func isResource(word string) bool { return word == "resource" || word == "resources" }

// isServer reports whether a word names what answers requests.
func isServer(word string) bool {
	switch word {
	case "model", "server", "service", "instance", "endpoint", "deployment":
		return true
	}
	return false
}

// runsOut reports whether the "timeout" at i is one that ran out: "timeout of 600000ms exceeded", "aborted due to
// timeout", "i/o timeout".
func runsOut(ts []token, i int) bool {
	if wordsAt(ts, i-2, "due", "to") || isSign(ts, i-2, "/") && ts[i-1].s == "o" {
		return true
	}
	for k := i + 1; k <= i+3 && k < len(ts) && !(ts[k].sign && endsSentence(ts[k].s)); k++ {
		switch ts[k].s {
		case "exceeded", "expired", "elapsed", "reached":
			return true
		}
	}
	return false
}

// waitsFor reports whether a word in front of "timeout" says what took too long.
func waitsFor(word string) bool {
	switch word {
	case "client", "request", "idle", "read", "connect", "connection", "stream", "gateway", "upstream", "inference":
		return true
	}
	return false
}

// tooMuch reports whether the words from i on say that what stands before them is too large.
func tooMuch(ts []token, i int) bool {
	if wordAt(ts, i) == "is" || wordAt(ts, i) == "was" {
		i++
	}
	return tokenAt(ts, i).role&rToo != 0
}

// revokes reports whether what was revoked at i is a key: "the token has been revoked".
func revokes(ts []token, i int) bool {
	for k := max(0, i-4); k < i; k++ {
		if w := ts[k].s; w == "token" || w == "key" || w == "keys" || w == "access" {
			return true
		}
	}
	return false
}

// invalidToken reports whether the "invalid" at i is said of a credential: a tokenizer and a parser of JSON have
// invalid tokens, too, and say where.
func invalidToken(ts []token, i int) bool {
	if i > 1 && ts[i-1].s == "is" && ts[i-2].s == "token" {
		return true
	}
	if wordAt(ts, i+1) != "token" {
		return false
	}
	switch behind := tokenAt(ts, i+2); behind.s {
	case "", ":", ".", ",", "provided", "for", "supplied", "signature", "or":
		return true
	}
	return false
}

// refused reports whether a word close to the i-th tells that it was not taken: "the credential is invalid".
func refused(ts []token, i int) bool {
	for k := max(0, i-3); k <= i+4 && k < len(ts); k++ {
		switch ts[k].s {
		case "invalid", "expired", "missing", "incorrect", "wrong", "revoked", "malformed", "not", "no", "bad",
			"disabled", "mismatch":
			return true
		}
	}
	return false
}

// tooLongAt reads "too long" and, in codes, "above max length".
func tooLongAt(ts []token, i int) bool {
	return wordsAt(ts, i, "too", "long") || wordsAt(ts, i, "above", "max", "length")
}

func when(yes bool, p phrase) phrase {
	if yes {
		return p
	}
	return 0
}

// saysBusy reports whether a word in front of "busy" makes it what a server is.
func saysBusy(word string) bool {
	switch word {
	case "is", "are", "server", "currently", "too":
		return true
	}
	return false
}

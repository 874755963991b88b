package overflow

// The numbers of a refusal: what was counted, what is allowed, and the sums and comparisons between them.

// counts are the numbers of an error; the first of each kind counts.
type counts struct {
	unit                               Unit
	total, input, output, limit, delta int
	second                             int  // a second limit
	left                               int  // the largest number that no word explains
	leftTokens                         int  // the largest of them that counts tokens
	atLeast                            bool // the provider stopped counting: a lower bound
	afterOver                          bool // a limit stood directly behind "exceeded:"
	exceeding                          bool // the limit stood behind "exceeds …:", in the text that is read
	isPair                             bool // the second limit is what that is compared with
}

// measure fills in the tokens and the limit. It reports false where the room for the answer alone is
// as large as the window: vLLM refuses that in the words of an overflow, and no shorter prompt helps.
func measure(r *reading, d *Diagnosis) bool {
	c := countsOf(r, UnitTokens)
	c.settle(r)
	if c.limit > 0 && c.output >= c.limit && c.input < c.limit {
		return false
	}
	if c.total > 0 && c.total <= c.limit && c.total+c.output > c.limit {
		c.total += c.output // "max_tokens 16384 and prompt tokens 120111 exceed context 131072"
	}
	d.Size, d.Limit, d.Output = c.total, c.limit, c.output
	switch sum := c.input + c.output; {
	case c.atLeast:
		d.Size = 0
	case d.Size > 0:
	case c.output == 0 || c.input > 0 && sum != c.limit+1: // vLLM counts no further than one above the limit
		d.Size = sum
	}
	if d.Limit < d.Size/mostExcess && r.endsWith(d.Limit) {
		d.Limit = 0
	}
	d.dropSizeWithin()
	return true
}

// mostExcess is for a limit that ends the text. A size of this many times the limit or more says that the limit was cut
// off: 200 of 200000. A request that was really refused is a few times as large as the window.
const mostExcess = 100

// settle resolves what one number alone could not say.
func (c *counts) settle(r *reading) {
	if c.total > 0 || c.input > 0 {
		if c.limit == 0 {
			c.limit = r.jsonLimit
		}
		return
	}
	isPair := c.afterOver || c.isPair && c.second < c.limit
	switch {
	case c.second > 0 && isPair:
		c.input, c.limit = max(c.limit, c.second), min(c.limit, c.second) // "exceeded: 5000 tokens, max 4000"
	case c.second == 0 && c.afterOver:
		c.limit = 0 // "exceeded: 5000" may be either
	}
	if c.delta > 0 && c.limit > 0 && c.input == 0 {
		c.total = c.limit + c.delta // Cohere
		return
	}
	if c.input == 0 {
		c.input = r.jsonTokens
	}
	if c.input == 0 && c.limit > 0 && c.left > c.limit {
		c.input = c.left // "it is 9000 tokens while …"
	}
	if c.limit == 0 {
		c.limit = r.jsonLimit
	}
	if c.input == 0 && c.limit == 0 && r.pairsTokens() {
		c.total, c.limit = r.asked, r.allowed
	}
}

// measureSizes fills in sizes in bytes or characters, for the ladder only.
func measureSizes(r *reading, d Diagnosis) Diagnosis {
	c := countsOf(r, d.Unit)
	d.Size, d.Limit = max(c.total, c.input), c.limit
	d.dropSizeWithin()
	return d
}

// dropSizeWithin forgets a size that the limit allows: what was refused is larger, so something else was counted.
// Gemini counts otherwise for its limit than for its message.
func (d *Diagnosis) dropSizeWithin() {
	if d.Size <= d.Limit {
		d.Size = 0
	}
}

// countsOf reads the numbers of all texts.
func countsOf(r *reading, unit Unit) counts {
	var c counts
	for _, s := range r.segments {
		if !s.code {
			c.read(s.tokens, unit)
		}
	}
	return c
}

// read takes the numbers of one text. Where it has said what was counted and what is allowed, one more sentence
// may name the parts; what comes then is something else.
func (c *counts) read(ts []token, unit Unit) {
	c.unit, c.exceeding = unit, false
	roles := rolesOf(ts)
	if unit == UnitTokens && roles&(rChars|rBytes) != 0 && roles&(rToken|rContext) == 0 {
		return // "the maximum number of characters is 6000, got 7200"
	}
	sentences := 0
	for i := 0; i < len(ts) && sentences < 2; i++ {
		if ts[i].endsSentence() && c.total > 0 && c.limit > 0 {
			sentences++
		}
		if !ts[i].isNum || isNoSize(ts, i) {
			continue
		}
		if n := c.expression(ts, i); n > 0 {
			i += n - 1
			continue
		}
		if !unitFits(ts, i, unit) {
			continue
		}
		kind, over := c.kind(ts, i)
		unitEnd := skipUnit(ts, i+1)
		if kind == countNone && i == 0 && unitEnd == 1 && !beginsWithUnit(wordOf(ts, 1)) {
			continue // a code in front of all words
		}
		c.add(kind, c.size(ts, i), over)
		if kind == countNone && unitEnd > i+1 && ts[unitEnd-1].role&rToken != 0 {
			c.leftTokens = max(c.leftTokens, int(ts[i].n))
		}
	}
}

// size is the number at i in the unit that is asked for: megabytes are bytes. A MiB is more than a MB: whoever stays
// below the smaller one is below both.
func (c *counts) size(ts []token, i int) int {
	n := int(ts[i].n)
	if unit := wordOf(ts, i+1); c.unit == UnitBytes {
		switch {
		case isOneOf(unit, "kb kib kilobytes"):
			n *= 1000
		case isOneOf(unit, "mb mib megabytes"):
			n *= 1_000_000
		case isOneOf(unit, "gb gib"):
			n *= 1_000_000_000
		}
	}
	return n
}

func (c *counts) add(kind count, n int, over bool) {
	set := func(p *int) {
		isLarge := n >= minLimit || kind == countOutput || kind == countDelta
		if *p == 0 && n <= maxLimit && isLarge {
			*p = n
		}
	}
	switch kind {
	case countTotal:
		set(&c.total)
	case countInput:
		set(&c.input)
	case countOutput:
		set(&c.output)
	case countDelta:
		set(&c.delta)
	case countLimit:
		if c.limit > 0 {
			set(&c.second)
		}
		set(&c.limit)
		c.afterOver = c.afterOver || over
	case countNone:
		c.left = max(c.left, n)
	}
}

// pairs notes whether the limit at i is the second of a sentence that says "exceeds" and gives the first behind a
// colon: "exceeds the limit of the model: 40000 tokens while the maximum is 32768". The first is then what was sent. A
// remark in brackets is about something else: "(input limit 122880)", but not "(limit 32768)".
func (c *counts) pairs(ts []token, i int) {
	from := i - 1 // the words between the number and the one before it
	for from >= 0 && !ts[from].isNum && !ts[from].endsSentence() {
		from--
	}
	words := ts[from+1 : i]
	if c.limit == 0 {
		c.exceeding = c.exceeding || isSign(ts, i-1, ":") && rolesOf(words)&rOver != 0
		return
	}
	isApart := from < 0 || ts[from].sign
	for k := range words {
		isApart = isApart || words[k].s == "(" && !roleAt(words, k+1, rMax)
	}
	c.isPair = c.isPair || c.second == 0 && c.exceeding && !isApart
}

// expression reads "184915 + 20000 > 204648", "5000/4096", "9 vs. 8" and "[1, 204800]" and returns how
// many tokens that was. A difference ("4096 > 32768 - 29000") repeats numbers that stand elsewhere.
func (c *counts) expression(ts []token, i int) int {
	if isSign(ts, i-1, "[") && isSign(ts, i+1, ",") && isNum(ts, i+2) {
		c.add(countLimit, int(ts[i+2].n), false)
		return 3
	}
	sum, parts, last, k := c.size(ts, i), 1, 0, skipNote(ts, skipUnit(ts, i+1))
	for isPlus(ts, k) {
		k = skipNames(ts, k+1) // "input 35012 + max_tokens 4096"
		if k >= len(ts) || !ts[k].isNum {
			return 0
		}
		last = c.size(ts, k)
		sum += last
		parts++
		k = skipNote(ts, skipUnit(ts, k+1))
	}
	if parts > 1 && isSign(ts, k, "=") && isNum(ts, k+1) {
		sum = c.size(ts, k+1)
		k = skipUnit(ts, k+2)
	}
	switch {
	case isSign(ts, k, ">"):
	case parts > 1: // a sum is what was compared with the limit: "71602 + 2048"
		if sum < minLimit || c.before(ts, i) == countLimit && behind(ts, k-1) != countTotal {
			return 0
		}
		c.addSum(c.size(ts, i), sum, parts, last)
		return k - i
	case isSign(ts, k, "/") && !isSign(ts, k+2, "/"), wordOf(ts, k) == "of":
	case isOneOf(wordOf(ts, k), "vs versus"):
		if isSign(ts, k+1, ".") {
			k++
		}
	default:
		return 0
	}
	if isSign(ts, k+1, "=") {
		k++
	}
	if k+1 >= len(ts) || !ts[k+1].isNum {
		return 0
	}
	limit := c.size(ts, k+1)
	if isSign(ts, k+2, "-") && isNum(ts, k+3) {
		return k + 4 - i
	}
	if limit >= minLimit && (sum >= limit || limit > maxLimit) {
		c.addSum(c.size(ts, i), sum, parts, last)
		c.add(countLimit, limit, false)
	}
	return k + 2 - i
}

// addSum adds a total and, where it has two parts, what they are: what is sent and the room for the answer.
func (c *counts) addSum(first, sum, parts, last int) {
	if parts == 2 && sum <= maxLimit {
		c.add(countOutput, last, false)
		c.add(countInput, first, false)
	}
	c.add(countTotal, sum, false)
}

// skipNote skips a note behind a number: "30000 (messages) + 4096 (max_tokens)".
func skipNote(ts []token, i int) int {
	for k := i + 1; isSign(ts, i, "(") && k < i+6 && k < len(ts) && !ts[k].isNum; k++ {
		if isSign(ts, k, ")") {
			return k + 1
		}
	}
	return i
}

// skipNames skips the name of what a number counts.
func skipNames(ts []token, i int) int {
	for end := i + 3; i < end && (roleAt(ts, i, rToken|rInput|rOutput|rMax) || wordOf(ts, i) == "requested"); i++ {
	}
	return i
}

// isNoSize reports whether the number at i is a status, a code, a time, a share or below zero.
func isNoSize(ts []token, i int) bool {
	if ts[i].n > maxLimit || isSign(ts, i+1, "%") || isStatus(ts, i) || standsInFront(ts, i) {
		return true
	}
	if isSign(ts, i-1, "[") && isSign(ts, i+1, "]") || ts[i].n == 2013 && isSign(ts, i-1, "(") {
		return true // a code: "[1261]", or "invalid params, … (2013)" of MiniMax
	}
	before := tokenFrom(ts, i-2) // "max_tokens must be at least 1, got -1201"
	return isSign(ts, i-1, "-") && (before.sign && before.s != ")" || before.role&rActual != 0)
}

// unitFits reports whether a number counts what is asked for: characters and bytes are not tokens. The unit stands
// behind the number, or closely before it: "the max input characters is 20000".
func unitFits(ts []token, i int, unit Unit) bool {
	for k := i + 1; k < len(ts) && k <= i+3 && !ts[k].sign && !ts[k].isNum; k++ {
		if u, ok := unitOf(ts[k]); ok || ts[k].s == "blocks" { // of a cache
			return u == unit && ok
		}
	}
	for k := i - 1; k >= 0 && k >= i-3 && !ts[k].sign && !ts[k].isNum; k-- {
		if u, ok := unitOf(ts[k]); ok {
			return u == unit
		}
	}
	return true
}

// unitOf returns the unit that a word names.
func unitOf(t token) (u Unit, ok bool) {
	switch {
	case t.role&rToken != 0:
		return UnitTokens, true
	case t.role&rChars != 0:
		return UnitChars, true
	}
	return UnitBytes, t.role&rBytes != 0
}

// tokenRate returns the tokens per minute that a rate limit names ("50,000 input tokens per minute"), 0 if it
// does not, or if it says how large the request was: that is then no matter of its size.
func tokenRate(r *reading) int {
	rate := 0
	for _, s := range r.segments {
		ts := s.tokens
		for k := range ts {
			unit := skipUnit(ts, k+1)
			isRate := isNum(ts, k) && ts[k].n >= minLimit && unit > k+1 && ts[unit-1].role&rToken != 0
			isMinute := tokenAt(ts, unit).role&rPer != 0 && isOneOf(wordAt(ts, unit+1), "minute min")
			if isRate && isMinute && numberBehind(ts, "requested") == 0 {
				rate = max(rate, int(ts[k].n))
			}
		}
	}
	return rate
}

// numberBehind returns the number directly behind a word, past a colon or an equals sign.
func numberBehind(ts []token, word string) int {
	for i := range ts {
		if ts[i].s != word {
			continue
		}
		k := i + 1
		if isOneOf(wordOf(ts, k), ": =") {
			k++
		}
		if isNum(ts, k) {
			return int(ts[k].n)
		}
	}
	return 0
}

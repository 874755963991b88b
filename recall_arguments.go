package winnow

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// The arguments of the recall tool. Models write numbers as texts and texts as numbers, with blanks, in digits of other
// scripts: what can be meant is taken.

// recallArguments are what a model asks for.
type recallArguments struct {
	handle   string // digits; empty: none
	given    string // the handle as it was written, where it is none
	from, to int    // lines, from 1; 0: not said
	words    string
	pattern  string
	context  int // lines
}

// defaultRecallContext is how many lines stand around a match: less than that, and what a line is about is not to be
// seen.
const defaultRecallContext = 2

func readRecallArguments(raw json.RawMessage) recallArguments {
	a := recallArguments{context: defaultRecallContext}
	var text string
	if json.Unmarshal(raw, &text) == nil { // JSON within JSON, or the handle alone
		if !strings.HasPrefix(strings.TrimSpace(text), "{") {
			a.setHandle(text)
			return a
		}
		raw = json.RawMessage(text)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var fields map[string]any
	if decoder.Decode(&fields) != nil {
		var n json.Number
		if json.Unmarshal(raw, &n) == nil {
			a.setHandle(n.String())
		}
		return a
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) { // "Handle" and "handle": one of them, always the same
		a.set(strings.ToLower(name), fields[name])
	}
	return a
}

func (a *recallArguments) set(name string, value any) {
	text := ""
	switch v := value.(type) {
	case string:
		text = v
	case json.Number:
		text = v.String()
	default:
		return
	}
	switch name {
	case "handle":
		a.setHandle(text)
	case "from":
		a.from = lineNumber(text)
	case "to":
		a.to = lineNumber(text)
	case "lines":
		if from, to, ok := strings.Cut(text, "-"); ok {
			a.from, a.to = lineNumber(from), lineNumber(to)
		}
	case "words":
		a.words = strings.TrimSpace(text)
	case "pattern":
		a.pattern = text
	case "context":
		a.context = min(lineNumber(text), maxRecallContext)
	}
}

// maxRecallContext is more lines than anybody wants around each match.
const maxRecallContext = 100

// lineNumber reads a number that is not negative.
func lineNumber(text string) int {
	f, err := strconv.ParseFloat(asciiDigits(strings.TrimSpace(text)), 64)
	if err != nil || !(f > 0) {
		return 0
	}
	return int(min(f, math.MaxInt32))
}

// setHandle finds the handle in what a model wrote in its place.
func (a *recallArguments) setHandle(text string) {
	a.given = text
	digits := asciiDigits(text[:min(len(text), maxGivenHandle)])
	joined := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.In(r, unicode.Pd, unicode.Cf) || strings.ContainsRune("_.,'#\"", r) {
			return -1
		}
		return r
	}, digits)
	joined = strings.TrimPrefix(strings.ToLower(joined), recallName)
	for _, run := range append([]string{joined}, strings.FieldsFunc(digits, isNoDigit)...) {
		if isHandle(run) {
			a.handle = run
			return
		}
	}
}

func isHandle(s string) bool {
	n := len(s)
	return (n == handleDigits || n == spanDigits || n == longHandleDigits) && strings.IndexFunc(s, isNoDigit) < 0
}

// maxGivenHandle is how much of a text is looked at for a handle, in bytes.
const maxGivenHandle = 200

func isNoDigit(r rune) bool { return r < '0' || r > '9' }

// asciiDigits returns s with the digits of all scripts as 0 to 9.
func asciiDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 || !unicode.IsDigit(r) {
			return r
		}
		for _, t := range unicode.Nd.R16 {
			if r >= rune(t.Lo) && r <= rune(t.Hi) {
				return '0' + (r-rune(t.Lo))%10
			}
		}
		for _, t := range unicode.Nd.R32 {
			if r >= rune(t.Lo) && r <= rune(t.Hi) {
				return '0' + (r-rune(t.Lo))%10
			}
		}
		return r
	}, s)
}

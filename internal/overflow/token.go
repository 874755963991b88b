package overflow

import (
	"iter"
	"slices"
	"strings"
)

// A text is read as words with a meaning each, not as a string: "Prompt exceeds max length", "your input exceeds the
// context window" and "message longer than the maximum" differ in every word and say one thing. A word has the roles
// that it can play in an overflow; the families in families.go ask for roles that stand together in one sentence.

// role is a set of meanings.
type role uint64

const (
	rInput    role = 1 << iota // what is sent: prompt, input, conversation
	rMessage                   // "message": what is sent, or one gRPC frame
	rRequest                   // the request as a whole, its body
	rToken                     // tokens
	rContext                   // context
	rCapacity                  // window, length, size, limit
	rLength                    // length, count: what can be long, other than in bytes
	rMax                       // maximum, limit, allowed
	rOver                      // exceed, overflow
	rToo                       // too
	rBig                       // long, large, many
	rMore                      // longer, larger, more (than)
	rLess                      // less, fewer, most (than)
	rThan                      // than
	rOutput                    // answer: completion, output, max_tokens
	rOutParam                  // the name of the parameter that caps the answer
	rReduce                    // reduce, shorten
	rFull                      // full, fit, exhausted
	rMust                      // must, should, cannot
	rBytes                     // bytes, MB
	rChars                     // characters
	rMedia                     // images, pages, audio
	rField                     // one field of the request: id, name, pattern
	rActual                    // words before the number that was counted: has, contains, got
	rRate                      // throttling and rates, in one word
	rPer                       // per
	rTime                      // minute, hour
	rDay                       // day, month: a quota
	rMemory                    // of a server
	rQuota                     // quota, billing
	rSkip                      // a small word between the others
	rHolds                     // what a model does with all that it has room for: accepts, allows, supports
	rLeft                      // the room that is left, which is not the size of a window: left, remaining, available
)

// token is a word, a number or a sign.
type token struct {
	s     string
	role  role
	n     int32 // the value of a number
	isNum bool
	sign  bool
}

// segment is one text: a message, a code, or what stands around them.
type segment struct {
	lower  string // normalised: lower case, without links, quotes and doubled punctuation
	raw    string
	tokens []token
	roles  role // of all tokens
	says   phrase
	code   bool
	wide   bool // has letters that are not ASCII
}

func (s *segment) hasAll(r role) bool { return s.roles&r == r }

func (s *segment) hasWord(words ...string) bool { return hasWord(s.tokens, words...) }

// minLimit is the smallest number that is taken for a size: smaller ones are positions, versions, counts.
const minLimit = 64

// maxLimit is above every window and body; larger numbers are times and ids.
const maxLimit = 1_000_000_000

func isSign(ts []token, i int, sign string) bool { return wordOf(ts, i) == sign }

// roleAt reports whether there is a token k with one of the roles.
func roleAt(ts []token, k int, roles role) bool { return tokenFrom(ts, k).role&roles != 0 }

// isNum reports whether a number that can be a size stands at i.
func isNum(ts []token, i int) bool {
	t := tokenFrom(ts, i)
	return t.isNum && t.n <= maxLimit
}

// isPlus reports whether a sum goes on at i.
func isPlus(ts []token, i int) bool {
	return isOneOf(wordOf(ts, i), "+ plus")
}

// sentences yields the sentences of a text.
func sentences(ts []token) iter.Seq[[]token] {
	return func(yield func([]token) bool) {
		for start := 0; start < len(ts); {
			end := start
			for end < len(ts) && !ts[end].endsSentence() {
				end++
			}
			if !yield(ts[start:end]) {
				return
			}
			start = end + 1
		}
	}
}

// endsSentence reports whether a token is the end of a sentence.
func (t token) endsSentence() bool { return t.sign && isOneOf(t.s, ". ; ! ?") }

// wordOf returns the word, number or sign at i, "" outside of the text.
func wordOf(ts []token, i int) string { return tokenFrom(ts, i).s }

// wordAt returns the word at i, past a hyphen or a slash.
func wordAt(ts []token, i int) string { return tokenAt(ts, i).s }

// tokenAt returns the token at i, past hyphens and slashes.
func tokenAt(ts []token, i int) token {
	for ; i < len(ts); i++ {
		if t := ts[i]; !t.sign || t.s != "-" && t.s != "/" {
			return t
		}
	}
	return token{}
}

// tokenFrom returns the token at i, which may be outside of the text.
func tokenFrom(ts []token, i int) token {
	if i < 0 || i >= len(ts) {
		return token{}
	}
	return ts[i]
}

// wordBefore returns the word before the k-th token, past signs; "" at the beginning.
func wordBefore(ts []token, k int) string {
	for k--; k >= 0; k-- {
		if !ts[k].sign {
			return ts[k].s
		}
	}
	return ""
}

// isOneOf reports whether a word is in a list of words, which one space separates.
func isOneOf(word, list string) bool {
	for found := range strings.SplitSeq(list, " ") {
		if found == word {
			return true
		}
	}
	return false
}

// hasWord reports whether one of the words is in the text.
func hasWord(ts []token, words ...string) bool {
	return slices.ContainsFunc(ts, func(t token) bool { return slices.Contains(words, t.s) })
}

func rolesOf(ts []token) role {
	var all role
	for i := range ts {
		all |= ts[i].role
	}
	return all
}

// inputWord reports whether a word names what is sent, beside "message", which any error may have.
func inputWord(ts []token) bool {
	return slices.ContainsFunc(ts, func(t token) bool { return t.role&(rInput|rMessage) == rInput })
}

// skipUnit skips "tokens" and "bytes" behind a number, and what is sent: "209353 input tokens > …".
func skipUnit(ts []token, i int) int {
	for k := 0; k < 3 && i < len(ts) && !ts[i].sign && ts[i].role&(rToken|rBytes|rInput) != 0; k++ {
		i++
	}
	return i
}

func containsAny(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(s, part) })
}

package markup

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/runes"
)

// Brackets, slashes and bars, and the characters that look like them.
const (
	angles       = "<\uFF1C\uFE64\u2039\u2329\u3008\u27E8\u276E\u2770\u02C2\u227A\u22D6\u29FC\u1438"
	closeAngles  = ">\uFF1E\uFE65\u203A\u232A\u3009\u27E9\u276F\u2771\u02C3\u227B\u22D7\u29FD\u1433"
	squares      = "[\uFF3B\u3010\u27E6"
	closeSquares = "]\uFF3D\u3011\u27E7"
	slashes      = "/\\\uFF0F\uFF3C\u2215\u2044\u2216\u29F8\u29F9\u2571\u2572\u27CB\u27CD\uFE68"
	wideBars     = "\uFF5C\uFFE8\u2502\u2758\u2223\u01C0"
)

func isAngle(r rune) bool {
	return r == '<' || r >= utf8.RuneSelf && strings.ContainsRune(angles, r)
}
func isSquare(r rune) bool {
	return r == '[' || r >= utf8.RuneSelf && strings.ContainsRune(squares, r)
}

// opensTag reports whether s, which follows an angle bracket, makes a tag of the frames that the library writes, a
// role, or a control token. A text that ends before there is a name may go on in the next one.
func opensTag(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	s = skipHidden(s)
	if s == "" {
		return true
	}
	if r, size := utf8.DecodeRuneInString(s); r == '|' {
		return opensToken(s[size:])
	} else if r >= utf8.RuneSelf && strings.ContainsRune(wideBars, r) {
		return true
	}
	n := readName(s)
	name, tight := n.name(), !unicode.IsSpace(first) // a < start_time is a comparison
	switch {
	case slices.ContainsFunc(frameNames, func(frame string) bool { return bytes.HasPrefix(name, []byte(frame)) }):
		return true
	case n.isToken:
		return n.closed || tight
	case isRole(name[:n.first]) && !strings.HasPrefix(n.rest, "@"): // of a mail address
		return n.closed || tight || strings.HasPrefix(n.rest, "=\"") || strings.HasPrefix(n.rest, "='")
	}
	bare := bytes.TrimRight(name, "0123456789")
	return n.closed && (isRole(bare) || slices.Contains(tokenNames, string(bare)))
}

// opensToken reports whether s, which follows <|, makes a control token. With a blank in front it is an operator,
// unless another bar closes it.
func opensToken(s string) bool {
	n := readName(s)
	if n.length == 0 {
		return n.rest == ""
	}
	r, _ := utf8.DecodeRuneInString(n.rest)
	return runes.IsLetter(s[0]) || r == '|' || strings.ContainsRune(wideBars, r)
}

// opensInstruction reports whether s, which follows a square bracket, makes a control token such as [INST].
func opensInstruction(s string) bool {
	n := readName(skipHidden(s))
	r, _ := utf8.DecodeRuneInString(n.rest)
	return n.rest != "" && strings.ContainsRune(closeSquares, r) && slices.Contains(squareNames, string(n.name()))
}

// skipHidden returns s without the characters at its beginning that do not keep a reader from seeing a tag.
func skipHidden(s string) string {
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		if !isHidden(r) {
			break
		}
		s = s[size:]
	}
	return s
}

// isHidden reports whether r does not keep a reader from seeing a tag: white space, what nobody sees, marks, slashes.
func isHidden(r rune) bool {
	if r > ' ' && r < 0x7F {
		return r == '/' || r == '\\'
	}
	isMark := unicode.In(r, unicode.Mn, unicode.Me)
	return isMark || r == utf8.RuneError || !runes.IsVisible(r) || strings.ContainsRune(slashes, r)
}

// nameChars is as long as the longest name that matters.
const nameChars = 24

// tagName is what a reader makes of the name of a tag: lower case, in ASCII letters and digits.
type tagName struct {
	letters [nameChars]byte
	length  int    // of all words together
	first   int    // length of what stands before the first blank
	isToken bool   // several words, one of which is a word of control tokens, such as start_of_turn
	rest    string // what follows
	closed  bool   // by a bracket, without attributes
}

func (n *tagName) name() []byte { return n.letters[:n.length] }

// readName reads the name at the beginning of s. It reads no further than to the next bracket, so that all
// names of a text together take time linear in it.
func readName(s string) (n tagName) {
	part, parts, end := 0, 0, -1 // where the current part begins, how many there were, and where the first word ends
	divide := func() {
		if end < 0 && part < n.length {
			parts++
			word := n.letters[part:n.length]
			n.isToken = n.isToken || slices.Contains(tokenParts, string(word)) || isRole(word)
		}
		part = n.length
	}
	for s != "" && n.length < nameChars {
		r, size := rune(s[0]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s)
		}
		if c := foldLetter(r); c != 0 {
			n.letters[n.length] = c
			n.length++
		} else if isJoint(r) {
			divide()
		} else if !isHidden(r) {
			break
		} else if end < 0 && n.length > 0 && unicode.IsSpace(r) {
			divide()
			end = n.length
		}
		s = s[size:]
	}
	divide()
	if n.first = end; end < 0 {
		n.first = n.length
	}
	n.isToken = n.isToken && parts > 1
	n.rest = s
	r, _ := utf8.DecodeRuneInString(s)
	n.closed = s != "" && strings.ContainsRune(closeAngles, r)
	return n
}

// isJoint reports whether r stands between the words of a name.
func isJoint(r rune) bool { return strings.ContainsRune("_-.:▁", r) }

func isRole(name []byte) bool { return slices.Contains(roleNames, string(name)) }

var (
	// frameNames are the tags of the library's own frames, as readName writes them: of the summarizer's prompt,
	// of the sections of a summary, and of what is recalled.
	frameNames = []string{
		"conversation", "message", "previoussummary", "alreadyquoted", "thinking", "toolcall",
		"summary", "readfiles", "modifiedfiles", "workspacecriticalrules", "inforce", "peoplesaid",
		"recalled",
	}
	roleNames = []string{"system", "sys", "user", "assistant", "human", "developer", "tool", "tools", "function",
		"functions", "inst", "instruction", "instructions", "prompt"}
	// tokenNames are control tokens, tokenParts what a control token of several words has among them. Sources: the
	// tokenizers of Llama, Mistral, Gemma, Qwen, DeepSeek, T5, BERT and their descendants.
	tokenNames = []string{"s", "bos", "eos", "sos", "bot", "eot", "eom", "eod", "pad", "unk", "cls", "sep", "think",
		"thought", "reasoning", "turn", "unused", "extraid", "endoftext", "startofturn", "endofturn"}
	tokenParts = []string{"start", "begin", "end", "turn", "im", "bos", "eos", "eot", "eom", "fim", "think",
		"thought", "unused", "extra"}
	squareNames = []string{"inst", "sys", "systemprompt", "availabletools", "toolcalls", "toolresults",
		"toolcontent", "toolrequest", "think", "callid", "gmask", "smask"}
)

// foldLetter returns the ASCII letter, in lower case, or the digit that r looks like, or 0.
func foldLetter(r rune) byte {
	switch {
	case r < utf8.RuneSelf:
		if c := byte(r); runes.IsLetter(c) {
			return c | 0x20
		} else if runes.IsDigit(c) {
			return c
		}
		return 0
	case r >= '！' && r <= '～': // the full-width forms of ASCII
		return foldLetter(r - '！' + '!')
	case r >= '𝐀' && r <= '𝚣': // mathematical alphabets, 26 capitals and 26 small letters each
		return 'a' + byte((r-'𝐀')%26)
	case r >= '𝟎' && r <= '𝟿':
		return '0' + byte((r-'𝟎')%10)
	case r >= 'Ⓐ' && r <= 'ⓩ':
		return 'a' + byte((r-'Ⓐ')%26)
	}
	if i := strings.IndexRune(lookAlikes, r); i >= 0 {
		return likeASCII[utf8.RuneCountInString(lookAlikes[:i])]
	}
	if low := unicode.ToLower(r); low < utf8.RuneSelf { // the Kelvin sign
		return foldLetter(low)
	}
	return 0
}

// lookAlikes are letters of other alphabets that look like those of likeASCII, one for one.
const (
	lookAlikes = "аАВсСԁеЕҽɡһНіІıјЈкКӏмМոոоОοΟрРρΡԛѕЅтТτΤυսνѵѡԝхХχΧуУγҮΑΒΕΖΗΙΚΜΝſℓℎℴℯℊ"
	likeASCII  = "aabccdeeegh" + "hiiijjkklmmnnooooppppqssttttuuvvwwxxxxyyyyabezhikmnslhoeg"
)

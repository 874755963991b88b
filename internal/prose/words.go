package prose

import (
	"math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/winnowgo/winnow/internal/ascii"
)

// A List of words says what a sentence is about. It is not a pattern, because it looks at all text of a conversation:
// searching for fixed words is twenty times as fast as a pattern that ignores case.
type List struct {
	words []string // in lower case; found only as whole words
	parts []string // in lower case; found anywhere: stems, and languages that put no space between words

	once    sync.Once // for what follows: a program that never asks pays nothing
	byFirst [26][]listed
	// For each byte that begins a word, in any case, which bytes stand next in such words: a bit each, by the lowest
	// five bits of a byte. Those of a letter are the same in both cases.
	begins [256]uint32
}

// listed is a word of a list with its first bytes, which differ from most texts that begin with the same two letters.
type listed struct {
	word       string
	head, mask uint64 // of up to eight bytes, with bit 5 set; those from an apostrophe on are not in the mask
}

// mayBegin reports whether the text whose first eight bytes are w, with bit 5 set, may begin with the word.
func (l *listed) mayBegin(w uint64) bool { return (w^l.head)&l.mask == 0 }

// listedAs returns a word with its first bytes.
func listedAs(word string) listed {
	l := listed{word: word}
	plain, _, _ := strings.Cut(word, "'")
	for k := range min(len(plain), 8) {
		l.head |= uint64(plain[k]|0x20) << (8 * k)
		l.mask |= 0xFF << (8 * k)
	}
	return l
}

// NewList returns the list of whole words, and of parts that are found anywhere. All are in lower case.
func NewList(words, parts []string) *List { return &List{words: words, parts: parts} }

// Either returns the list of the words of both.
func Either(a, b *List) *List {
	return NewList(slices.Concat(a.words, b.words), slices.Concat(a.parts, b.parts))
}

// index sorts the words by how they begin.
func (l *List) index() {
	for _, w := range l.words {
		k := w[0] - 'a'
		l.byFirst[k] = append(l.byFirst[k], listedAs(w))
		next := uint32(1) << (w[1] & 31)
		if !ascii.IsLetter(w[1]) { // an apostrophe may be the curly one
			next = ^uint32(0)
		}
		l.begins[w[0]] |= next
		l.begins[w[0]-'a'+'A'] |= next
	}
}

// In reports whether s holds one of the words or parts, in any case.
func (l *List) In(s string) bool {
	found, wide := l.find(s, true)
	return found || l.hasPart(s, wide)
}

// InOutput reports whether s, which a program printed, holds one of the words, in any case. A backslash in it does not
// begin an escape.
func (l *List) InOutput(s string) bool {
	found, _ := l.find(s, false)
	return found
}

// find reports whether s holds one of the words, and if not, whether it has characters beyond ASCII. With escapes, the
// letter behind a backslash is an escape of JSON and not part of the word behind it.
func (l *List) find(s string, escapes bool) (found, wide bool) {
	if len(l.words) == 0 {
		return false, !ascii.Only(s)
	}
	l.once.Do(l.index)
	inWord := false // the byte before is of a word
	single := 0     // up to there byte by byte
	for i := 0; i+1 < len(s); i++ {
		if i >= single && i+8 < len(s) {
			words, isPlain := wordBytes(ascii.LoadWord(s, i))
			if isPlain {
				before := words << 8
				if inWord {
					before |= 0x80
				}
				for begin := words &^ before; begin != 0; begin &= begin - 1 {
					k := i + bits.TrailingZeros64(begin)/8
					if l.mayBegin(s[k], s[k+1]) && l.beginsWord(s[k:]) {
						return true, wide
					}
				}
				inWord = words>>63 != 0
				i += 7
				continue
			}
			single = i + 8
		}
		c, behind := s[i], inWord
		inWord = wordByte(c)
		switch {
		case c >= 0x80:
			wide = true
		case escapes && c == '\\':
			i++
		case inWord && !behind && l.mayBegin(s[i], s[i+1]) && l.beginsWord(s[i:]):
			return true, wide
		}
	}
	return false, wide
}

// hasPart reports whether s, which has characters beyond ASCII if it is wide, holds one of the parts.
func (l *List) hasPart(s string, wide bool) bool {
	low := ""
	for _, p := range l.parts {
		if p[0] >= 0x80 && !wide {
			continue
		}
		if low == "" {
			low = strings.ToLower(s)
		}
		if strings.Contains(low, p) {
			return true
		}
	}
	return false
}

// Has reports whether w, of ASCII letters, is one of the words, in any case.
func (l *List) Has(w string) bool {
	l.once.Do(l.index)
	return len(w) > 1 && l.mayBegin(w[0], w[1]) && l.beginsWord(w)
}

// mayBegin is the quick look ahead of beginsWord at two bytes of a text: it leaves no word out.
func (l *List) mayBegin(first, second byte) bool { return l.begins[first]>>(second&31)&1 != 0 }

// beginsWord reports whether s, which begins with a letter, begins with a word of the list.
func (l *List) beginsWord(s string) bool {
	words := l.byFirst[s[0]|0x20-'a']
	if len(s) < 8 {
		return slices.ContainsFunc(words, func(w listed) bool { return beginsWithWord(s, w.word) })
	}
	const ones = 0x0101010101010101
	head := ascii.LoadWord(s, 0) | ' '*ones // letters in lower case
	for k := range words {
		if w := &words[k]; w.mayBegin(head) && beginsWithWord(s, w.word) {
			return true
		}
	}
	return false
}

// beginsWithWord reports whether s begins with the word w, in any case. The apostrophe may be the curly one.
func beginsWithWord(s, w string) bool {
	i := 0
	for k := range len(w) {
		if i == len(s) {
			return false
		}
		switch c := s[i]; {
		case c == w[k], ascii.IsLetter(c) && c|0x20 == w[k]:
			i++
		case w[k] == '\'' && strings.HasPrefix(s[i:], "’"):
			i += len("’")
		default:
			return false
		}
	}
	return i == len(s) || !wordByte(s[i])
}

// wordBytes sets the high bit of each of eight bytes that belongs to a word. If one of them is not ASCII or is a
// backslash, isPlain is false, and words says nothing.
func wordBytes(w uint64) (words uint64, isPlain bool) {
	const ones = 0x0101010101010101
	letter := w | ' '*ones // in lower case
	letter = (letter + (0x80-'a')*ones) &^ (letter + (0x7F-'z')*ones)
	digit := (w + (0x80-'0')*ones) &^ (w + (0x7F-'9')*ones)
	underscore := ^((w ^ '_'*ones) + 0x7F*ones)
	backslash := ^((w ^ '\\'*ones) + 0x7F*ones)
	return (letter | digit | underscore) & ascii.NonASCII, (w|backslash)&ascii.NonASCII == 0
}

func wordByte(c byte) bool { return ascii.Class[c]&(ascii.Alpha|ascii.Digit|ascii.Underscore) != 0 }

// What sentences are about.
var (
	// Rules demand or forbid something.
	Rules = NewList(
		[]string{"must", "mustn't", "never", "don't", "dont", "do not", "always", "only", "should not", "shouldn't",
			"cannot", "avoid", "make sure", "ensure", "require", "required", "forbidden", "not allowed", "prefer"},
		[]string{"必须", "必須", "不要", "禁止", "务必", "请勿", "不得", "不能", "一定要", "始终", "总是", "只能", "しないで", "必ず", "絶対", "해야",
			"하지 마"},
	)
	// StrongRules are those that leave no choice.
	StrongRules = NewList(
		[]string{"must", "mustn't", "never", "don't", "dont", "do not", "forbidden", "not allowed"},
		[]string{"必须", "必須", "不要", "禁止", "务必", "请勿", "不得", "しないで", "必ず", "絶対"},
	)
	// Prohibitions are the rules that a user relies on most.
	Prohibitions = NewList(
		[]string{"mustn't", "must not", "never", "don't", "dont", "do not", "forbidden", "not allowed"},
		[]string{"不要", "禁止", "请勿", "不得", "しないで", "하지 마"},
	)
	// Decisions say what was chosen, and why.
	Decisions = NewList(
		[]string{"decided", "decision", "instead of", "rather than", "because", "root cause", "turns out",
			"the issue is", "the issue was", "the problem is", "the problem was", "the bug is", "the bug was",
			"the fix is", "the cause is", "chose", "opted", "we'll use", "i'll use"},
		[]string{"决定", "因为", "改用", "原因是", "根本原因", "にしました", "ため、"},
	)
	// Notes are decisions and plans.
	Notes = Either(Decisions, Plans)
	// Plans say what remains to be done.
	Plans = NewList(
		[]string{"next step", "next steps", "next,", "next:", "todo", "remaining", "still need", "left to do",
			"follow-up", "follow up"},
		[]string{"下一步", "接下来", "待办", "剩下", "次に"},
	)
	// Errors say that something went wrong.
	Errors = NewList(
		nil,
		[]string{"error", "fail", "exception", "panic", "fatal", "not found", "denied", "cannot", "refused",
			"timed out", "timeout", "invalid", "unexpected", "错误", "失败", "エラー"},
	)
)

package excerpt

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/secret"
	"github.com/winnowgo/winnow/internal/tokencount"
)

const (
	// A remainder has at most remainderTokens tokens, plus remainderShare of those that it stands for. In a replay of
	// the recorded sessions a share of 0.1 costs 0.1 to 0.3 % less and keeps 0.1 to 0.2 points fewer of the names that
	// are needed.
	remainderTokens = 40
	remainderShare  = 0.15
	// A command's output keeps the first line, which says what ran, and the last, which says how it ended. The first
	// keeps at most 80 characters, a line of a terminal, and the last at most twice that.
	remainderHeadChars = 80
	remainderTailChars = 160
	remainderFrame     = 20 // tokens of the frame around the names
)

// Room returns how many tokens may stay of a part that has the given tokens.
func Room(tokens int) int { return remainderTokens + int(remainderShare*float64(tokens)) }

// Remainder returns what stays of text, an old result, in about room tokens: its names and, if reports is set, also the
// first and the last line. Names that are in names already are left out, and the others are added to them. note stands
// behind the words that say what is missing.
func Remainder(text string, room int, reports bool, names *Names, note string) string {
	head, tail, left := "", "", text
	if reports {
		head, tail = firstLine(text), lastLine(text)
		left = text[len(head) : len(text)-len(tail)]
		head, tail = secret.Mask(head), secret.Mask(tail)
		if tokencount.Cautious(head)+tokencount.Cautious(tail) > room/2 {
			head, tail, left = "", "", text
		}
	}
	names.Add(head)
	names.Add(tail)
	var b strings.Builder
	if head != "" {
		b.WriteString(head + "\n")
	}
	fmt.Fprintf(&b, "[%d characters of an old result left out%s.", utf8.RuneCountInString(left), note)
	room -= remainderFrame + tokencount.Cautious(head) + tokencount.Cautious(tail)
	if ids := names.choose([]Source{{Text: left}}, leastNameWorth, room); len(ids) > 0 {
		b.WriteString(" Names in it: " + strings.Join(ids, " "))
	}
	b.WriteByte(']')
	if tail != "" {
		b.WriteString("\n" + tail)
	}
	return b.String()
}

// cutsToken reports whether a token of s would be cut at index i. The rest of a name that was cut is not a name.
func cutsToken(s string, i int) bool {
	return i > 0 && i < len(s) && runes.Class[s[i-1]] != 0 && runes.Class[s[i]] != 0
}

// firstLine returns the first line of s, cut to the whole words in its first remainderHeadChars characters.
func firstLine(s string) string {
	head := s[:runes.HeadWords(s, remainderHeadChars)]
	if k := strings.IndexByte(head, '\n'); k > 0 {
		return head[:k]
	}
	end := len(head)
	for cutsToken(s, end) {
		end--
	}
	return s[:end]
}

// lastLine returns the last line of s if the end of s reports something. The line is cut to the whole words in its last
// remainderTailChars characters, and never overlaps the first line.
func lastLine(s string) string {
	from := runes.Tail(s, remainderTailChars)
	if !TailMatters(s[from:]) {
		return ""
	}
	if k := strings.LastIndexByte(strings.TrimRight(s[from:], "\n"), '\n'); k >= 0 {
		return s[max(len(firstLine(s)), from+k+1):]
	}
	from = max(len(firstLine(s)), runes.TailWords(s, remainderTailChars))
	for cutsToken(s, from) {
		from++
	}
	return s[from:]
}

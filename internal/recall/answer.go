package recall

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"sort"
	"strings"

	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/runes"
)

// Answer makes the answer to one call.
type Answer struct {
	Call
	Room    int                   // tokens that the answer may have
	Tokens  func(text string) int // estimates a text
	Target  *Target               // the message that the handle names; nil: it names none
	IsSpan  bool                  // the handle names what was left out before a message: Before of LeftOut
	LeftOut []int                 // the messages that are not whole in the request, oldest first
	Before  int
	Source  Source // has the messages of LeftOut; nil where Target is enough
}

// Target is the message that a handle names.
type Target struct {
	Text    string
	Origin  string // whose it is, see Source
	Back    int    // how many messages stand behind it
	IsWhole bool   // in the request, so that nothing has to be shown
}

// Source has the messages of a history, by index.
type Source interface {
	Text(i int) string   // what the message shows
	Origin(i int) string // whose it is, and of which tool
	Handle(i int) string
}

// Text returns the text of the answer. ok is false where what was asked for does not exist.
func (r *Answer) Text(ctx context.Context) (text string, ok bool, err error) {
	var pattern *regexp.Regexp
	if r.Pattern != "" {
		if pattern, err = compilePattern(r.Pattern); err != nil {
			return r.refuse("the pattern is not valid RE2: " + markup.Value(err.Error(), maxQuotedError)), false, nil
		}
	}
	switch {
	case r.Given != "" && r.Target == nil && !r.IsSpan:
		given := markup.Value(r.Given, maxQuotedHandle)
		return r.refuse("nothing of this conversation has the handle " + given), false, nil
	case r.Target != nil && r.Target.IsWhole:
		return r.pointer(), true, nil
	case r.Target != nil:
		return r.search(ctx, r.target(), pattern)
	case r.asksForNothing() && len(r.LeftOut) > 0:
		return r.refuse("give a handle, words or a pattern"), false, nil
	}
	list := r.LeftOut
	if r.IsSpan {
		list = list[:r.Before]
	}
	switch {
	case len(list) > 0:
		return r.search(ctx, r.listed(list), pattern)
	case r.IsSpan:
		return fmt.Sprintf("[%s %s: nothing of what it stood for is in the history any more, or all of it is whole "+
			"in this conversation]", Name, r.Handle), true, nil
	}
	return "[" + Name + ": nothing is left out; all of it is whole in this conversation]", true, nil
}

// asksForNothing reports whether the call gives neither a handle nor anything to search for.
func (r *Answer) asksForNothing() bool { return !r.IsSpan && r.Words == "" && r.Pattern == "" }

const (
	maxPatternBytes = 1_000 // no model means to write a longer one
	maxPatternSteps = 2_000 // of the compiled pattern: with more, a megabyte takes longer than ten seconds
	maxQuotedError  = 200   // characters
	maxQuotedHandle = 40    // characters: about twice what a handle has
)

// compilePattern compiles a pattern that says which lines match. What may be absent at its ends does not change which
// lines match, but would be tried at each byte, so it is left out: ".{0,200}name.{0,200}" is compiled as "name".
func compilePattern(text string) (*regexp.Regexp, error) {
	if len(text) > maxPatternBytes {
		return nil, errors.New("it is longer than 1000 bytes")
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	if parsed.Op == syntax.OpConcat {
		for len(parsed.Sub) > 1 && mayBeAbsent(parsed.Sub[0]) {
			parsed.Sub = parsed.Sub[1:]
		}
		for len(parsed.Sub) > 1 && mayBeAbsent(parsed.Sub[len(parsed.Sub)-1]) {
			parsed.Sub = parsed.Sub[:len(parsed.Sub)-1]
		}
	}
	text = parsed.String()
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	if len(program.Inst) > maxPatternSteps {
		return nil, errors.New("it has too many repetitions")
	}
	return regexp.Compile(text)
}

func mayBeAbsent(re *syntax.Regexp) bool {
	return re.Op == syntax.OpStar || re.Op == syntax.OpQuest || re.Op == syntax.OpRepeat && re.Min == 0
}

// pointer returns the answer for a message that is whole in the request: where it stands.
func (r *Answer) pointer() string {
	m := r.Target
	return fmt.Sprintf("[%s %s: it is whole in this conversation, and is not sent again. It is %s, %d messages back, "+
		"and begins: %s]", Name, r.Handle, withArticle(m.Origin), m.Back, firstWords(m.Text))
}

// withArticle returns origin, "result of x" say, as a phrase with an article.
func withArticle(origin string) string {
	if strings.HasPrefix(origin, "result") {
		return "the " + origin
	}
	return "a message of " + strings.TrimPrefix(origin, "a ")
}

// mostBytesOfToken is more than the average bytes of a token in any text except blanks.
const mostBytesOfToken = 16

// lines returns the lines of text that the call asks for, as many as there is room for, and at least one.
func (r *Answer) lines(attributes, text string) (shown string, ok bool) {
	all := r.linesOf(text)
	total := all.count()
	first, last := max(1, r.From), total
	if r.To > 0 {
		last = min(total, max(first, r.To))
	}
	if first > total {
		return fmt.Sprintf("[%s %s: it has %d lines, and no line %d]", Name, r.Handle, total, first), false
	}
	upTo := func(last int) string { return text[all.start(first):all.start(last+1)] }
	end := first + sort.Search(last-first, func(k int) bool {
		more := upTo(first + k + 1)
		return len(more)/mostBytesOfToken > r.Room || r.Tokens(markup.Escape(more)) > r.Room
	})
	how := ""
	if end < last {
		how = fmt.Sprintf(" Lines %d to %d: give from %d.", end+1, last, end+1)
	}
	attributes += fmt.Sprintf(` lines="%d-%d of %d"`, first, end, total)
	return frame(attributes, markup.Escape(upTo(end)), how), true
}

// refuse returns an answer that says what is wrong, and lists some of what there is.
func (r *Answer) refuse(what string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s: %s.", Name, what)
	if len(r.LeftOut) == 0 {
		b.WriteString(" Nothing is left out: all of it is whole in this conversation]")
		return b.String()
	}
	fmt.Fprintf(&b, " %d messages are left out; words alone search them all. Some of them:]\n", len(r.LeftOut))
	room := r.Room
	all := r.listed(r.LeftOut)
	for k := range min(mostListed, all.count) {
		line := r.entry(all.at(all.count - 1 - k)) // the newest first
		if room -= r.Tokens(line); room < 0 {
			break
		}
		b.WriteString(line)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// mostListed is how many messages a refusal lists.
const mostListed = 10

// entry returns the line of a message in a list, by its handle with its origin, and its text.
func (r *Answer) entry(head, text string) string {
	all := r.linesOf(text)
	return fmt.Sprintf("%s, %d lines: %s\n", head, all.count(), firstWords(text))
}

// listedChars is how many characters of a message a list shows. With what stands in front of them they make a line of a
// terminal.
const listedChars = 80

// firstWords returns the beginning of a text for a list.
func firstWords(text string) string {
	text = strings.TrimSpace(text[:min(len(text), 4*listedChars)])
	line, _, _ := strings.Cut(text, "\n")
	if end := runes.Head(line, listedChars); end < len(line) {
		line = line[:end] + "…"
	}
	return markup.Escape(markup.Line(strings.ToValidUTF8(line, "\uFFFD")))
}

package recall

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/winnowgo/winnow/internal/markup"
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
	Tokens  int    // of the message
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
		return r.message(ctx, pattern)
	case r.asksForNothing() && len(r.LeftOut) > 0:
		return r.refuse("give a handle, words or a pattern"), false, nil
	}
	list := r.LeftOut
	if r.IsSpan {
		list = list[:r.Before]
	}
	switch {
	case len(list) == 0 && r.IsSpan:
		return fmt.Sprintf("[%s %s: nothing of what it stood for is in the history any more, or all of it is whole "+
			"in this conversation]", Name, r.Handle), true, nil
	case len(list) == 0:
		return "[" + Name + ": nothing is left out; all of it is whole in this conversation]", true, nil
	case pattern != nil:
		return r.grepAll(ctx, list, pattern)
	case r.Words != "":
		return r.searchAll(ctx, list)
	}
	return r.contents(list)
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

// message returns the target message, or what the call asks for of it.
func (r *Answer) message(ctx context.Context, pattern *regexp.Regexp) (text string, ok bool, err error) {
	shown := r.Target.Text
	from := fmt.Sprintf(` handle="%s" from="%s"`, r.Handle, r.Target.Origin)
	switch {
	case pattern != nil:
		var g grep
		if err := g.search(ctx, r, shown, pattern); err != nil {
			return "", false, err
		}
		if g.matches == 0 {
			return fmt.Sprintf("[%s %s: no line of its %d matches the pattern]", Name, r.Handle,
				r.wrap().Lines(shown)), true, nil
		}
		return r.frame(fmt.Sprintf(`%s lines="%d" matches="%d of %d"`, from, r.wrap().Lines(shown), g.shown, g.matches),
			g.text.String(), ""), true, nil
	case r.Words != "":
		found := Places(shown, 0, Words(r.Words))
		if len(found) == 0 {
			return fmt.Sprintf("[%s %s: none of the words stands in its %d lines]", Name, r.Handle,
				r.wrap().Lines(shown)), true, nil
		}
		var b strings.Builder
		places := r.places(&b, Best(found, mostPlaces), func(int) (string, string) { return "", shown })
		return r.frame(fmt.Sprintf(`%s places="%d of %d"`, from, places, len(found)),
			strings.TrimRight(b.String(), "\n"), ""), true, nil
	}
	return r.lines(from, shown, r.Target.Tokens)
}

// lines returns the lines of text that the call asks for, as many as there is room for. tokens is how many tokens text
// has, or -1 where that is not known.
func (r *Answer) lines(attributes, text string, tokens int) (string, bool, error) {
	wrap := r.wrap()
	total, guess := wrap.Lines(text), len(text)
	fits := tokens >= 0 && tokens <= r.Room
	if tokens > 0 {
		guess = int(float64(len(text)) * float64(r.Room) / float64(tokens))
	}
	first, last := max(1, r.From), total
	if r.To > 0 {
		last = min(total, max(first, r.To))
	}
	if first > total {
		return fmt.Sprintf("[%s %s: it has %d lines, and no line %d]", Name, r.Handle, total, first), false, nil
	}
	text = text[wrap.LineStart(text, first):]
	to := len(text)
	if last < total {
		to = wrap.LineStart(text, last-first+2)
	}
	how, quoted := "", ""
	if fits { // otherwise most of it may be left out, and need not be escaped
		quoted = markup.Escape(text[:to])
		fits = len(quoted) <= to || r.Tokens(quoted) <= r.Room
	}
	if !fits {
		n, shown := r.fittingEscaped(text, to, guess)
		quoted = markup.Escape(text[:n])
		if n < to {
			next := first + shown
			how = fmt.Sprintf(" Lines %d to %d: give from %d.", next, last, next)
			last = next - 1
		}
	}
	return r.frame(fmt.Sprintf(`%s lines="%d-%d of %d"`, attributes, first, last, total), quoted, how), true, nil
}

// contents returns a list of messages, with a line for each.
func (r *Answer) contents(list []int) (string, bool, error) {
	var b strings.Builder
	for _, i := range list {
		b.WriteString(r.entry(i))
	}
	return r.lines(fmt.Sprintf(` handle="%s" messages="%d"`, r.Handle, len(list)), b.String(), -1)
}

// refuse returns an answer that says what is wrong, and lists some of what there is.
func (r *Answer) refuse(what string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s: %s.", Name, what)
	if len(r.LeftOut) == 0 {
		b.WriteString(" Nothing is left out: all of it is whole in this conversation]")
		return b.String()
	}
	list := r.nearest()
	fmt.Fprintf(&b, " %d messages are left out; words alone search them all. Some of them:]\n", len(r.LeftOut))
	room := r.Room
	for _, i := range list {
		line := r.entry(i)
		if room -= r.Tokens(line); room < 0 {
			break
		}
		b.WriteString(line)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

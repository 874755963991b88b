package winnow

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/search"
)

// The text of an answer: what is quoted, in a frame that says what it is, and how to go on.

// answer returns the text of the answer. ok is false where what was asked for is not there.
func (r *recall) answer(ctx context.Context) (text string, ok bool, err error) {
	var pattern *regexp.Regexp
	if r.pattern != "" {
		if pattern, err = compileRecallPattern(r.pattern); err != nil {
			return r.refuse("the pattern is not valid RE2: " + markup.Value(err.Error(), maxQuotedError)), false, nil
		}
	}
	switch {
	case r.given != "" && r.target < 0:
		given := markup.Value(r.given, maxQuotedHandle)
		return r.refuse("nothing of this conversation has the handle " + given), false, nil
	case r.isWhole:
		return r.pointer(), true, nil
	case r.target < 0 && r.words == "" && pattern == nil && len(r.out.list) > 0:
		return r.refuse("give a handle, words or a pattern"), false, nil
	case r.target >= 0 && !r.isSpan:
		return r.message(ctx, pattern)
	}
	list := r.out.list
	if r.isSpan {
		list = list[:r.out.before(r.target)]
	}
	switch {
	case len(list) == 0 && r.isSpan:
		return fmt.Sprintf("[%s %s: nothing of what it stood for is in the history any more, or all of it is whole "+
			"in this conversation]", recallName, r.handle), true, nil
	case len(list) == 0:
		return "[" + recallName + ": nothing is left out; all of it is whole in this conversation]", true, nil
	case pattern != nil:
		return r.grepAll(ctx, list, pattern)
	case r.words != "":
		return r.searchAll(ctx, list)
	}
	return r.contents(list)
}

const (
	maxPatternBytes = 1_000 // a model writes no longer one by intention
	maxPatternSteps = 2_000 // of the compiled pattern: with more, a megabyte takes longer than ten seconds
	maxQuotedError  = 200   // characters
	maxQuotedHandle = 40    // characters: about twice what a handle has
)

// compileRecallPattern compiles a pattern that says which lines match. What may be absent at its ends makes no
// difference to that, but would be tried at each byte: ".{0,200}name.{0,200}" is compiled as "name".
func compileRecallPattern(text string) (*regexp.Regexp, error) {
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

// pointer says where a message stands that is whole in the request.
func (r *recall) pointer() string {
	m := &r.history[r.target]
	return fmt.Sprintf("[%s %s: it is whole in this conversation, and is not sent again. It is %s, %d messages back, "+
		"and begins: %s]",
		recallName, r.original, withArticle(originOf(m, toolNameIn(r.history, r.target))),
		len(r.history)-1-r.target, firstWords(shownText(m)))
}

// withArticle makes "result of x" a phrase.
func withArticle(origin string) string {
	if strings.HasPrefix(origin, "result") {
		return "the " + origin
	}
	return "a message of " + strings.TrimPrefix(origin, "a ")
}

// message shows a message, or what is asked for of it.
func (r *recall) message(ctx context.Context, pattern *regexp.Regexp) (text string, ok bool, err error) {
	m := &r.history[r.target]
	shown := shownText(m)
	from := fmt.Sprintf(` handle="%s" from="%s"`, r.original, originOf(m, toolNameIn(r.history, r.target)))
	switch {
	case pattern != nil:
		var g grep
		if err := g.search(ctx, r, shown, pattern); err != nil {
			return "", false, err
		}
		if g.matches == 0 {
			return fmt.Sprintf("[%s %s: no line of its %d matches the pattern]", recallName, r.original,
				r.wrap().Lines(shown)), true, nil
		}
		return r.frame(fmt.Sprintf(`%s lines="%d" matches="%d of %d"`, from, r.wrap().Lines(shown), g.shown, g.matches),
			g.text.String(), ""), true, nil
	case r.words != "":
		q := search.NewQuery(r.words)
		ranking := search.NewRanking(q)
		ranking.Add(shown)
		if ranking.Found() == 0 {
			return fmt.Sprintf("[%s %s: none of the words stands in its %d lines]", recallName, r.original,
				r.wrap().Lines(shown)), true, nil
		}
		var b strings.Builder
		places := r.places(&b, ranking.Best(mostPlaces), func(int) (string, string) { return "", shown })
		return r.frame(fmt.Sprintf(`%s places="%d of %d"`, from, places, ranking.Found()),
			strings.TrimRight(b.String(), "\n"), ""), true, nil
	}
	return r.lines(from, shown, r.tokens <= r.room)
}

// lines shows the lines that are asked for, as many as there is room for.
func (r *recall) lines(attributes, text string, fits bool) (string, bool, error) {
	wrap := r.wrap()
	total, guess := wrap.Lines(text), len(text)
	if r.tokens > 0 {
		guess = int(float64(len(text)) * float64(r.room) / float64(r.tokens))
	}
	first, last := max(1, r.from), total
	if r.to > 0 {
		last = min(total, max(first, r.to))
	}
	if first > total {
		return fmt.Sprintf("[%s %s: it has %d lines, and no line %d]", recallName, r.original, total, first), false, nil
	}
	text = text[wrap.LineStart(text, first):]
	to := len(text)
	if last < total {
		to = wrap.LineStart(text, last-first+2)
	}
	how, quoted := "", ""
	if fits { // otherwise most of it may not be shown, and is not escaped for nothing
		quoted = markup.Escape(text[:to])
		fits = len(quoted) <= to || r.textTokens(quoted) <= r.room
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

// contents lists messages.
func (r *recall) contents(list []int) (string, bool, error) {
	var b strings.Builder
	for _, i := range list {
		b.WriteString(r.out.entry(i, r.wrap()) + "\n")
	}
	return r.lines(fmt.Sprintf(` handle="%s" messages="%d"`, r.original, len(list)), b.String(), false)
}

// refuse says what is wrong, and what there is.
func (r *recall) refuse(what string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s: %s.", recallName, what)
	if r.out == nil || len(r.out.list) == 0 {
		b.WriteString(" Nothing is left out: all of it is whole in this conversation]")
		return b.String()
	}
	list := r.out.nearest(r.handle)
	fmt.Fprintf(&b, " %d messages are left out; words alone search them all. Some of them:]\n", len(r.out.list))
	room := r.room
	for _, i := range list {
		line := r.out.entry(i, r.wrap()) + "\n"
		if room -= r.textTokens(line); room < 0 {
			break
		}
		b.WriteString(line)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

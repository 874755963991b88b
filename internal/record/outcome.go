package record

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/excerpt"
	"github.com/winnowgo/winnow/internal/identifier"
	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/mem"
	"github.com/winnowgo/winnow/internal/prose"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/secret"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// The line of a call ends with how the call ended: the reason of a failure; the result itself, if it is short; of a
// long report the lines in which something new has an id, and the last ones. Text of files says nothing of its
// call, nor do long lists of matches, but how many there were.

// How much of a result stays.
const (
	wholeChars   = 120   // a result that is no longer is whole: a note that says how to recall it has 17
	failureChars = 240   // why a call failed: 160 often end before the cause, and cost .0005 less of all prompts
	outcomeChars = 80    // the last lines of a longer result that reports something
	answerChars  = 240   // the values of an answer in JSON
	madeChars    = 120   // a line that names what was made
	mostReport   = 1_500 // bytes of a report that names what was made
	mostAnswer   = 8_000 // bytes of an answer in JSON that does
	mostMade     = 3     // lines, or ids, of that
	mostAgain    = 20    // lines that were said behind them: a log may have nothing else

	mostFrame = 40 // bytes in which a host says nothing but an exit code
	longRuler = 20 // bytes around what a line says that are a ruler: brackets and quotes are fewer

	nothing = "nothing" // what an empty result says
)

// end writes how the call of l ended, by the text of its result, and leaves out the note if that is all. told are the
// identifiers in the ends of calls before this one.
func (l *line) end(text string, told *identifier.Known) {
	isWhole := false
	if l.outcome, isWhole = l.ending(text, told); isWhole || len(text) <= wholeChars {
		l.note = ""
	}
	identifier.Cover(told, l.outcome)
}

// ending returns how the call of l ended. isWhole says that all of its result stands there.
func (l *line) ending(text string, told *identifier.Known) (outcome string, isWhole bool) {
	output, code := text, l.call.ExitCode(text)
	if _, behind, ok := strings.Cut(text, "\nOutput:"); ok { // a host's frame
		if behind = strings.TrimSpace(behind); code != "" || behind != "" {
			output = behind
		}
	}
	// A search that finds nothing exits with 1, and hosts call that a failure.
	isFrame := len(output) <= mostFrame && !strings.Contains(output, "\n") || len(telling(output, 0)) == 0
	saysCode := code != "" && isFrame
	isAnswer := saysCode && !l.call.IsFailure(code) && l.isOneCommand()
	switch {
	case l.call.Failed(text), l.failed && !isAnswer:
		return failedWith + l.reason(text, code), false
	case isAnswer && l.failed:
		return ended + nothing, true
	case l.call.Edits || l.call.Shows:
		return "", false
	}
	if whole := l.whole(output, code); whole != "" {
		return ended + whole, true
	}
	writes := l.call.Runs && strings.Contains(l.arguments.Command, "<<") // cat <<EOF shows no file
	var parts []string
	lines := linesOf(output)
	if strings.HasPrefix(output, "{") && strings.Contains(output, "}\n{") { // an object a line is a list, too
		output = "[" + strings.ReplaceAll(output, "}\n{", "},{") + "]"
	}
	switch {
	case strings.HasPrefix(output, "{"), isListOfObjects(output): // the answer of a service
		parts = l.ids(output)
		if values := l.values(output, strings.Join(parts, " ")); values != "" {
			parts = append(parts, values)
		}
	case l.call.Output == toolcall.Content && !writes:
		return "", false
	case l.call.Output == toolcall.Report || writes:
		if notice := l.noticeIn(output, lines); notice != "" {
			return ended + notice, false
		}
		parts = l.reported(output, lines, told)
	}
	if len(parts) == 0 && lines > 1 {
		parts = []string{strconv.Itoa(lines) + " lines"}
	} else if len(parts) == 0 {
		return "", false
	}
	return ended + strings.Join(parts, " / "), false
}

// reported returns what a report says was made, the line with its error, and what it concludes or how it ends.
func (l *line) reported(output string, lines int, told *identifier.Known) []string {
	parts := l.made(output, told)
	if at := excerpt.ErrorIn(output); l.call.Runs && at >= 0 { // the last lines may read as if all went well
		line, _, _ := strings.Cut(output[at:], "\n")
		parts = append(parts, quote(secret.Mask(strings.TrimSpace(line))))
	}
	said := ""
	if !l.call.Runs && lines > mostMade {
		said = conclusion(secret.Mask(output))
	}
	switch {
	case said != "":
		parts = append(parts, strconv.Itoa(lines)+" lines: "+said)
	case l.call.Runs, excerpt.TailMatters(output[runes.Tail(output, 2*outcomeChars):]):
		parts = appendLast(parts, output, lines)
	}
	return parts
}

// whole returns all that a short result says, and that it says nothing, or "" of a longer one.
func (l *line) whole(output, code string) string {
	most := wholeChars
	if l.call.Output == toolcall.Matches || l.call.Runs { // each line may be what matters
		most = most * 3 / 2
	}
	if len(output) > 4*wholeChars {
		return ""
	}
	masked := secret.Mask(output)
	whole := strings.Join(telling(masked, len(output)), " / ")
	if whole == "" && code == "" {
		whole = runes.OneLine(masked)
	}
	if whole == "" {
		whole = nothing
	}
	if runes.AtLeast(whole, most+1) {
		return ""
	}
	return markup.Escape(markup.Line(whole))
}

// noticeIn returns what a host says of a command in place of its output, as far as whole sentences have room: a line
// alone, as when the command goes on by itself, or the first line of an element that is all of the result, as when the
// rest of it is in a file.
func (l *line) noticeIn(output string, lines int) string {
	inner := element(output)
	if !l.call.Runs || lines > 1 && inner == strings.TrimSpace(output) {
		return ""
	}
	notice := ""
	for _, line := range telling(secret.Mask(inner[:runes.Head(inner, 4*failureChars)]), 0) {
		for end := 0; line != ""; line = line[end:] {
			if end = prose.SentenceEnd(line); len(notice)+end > failureChars {
				break
			}
			notice += line[:end]
		}
	}
	return markup.Escape(markup.Line(strings.TrimSpace(notice)))
}

// conclusion returns what a report in prose says: its first heading, or else its first line, and its last long
// sentence. It returns "" of what has neither headings nor sentences.
func conclusion(report string) string {
	title, last := "", ""
	for line := range strings.Lines(report[:runes.Head(report, 4*mostReport)]) {
		if line = runes.OneLine(line); strings.HasPrefix(line, "#") {
			title = line
			break
		} else if title == "" && !isTag(line) {
			title = line
		}
	}
	for _, s := range proseOf(report[runes.Tail(report, 2*mostReport):]) {
		end, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, "*`)\"'"))
		if len(s) > outcomeChars/2 && s != title && strings.ContainsRune(".!?。！？", end) && !introduces(s) {
			last = " … " + runes.Clip(s, wholeChars)
		}
	}
	if last == "" && !strings.HasPrefix(title, "#") {
		return ""
	}
	title = beginning(strings.TrimLeft(title, "# "), outcomeChars)
	return markup.Value(strings.TrimSuffix(title, " …")+last, failureChars)
}

// isOneCommand reports whether the exit code is that of the one command that l runs, beside a change of directory.
func (l *line) isOneCommand() bool {
	_, command := directoryOf(strings.TrimSpace(l.arguments.Command))
	return !strings.Contains(command, "&&") && !strings.ContainsAny(command, ";\n")
}

// reason returns why a call failed, by the text of its result. code is the code with which it exited.
func (l *line) reason(text, code string) string {
	place := ""
	if l.call.Runs {
		at := excerpt.Reason(text, failureChars)
		if m := raisedAt.Get().FindStringSubmatch(text[max(0, at-10*failureChars):at]); m != nil {
			place = " (" + secret.Mask(runes.OneLine(m[1])) + ")"
		}
		text = text[at:]
	}
	if _, output, ok := strings.Cut(text, "\nOutput:"); ok {
		text = output
	}
	text = element(secret.Mask(text[:runes.Head(text, 20*failureChars)])) // the tag may name a credential
	var lines []string
	for _, line := range telling(text, 4*failureChars) { // both ends of a report may say the same
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	reason := strings.Join(lines, " / ")
	switch {
	case reason == "" && code == "":
		reason = "it said " + nothing
	case reason == "":
		reason = "exit code " + code
	}
	if !runes.AtLeast(reason+place, failureChars+1) {
		reason += place
	}
	return markup.Value(reason, failureChars)
}

// raisedAt matches the last frame of a traceback at the end of a text, and its code.
var raisedAt = prose.NewPattern(`\n  (File .*)\n(?:    .*\n)*$`)

// element returns what stands in text, if that is one element, such as <error>no file</error>.
func element(text string) string {
	text = strings.TrimSpace(text)
	if name, rest, ok := strings.Cut(text, ">"); ok && strings.HasPrefix(name, "<") {
		if inner, ok := strings.CutSuffix(rest, "</"+name[1:]+">"); ok {
			return inner
		}
	}
	return text
}

// telling returns those lines of text that tell something, each without the white space around it, until they have
// `most` bytes: no rulers, no tags of a tool's frame, no echo of the command, and of a traceback no frames.
func telling(text string, most int) (lines []string) {
	inTrace := false
	for line := range strings.Lines(text) {
		isIndented := line[0] == ' ' || line[0] == '\t'
		inTrace = inTrace && isIndented || strings.HasPrefix(line, "Traceback (most recent call last)")
		line = strings.TrimSpace(line[:runes.Head(line, 20*failureChars)]) // a line can have 50 MB
		said := strings.TrimFunc(line, func(r rune) bool { return !runes.IsLetterOrDigit(r) })
		if len(line)-len(said) > longRuler {
			line = said
		}
		if said == "" || inTrace || strings.HasPrefix(line, "$ ") || isTag(line) {
			continue
		}
		lines = append(lines, line)
		if most -= len(line); most < 0 {
			break
		}
	}
	return lines
}

// isTag reports whether a line has nothing but a tag, or an element with a number such as <returncode>1</returncode>.
func isTag(line string) bool {
	number := element(line)
	isAlone := strings.HasPrefix(line, "<") && strings.IndexByte(line, '>') == len(line)-1
	return isAlone || number != line && strings.Trim(number, "0123456789") == ""
}

// appendLast appends the last lines of a report, and how many it has in all: they would read as all of it.
func appendLast(parts []string, report string, all int) []string {
	last := slices.DeleteFunc(lastLines(report), func(line string) bool { return slices.Contains(parts, line) })
	if len(last) > 0 && len(parts)+len(last) < all {
		last[0] = fmt.Sprintf("last of %d lines: %s", all, last[0])
	}
	return append(parts, last...)
}

// linesOf returns how many lines text has, without empty ones and the tags of a frame.
func linesOf(text string) (n int) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !isTag(line) {
			n++
		}
	}
	return n
}

// lastLines returns the last lines of a report, as many as fit: a verdict often stands in the lines in front of the
// last.
func lastLines(text string) (lines []string) {
	for room, again := outcomeChars, 0; text != "" && again < mostAgain; {
		start := strings.LastIndexByte(text, '\n') + 1
		last := text[start:]
		told := telling(secret.Mask(last[:runes.HeadWords(last, 20*outcomeChars)]), len(last))
		if text = text[:max(0, start-1)]; len(told) == 0 || strings.Count(told[0], "ms, ") > 1 {
			continue // blank, or how long each part of it took
		}
		line := quote(told[0])
		if len(lines) == 0 && strings.HasSuffix(line, ":") {
			continue // part of a frame
		}
		if slices.Contains(lines, line) {
			again++
			continue
		}
		if room -= len(line); room < 0 && len(lines) > 0 {
			break
		}
		lines = append(lines, line)
	}
	slices.Reverse(lines)
	return lines
}

// quote returns a line in about outcomeChars characters: a listing has the names at the ends.
func quote(line string) string { return markup.Escape(markup.Line(runes.Clip(line, outcomeChars))) }

// ids returns the ids and URLs in an answer in JSON that the call did not have.
func (l *line) ids(answer string) (parts []string) {
	if len(answer) > mostAnswer {
		return nil
	}
	eachID([]byte(secret.Mask(answer)), "", func(key, id string) {
		if id != "" && !strings.Contains(mem.String(l.raw), id) && len(parts) < mostMade {
			parts = append(parts, markup.Value(key+"="+id, pathChars))
		}
	})
	return parts
}

// isNew reports whether neither the call nor a line before it has an identifier.
func (l *line) isNew(id string, told *identifier.Known) bool {
	return id != "" && !strings.Contains(mem.String(l.raw), id) && !told.Has(id)
}

// made returns what the world has since a call, by its report: the lines in which an id, a URL or a hash stands that
// neither the call nor a line before it had. A long report, or one with many of them, lists what there was.
func (l *line) made(text string, told *identifier.Known) (parts []string) {
	if len(text) > mostReport {
		return nil
	}
	before := "" // the id that the line before has
	for _, line := range telling(secret.Mask(text), len(text)) {
		id := ""
		if before != "" && strings.Contains(line, before) && len(parts) < mostMade {
			id = before // says more of it
		}
		if found := saidID.Get().FindStringSubmatch(line); found != nil && l.isNew(found[1]+found[2], told) {
			id = found[1] + found[2]
		}
		identifier.Scan(line, func(name string, kind identifier.Kind) {
			if id == "" && (kind == identifier.URL || kind == identifier.Hash) && l.isNew(name, told) {
				id = name
			}
		})
		if id == "" {
			continue
		}
		if len(parts) == mostMade {
			return nil
		}
		before = id
		if line = markup.Value(line, madeChars); !strings.Contains(line, id) {
			line = markup.Value(id, pathChars)
		}
		parts = append(parts, line)
	}
	return parts
}

// values returns what an answer in JSON says: the texts and numbers of an object that neither its call nor ids names,
// and behind them those in its lists; or how many objects a list has, and how each of them begins.
func (l *line) values(answer, ids string) string {
	told := mem.String(l.raw) + ids
	var parts []string
	room := answerChars
	add := func(name string, value []byte) {
		if room < 0 || value[0] == '{' || value[0] == '[' {
			return // the rest of a long answer is not read
		}
		text := runes.OneLine(runes.Clip(jsontext.Unquote(value), 10*valueChars))
		if len(text) > pathChars || !isPlace(text) { // half a URL is none
			text = runes.Clip(text, valueChars)
		}
		if text == "" || text == "null" || len(text) > 1 && strings.Contains(told, text) {
			return
		}
		if room -= len(name+text) + 1; room >= 0 {
			parts = append(parts, name+text)
		}
	}
	addElement := func(element []byte) {
		add("", element)
		eachMember(element, mostNested, func(key string, value []byte) {
			if value[0] == '"' {
				add("", value)
			} else {
				add(key+"=", value)
			}
		})
	}
	answer = secret.Mask(answer)
	eachMember([]byte(answer), mostNested, func(key string, value []byte) { add(key+"=", value) })
	eachMember([]byte(answer), mostNested, func(key string, list []byte) {
		if n := elementsOf(list); n > 0 {
			add("", []byte(key+":"+strconv.Itoa(n)))
		}
		jsontext.Elements(list, addElement)
	})
	n := elementsOf([]byte(answer))
	left, isCut := room, room < 0
	jsontext.Elements([]byte(answer), func(element []byte) {
		share := min(left, max(valueChars+1, answerChars/n))
		first := len(parts)
		room = share
		addElement(element)
		if left -= share - max(0, room); len(parts) > first {
			parts = append(parts[:first], strings.Join(parts[first:], " ")+";")
		}
		isCut = isCut || room < 0
	})
	text := strings.TrimSuffix(strings.Join(parts, " "), ";")
	if n > 0 {
		text = strconv.Itoa(n) + ": " + text
	}
	if isCut {
		text += " …"
	}
	return markup.Escape(markup.Line(text))
}

// eachMember calls tell for the members of an object and of the objects in it, at most depth levels deep: each level is
// read again.
func eachMember(object []byte, depth int, tell func(key string, value []byte)) {
	jsontext.Members(object, func(key string, value []byte) {
		if tell(key, value); depth > 0 {
			eachMember(value, depth-1, tell)
		}
	})
}

// elementsOf returns how many elements a list has.
func elementsOf(list []byte) (n int) {
	jsontext.Elements(list, func([]byte) { n++ })
	return n
}

func isListOfObjects(text string) bool {
	rest, ok := strings.CutPrefix(text, "[")
	return ok && strings.HasPrefix(strings.TrimLeft(rest, " \t\r\n"), "{")
}

// saidID is an id that a report names as one, or the job that a shell has begun: [1] 4711.
var saidID = prose.NewPattern(`(?:\b(?i:p|u?u)?(?i:id)|[a-z]I[dD]|_(?i:id))"?[:= ]{1,3}["'#]?([\w./-]*\d[\w/-]*)|` +
	`(?m:^\[\d+\] (\d+)$)`)

// mostNested is how deep in an object ids and values are looked for: the ids of clouds stand in
// Reservations.Instances.InstanceId.
const mostNested = 2

// eachID calls add for the ids and URLs among the members of an object, of the objects in it, and of the first objects
// of lists.
func eachID(object []byte, parent string, add func(key, id string)) {
	if strings.Count(parent, ".") > mostNested {
		return
	}
	jsontext.Members(object, func(key string, value []byte) {
		name := parent + key
		isFirst := true
		jsontext.Elements(value, func(element []byte) {
			if isFirst {
				eachID(element, name+".", add)
			}
			isFirst = false
		})
		eachID(value, name+".", add)
		isID := strings.HasSuffix(strings.ToLower(key), "id") || key == "identifier" || key == "url"
		if id := strings.Trim(mem.String(value), `"`); isID && id != "null" && !strings.ContainsAny(id, "{[") {
			add(name, id)
		}
	})
}

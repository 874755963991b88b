package hosts

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/histories"
)

// checkThinking: the signed thinking of the current tool loop is there, and no thinking follows content that it is not
// bound to.
func (w *world) checkThinking(in, out []winnow.Message) {
	if w.options.Thinking == string(winnow.ThinkingBound) {
		if w.damaged { // it is unknown what was sent
			return
		}
		forms := wireForms(out)
		for k := range out {
			for _, p := range out[k].Parts {
				want, known := w.bound[p.Signature]
				if p.Kind == winnow.KindThinking && known && want != together(forms[:k]) {
					w.fail("thinking stands behind what it is bound to",
						"message %d, %s: what is in front of it was changed\nof %s", k, p.Signature, sketch(out))
				}
			}
		}
		return
	}
	if w.isOther { // it is not to be sent what the other one signed
		return
	}
	at := places(in)
	for k := len(out) - 1; k >= 0; k-- {
		m := &out[k]
		if m.Role == winnow.RoleUser || m.Summary {
			return
		}
		i := at[m.ID]
		if m.Role != winnow.RoleAssistant || len(i) == 0 || histories.Failed(&in[i[0]]) ||
			!histories.IsSound(in, i[0]) {
			continue
		}
		if endsInThinking(&in[i[0]]) {
			continue // no provider accepts it after everything else
		}
		if want, got := thoughts(&in[i[0]]), thoughts(m); !slices.Equal(want, got) {
			w.fail("the thinking of the open tool loop is kept", "message %d has %q and had %q\nof %s", k, got, want,
				sketch(out))
		}
	}
}

// endsInThinking reports whether m has no calls, and nothing that a provider accepts follows its thinking.
func endsInThinking(m *winnow.Message) bool {
	last := winnow.KindText
	for _, p := range m.Parts {
		switch {
		case p.Kind == winnow.KindToolCall:
			return false
		case !isBlankPart(p):
			last = p.Kind
		}
	}
	return last == winnow.KindThinking
}

func thoughts(m *winnow.Message) (out []string) {
	for _, p := range m.Parts {
		if p.Kind == winnow.KindThinking && p.Signature != "" {
			out = append(out, p.Text+"|"+p.Signature)
		}
	}
	return out
}

var (
	lenientTag = regexp.MustCompile(`(?i)[<＜﹤][\s\pZ\p{Cf}\x00]*[/∕⁄／]?[\s\pZ\p{Cf}\x00]*s[\p{Cf}]*ummary`)
)

// checkSummaries: a summary is a text in its frame, and its rules are the user's.
func (w *world) checkSummaries(out []winnow.Message) {
	count := 0
	for k := range out {
		m := &out[k]
		if !m.Summary || m.Source != nil || m.ID != "" { // from another host
			continue
		}
		count++
		s := textOf(m)
		if strings.TrimFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) }) == "" {
			w.fail("a summary is a text", "message %d is blank", k) // its content may be cut completely
		}
		if w.damaged {
			continue
		}
		if n := len(lenientTag.FindAllString(s, -1)); n != 2 {
			w.fail("a summary stays in its frame", "%d tags: %s", n, clip(s))
		}
		w.checkSaid(s)
	}
	if count > 1 {
		w.fail("there is one summary", "%d of the library in one request", count)
	}
}

// saidItem is the head of what a person said, and leftOut what stands for the rest of it.
var (
	saidItem = regexp.MustCompile(`^person(?:, .*)? \((\d+) lines\):$`)
	leftOut  = regexp.MustCompile(`\s*\[… \d+ characters left out.*? …\]\s*`)
)

// checkSaid: people said each text that a summary says they said.
func (w *world) checkSaid(s string) {
	lines := strings.Split(saidSection(s), "\n")
	for i := 0; i < len(lines); i++ {
		head := saidItem.FindStringSubmatch(lines[i])
		if head == nil {
			continue
		}
		n, _ := strconv.Atoi(head[1])
		text := strings.Join(lines[i+1:min(len(lines), i+1+n)], "\n")
		for _, piece := range leftOut.Split(text, -1) {
			for line := range strings.Lines(piece) {
				isLabel := strings.HasPrefix(line, "[image") || strings.HasPrefix(line, "[attachment")
				if !isLabel && !strings.Contains(w.said[false], letters(line)) {
					w.fail("what people said is theirs", "nobody said %q", line)
				}
			}
		}
		i += n
	}
}

// saidSection returns the section of what people said, as they said it, or "".
func saidSection(summary string) string {
	_, section, found := strings.Cut(summary, "<people-said>\n")
	if !found || !strings.HasPrefix(summary, "The conversation history") {
		return ""
	}
	section, _, _ = strings.Cut(section, "\n</people-said>")
	return strings.ReplaceAll(strings.ReplaceAll(section, "&lt;", "<"), "&#91;", "[")
}

// textOf returns the texts of m.
func textOf(m *winnow.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// letters returns the letters and digits of s, which no escaping changes.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

// sketch returns a list in one line: the first letter of each role; calls and results with their ids; * is a pinned
// message, ! a failed turn, + a message that the host injected, - one without content.
func sketch(h []winnow.Message) string {
	var b strings.Builder
	for i := range h {
		m := &h[i]
		b.WriteString(" " + string(m.Role)[:min(1, len(m.Role))])
		if m.ID != "" {
			b.WriteString("(" + m.ID + ")")
		}
		if m.Summary {
			b.WriteString("(summary)")
		}
		if m.Role == winnow.RoleTool {
			fmt.Fprintf(&b, ":%.20q", m.ToolCallID)
		}
		for _, p := range m.Parts {
			switch p.Kind {
			case winnow.KindToolCall:
				fmt.Fprintf(&b, "[%.20q]", p.ID)
			case winnow.KindThinking:
				b.WriteString("{" + p.Signature + "}")
			}
		}
		if m.Pinned {
			b.WriteByte('*')
		}
		if histories.Failed(m) {
			b.WriteByte('!')
		}
		if m.Injected {
			b.WriteByte('+')
		}
		if !histories.HasContent(m) {
			b.WriteByte('-')
		}
	}
	return b.String()
}

// show returns a message in readable form.
func show(m *winnow.Message) string {
	n := 0
	for i := range m.Parts {
		n += len(m.Parts[i].Text)
	}
	return fmt.Sprintf("%s, %d bytes of text: %s", sketch([]winnow.Message{*m}), n, clip(fmt.Sprintf("%+v", *m)))
}

func showAt(h []winnow.Message, i int) string {
	if i >= len(h) {
		return "(nothing)"
	}
	return show(&h[i])
}

func clip(s string) string {
	const most = 700
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most/2]+" … "+s[len(s)-most/2:], "") + fmt.Sprintf(" (%d bytes)", len(s))
}

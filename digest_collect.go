package winnow

import (
	"strings"

	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// notes is what a digest may say, oldest first: of messages, and before them what an earlier summary says.
type notes struct {
	requests  []string // of the user, verbatim
	rules     []string // sentences of the user that forbid or demand something
	decisions []string
	commands  []string
	failures  []string
	plans     []string
	last      string    // the assistant's last words
	files     fileNotes // what was changed
	previous  outline   // what an earlier summary says

	ids     idTable
	pending map[string]pendingCall // calls without a result so far
}

// pendingCall is a call whose result has not been seen.
type pendingCall struct {
	tool    string
	command string
	file    string
	action  string
}

// Bounds of what is read of one text. Identifiers that are used again stand near the ends of a large
// result; the middle is data.
const (
	scanBytes     = 16 << 10
	requestBytes  = 16 << 10
	commandBytes  = 600
	sentenceBytes = 500
)

func (n *notes) collect(req *SummaryRequest) {
	n.pending = make(map[string]pendingCall)
	n.ids.at = make(map[string]int)
	n.readPrevious(req.Previous)
	for i := range req.Messages {
		m := &req.Messages[i]
		n.ids.next()
		switch {
		case m.Summary:
			n.readPrevious(messageParts(m))
		case m.Role == RoleUser:
			n.user(m)
		case m.Role == RoleAssistant:
			n.assistant(m)
		case m.Role == RoleTool:
			n.result(m)
		default:
			n.scan(m, fromHost)
		}
	}
	n.ids.next()
	n.ids.now--
}

// readPrevious takes in an earlier summary.
func (n *notes) readPrevious(s string) {
	n.ids.scan(s, fromPrevious)
	n.previous.read(s)
}

// messageParts returns the texts of m, a line each.
func messageParts(m *Message) string {
	if len(m.Parts) == 1 && m.Parts[0].Kind == KindText {
		return m.Parts[0].Text
	}
	var b strings.Builder
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == KindText && p.Text != "" {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func (n *notes) scan(m *Message, from idSource) {
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case KindText:
			n.ids.scan(p.Text, from)
		case KindThinking:
			n.ids.scan(p.Text, fromThinking)
		}
	}
}

func (n *notes) user(m *Message) {
	if m.Injected {
		n.scan(m, fromHost)
		return
	}
	n.scan(m, fromUser)
	text := strings.TrimSpace(messageParts(m))
	if text == "" {
		return
	}
	n.requests = append(n.requests, runes.Clip(text, requestBytes))
	if !ruleWords.in(text) {
		return
	}
	eachSentence(text, func(s string) {
		if ruleWords.in(s) {
			n.rules = append(n.rules, s)
		}
	})
}

func (n *notes) assistant(m *Message) {
	n.scan(m, fromAssistant)
	if text := strings.TrimSpace(messageParts(m)); text != "" {
		n.last = text
		text = runes.Clip(text, requestBytes)
		if noteWords.in(text) {
			eachSentence(text, func(s string) {
				switch {
				case decisionWords.in(s):
					n.decisions = append(n.decisions, s)
				case planWords.in(s):
					n.plans = append(n.plans, s)
				}
			})
		}
	}
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == KindToolCall {
			n.call(p)
		}
	}
}

func (n *notes) call(p *Part) {
	n.ids.scan(string(p.Arguments), fromArguments)
	args := toolcall.Common.Arguments(p.Arguments)
	c := pendingCall{tool: markup.Attribute(p.Name), command: args.Command, file: args.File, action: toolcall.Action(p.Name)}
	if c.action != "" && c.file != "" && args.Command != "" { // an editor's command: view, create, str_replace
		if c.command = ""; args.Command == "view" {
			c.action = ""
		}
	}
	if c.action != "" && c.file != "" {
		n.files.add(c.file, c.action)
		n.ids.mark(c.file)
	}
	for _, f := range args.Patched {
		n.files.add(f, "edited")
		n.ids.mark(f)
	}
	if c.command != "" {
		n.commands = append(n.commands, commandLine(c.command, ""))
	}
	if p.ID != "" {
		n.pending[p.ID] = c
	}
}

// commandLine is the note of a command and how it ended.
func commandLine(command, outcome string) string {
	s := "`" + runes.Clip(oneLine(runes.Clip(command, 4*commandBytes)), commandBytes) + "`"
	if outcome != "" {
		s += " → " + outcome
	}
	return s
}

func (n *notes) result(m *Message) {
	n.scan(m, fromResult)
	c, known := n.pending[m.ToolCallID]
	delete(n.pending, m.ToolCallID)
	text := messageParts(m)
	exit, status := toolcall.Outcome(m.Details)
	if exit == "" {
		exit = exitCode(text)
	}
	failed := m.IsError || exit != "" && exit != "0"
	if known && c.command != "" {
		outcome := markup.Attribute(status)
		if exit != "" {
			outcome = "exit " + exit
		} else if failed {
			outcome = "failed"
		}
		if outcome != "" {
			n.setOutcome(c.command, outcome)
		}
	}
	if !failed {
		return
	}
	tool := c.tool
	if tool == "" {
		tool = markup.Attribute(m.ToolName)
	}
	if tool == "" {
		tool = "tool"
	}
	said := failureText(text)
	if c.file != "" && c.action != "" {
		said = c.file + ": " + said
	}
	n.failures = append(n.failures, tool+": "+said)
}

// setOutcome writes how a command ended into its note, which is among the last ones.
func (n *notes) setOutcome(command, outcome string) {
	bare := commandLine(command, "")
	const calls = 32 // parallel calls of one message
	for i := len(n.commands) - 1; i >= max(0, len(n.commands)-calls); i-- {
		if n.commands[i] == bare {
			n.commands[i] = commandLine(command, outcome)
			return
		}
	}
}

// failureText is the part of a failed result that says why: lines with an error, or else the end.
func failureText(s string) string {
	s = runes.Clip(strings.TrimSpace(s), 8<<10)
	var found []string
	size := 0
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); errorWords.in(line) {
			line = runes.Clip(line, 200)
			found = append(found, line)
			if size += len(line); size > 300 {
				break
			}
		}
	}
	if found == nil {
		return runes.Clip(oneLine(s), 240)
	}
	return oneLine(strings.Join(found, " | "))
}

// exitCode finds an exit code where tools print it: at the ends of the result.
func exitCode(s string) string {
	const ends = 400
	for _, end := range [2]string{s[max(0, len(s)-ends):], s[:min(len(s), ends)]} {
		if !exitHints.in(end) { // the pattern is slow, and few results name a code
			continue
		}
		if m := exitWords.Get().FindStringSubmatch(end); m != nil {
			return m[1]
		}
	}
	return ""
}

// eachSentence calls f for the sentences of s that are neither empty nor as long as a document.
func eachSentence(s string, f func(string)) {
	for line := range strings.Lines(s) {
		for line != "" {
			end := sentenceEnd(line)
			sentence := strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line[:end]), "-*>#•"))
			if len(sentence) > 8 && len(sentence) <= sentenceBytes {
				f(sentence)
			}
			line = line[end:]
		}
	}
}

// sentenceEnd returns the length of the first sentence of a line, its mark included.
func sentenceEnd(s string) int {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '.' || c == '!' || c == '?':
			if i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '\n' {
				return i + 1
			}
		case c == 0xE3 && strings.HasPrefix(s[i:], "。"), c == 0xEF && (strings.HasPrefix(s[i:], "！") || strings.HasPrefix(s[i:], "？")):
			return i + 3
		}
	}
	return len(s)
}

// oneLine makes one line of s.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

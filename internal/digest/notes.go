// Package digest notes what a conversation says, and writes these notes in place of a summary: without an LLM, in the
// words of the conversation, and within a number of tokens.
package digest

import (
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/markup"
	"github.com/winnowgo/winnow/internal/prose"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// Notes is what a digest may say, oldest first: of messages, and before them what an earlier summary says.
type Notes struct {
	requests  []string // of the user, verbatim
	rules     []string // sentences of the user that forbid or demand something
	decisions []string
	commands  []string
	failures  []failure
	plans     []string
	last      string    // the assistant's last words
	files     fileNotes // what was changed
	previous  outline   // what an earlier summary says

	IDs     *Table        // what the conversation mentions
	pending []pendingCall // calls without a result so far, in their order
}

// New returns notes of nothing.
func New() *Notes {
	return &Notes{IDs: NewTable()}
}

// pendingCall is a call whose result has not been seen.
type pendingCall struct {
	id      string
	tool    string
	command string
	file    string
	action  string
	patched []toolcall.Patch
	call    toolcall.Call
}

// noteFiles notes what c did to files.
func (n *Notes) noteFiles(c *pendingCall) {
	if c.action != "" && c.file != "" {
		n.files.add(c.file, c.action)
	}
	for _, p := range c.patched {
		n.files.add(p.File, p.Action)
	}
}

// settle returns the call with the given id, which is no longer pending.
func (n *Notes) settle(id string) (c pendingCall, known bool) {
	i := slices.IndexFunc(n.pending, func(c pendingCall) bool { return c.id == id })
	if i < 0 || id == "" {
		return pendingCall{}, false
	}
	c = n.pending[i]
	n.pending = slices.Delete(n.pending, i, i+1)
	return c, true
}

// settleAll notes what the calls did that have no result: nothing says that they failed.
func (n *Notes) settleAll() {
	for i := range n.pending {
		n.noteFiles(&n.pending[i])
	}
	n.pending = n.pending[:0]
}

// Bounds of what is read of one text. Identifiers that are used again stand near the ends of a large result; its middle
// is data.
const (
	scanBytes    = 16 << 10
	requestBytes = 16 << 10
	commandBytes = 600
	// No step has more calls. The call of a result is looked for among them one by one.
	mostPending = 256
)

// Next begins a message.
func (n *Notes) Next() { n.IDs.Next() }

// End ends the last message.
func (n *Notes) End() {
	n.settleAll()
	n.IDs.Next()
	n.IDs.now--
}

// Scan takes in the identifiers of a text.
func (n *Notes) Scan(s string, from Source) { n.IDs.Scan(s, from) }

// Earlier takes in an earlier summary.
func (n *Notes) Earlier(s string) {
	n.IDs.Scan(s, FromPrevious)
	n.previous.read(s)
}

// Asked takes in the words of a user. Scan takes in their identifiers.
func (n *Notes) Asked(text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	n.requests = append(n.requests, runes.Clip(text, requestBytes))
	if !prose.Rules.In(text) {
		return
	}
	prose.Sentences(text, func(s string) {
		if prose.Rules.In(s) && !prose.Asks(s) {
			n.rules = append(n.rules, s)
		}
	})
}

// Said takes in the words of the assistant. Scan takes in their identifiers.
func (n *Notes) Said(text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	n.last = text
	text = runes.Clip(text, requestBytes)
	if !prose.Notes.In(text) {
		return
	}
	prose.Sentences(text, func(s string) {
		switch {
		case prose.Decisions.In(s):
			n.decisions = append(n.decisions, s)
		case prose.Plans.In(s):
			n.plans = append(n.plans, s)
		}
	})
}

// Called takes in a tool call.
func (n *Notes) Called(id, tool string, arguments []byte) {
	n.IDs.Scan(string(arguments), FromArguments)
	args := toolcall.Common.Arguments(arguments)
	c := pendingCall{id: id, tool: markup.Attribute(tool), command: args.Command, file: args.File,
		action: toolcall.Action(tool), patched: args.Patched, call: toolcall.Common.CallOf(tool, arguments, &args)}
	if c.action != "" && c.file != "" && args.Command != "" { // an editor's command: view, create, str_replace
		if c.command = ""; args.Command == "view" {
			c.action = ""
		}
	}
	if c.action != "" && c.file != "" {
		n.IDs.Mark(c.file)
	}
	for _, p := range args.Patched {
		n.IDs.Mark(p.File)
	}
	if c.command != "" {
		n.commands = append(n.commands, commandLine(c.command, ""))
	}
	if len(n.pending) == mostPending {
		n.noteFiles(&n.pending[0])
		n.pending = slices.Delete(n.pending, 0, 1)
	}
	n.pending = append(n.pending, c)
}

// Result is the result of a call.
type Result struct {
	CallID, Tool, Text string
	Exit, Status       string // as the details of the result have them
	IsError            bool
}

// Returned takes in the result of a call. Scan takes in its identifiers.
func (n *Notes) Returned(r Result) {
	c, known := n.settle(r.CallID)
	exit := r.Exit
	switch { // a file or a page may name any code
	case exit != "":
	case !known:
		exit = toolcall.ExitCode(r.Text)
	case c.command != "" && !c.call.PrintsExit:
		exit = c.call.ExitCode(r.Text)
	}
	// Hosts do not mark each failure as an error.
	failed := r.IsError || c.call.IsFailure(exit) || known && c.call.Failed(r.Text)
	if known && c.command != "" {
		outcome := markup.Attribute(r.Status)
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
		n.noteFiles(&c)
		return
	}
	tool := c.tool
	if tool == "" {
		tool = markup.Attribute(r.Tool)
	}
	if tool == "" {
		tool = "tool"
	}
	f := failure{tool: tool, text: r.Text}
	if c.action != "" {
		f.file = c.file
	}
	n.failures = append(n.failures, f)
}

// commandLine is the note of a command and how it ended.
func commandLine(command, outcome string) string {
	s := "`" + runes.Clip(runes.OneLine(runes.Clip(command, 4*commandBytes)), commandBytes) + "`"
	if outcome != "" {
		s += " → " + outcome
	}
	return s
}

// setOutcome writes how a command ended into its note, which is among the last ones.
func (n *Notes) setOutcome(command, outcome string) {
	bare := commandLine(command, "")
	const calls = 32 // parallel calls of one message
	for i := len(n.commands) - 1; i >= max(0, len(n.commands)-calls); i-- {
		if n.commands[i] == bare {
			n.commands[i] = commandLine(command, outcome)
			return
		}
	}
}

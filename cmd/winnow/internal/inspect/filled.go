package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
	"github.com/winnowgo/winnow/session/transcript"
)

// filled is the content of a history by kind, the largest first.
type filled struct {
	Tokens  int
	Kinds   []share
	Tools   []share // results
	Largest []share // messages
}

// share is a part of a history.
type share struct {
	Name   string
	Tokens int
	Count  int // messages
}

// mostShares is how many tools and messages are listed.
const mostShares = 5

// filledBy returns what fills a history.
func filledBy(history []winnow.Message, e winnow.Estimator) filled {
	var f filled
	var sums [kinds]int
	tools := map[string]*share{}
	for i := range history {
		m := &history[i]
		addKinds(&sums, m, e)
		n := e.Estimate(*m)
		f.Tokens += n
		f.Largest = append(f.Largest, share{Name: words(history, i), Tokens: n, Count: 1})
		if m.Role != winnow.RoleTool {
			continue
		}
		name := Plain(m.ToolName)
		if tools[name] == nil {
			tools[name] = &share{Name: name}
		}
		tools[name].Tokens += n
		tools[name].Count++
	}
	for kind, n := range sums {
		if n > 0 {
			name := kindNames[kind]
			if kind == kindSystem {
				name = "system" // of messages alone
			}
			f.Kinds = append(f.Kinds, share{Name: name, Tokens: n})
		}
	}
	for _, t := range tools {
		f.Tools = append(f.Tools, *t)
	}
	sortShares(f.Kinds)
	sortShares(f.Tools)
	slices.SortStableFunc(f.Largest, func(a, b share) int { return cmp.Compare(b.Tokens, a.Tokens) })
	f.Tools = f.Tools[:min(len(f.Tools), mostShares)]
	f.Largest = f.Largest[:min(len(f.Largest), mostShares)]
	return f
}

func sortShares(list []share) {
	slices.SortFunc(list, func(a, b share) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), strings.Compare(a.Name, b.Name))
	})
}

// Summary returns one sentence on what fills the history.
func (f *filled) Summary() string {
	var parts []string
	var tokens []int
	for _, k := range f.Kinds {
		tokens = append(tokens, k.Tokens)
	}
	for i, share := range recording.Shares(tokens) {
		parts = append(parts, f.Kinds[i].Name+" "+recording.Share(share, tokens[i]))
	}
	return fmt.Sprintf("The whole history has %s tokens: %s.", recording.Comma(f.Tokens), strings.Join(parts, ", "))
}

// ToolNames says how much of the history each tool returned.
func (f *filled) ToolNames() string {
	var parts []string
	for _, t := range f.Tools {
		parts = append(parts, fmt.Sprintf("%s %s in %s", t.Name, recording.Comma(t.Tokens),
			recording.Count(t.Count, "result")))
	}
	return strings.Join(parts, ", ")
}

// programs are the common names of the programs.
var programs = map[transcript.Format]string{
	transcript.Pi: "pi or OpenClaw", transcript.ClaudeCode: "Claude Code", transcript.Codex: "Codex",
	transcript.Winnow: "winnow",
}

// Origin says where the session comes from, "" if that was not recorded.
func (r *report) Origin() string {
	if r.Source == nil || r.Source.From == nil {
		return ""
	}
	t := r.Source.From
	text := "A session of " + programs[t.Format]
	if t.Session.CWD != "" {
		text += " in " + Plain(t.Session.CWD)
	}
	text += fmt.Sprintf(". The file has %s", recording.Count(t.Report.Lines, "line"))
	beside := 0
	for _, n := range t.Report.Carried {
		beside += n
	}
	for _, n := range t.Report.Unknown {
		beside += n
	}
	if beside > 0 {
		text += fmt.Sprintf(", of which %s no message: titles, counts, events", isOrAre(beside))
	}
	if t.Report.Damaged > 0 {
		text += fmt.Sprintf("; %s damaged", isOrAre(t.Report.Damaged))
	}
	return text + "." + r.compacted()
}

func isOrAre(n int) string {
	if n == 1 {
		return "1 is"
	}
	return recording.Comma(n) + " are"
}

// compacted says where the recording host compacted.
func (r *report) compacted() string {
	const most = 8
	if len(r.Source.Compactions) == 0 {
		return ""
	}
	text := fmt.Sprintf(" Its host compacted %s", recording.Count(len(r.Source.Compactions), "time"))
	var at []string
	for _, n := range r.Compacted[:min(most, len(r.Compacted))] {
		at = append(at, fmt.Sprint(n))
	}
	if len(at) == 0 {
		return text + "."
	}
	if len(r.Compacted) > most {
		at = append(at, "…")
	}
	return text + ", in front of request " + strings.Join(at, ", ") +
		"; the requests here are made from the whole history."
}

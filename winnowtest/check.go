package winnowtest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/winnowgo/winnow"
)

// findings collects errors.
type findings struct{ errs []error }

func (f *findings) add(check string, err error) {
	if err != nil {
		f.errs = append(f.errs, fmt.Errorf("%s: %w", check, err))
	}
}

func (f *findings) err() error { return errors.Join(f.errs...) }

// clip keeps a text readable in an error.
func clip(s string) string {
	const limit = 600
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + fmt.Sprintf("… (%d bytes)", len(s))
}

// snapshot returns the messages without their sources.
func snapshot(messages []winnow.Message) string { return strings.Join(snapshots(messages), "\n") }

func snapshots(messages []winnow.Message) []string {
	out := make([]string, len(messages))
	for i := range messages {
		m := messages[i]
		m.Parts = slices.Clone(m.Parts)
		args := ""
		for k := range m.Parts { // they need not be JSON
			args += fmt.Sprintf(" %q", m.Parts[k].Arguments)
			m.Parts[k].Arguments = nil
		}
		b, err := json.Marshal(m)
		if err != nil {
			b = []byte(err.Error())
		}
		out[i] = string(b) + args
	}
	return out
}

// withoutSource returns messages as a host has them after storing them in winnow's form.
func withoutSource(messages []winnow.Message) []winnow.Message {
	out := slices.Clone(messages)
	for i := range out {
		out[i].Source = nil
		out[i].Parts = slices.Clone(out[i].Parts)
		for k := range out[i].Parts {
			out[i].Parts[k].Source = nil
		}
	}
	return out
}

// stage is one way to change a history.
type stage struct {
	name string
	run  func([]winnow.Message) ([]winnow.Message, []winnow.Edit)
}

// stages are the stages of the library, with options that leave few messages unchanged.
func stages(history []winnow.Message) []stage {
	window := 1
	for i := range history {
		window += winnow.CharsPerToken(4).Estimate(history[i])
	}
	prune := func(o winnow.PruneOptions) func([]winnow.Message) ([]winnow.Message, []winnow.Edit) {
		o.KeepLastAssistants, o.MinPrunableToolChars = 1, -1
		return func(h []winnow.Message) ([]winnow.Message, []winnow.Edit) {
			return winnow.PruneContext(h, window, &o)
		}
	}
	limit := func(turns int) func([]winnow.Message) ([]winnow.Message, []winnow.Edit) {
		return func(h []winnow.Message) ([]winnow.Message, []winnow.Edit) { return winnow.LimitHistoryTurns(h, turns) }
	}
	return []stage{
		{"repair", winnow.RepairToolPairing},
		{"trimming", prune(winnow.PruneOptions{SoftTrimMaxChars: 200, SoftTrimHeadChars: 30, SoftTrimTailChars: 30,
			NoHardClear: true})},
		{"clearing", prune(winnow.PruneOptions{Placeholder: "[cleared]"})},
		{"truncation", func(h []winnow.Message) ([]winnow.Message, []winnow.Edit) {
			return winnow.TruncateToolResults(h, 200, &winnow.TruncateOptions{MinKeepChars: 40})
		}},
		{"a limit of one turn", limit(1)},
		{"a limit of two turns", limit(2)},
	}
}

// nothingLost returns an error unless after holds the text of every message, the arguments of every call, and all
// results with their tools from before, in order. It compares only letters and digits, because a provider may require a
// cleaned name or arguments in an object. It ignores system messages, because many APIs have a separate field for them,
// and thinking, because most APIs do not accept it.
func nothingLost(before, after []winnow.Message) error {
	have := map[string]string{}
	fragments(after, func(kind, text string) { have[kind] += text })
	var err error
	fragments(before, func(kind, text string) {
		at := strings.Index(have[kind], text)
		if at < 0 && err == nil {
			err = fmt.Errorf("%s is lost: %s", kind, clip(text))
		}
		if at >= 0 {
			have[kind] = have[kind][at+len(text):]
		}
	})
	if err == nil && calls(before) != calls(after) {
		err = fmt.Errorf("%d calls became %d", calls(before), calls(after))
	}
	return err
}

// fragments calls f for each text of messages.
func fragments(messages []winnow.Message, f func(kind, text string)) {
	tools := map[string]string{} // by the id of the call
	for i := range messages {
		m := &messages[i]
		kind := string(m.Role) + " text"
		if m.Summary {
			kind = "user text"
		}
		if m.Role == winnow.RoleSystem {
			continue
		}
		if m.Role == winnow.RoleTool { // the options of the stages name tools
			f("tool name", lettersOf(cmp.Or(m.ToolName, tools[m.ToolCallID])))
		}
		for k := range m.Parts {
			p := &m.Parts[k]
			switch p.Kind {
			case winnow.KindText:
				f(kind, lettersOf(p.Text))
			case winnow.KindToolCall:
				tools[p.ID] = p.Name
				if args := sortedKeys(p.Arguments); args != "null" { // none
					f("arguments", lettersOf(args))
				}
			}
		}
	}
}

func calls(messages []winnow.Message) int {
	n := 0
	for i := range messages {
		for k := range messages[i].Parts {
			if messages[i].Parts[k].Kind == winnow.KindToolCall {
				n++
			}
		}
	}
	return n
}

func lettersOf(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

// sortedKeys returns arguments with sorted keys.
func sortedKeys(arguments json.RawMessage) string {
	var v any
	d := json.NewDecoder(strings.NewReader(string(arguments)))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return string(arguments)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return string(arguments)
	}
	return string(b)
}

package hosts

import (
	"reflect"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/histories"
	"github.com/winnowgo/winnow/internal/test/wire"
)

// stages calls the pure functions, without a manager.
func (w *world) stages(s *Step) {
	q := w.ask()
	repaired, _ := winnow.RepairToolPairing(q.in)
	w.checkWritten(q, "RepairToolPairing")
	window := max(200, s.N)
	for _, stage := range []struct {
		name string
		run  func([]winnow.Message) []winnow.Message
	}{
		{"RepairToolPairing", func(h []winnow.Message) []winnow.Message { return h }},
		{"LimitHistoryTurns", func(h []winnow.Message) []winnow.Message {
			out, _ := winnow.LimitHistoryTurns(h, 1+abs(s.Seed)%3)
			return out
		}},
		{"PruneContext", func(h []winnow.Message) []winnow.Message {
			out, _ := winnow.PruneContext(h, window, pruneOptions[abs(s.Seed)%len(pruneOptions)])
			return out
		}},
		{"TruncateToolResults", func(h []winnow.Message) []winnow.Message {
			out, _ := winnow.TruncateToolResults(h, window, truncateOptions[abs(s.Seed)%len(truncateOptions)])
			return out
		}},
	} {
		before := histories.Copy(repaired)
		out := stage.run(repaired)
		if !reflect.DeepEqual(before, repaired) {
			w.fail("the history is not written", "%s wrote to it", stage.name)
		}
		rules := wire.Rules{Lead: histories.Leads(q.in), Bytes: !histories.ValidText(q.in)}
		if err := rules.Check(out); err != nil {
			w.fail("a provider accepts it", "%s: %v\n of %s\nfrom %s", stage.name, err, sketch(out), sketch(q.in))
		}
		w.checkVerbatim(q.in, out, stage.name)
	}
}

var pruneOptions = []*winnow.PruneOptions{
	nil,
	{KeepLastAssistants: 1, MinPrunableToolChars: 500, SoftTrimMaxChars: 200, SoftTrimHeadChars: 60,
		SoftTrimTailChars: 60},
	{SoftTrimRatio: 0.01, HardClearRatio: 0.02, MinPrunableToolChars: -1, KeepLastAssistants: -1},
	{NoHardClear: true, SoftTrimRatio: 0.05, SoftTrimMaxChars: 300, SoftTrimHeadChars: 100, SoftTrimTailChars: 100},
	{DenyTools: []string{"read"}, MinPrunableToolChars: -1, Placeholder: "[gone]"},
}

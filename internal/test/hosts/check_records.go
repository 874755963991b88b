package hosts

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/winnowgo/winnow"
)

// Records replace runs of old messages.

const recordBegin = "[Record of "

// isRecord reports whether m is a record that the library made. The host's own messages have an ID or a Source.
func isRecord(m *winnow.Message) bool {
	return m.ID == "" && m.Source == nil && m.Injected && m.Role == winnow.RoleUser && len(m.Parts) == 1 &&
		strings.HasPrefix(m.Parts[0].Text, recordBegin)
}

var countOfRecord = regexp.MustCompile(`\[Record of (\d+) `)

var anyHeading = regexp.MustCompile(`(^|[\n\r\x{2028}\x{2029}\x{85}\v\f])[\s\pZ]*(#|>|<|＜)`)

// checkRecords: a record is data in lines, and stands for old answers with their results alone.
func (w *world) checkRecords(in []winnow.Message, r *winnow.Request) {
	records, told := 0, 0
	for k := range r.Messages {
		m := &r.Messages[k]
		if !isRecord(m) {
			continue
		}
		records++
		text := m.Parts[0].Text
		n, _ := strconv.Atoi(countOfRecord.FindStringSubmatch(text + recordBegin + "0 ")[1])
		told += n
		if w.damaged {
			continue
		}
		if at := anyHeading.FindString(text); at != "" {
			w.fail("a record is data", "%q in %s", at, clip(text))
		}
		for _, tag := range tags {
			if strings.Contains(text, tag) {
				w.fail("a record is data", "%q in %s", tag, clip(text))
			}
		}
		if n := strings.Count(text, "\n"+recordBegin); n > 0 {
			w.fail("a record is data", "%d more begin in it: %s", n, clip(text))
		}
	}
	folded, gone := map[int]bool{}, 0
	for _, e := range r.Edits {
		if e.Op != winnow.OpFold || e.Before == 0 { // … or of the record itself
			continue
		}
		w.seen["fold"]++
		folded[e.Index] = true
		gone++
		m := &in[e.Index]
		switch {
		case m.Role == winnow.RoleUser && w.mayGo(in, e.Index):
		case isDialogue(m) && m.Role == winnow.RoleUser, m.Role == winnow.RoleSystem:
			w.fail("only answers, results and texts that the host lets go are folded", "message %d: %s", e.Index,
				show(m))
		case m.Pinned, m.Summary:
			w.fail("only answers and results are folded", "message %d: %s", e.Index, show(m))
		}
	}
	if len(folded) > 0 && records == 0 {
		w.fail("a record stands for what is folded", "%d messages are folded, and there is no record", len(folded))
	}
	if records > len(folded) {
		w.fail("a record stands for what is folded", "%d records, %d messages are folded", records, len(folded))
	}
	if told != gone && !w.damaged {
		w.fail("a record stands for what is folded", "records say that they are of %d messages, and %d are folded",
			told, gone)
	}
	w.checkPairs(in, folded)
	for k := 1; k < len(r.Messages); k++ {
		if !isRecord(&r.Messages[k-1]) || !isRecord(&r.Messages[k]) {
			continue
		}
		if two := wireForms(r.Messages[k-1 : k+1]); two[0] == two[1] && !w.mayStandTwice(two[0]) {
			w.fail("a record stands for what is folded", "the same one stands twice: %s", show(&r.Messages[k]))
		}
	}
}

// mayStandTwice reports whether a record may be its own neighbour. In their leanest form, records of different messages
// may be the same. What was sent stays as it is, so two of them meet where the host takes away what stood between them.
func (w *world) mayStandTwice(record uint64) bool {
	if !w.dropped || w.sent == nil { // nil: the last request is not known
		return w.dropped
	}
	n := 0
	for _, m := range w.sent {
		if m == record {
			n++
		}
	}
	return n > 1
}

// checkPairs: a call is folded with its results. If calls share an id, the repair decides which result is whose.
func (w *world) checkPairs(in []winnow.Message, folded map[int]bool) {
	calls, results := map[string]int{}, map[string]int{}
	for i := range in {
		results[in[i].ToolCallID]++
		for _, p := range in[i].Parts {
			calls[p.ID]++
		}
	}
	for i := range in {
		if in[i].Role != winnow.RoleTool || i == 0 {
			continue
		}
		k := i - 1
		for k > 0 && in[k].Role == winnow.RoleTool {
			k--
		}
		isOfIt := slices.ContainsFunc(in[k].Parts, func(p winnow.Part) bool {
			isIts := p.Kind == winnow.KindToolCall && p.ID != "" && p.ID == in[i].ToolCallID
			return isIts && calls[p.ID] == 1 && results[p.ID] == 1 // a later result stands for itself
		})
		if isOfIt && folded[i] && !folded[k] {
			w.fail("a call is folded with its results", "result %d without its call %d", i, k)
		}
	}
}

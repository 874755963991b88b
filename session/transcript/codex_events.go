package transcript

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/session/entry"
)

// event reads what an event says about the conversation.
func (r *codexReader) event(raw []byte) {
	kind := r.item.text("type")
	switch kind {
	case "token_count":
		r.endAnswer()
		r.usage()
	case "thread_rolled_back":
		r.endAnswer()
		r.rollBack(r.item.number("num_turns"))
	case "thread_name_updated":
		r.name(r.item.text("thread_name"), r.at)
	}
	r.carryKnown(kind, raw)
}

// usage sets the usage of the newest answer. Each change of a rate limit repeats the counts; only a different total
// means another call. In Codex's counts, input that was read from the cache or written to it is part of the input, and
// reasoning of the output. After a compaction it counts what it expects to send, which nobody was billed for.
func (r *codexReader) usage() {
	info := r.item.object("info")
	last := info.object("last_token_usage")
	total := string(info.get("total_token_usage"))
	input, cached, written := last.number("input_tokens"), last.number("cached_input_tokens"), last.number(codexWritten)
	u := &winnow.Usage{Input: max(0, input-cached-written), CacheRead: cached, CacheWrite: written,
		Output: last.number("output_tokens")}
	if *u == (winnow.Usage{}) || total != "" && total == r.billed {
		return
	}
	r.billed = total
	if r.newest != nil && r.newest.Message.Usage == nil {
		r.newest.Message.Usage = u
		return
	}
	r.beside(&entry.Entry{Type: entry.TypeUsage, Time: parseTime(r.at), Usage: u, Model: r.model})
}

// codexWritten is the count of what was written to the cache, where that costs more.
const codexWritten = "cache_write_input_tokens"

// rollBack removes the newest turns.
func (r *codexReader) rollBack(turns int) {
	for e := r.paths[r.leaf]; e != nil && turns > 0; e = r.paths[e.ParentID] {
		if m := e.Message; m != nil && m.Role == winnow.RoleUser && !m.Injected {
			turns--
		}
		r.leaf = e.ParentID
	}
	r.beside(r.leafEntry())
	r.newest = nil
}

// keptBytes is how much of what people wrote a compaction keeps by default: the newest 20 000 tokens.
const keptBytes = 80_000

// compacted reads a compaction. Later lines follow its replacement of the history: messages of the replacement that are
// in the file are referred to, and the others are added. If only the provider can read the summary, the messages stay
// in front of the replacement, which is added as a whole.
func (r *codexReader) compacted(raw []byte) {
	summary := r.item.text("message")
	var replaced []*winnow.Message
	var rest []*extras
	sealed := -1 // how many messages stand in front of a summary that the provider keeps to itself
	var seal []byte
	jsontext.Elements(r.item.get("replacement_history"), func(value []byte) {
		var item members
		item.read(value)
		if item.text("type") == "message" {
			m, x := r.readMessage(item)
			replaced, rest = append(replaced, m), append(rest, x)
		}
		if isSealed(item) {
			sealed, seal = len(replaced), value
		}
	})
	e := &entry.Entry{Type: entry.TypeCompaction, Time: parseTime(r.at)}
	before := r.history()
	matched := make([]bool, len(replaced))
	if replaced == nil {
		e.Keep = keptByDefault(before)
	} else {
		e.Keep = matches(before, replaced, matched)
	}
	if sealed >= 0 {
		r.t.Report.Carried["compacted"]++
		r.replaceSealed(replaced, rest, matched, sealed, seal)
		return
	}
	if summary == "" {
		summary = takeSummary(replaced, matched)
	}
	if summary == "" {
		r.carryKnown("compacted", raw)
		return
	}
	r.t.Report.Carried["compacted"]++
	e.Summary = summary
	r.path(e, r.leaf)
	for i, m := range replaced {
		if !matched[i] && !isSummaryText(m, summary) {
			m.Injected = m.Role == winnow.RoleUser
			r.add(m, rest[i])
		}
	}
	r.newest = nil
}

// replaceSealed adds a replacement of the history with the seal behind so many messages. Those are pinned: the provider
// returned them together with it.
func (r *codexReader) replaceSealed(
	replaced []*winnow.Message, rest []*extras, matched []bool, before int, seal []byte,
) {
	for i, m := range replaced {
		if i == before {
			r.addSealed(seal)
		}
		m.Pinned = i < before
		m.Injected = m.Injected || !matched[i] && m.Role == winnow.RoleUser
		r.add(m, rest[i])
	}
	if before == len(replaced) {
		r.addSealed(seal)
	}
	r.newest = nil
}

// history returns the messages on the branch back to the newest compaction, the oldest first.
func (r *codexReader) history() []*entry.Entry {
	var out []*entry.Entry
	for e := r.paths[r.leaf]; e != nil; e = r.paths[e.ParentID] {
		if e.Type == entry.TypeCompaction {
			for _, ref := range slices.Backward(e.Keep) {
				out = append(out, r.paths[ref.ID])
			}
			break
		}
		if e.Message != nil {
			out = append(out, e)
		}
	}
	slices.Reverse(out)
	return out
}

// keptByDefault returns what a compaction keeps by default: the system prompt, and what people wrote last.
func keptByDefault(history []*entry.Entry) (keep []entry.Ref) {
	room := keptBytes
	for _, e := range slices.Backward(history) {
		m := e.Message
		if m.Role == winnow.RoleUser && !m.Injected {
			for i := range m.Parts {
				room -= len(m.Parts[i].Text)
			}
		}
		if m.Role == winnow.RoleSystem || m.Role == winnow.RoleUser && !m.Injected && room >= 0 {
			keep = append(keep, entry.Ref{ID: e.ID})
		}
	}
	slices.Reverse(keep)
	return keep
}

// matches returns the messages of a history that are also in a replacement, in order, and marks them there. The system
// prompt is part of each request and never of the replacement.
func matches(history []*entry.Entry, replaced []*winnow.Message, matched []bool) (keep []entry.Ref) {
	next := 0
	for _, e := range history {
		m := e.Message
		found := false
		for i := next; i < len(replaced) && m.Role != winnow.RoleAssistant && !found; i++ {
			if found = !matched[i] && sameText(m, replaced[i]); found {
				matched[i], next = true, i+1
			}
		}
		if found || m.Role == winnow.RoleSystem {
			keep = append(keep, entry.Ref{ID: e.ID})
		}
	}
	return keep
}

// sameText reports whether two messages have the same text.
func sameText(a, b *winnow.Message) bool {
	return slices.EqualFunc(a.Parts, b.Parts, func(p, q winnow.Part) bool {
		return p.Kind == q.Kind && p.Text == q.Text
	})
}

// takeSummary returns the summary in a replacement: its last message, if that is new.
func takeSummary(replaced []*winnow.Message, matched []bool) string {
	last := len(replaced) - 1
	if last < 0 || matched[last] || replaced[last].Role != winnow.RoleUser || isContext(replaced[last].Parts) {
		return ""
	}
	matched[last] = true
	return textOf(replaced[last].Parts)
}

// isSummaryText reports whether m is an introduction followed by the summary.
func isSummaryText(m *winnow.Message, summary string) bool {
	return strings.HasSuffix(strings.TrimSpace(textOf(m.Parts)), strings.TrimSpace(summary))
}

func textOf(parts []winnow.Part) string {
	var b strings.Builder
	for i := range parts {
		if parts[i].Kind == winnow.KindText {
			b.WriteString(parts[i].Text)
		}
	}
	return b.String()
}

// exitTexts precede the exit code in the output of a command.
var exitTexts = []string{"Process exited with code ", "Exit code: "}

// headOfOutput is how far into an output to look for the exit code, in bytes.
const headOfOutput = 400

// failed reports whether the output of a command names an exit code other than 0.
func failed(output string) bool {
	if strings.HasPrefix(output, `{"output":`) {
		var o struct {
			Metadata struct {
				ExitCode int `json:"exit_code"`
			} `json:"metadata"`
		}
		return json.Unmarshal([]byte(output), &o) == nil && o.Metadata.ExitCode != 0
	}
	head := output[:min(len(output), headOfOutput)]
	for _, text := range exitTexts {
		if _, code, found := strings.Cut(head, text); found {
			return code != "" && code[0] != '0'
		}
	}
	return false
}

// urlPart returns the part for an image at a URL, and its data.
func urlPart(url string) (p winnow.Part, rest members) {
	head, data, ok := strings.Cut(url, ";base64,")
	if mediaType, isData := strings.CutPrefix(head, "data:"); ok && isData {
		return imagePart(mediaType, data), members{quoted("data", data)}
	}
	raw := bytes.TrimSpace(jsontext.Quote(url))
	return winnow.Part{Kind: winnow.KindImage}, members{{"url", raw}}
}

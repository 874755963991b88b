package inspect

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
	"github.com/winnowgo/winnow/internal/toolcall"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/transcript"
	"github.com/winnowgo/winnow/session/upkeep"
)

// Check says what of a history a request still has: behind a compaction of the recording, in the recorded request and
// in winnow's.
type Check struct {
	Request  int         `json:"request"`            // from 1
	Recorded bool        `json:"recorded"`           // what the recording host sent is known, and was compacted
	Readable bool        `json:"readable,omitempty"` // not only by the provider
	Kinds    []CheckKind `json:"kinds"`
}

// CheckKind counts the facts of one kind.
type CheckKind struct {
	Name      string   `json:"name"`
	Of        int      `json:"of"`
	Recording int      `json:"recording"`
	Winnow    int      `json:"winnow"`
	Lacks     []string `json:"lacks,omitempty"` // what winnow's request has not
}

// The kinds of facts, in the order of a check.
const (
	aFile = iota
	aProhibition
	anError
	aPlanItem
	aNextStep
	aUsedName
	factKinds
)

var factNames = [factKinds]string{
	"files that were changed", "prohibitions by people", "the last error", "open items of the plan", "the next step",
	"names that were used afterwards",
}

// facts are what a request should have, by kind. All are found by code, not by a model.
type facts [factKinds][]string

// prohibition is a sentence that forbids something. The library has its own lists of words; these do not use them,
// so that it is not judged by its own measure.
var prohibition = regexp.MustCompile(`(?i)\b(never|don't|do not|don’t|must not|mustn't|should not|not allowed|avoid|` +
	`no longer|without touching)\b|不要|不得|不能|禁止|请勿|勿`)

// factsOf finds the facts in a history.
func factsOf(history []winnow.Message) (f facts) {
	add := func(kind int, text string) {
		if text = strings.Join(strings.Fields(text), " "); text != "" && !slices.Contains(f[kind], text) {
			f[kind] = append(f[kind], text)
		}
	}
	for i := range history {
		m := &history[i]
		switch {
		case recording.BeginsTurn(m):
			for _, s := range sentence.FindAllString(recording.Text(m), -1) {
				if prohibition.MatchString(s) {
					add(aProhibition, s)
				}
			}
		case m.Role == winnow.RoleTool && m.IsError:
			f[anError] = nil
			add(anError, lastLine(recording.Text(m)))
		}
		if m.Role != winnow.RoleAssistant {
			continue
		}
		for _, p := range m.Parts {
			if p.Kind != winnow.KindToolCall {
				continue
			}
			for _, path := range toolcall.Common.OfShell(p.Name, p.Arguments).Modified {
				add(aFile, shortPath(path))
			}
			if toolcall.IsOwn(toolcall.Common.State(p.Name, p.Arguments)) {
				f[aPlanItem] = nil
				for _, item := range openItems(p.Arguments) {
					add(aPlanItem, item)
				}
			}
		}
		if line := lastLine(recording.Text(m)); line != "" {
			f[aNextStep] = nil
			add(aNextStep, line)
		}
	}
	return f
}

// sentence ends at the end of a line, or at a mark with a blank behind it.
var sentence = regexp.MustCompile(`[^\n.!?。！？]+(?:[.!?](?:[^\s][^\n.!?。！？]*)?)*[。！？]?`)

// lastLine returns the last line that says something.
func lastLine(text string) string {
	const least = 8 // bytes: less is a bracket
	for _, line := range slices.Backward(strings.Split(text, "\n")) {
		if line = strings.TrimSpace(line); len(line) >= least {
			return line
		}
	}
	return ""
}

// shortPath returns the last two elements of a path: agents name a file from different directories.
func shortPath(path string) string {
	elements := strings.Split(strings.ReplaceAll(path, `\`, "/"), "/")
	return strings.Join(elements[max(0, len(elements)-2):], "/")
}

// openItems returns the texts of a plan's open items.
func openItems(arguments []byte) (items []string) {
	text, isList := toolcall.Unfinished(arguments)
	if !isList {
		return nil
	}
	for line := range strings.Lines(text) {
		if item, isItem := strings.CutPrefix(line, "- "); isItem {
			if _, behind, found := strings.Cut(item, "] "); found && item[0] == '[' {
				item = behind
			}
			items = append(items, item)
		}
	}
	return items
}

// usedAfterwards returns the names that a history had and later answers used, before anything showed them again.
func (q quotes) usedAfterwards(before, after []winnow.Message) (names []string) {
	k := known{map[string]bool{}, map[string]bool{}}
	for i := range before {
		k.add(q.of(&before[i]))
	}
	shown := map[string]bool{}
	for i := range after {
		m := &after[i]
		for name := range q.of(m).names {
			if m.Role == winnow.RoleAssistant && k.names[name] && !shown[name] {
				names = append(names, name)
			}
			shown[name] = true
		}
	}
	slices.Sort(names)
	return names
}

// missingIn returns which facts of each kind a request lacks.
func (f facts) missingIn(q quotes, request []winnow.Message) (gone facts) {
	var b strings.Builder
	names := map[string]bool{}
	for i := range request {
		b.WriteString(strings.Join(quotedText(&request[i]), "\n") + "\n")
		for name := range q.of(&request[i]).names {
			names[name] = true
		}
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for kind, list := range f {
		for _, fact := range list {
			if kind == aUsedName && !names[fact] || kind != aUsedName && !strings.Contains(text, fact) {
				gone[kind] = append(gone[kind], fact)
			}
		}
	}
	return gone
}

// Checks replays a session, and checks winnow's requests: behind each compaction of the recording or, if there was
// none, the last.
func Checks(ctx context.Context, in Input) (list []Check, err error) {
	r, requests, err := newReplayer(in.Session, in.Basis)
	if err != nil {
		return nil, err
	}
	points := in.Session.Compactions
	if len(points) == 0 {
		points = []recording.Compaction{{Before: len(requests[len(requests)-1].History), Entry: -1}}
	}
	history := in.Session.Messages
	for i, q := range requests {
		r.clock = q.At
		sent, err := r.manager.Prepare(ctx, q.History)
		if err != nil {
			sent = &winnow.Request{} // it does not fit, and has nothing
		}
		for len(points) > 0 && len(q.History) >= points[0].Before {
			at, end := points[0].Before, len(history)
			if points = points[1:]; len(points) > 0 {
				end = points[0].Before
			}
			f := factsOf(history[:at])
			f[aUsedName] = r.quotes.usedAfterwards(history[:at], history[at:end])
			c := Check{Request: i + 1}
			n := len(in.Session.Compactions) - len(points) - 1
			var recorded []winnow.Message
			if n >= 0 && len(in.Session.Compactions) > 0 {
				c.Recorded = true
				recorded, c.Readable = viewAt(ctx, in.Session.From, in.Session.Compactions[n])
			}
			c.compare(f, f.missingIn(r.quotes, recorded), f.missingIn(r.quotes, sent.Messages))
			list = append(list, c)
		}
	}
	return list, nil
}

func (c *Check) compare(f, recorded, ours facts) {
	for kind, name := range factNames {
		if len(f[kind]) > 0 {
			c.Kinds = append(c.Kinds, CheckKind{
				Name: name, Of: len(f[kind]), Recording: len(f[kind]) - len(recorded[kind]),
				Winnow: len(f[kind]) - len(ours[kind]), Lacks: ours[kind],
			})
		}
	}
}

// viewAt returns what the recording host sent for its first request behind a compaction. ok is false if only the
// provider can read that.
func viewAt(ctx context.Context, t *transcript.Transcript, c recording.Compaction) (view []winnow.Message, ok bool) {
	if c.Entry < 0 {
		return nil, false
	}
	end := c.Entry + 1
	for end < len(t.Entries) {
		if m := t.Entries[end].Message; m != nil && m.Role == winnow.RoleAssistant {
			break
		}
		end++
	}
	return View(ctx, t.Entries[:end])
}

// View returns what the model sees of a session that has these entries. ok is false if they are no whole session.
func View(ctx context.Context, entries []*entry.Entry) (view []winnow.Message, ok bool) {
	store := session.NewMemory(nil)
	defer store.Close()
	const key = "k"
	if upkeep.Import(ctx, store, key, entries) != nil {
		return nil, false
	}
	v, err := store.Read(ctx, key)
	if err != nil {
		return nil, false
	}
	return v.History, true
}

// SumOf adds up checks. What only the provider can read counts as not known for all.
func SumOf(list []Check) (sum Check) {
	sum.Recorded, sum.Readable = true, true
	for _, name := range factNames {
		total := CheckKind{Name: name}
		for i := range list {
			for _, k := range list[i].Kinds {
				if k.Name == name {
					total.Of += k.Of
					total.Recording += k.Recording
					total.Winnow += k.Winnow
				}
			}
		}
		if total.Of > 0 {
			sum.Kinds = append(sum.Kinds, total)
		}
	}
	for i := range list {
		sum.Readable = sum.Readable && list[i].Readable
	}
	return sum
}

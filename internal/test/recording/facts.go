package recording

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/models"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/transcript"
)

// Facts are what a file says of a session beside its messages. 0 and "" stand for what it does not say.
type Facts struct {
	Model       string       // the model of most answers
	Window      int          // its context window
	Compactions []Compaction // those that the recording host made
}

// Compaction is one of the recording.
type Compaction struct {
	Before int // index of the first message behind it
	Entry  int // index in Transcript.Entries; -1: the provider compacted
}

// factsOf reads the facts of a transcript with these messages. The model is that of its branch: sub-agents may have
// answered more often.
func factsOf(t *transcript.Transcript, messages []winnow.Message) (f Facts) {
	for _, e := range t.Entries {
		if n := statedWindow(e); n > 0 {
			f.Window = n
		}
	}
	answers, at := map[string]int{}, 0
	for _, m := range marked(t).Messages() {
		i, isMark := m.Source.(int)
		switch {
		case !isMark:
			at++
		case t.Entries[i].Type == entry.TypeMessage:
			at++
			model := modelOf(t.Entries[i], sourceOf(t.Entries[i]))
			if answers[model]++; model != "" && (answers[model] > answers[f.Model] || f.Model == "") {
				f.Model = model
			}
		case at > 0 && at <= len(messages): // of the first one the file lacks the history
			f.Compactions = append(f.Compactions, Compaction{Before: at, Entry: i})
		}
	}
	for i := range messages {
		if i > 0 && slices.ContainsFunc(messages[i].Parts, isSeal) {
			f.Compactions = append(f.Compactions, Compaction{Before: i, Entry: -1})
		}
	}
	slices.SortStableFunc(f.Compactions, func(a, b Compaction) int { return a.Before - b.Before })
	return f
}

// marked returns t with messages that have the place of their entry as Source. Compactions are messages there, so that
// they keep their place among them.
func marked(t *transcript.Transcript) *transcript.Transcript {
	out := &transcript.Transcript{Format: t.Format, Entries: slices.Clone(t.Entries)}
	for i, e := range t.Entries {
		mark, m := *e, winnow.Message{Role: winnow.RoleUser}
		switch {
		case e.Type == entry.TypeMessage && e.Message != nil:
			m = *e.Message
		case e.Type != entry.TypeCompaction || e.Degraded:
			continue
		}
		mark.Type, mark.Message, m.Source = entry.TypeMessage, &m, i
		out.Entries[i] = &mark
	}
	return out
}

// windowMember is how Codex and OpenClaw state the window.
var windowMember = regexp.MustCompile(`"(?:model_context_window|contextTokens)":\s*([0-9]{4,9})\b`)

// statedWindow returns the window that a line beside the conversation states, 0 if none.
func statedWindow(e *entry.Entry) int {
	if e.Type != entry.TypeCustom {
		return 0
	}
	found := windowMember.FindSubmatch(e.Data)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(found[1]))
	return n
}

// source is what an entry's source says of a call: what pi, or an early Claude Code, states that it cost, who served
// it, and in which other way or place than the usual one Claude sold it.
type source struct {
	Line struct {
		CostUSD float64
		Usage   struct{ Cost struct{ Total float64 } }
	}
	Message struct {
		Provider string
		Usage    struct {
			Cost  struct{ Total float64 }
			Tier  string `json:"service_tier"`
			Speed string
			Place string `json:"inference_geo"`
		}
	}
}

func sourceOf(e *entry.Entry) (of source) {
	if e.Source != nil {
		_ = json.Unmarshal(e.Source.Data, &of) // what cannot be read is not said
	}
	return of
}

// modelOf returns the model of an answer, with who served it where that makes a difference; "" if it is not known.
func modelOf(e *entry.Entry, of source) string {
	if e.Model == "" || strings.HasPrefix(e.Model, "<") {
		return ""
	}
	name := of.Message.Provider + ":" + e.Model
	alone, _ := models.Find(e.Model)
	if served, _ := models.Find(name); of.Message.Provider == "" || reflect.DeepEqual(served, alone) {
		return e.Model
	}
	return name
}

// callOf returns a call with what its entry says of it. How and where it was sold stand in the name of its model, as
// the table of models has them.
func callOf(e *entry.Entry, usage *winnow.Usage) Call {
	of := sourceOf(e)
	c := Call{Usage: usage, Model: cmp.Or(modelOf(e, of), e.Model)}
	c.Dollars = max(0, of.Line.CostUSD+of.Line.Usage.Cost.Total+of.Message.Usage.Cost.Total)
	if u := &of.Message.Usage; c.Model != "" {
		c.Model = models.Sold(c.Model, u.Speed, u.Tier, u.Place)
	}
	return c
}

func isSeal(p winnow.Part) bool {
	return p.Kind == winnow.KindOpaque && p.MediaType == winnow.MediaCompaction && p.Text+p.Signature != ""
}

// readIndex reads the window from the sessions.json that OpenClaw keeps beside its sessions.
func (s *Session) readIndex(file string) {
	if s.From == nil || s.From.Format != transcript.Pi || s.Window > 0 {
		return
	}
	dir := filepath.Dir(file)
	data, err := os.ReadFile(filepath.Join(dir, "sessions.json"))
	if err != nil {
		return
	}
	list, err := transcript.ParseIndex(data)
	if err != nil {
		return
	}
	for _, l := range list {
		if l.ID == s.From.Session.ID || filepath.Base(l.Path(dir)) == filepath.Base(file) {
			s.Window = max(s.Window, l.ContextTokens)
		}
	}
}

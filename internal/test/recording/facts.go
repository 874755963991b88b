package recording

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/winnowgo/winnow"
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

// factsOf reads the facts of a transcript with these messages.
func factsOf(t *transcript.Transcript, messages []winnow.Message) (f Facts) {
	answers := map[string]int{}
	for _, e := range t.Entries {
		if e.Type == entry.TypeMessage && e.Model != "" && !strings.HasPrefix(e.Model, "<") {
			if answers[e.Model]++; answers[e.Model] > answers[f.Model] || f.Model == "" {
				f.Model = e.Model
			}
		}
		if n := statedWindow(e); n > 0 {
			f.Window = n
		}
	}
	f.Compactions = compactionsOf(t, messages)
	return f
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

// callOf returns a call with what its entry says of it: what pi, or an early Claude Code, states that it cost, and in
// which other way than the usual one Claude sold it, as the table of models has that in a name.
func callOf(e *entry.Entry, usage *winnow.Usage) Call {
	var of struct {
		Line struct {
			CostUSD float64
			Usage   struct{ Cost struct{ Total float64 } }
		}
		Message struct {
			Usage struct {
				Cost  struct{ Total float64 }
				Tier  string `json:"service_tier"`
				Speed string
			}
		}
	}
	c := Call{Usage: usage, Model: e.Model}
	if e.Source == nil || json.Unmarshal(e.Source.Data, &of) != nil {
		return c
	}
	c.Dollars = max(0, of.Line.CostUSD+of.Line.Usage.Cost.Total+of.Message.Usage.Cost.Total)
	for _, sold := range []string{of.Message.Usage.Speed, of.Message.Usage.Tier} {
		if c.Model != "" && sold != "" {
			c.Model += "-" + sold
		}
	}
	return c
}

// compactionsOf returns the compactions on the branch of the messages. Each is made a message first, so that it keeps
// its place among them.
func compactionsOf(t *transcript.Transcript, messages []winnow.Message) (list []Compaction) {
	marked := &transcript.Transcript{Format: t.Format, Entries: slices.Clone(t.Entries)}
	for i, e := range t.Entries {
		if e.Type == entry.TypeCompaction && !e.Degraded {
			mark := *e
			mark.Type, mark.Message = entry.TypeMessage, &winnow.Message{Role: winnow.RoleUser, Source: i}
			marked.Entries[i] = &mark
		}
	}
	at := 0
	for _, m := range marked.Messages() {
		if i, isMark := m.Source.(int); !isMark {
			at++
		} else if at > 0 && at <= len(messages) { // of the first one the file lacks the history
			list = append(list, Compaction{Before: at, Entry: i})
		}
	}
	for i := range messages {
		if i > 0 && slices.ContainsFunc(messages[i].Parts, isSeal) {
			list = append(list, Compaction{Before: i, Entry: -1})
		}
	}
	slices.SortStableFunc(list, func(a, b Compaction) int { return a.Before - b.Before })
	return list
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

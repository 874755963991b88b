package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/internal/jsonl"
)

// Leaf returns the newest entry of the branch; [Session.Rewind] to it comes back here. It is "" before the first entry.
func (s *Session) Leaf() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at.Leaf.ID
}

// Rewind goes back to an entry: the conversation continues after it, on a new branch. Later entries stay in the log,
// and Rewind to the last of them returns to their branch. The entry "" is the beginning. The error is [ErrNotFound] if
// no branch has the entry.
func (s *Session) Rewind(ctx context.Context, id string) error {
	defer s.lockBranch()()
	target, err := s.find(ctx, id)
	if err != nil {
		return err
	}
	s.forget()
	return s.rewrite(ctx, &entry.Entry{Type: entry.TypeLeaf, Target: target.ID, At: &target.Offset})
}

// find looks for a path entry in the whole log.
func (s *Session) find(ctx context.Context, id string) (jsonl.Line, error) {
	if s.dead != nil {
		return jsonl.Line{}, s.dead
	}
	for _, p := range s.at.Places { // most callers go back only a little
		if p.Ref.ID == id {
			return jsonl.Line{Head: jsonl.Head{ID: id}, Offset: p.Ref.At}, nil
		}
	}
	t, err := jsonl.NewTree(ctx, s.log, s.at.Size, s.store.opts.Seal, nil)
	if err != nil {
		return jsonl.Line{}, err
	}
	i, ok := t.IndexOf(id)
	if id == "" {
		i, ok = t.Header, t.Header >= 0
	}
	if !ok || t.Lines[i].Kind != entry.TypeSession && !t.Lines[i].IsPath() {
		return jsonl.Line{}, fmt.Errorf("%w: entry %q of %q", ErrNotFound, id, s.key)
	}
	return t.Line(i)
}

// SummarizeBranch adds a summary of an abandoned branch, which ended at entry from, or "" if that is not known. The
// model sees the summary. The error is [ErrNotFound] if no branch has the entry.
func (s *Session) SummarizeBranch(ctx context.Context, from, summary string) error {
	if from != "" {
		s.mu.Lock()
		_, err := s.find(ctx, from)
		s.mu.Unlock()
		if err != nil {
			return err
		}
	}
	summary = strings.ToValidUTF8(summary, "\ufffd")
	return s.add(ctx, &entry.Entry{Type: entry.TypeBranchSummary, Target: from, Summary: summary})
}

// Edit replaces the content of a message, or leaves the message out if m is nil. The original stays in the log. The
// error is [ErrNotFound] if the entry is not a message of the history, and for m as [Session.Append] has it.
func (s *Session) Edit(ctx context.Context, id string, m *winnow.Message, reason string) error {
	defer s.lockBranch()()
	if s.dead != nil {
		return s.dead
	}
	for _, p := range s.at.Places {
		if p.Ref.ID != id || p.IsSummary {
			continue
		}
		e := &entry.Entry{Type: entry.TypeEdit, Target: id, Omit: m == nil, Reason: reason}
		if m != nil {
			c, err := s.stored(*m)
			if err != nil {
				return err
			}
			e.Message = &c
		}
		return s.rewrite(ctx, e)
	}
	return fmt.Errorf("%w: entry %q in the history of %q", ErrNotFound, id, s.key)
}

// Inject appends a message of the host under a name. The model sees it; people do not if it is hidden. What
// [Session.Append] refuses is refused.
func (s *Session) Inject(ctx context.Context, name string, hidden bool, m winnow.Message) error {
	m, err := s.stored(m)
	if err != nil {
		return err
	}
	s.mu.Lock()
	err = s.mayBeAppended(ctx, []winnow.Message{m})
	s.mu.Unlock()
	if err != nil {
		return err
	}
	return s.add(ctx, &entry.Entry{Type: entry.TypeCustomMessage, Name: name, Hidden: hidden, Message: &m})
}

// AddData appends data of the host, as JSON, under a name. The model does not see it. It belongs to the branch.
func (s *Session) AddData(ctx context.Context, name string, data json.RawMessage) error {
	data, err := dataOf(name, data)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.write(ctx, true, &entry.Entry{Type: entry.TypeCustom, Name: name, Data: data})
}

// add appends an entry that carries a message.
func (s *Session) add(ctx context.Context, e *entry.Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.write(ctx, true, e); err != nil {
		return err
	}
	if e.Message != nil {
		s.extend(e, s.offsets[0], *e.Message)
	} else {
		s.extend(e, s.offsets[0], jsonl.BranchSummaryMessage(e))
	}
	return nil
}

// Fork makes a new session that begins with everything that the model sees at an entry of another one. The entry "" is
// the newest of its branch. The copied entries keep their ids and labels, and the counts begin with them; Info is not
// copied. Fork waits for the turn of the new session only. The error is [ErrExists] if that already has entries.
func (s *Store) Fork(ctx context.Context, key, id, newKey string) error {
	if newKey == key { // its holder would wait for itself
		return fmt.Errorf("%w: %q would be forked to itself", ErrExists, key)
	}
	source, err := s.backend.Log(ctx, key, false)
	if err != nil {
		return err
	}
	defer source.Close()
	size, err := source.Size()
	if err != nil {
		return err
	}
	var beside jsonl.Sides
	t, err := jsonl.NewTree(ctx, source, size, s.opts.Seal, &beside)
	if err != nil {
		return err
	}
	if id != "" {
		i, ok := t.IndexOf(id)
		if !ok || !t.Lines[i].IsPath() {
			return fmt.Errorf("%w: entry %q of %q", ErrNotFound, id, key)
		}
		t.Current = i
	}
	target, err := s.Resume(ctx, newKey)
	if err != nil {
		return err
	}
	err = target.become(ctx, t, key, beside.Labels)
	return errors.Join(err, target.Close())
}

// become fills an empty session with the part of a branch that its history uses.
func (s *Session) become(ctx context.Context, t *jsonl.Tree, key string, labels map[string]string) error {
	if s.at.Size > 0 {
		return fmt.Errorf("%w: %q", ErrExists, s.key)
	}
	var active jsonl.Loaded
	if err := active.Walk(t, nil); err != nil {
		return err
	}
	if t.Current < 0 {
		return ErrNotFound
	}
	indexes, err := t.InUse(&active)
	if err != nil {
		return err
	}
	room := 0
	for _, i := range indexes {
		room += t.Lines[i].Length + jsonl.CopiedHead
	}
	s.encoder.Lines = make([]byte, 0, room)
	s.at.From = &entry.From{Session: key, Entry: t.Lines[t.Current].ID}
	header := s.newHeader()
	if header.ID = "e1"; t.Header >= 0 {
		header.ID = t.Lines[t.Header].ID // none of the copied entries has it
	}
	lines, err := s.copyEntries(header, t.Copied(indexes), labels)
	if err != nil {
		return err
	}
	if err := s.log.Append(ctx, 0, lines, s.store.opts.Durability == Sync); err != nil {
		return err
	}
	return s.reload(ctx)
}

// copyEntries returns the lines of a log that holds a header and entries in this order. They keep their ids, and their
// seqs unless an earlier id has a higher number.
func (s *Session) copyEntries(
	header *entry.Entry, entries iter.Seq2[jsonl.Copied, error], labels map[string]string,
) ([]byte, error) {
	x := &s.encoder
	x.Lines = x.Lines[:0]
	offsets := map[string]int64{}
	var counts Counts
	header.Seq, header.Time = 1, s.store.opts.Now()
	if err := x.Append(header); err != nil {
		return nil, err
	}
	jsonl.CountEntry(&counts, header)
	previous, seq := header.ID, header.Seq
	for c, err := range entries {
		if err != nil {
			return nil, err
		}
		e := c.Entry
		e.ParentID, e.At, e.Batch = previous, nil, [2]int64{} // the log is created whole or not at all
		e.Seq = jsonl.SeqAfter(seq, e)
		offsets[e.ID] = int64(len(x.Lines))
		jsonl.Refer(e, offsets)
		if e.Full != nil {
			e.Full = &entry.FullState{State: e.Full.State, Counts: jsonl.CloneCounts(counts)}
		}
		if err := x.AppendCopy(e, c.Original); err != nil {
			return nil, err
		}
		jsonl.CountEntry(&counts, e)
		previous, seq = e.ID, e.Seq
	}
	for _, id := range slices.Sorted(maps.Keys(labels)) {
		if _, ok := offsets[id]; !ok {
			continue
		}
		seq++
		e := &entry.Entry{Seq: seq, ID: "e" + strconv.FormatInt(seq, 10), Type: entry.TypeLabel, Time: header.Time}
		e.Target, e.Label = id, labels[id]
		if err := x.Append(e); err != nil {
			return nil, err
		}
	}
	return x.Lines, nil
}

const (
	// A result may take this share of the window, at 4 characters per token, and at most maxResultChars: the numbers of
	// the reference.
	resultShare    = 0.3
	charsPerToken  = 4
	maxResultChars = 400_000

	truncatedReason = "the result is larger than one result may be"
)

// resultLimit returns how many characters a stored result may have, for a window in tokens.
func resultLimit(window int) int {
	return min(int(resultShare*float64(window))*charsPerToken, maxResultChars)
}

// isOversized reports whether m is a result with more characters than limit.
func isOversized(m *winnow.Message, limit int) bool {
	chars := 0
	for i := range m.Parts {
		if m.Parts[i].Kind == winnow.KindText {
			chars += utf8.RuneCountInString(m.Parts[i].Text)
		}
	}
	return m.Role == winnow.RoleTool && !m.Pinned && chars > limit
}

// Truncate permanently cuts tool results that are longer than 30 % of the window, at 4 characters per token, or than
// 400 000 characters. It returns how many it cut. Each cut is an edit; the message stays in the log, and rewinding to
// before the edit shows the original.
func (s *Session) Truncate(ctx context.Context) (int, error) {
	defer s.lockBranch()()
	if s.dead != nil {
		return 0, s.dead
	}
	m, err := s.ready()
	if err != nil {
		return 0, err
	}
	window := m.Window()
	_, opts := s.store.opts.Manager(s.key)
	limit := resultLimit(window)
	var o winnow.TruncateOptions
	if opts != nil && opts.Truncate != nil {
		o = *opts.Truncate
	}
	if o.Estimator == nil && opts != nil {
		o.Estimator = opts.Estimator
	}
	if o.MaxChars <= 0 || o.MaxChars > limit {
		o.MaxChars = limit
	}
	var entries []*entry.Entry
	for i := range s.at.History {
		if result := &s.at.History[i]; isOversized(result, limit) {
			cut, edits := winnow.TruncateToolResults(s.at.History[i:i+1], window, &o)
			if len(edits) > 0 {
				entries = append(entries, s.editEntry(i, &cut[0]))
			}
		}
	}
	if len(entries) == 0 {
		return 0, nil
	}
	return len(entries), s.rewrite(ctx, entries...)
}

// truncations returns the edits for oversized results that overflow recovery cut: each gets the content that was sent.
func (s *Session) truncations(r *winnow.Request) []*entry.Entry {
	if r.Rung == "" {
		return nil
	}
	m, err := s.ready()
	if err != nil {
		return nil
	}
	limit := resultLimit(m.Window())
	var entries []*entry.Entry
	for _, e := range r.Edits {
		if e.Op != winnow.OpTruncate || e.Index >= len(s.at.History) || !isOversized(&s.at.History[e.Index], limit) {
			continue
		}
		if sent := sentAs(r, &s.at.History[e.Index]); sent != nil {
			entries = append(entries, s.editEntry(e.Index, sent))
		}
	}
	return entries
}

// sentAs returns the result in a request that stands for m, nil if that is uncertain.
func sentAs(r *winnow.Request, m *winnow.Message) (found *winnow.Message) {
	for i := range r.Messages {
		if n := &r.Messages[i]; n.Role == winnow.RoleTool && n.ToolCallID == m.ToolCallID {
			if found != nil {
				return nil
			}
			found = n
		}
	}
	return found
}

// editEntry returns the entry that replaces the content of message i of the history.
func (s *Session) editEntry(i int, as *winnow.Message) *entry.Entry {
	m := s.at.History[i]
	m.Parts, m.Source = as.Parts, nil
	m, _ = jsonl.Canonical(m) // as it comes from a canonical message
	return &entry.Entry{Type: entry.TypeEdit, Target: s.at.Places[i].Ref.ID, Message: &m, Reason: truncatedReason}
}

// rewrite writes entries that change the history, and reads it again.
func (s *Session) rewrite(ctx context.Context, entries ...*entry.Entry) error {
	if err := s.write(ctx, true, entries...); err != nil {
		return err
	}
	if err := s.reload(ctx); err != nil {
		return s.kill(err)
	}
	return nil
}

package winnow

import (
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/record"
	"github.com/winnowgo/winnow/internal/sections"
)

// A snapshot turned into a ledger. What cannot be is an error, and nothing in it is trusted: it comes from a disk.

// reader reads the parts of a snapshot and collects what is wrong with them.
type reader struct{ errs []error }

func (r *reader) key(text string) (k key) {
	if n, err := hex.Decode(k[:], []byte(text[:min(len(text), 2*len(k))])); err != nil || n != len(k) ||
		len(text) != 2*len(k) {
		r.errs = append(r.errs, errors.New("a key is not one"))
	}
	return k
}

func (r *reader) place(p savedPosition) (q position) {
	if p.Key != "" {
		q.key, q.index = r.key(p.Key), max(0, p.Index)
	}
	return q
}

func (r *reader) landmark(p savedBookmark) bookmark {
	m := bookmark{position: r.place(p.savedPosition), count: min(max(0, p.Count), bookmarkContext)}
	if p.Before != "" {
		m.before = r.key(p.Before)
	}
	if p.After != "" {
		m.after = r.key(p.After)
	}
	return m
}

func (r *reader) checkpoint(c *savedCheckpoint) *checkpoint {
	if c == nil {
		return nil
	}
	if err := c.check(); err != nil {
		r.errs = append(r.errs, err)
		return nil
	}
	cp := &checkpoint{
		message:   Message{Role: RoleUser, Summary: true, Parts: []Part{{Text: string(c.Text)}}},
		firstKept: r.landmark(c.FirstKept), limited: r.place(c.Limited), request: r.place(c.Request),
		body: string(c.Body), carried: c.Carried.Within(), degraded: c.Degraded,
		healthy: r.checkpoint(c.Healthy),
	}
	var h hasher
	cp.key = h.key(&cp.message)
	return cp
}

// check says what would make a request with c one that providers refuse.
func (c *savedCheckpoint) check() error {
	text := string(c.Text)
	inner, framed := strings.CutPrefix(text, sections.Begin)
	closed := strings.Contains(inner, sections.End)
	switch {
	case !framed || !closed || !utf8.ValidString(text):
		return errors.New("the summary is damaged")
	case c.FirstKept.Key == "":
		return errors.New("the summary does not say what it stands for")
	}
	return nil
}

func (e *savedEdit) check() error {
	if len(e.Parts) == 0 && e.Forms == 0 {
		return errors.New("an edit is empty")
	}
	if !e.saysWhat() || e.Reason == "" {
		return errors.New("an edit does not say what it did")
	}
	for _, p := range partsOf(e.Parts) {
		if isEmptyPart(&p, true) || p.Kind == KindToolCall && (p.ID == "" || !validArguments(p.Arguments)) {
			return errors.New("an edit is damaged")
		}
	}
	return nil
}

func (r *reader) record(s savedRecord) *runRecord {
	text := string(s.Text)
	if s.Count <= 0 || s.First.Key == "" || !record.Is(text) || !utf8.ValidString(text) {
		r.errs = append(r.errs, errors.New("a record is damaged"))
		return nil
	}
	n := newRecord(r.place(s.First), s.Count, r.key(s.Last), r.key(s.Run), text)
	n.lean = max(0, s.Lean)
	return n
}

func (e *savedEdit) saysWhat() bool {
	switch e.Op {
	case OpTrim, OpClear, OpTruncate:
		return e.Forms == 0
	case OpMinify:
		return (e.Forms != 0) == (len(e.Parts) == 0)
	}
	return false
}

func (r *reader) state(s *savedState) undo {
	u := undo{guess: s.Guess.Within(), body: s.BodyGuess.Within(), rewrites: rewrites{
		projections: map[key]*projection{}, checkpoint: r.checkpoint(s.Checkpoint), standIn: r.place(s.StandIn),
		turnStart: r.place(s.TurnStart), epochSearch: epochSearch{max(0, s.Look.At), s.Look.Next}, flushed: s.Flushed,
	}}
	for _, text := range s.Refused[max(0, len(s.Refused)-maxRemembered):] {
		u.refused = append(u.refused, r.key(text))
	}
	for _, saved := range s.Records {
		if n := r.record(saved); n != nil {
			u.records = append(u.records, n)
		}
	}
	slices.SortFunc(u.records, compareRecords) // those of a delta may belong in front of others
	for text, e := range s.Edits {
		if err := e.check(); err != nil {
			r.errs = append(r.errs, err)
			continue
		}
		p := &projection{parts: partsOf(e.Parts)} // as parts, so that even a lone text finds the host's value again
		p.key, p.tokens, p.op, p.reason, p.unread = r.key(e.Key), max(0, e.Tokens), e.Op, e.Reason, true
		p.forms = e.Forms
		u.projections[r.key(text)] = p
	}
	return u
}

func (s *snapshot) ledger() (ledger, error) {
	var r reader
	l := ledger{
		model: s.Model, otherModel: s.OtherModel, accounting: s.Accounting.accounting(), breaker: s.Breaker.breaker(),
		refusals: max(0, s.Refusals), digestAt: max(0, s.DigestAt),
	}
	l.body = max(0, s.Body)
	l.sentAt, l.tokens, l.estimate, l.bytes = s.SentAt, max(0, s.Tokens), max(0, s.Estimate), max(0, s.Bytes)
	for _, text := range s.Sent {
		l.sent = append(l.sent, r.key(text))
	}
	l.run = s.Run.recovery()
	l.revert(r.state(&s.savedState))
	if a := s.Attempt; a != nil {
		l.attempt = &attempt{before: r.state(&a.Before), tokens: a.Tokens.Within(), bytes: a.Bytes.Within(),
			end: r.place(a.End)}
	}
	return l, errors.Join(r.errs...)
}

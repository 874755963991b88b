package winnow

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// snapshotVersion is that of the form below. A reader takes its own version and ignores fields that it
// does not know.
const snapshotVersion = 1

// snapshot is the form of a ledger outside the process. Texts are bytes, so that what is not valid UTF-8
// comes back as it was.
type snapshot struct {
	Winnow     int                  `json:"winnow"` // version
	Sent       []string             `json:"sent,omitempty"`
	SentAt     time.Time            `json:"sentAt,omitzero"`
	Tokens     int                  `json:"tokens,omitempty"`
	Estimate   int                  `json:"estimate,omitempty"`
	Accounting savedAccounting      `json:"accounting,omitzero"`
	Body       int                  `json:"body,omitempty"`
	BodyGuess  bool                 `json:"bodyGuess,omitempty"`
	Refusals   int                  `json:"refusals,omitempty"`
	Refused    []string             `json:"refused,omitempty"`
	TurnStart  savedPlace           `json:"turnStart,omitzero"`
	Look       savedLook            `json:"look,omitzero"`
	Flushed    bool                 `json:"flushed,omitempty"`
	Edits      map[string]savedEdit `json:"edits,omitempty"`
	Checkpoint *savedCheckpoint     `json:"checkpoint,omitempty"`
}

type savedAccounting struct {
	Messages  int     `json:"messages,omitempty"` // of the anchor; -1: it is no beginning of what was sent last
	Estimate  int     `json:"estimate,omitempty"`
	Prompt    int     `json:"prompt,omitempty"`
	Billed    float64 `json:"billed,omitempty"`
	Estimated float64 `json:"estimated,omitempty"`
	Limit     int     `json:"limit,omitempty"`
	Guess     int     `json:"guess,omitempty"`
}

type savedPlace struct {
	Key   string `json:"key"`
	Index int    `json:"index"`
}

type savedLook struct {
	At   int `json:"at"`
	Next int `json:"next"`
}

type savedLandmark struct {
	savedPlace
	Before string `json:"before,omitempty"`
	Count  int    `json:"count,omitempty"`
	After  string `json:"after,omitempty"`
}

type savedEdit struct {
	Key    string      `json:"key"` // of the message as it is sent
	Parts  []savedPart `json:"parts"`
	Tokens int         `json:"tokens"`
	Op     Op          `json:"op"`
	Reason string      `json:"reason"`
}

type savedPart struct {
	Part
	Text      []byte `json:"text,omitempty"`      // hides Part's
	Arguments []byte `json:"arguments,omitempty"` // hides Part's: of a part that is no call they may be no JSON
}

type savedCheckpoint struct {
	Text      []byte           `json:"text"`
	FirstKept savedLandmark    `json:"firstKept"`
	Limited   savedPlace       `json:"limited,omitzero"`
	Request   savedPlace       `json:"request,omitzero"`
	Body      []byte           `json:"body"`
	Carried   carried          `json:"carried"`
	Degraded  bool             `json:"degraded,omitempty"`
	Healthy   *savedCheckpoint `json:"healthy,omitempty"`
}

// Snapshot returns the manager's state, for [Manager.Restore] in this process or another: the checkpoint,
// the edits that were sent, and what was sent last. It holds the texts of edits and summary, and no others.
func (m *Manager) Snapshot() ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := &m.ledger
	s := snapshot{Winnow: snapshotVersion, SentAt: l.sentAt, Tokens: l.tokens, Estimate: l.estimate, Accounting: l.accounting.saved(), Body: l.body, BodyGuess: l.bodyGuessed, Refusals: l.refusals, TurnStart: l.turnStart.saved(), Look: savedLook{l.look.at, l.look.next}, Flushed: l.flushed}
	for _, k := range l.sent {
		s.Sent = append(s.Sent, hex.EncodeToString(k[:]))
	}
	for _, k := range l.run.refused {
		s.Refused = append(s.Refused, hex.EncodeToString(k[:]))
	}
	if len(l.projections) > 0 {
		s.Edits = make(map[string]savedEdit, len(l.projections))
	}
	for k, p := range l.projections {
		s.Edits[hex.EncodeToString(k[:])] = savedEdit{hex.EncodeToString(p.key[:]), saveParts(p.sent()), p.tokens, p.op, p.reason}
	}
	s.Checkpoint = l.checkpoint.saved()
	b, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("winnow: Snapshot: %w", err)
	}
	return b, nil
}

// Restore takes the state of a manager with the same options. The next request then has the bytes that it
// would have had there. Data that is no snapshot, or of a version that is not known, is an error; the
// manager is then as it was before.
func (m *Manager) Restore(state []byte) error {
	var s snapshot
	if err := json.Unmarshal(state, &s); err != nil {
		return fmt.Errorf("winnow: Restore: %w", err)
	}
	if s.Winnow != snapshotVersion {
		return fmt.Errorf("winnow: Restore: no snapshot of version %d", snapshotVersion)
	}
	l, err := s.ledger()
	if err != nil {
		return fmt.Errorf("winnow: Restore: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetBackground()
	l.index = m.ledger.index
	m.ledger = l
	return nil
}

func (s *snapshot) ledger() (ledger, error) {
	var errs []error
	parse := func(text string) (k key) {
		if n, err := hex.Decode(k[:], []byte(text[:min(len(text), 2*len(k))])); err != nil || n != len(k) || len(text) != 2*len(k) {
			errs = append(errs, errors.New("a key is not one"))
		}
		return k
	}
	place := func(p savedPlace) (q place) {
		if p.Key != "" {
			q.key, q.index = parse(p.Key), p.Index
		}
		return q
	}
	landmark := func(p savedLandmark) landmark {
		m := landmark{place: place(p.savedPlace), count: min(max(0, p.Count), landmarkContext)}
		if p.Before != "" {
			m.before = parse(p.Before)
		}
		if p.After != "" {
			m.after = parse(p.After)
		}
		return m
	}
	l := ledger{sentAt: s.SentAt, tokens: max(0, s.Tokens), estimate: max(0, s.Estimate), accounting: s.Accounting.accounting(), body: max(0, s.Body), bodyGuessed: s.BodyGuess, refusals: max(0, s.Refusals), turnStart: place(s.TurnStart), look: look{max(0, s.Look.At), s.Look.Next}, flushed: s.Flushed, projections: map[key]*projection{}}
	var h hasher
	for _, text := range s.Sent {
		l.sent = append(l.sent, parse(text))
	}
	for _, text := range s.Refused[max(0, len(s.Refused)-maxRemembered):] {
		l.run.refused = append(l.run.refused, parse(text))
	}
	for text, e := range s.Edits {
		p := newProjection(partsOf(e.Parts))
		p.key, p.tokens, p.op, p.reason, p.restored = parse(e.Key), max(0, e.Tokens), e.Op, e.Reason, true
		l.projections[parse(text)] = p
	}
	for c, to := s.Checkpoint, &l.checkpoint; c != nil; c, to = c.Healthy, &(*to).healthy {
		*to = &checkpoint{
			message:   Message{Role: RoleUser, Summary: true, Parts: []Part{{Text: string(c.Text)}}},
			firstKept: landmark(c.FirstKept), limited: place(c.Limited), request: place(c.Request), body: string(c.Body), carried: c.Carried, degraded: c.Degraded,
		}
		(*to).key = h.key(&(*to).message)
	}
	return l, errors.Join(errs...)
}

func (c *checkpoint) saved() *savedCheckpoint {
	if c == nil {
		return nil
	}
	return &savedCheckpoint{
		Text: []byte(joinedText(&c.message)), FirstKept: c.firstKept.saved(), Limited: c.limited.saved(), Request: c.request.saved(),
		Body: []byte(c.body), Carried: c.carried, Degraded: c.degraded, Healthy: c.healthy.saved(),
	}
}

func (a *accounting) saved() savedAccounting {
	s := savedAccounting{a.anchor.messages, a.anchor.estimate, a.anchor.prompt, a.billed, a.estimated, a.limit, a.guess}
	if s.Messages == lost {
		s.Messages = -1
	}
	return s
}

func (s savedAccounting) accounting() accounting {
	a := accounting{anchor: anchor{s.Messages, max(0, s.Estimate), max(0, s.Prompt)}, limit: max(0, s.Limit), guess: max(0, s.Guess)}
	if s.Messages < 0 {
		a.anchor.messages = lost
	}
	if s.Billed >= 0 && s.Estimated >= 0 { // JSON has no other numbers that are none
		a.billed, a.estimated = s.Billed, s.Estimated
	}
	return a
}

func (p place) saved() savedPlace {
	if p.key == (key{}) {
		return savedPlace{}
	}
	return savedPlace{hex.EncodeToString(p.key[:]), p.index}
}

func (m *landmark) saved() savedLandmark {
	s := savedLandmark{savedPlace: m.place.saved(), Count: m.count}
	if m.count > 0 {
		s.Before = hex.EncodeToString(m.before[:])
	}
	if m.after != (key{}) {
		s.After = hex.EncodeToString(m.after[:])
	}
	return s
}

func saveParts(parts []Part) []savedPart {
	saved := make([]savedPart, len(parts))
	for i, p := range parts {
		saved[i] = savedPart{Part: p, Text: []byte(p.Text), Arguments: p.Arguments}
	}
	return saved
}

func partsOf(saved []savedPart) []Part {
	parts := make([]Part, len(saved))
	for i, p := range saved {
		p.Part.Text, p.Part.Arguments = string(p.Text), p.Arguments
		parts[i] = p.Part
	}
	return parts
}

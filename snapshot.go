package winnow

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// snapshotVersion is that of the form below. A reader takes its own version and ignores fields that it
// does not know.
const snapshotVersion = 1

// snapshot is the form of a ledger outside the process. Texts are bytes, so that what is not valid UTF-8
// comes back as it was.
type snapshot struct {
	Winnow     int             `json:"winnow"` // version
	Model      string          `json:"model,omitempty"`
	OtherModel bool            `json:"otherModel,omitempty"`
	Sent       []string        `json:"sent,omitempty"`
	SentAt     time.Time       `json:"sentAt,omitzero"`
	Tokens     int             `json:"tokens,omitempty"`
	Estimate   int             `json:"estimate,omitempty"`
	Accounting savedAccounting `json:"accounting,omitzero"`
	Bytes      int             `json:"bytes,omitempty"`
	Body       int             `json:"body,omitempty"`
	Refusals   int             `json:"refusals,omitempty"`
	DigestAt   int             `json:"digestAt,omitempty"`
	Breaker    savedBreaker    `json:"breaker,omitzero"`
	Attempt    *savedAttempt   `json:"attempt,omitempty"`
	Run        savedRun        `json:"run,omitzero"`
	Deltas     int             `json:"deltas,omitempty"` // that Options.Journal was given
	savedState
}

// savedState is what a run of Recover can undo.
type savedState struct {
	Guess      *savedGuess          `json:"guess,omitempty"`
	BodyGuess  *savedGuess          `json:"bodyGuess,omitempty"`
	Refused    []string             `json:"refused,omitempty"`
	TurnStart  savedPlace           `json:"turnStart,omitzero"`
	Look       savedLook            `json:"look,omitzero"`
	Flushed    bool                 `json:"flushed,omitempty"`
	Edits      map[string]savedEdit `json:"edits,omitempty"`
	Checkpoint *savedCheckpoint     `json:"checkpoint,omitempty"`
}

type savedBreaker struct {
	Failures int `json:"failures"`
	Total    int `json:"total"`
	Window   int `json:"window"`
}

type savedAttempt struct {
	Before savedState   `json:"before"`
	Tokens savedRefusal `json:"tokens,omitzero"`
	Bytes  savedRefusal `json:"bytes,omitzero"`
	End    savedPlace   `json:"end"`
}

// savedRun is what a run of Recover has used up of what it may try. A restart in its middle does not begin it anew.
type savedRun struct {
	Refusals    int  `json:"refusals,omitempty"`
	Compactions int  `json:"compactions,omitempty"`
	Calls       int  `json:"calls,omitempty"`
	Truncated   bool `json:"truncated,omitempty"`
}

type savedRefusal struct {
	First    int `json:"first"`
	Smallest int `json:"smallest"`
}

type savedGuess struct {
	Limit    int `json:"limit,omitempty"`
	Refused  int `json:"refused,omitempty"`
	Refusals int `json:"refusals,omitempty"`
	Doubtful int `json:"doubtful,omitempty"`
	Doubts   int `json:"doubts,omitempty"`
	Age      int `json:"age,omitempty"`
}

type savedAccounting struct {
	Messages  int     `json:"messages,omitempty"` // of the anchor; -1: it is no beginning of what was sent last
	Estimate  int     `json:"estimate,omitempty"`
	Prompt    int     `json:"prompt,omitempty"`
	Billed    float64 `json:"billed,omitempty"`
	Estimated float64 `json:"estimated,omitempty"`
	Limit     int     `json:"limit,omitempty"`
	Window    int     `json:"window,omitempty"`
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
	Text      []byte   `json:"text,omitempty"`      // hides Part's
	Arguments []byte   `json:"arguments,omitempty"` // hides Part's: of a part that is no call they may be no JSON
	Raw       *rawPart `json:"raw,omitempty"`       // of a part with other texts that are not valid UTF-8
}

type rawPart struct{ Kind, Signature, ID, Name, MediaType []byte }

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
	s := m.ledger.head()
	s.Sent, s.Edits = hexKeys(m.ledger.sent), savedEdits(m.ledger.projections)
	b, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("winnow: Snapshot: %w", err)
	}
	return b, nil
}

// head is the snapshot without the keys of what was sent and without edits: what does not grow with the history.
func (l *ledger) head() snapshot {
	u := l.state()
	u.projections = nil
	return snapshot{
		Winnow: snapshotVersion, SentAt: l.sentAt, Tokens: l.tokens, Estimate: l.estimate, Accounting: l.accounting.saved(),
		Bytes: l.bytes, Body: l.body, Refusals: l.refusals, DigestAt: l.digestAt, Breaker: l.breaker.saved(), Attempt: l.attempt.saved(), Run: l.run.saved(),
		Deltas: l.journal.deltas, Model: l.model, OtherModel: l.otherModel, savedState: u.saved(),
	}
}

// Restore takes the state of a manager with the same options: what Snapshot returned, and the deltas that
// Options.Journal has been given since, in their order. Deltas that the state holds already are skipped; an empty state
// stands for a new manager. The next request then has the bytes that it would have had there. Data that is no snapshot,
// or of a version that is not known, is an error, and so is a delta that does not follow the one before it. The manager
// is then as it was before.
//
// The state of a manager for another Options.Model is taken too, where both name theirs: a conversation goes on with
// another model. What the old one's provider taught is then forgotten (its limits, its counts, its cache); the summary and
// the edits stay. Signed thinking that the old model wrote is left out of what the new one is sent. What else the new
// provider does not take, an adapter's Export converts or leaves out.
func (m *Manager) Restore(state []byte, deltas ...[]byte) error {
	l, err := restored(state, deltas)
	if err != nil {
		return fmt.Errorf("winnow: Restore: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetBackground()
	l.goOnWith(m)
	l.index = m.ledger.index
	m.ledger = l
	return nil
}

// restored returns the ledger that state and deltas tell of.
func restored(state []byte, deltas [][]byte) (ledger, error) {
	s := snapshot{Winnow: snapshotVersion}
	if len(state) > 0 || len(deltas) == 0 {
		s.Winnow = 0
		if err := json.Unmarshal(state, &s); err != nil {
			return ledger{}, err
		}
	}
	if s.Winnow != snapshotVersion {
		return ledger{}, fmt.Errorf("no snapshot of version %d", snapshotVersion)
	}
	for i, text := range deltas {
		if err := s.add(text); err != nil {
			return ledger{}, fmt.Errorf("delta %d of %d: %w", i+1, len(deltas), err)
		}
	}
	l, err := s.ledger()
	if err == nil {
		l.journal = l.journalFrom(s.Deltas)
	}
	return l, err
}

// reader reads the parts of a snapshot and collects what is wrong with them.
type reader struct{ errs []error }

func (r *reader) key(text string) (k key) {
	if n, err := hex.Decode(k[:], []byte(text[:min(len(text), 2*len(k))])); err != nil || n != len(k) || len(text) != 2*len(k) {
		r.errs = append(r.errs, errors.New("a key is not one"))
	}
	return k
}

func (r *reader) place(p savedPlace) (q place) {
	if p.Key != "" {
		q.key, q.index = r.key(p.Key), max(0, p.Index)
	}
	return q
}

func (r *reader) landmark(p savedLandmark) landmark {
	m := landmark{place: r.place(p.savedPlace), count: min(max(0, p.Count), landmarkContext)}
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
		firstKept: r.landmark(c.FirstKept), limited: r.place(c.Limited), request: r.place(c.Request), body: string(c.Body), carried: c.Carried.within(), degraded: c.Degraded,
		healthy: r.checkpoint(c.Healthy),
	}
	var h hasher
	cp.key = h.key(&cp.message)
	return cp
}

// check says what would make a request with c one that providers refuse.
func (c *savedCheckpoint) check() error {
	text := string(c.Text)
	inner, framed := strings.CutPrefix(text, summaryBegin)
	closed := strings.Contains(inner, summaryEnd)
	switch {
	case !framed || !closed || !utf8.ValidString(text):
		return errors.New("the summary is damaged")
	case c.FirstKept.Key == "":
		return errors.New("the summary does not say what it stands for")
	}
	return nil
}

func (e *savedEdit) check() error {
	if len(e.Parts) == 0 {
		return errors.New("an edit is empty")
	}
	if e.Op != OpTrim && e.Op != OpClear && e.Op != OpTruncate || e.Reason == "" {
		return errors.New("an edit does not say what it did")
	}
	rules := repair{forRequest: true}
	for _, p := range partsOf(e.Parts) {
		if rules.isEmptyPart(&p) || p.Kind == KindToolCall && (p.ID == "" || !validArguments(p.Arguments)) {
			return errors.New("an edit is damaged")
		}
	}
	return nil
}

// within returns c within the bounds that it grows to: who writes snapshots may have other ideas.
func (c carried) within() carried {
	c.Failures, c.More = newest(c.Failures, maxListedFailures), min(max(0, c.More), maxCountedFailures)
	c.Rules, c.Identifiers = newest(c.Rules, 2*maxCarriedRules), newest(c.Identifiers, maxCarriedIdentifiers)
	c.Read, c.Modified = newest(c.Read, maxSectionFiles), newest(c.Modified, maxSectionFiles)
	return c
}

// maxCarriedIdentifiers is more than the largest summary has room for.
const maxCarriedIdentifiers = maxSummaryTokens

func (r *reader) state(s *savedState) undo {
	u := undo{
		projections: map[key]*projection{}, checkpoint: r.checkpoint(s.Checkpoint), turnStart: r.place(s.TurnStart),
		look: look{max(0, s.Look.At), s.Look.Next}, flushed: s.Flushed, guess: s.Guess.guess(), body: s.BodyGuess.guess(),
	}
	for _, text := range s.Refused[max(0, len(s.Refused)-maxRemembered):] {
		u.refused = append(u.refused, r.key(text))
	}
	for text, e := range s.Edits {
		if err := e.check(); err != nil {
			r.errs = append(r.errs, err)
			continue
		}
		p := &projection{parts: partsOf(e.Parts)} // as parts, so that even a lone text finds the host's value again
		p.key, p.tokens, p.op, p.reason, p.uncounted = r.key(e.Key), max(0, e.Tokens), e.Op, e.Reason, true
		u.projections[r.key(text)] = p
	}
	return u
}

func (s *snapshot) ledger() (ledger, error) {
	var r reader
	l := ledger{
		model: s.Model, otherModel: s.OtherModel, sentAt: s.SentAt, tokens: max(0, s.Tokens), estimate: max(0, s.Estimate), accounting: s.Accounting.accounting(), bytes: max(0, s.Bytes), body: max(0, s.Body),
		refusals: max(0, s.Refusals), digestAt: max(0, s.DigestAt),
		breaker: s.Breaker.breaker(),
	}
	for _, text := range s.Sent {
		l.sent = append(l.sent, r.key(text))
	}
	l.run = s.Run.recovery()
	l.revert(r.state(&s.savedState))
	if a := s.Attempt; a != nil {
		l.attempt = &attempt{before: r.state(&a.Before), tokens: a.Tokens.sizes(), bytes: a.Bytes.sizes(), end: r.place(a.End)}
	}
	return l, errors.Join(r.errs...)
}

func (u undo) saved() savedState {
	s := savedState{
		TurnStart: u.turnStart.saved(), Look: savedLook{u.look.at, u.look.next}, Flushed: u.flushed, Checkpoint: u.checkpoint.saved(),
		Guess: u.guess.saved(), BodyGuess: u.body.saved(),
	}
	s.Refused, s.Edits = hexKeys(u.refused), savedEdits(u.projections)
	return s
}

func savedEdits(projections map[key]*projection) map[string]savedEdit {
	if len(projections) == 0 {
		return nil
	}
	edits := make(map[string]savedEdit, len(projections))
	for k, p := range projections {
		edits[hex.EncodeToString(k[:])] = p.saved()
	}
	return edits
}

func (p *projection) saved() savedEdit {
	return savedEdit{hex.EncodeToString(p.key[:]), saveParts(p.sent()), p.tokens, p.op, p.reason}
}

func hexKeys(keys []key) []string {
	var texts []string
	for _, k := range keys {
		texts = append(texts, hex.EncodeToString(k[:]))
	}
	return texts
}

func (a *attempt) saved() *savedAttempt {
	if a == nil {
		return nil
	}
	return &savedAttempt{a.before.saved(), savedRefusal{a.tokens.first, a.tokens.smallest}, savedRefusal{a.bytes.first, a.bytes.smallest}, a.end.saved()}
}

func (r *recovery) saved() savedRun {
	return savedRun{r.refusals, r.compactions, r.calls, r.truncated}
}

func (s savedRun) recovery() recovery {
	return recovery{
		refusals: max(0, s.Refusals), compactions: max(0, s.Compactions), calls: max(0, s.Calls), truncated: s.Truncated,
	}
}

func (s savedRefusal) sizes() refusedSizes { return refusedSizes{max(0, s.First), max(0, s.Smallest)} }

func (g guess) saved() *savedGuess {
	if g == (guess{}) {
		return nil
	}
	return &savedGuess{g.limit, g.refused, g.refusals, g.doubtful, g.doubts, g.age}
}

func (s *savedGuess) guess() guess {
	if s == nil {
		return guess{}
	}
	return guess{max(0, s.Limit), max(0, s.Refused), max(0, s.Refusals), max(0, s.Doubtful), max(0, s.Doubts), max(0, s.Age)}
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
	s := savedAccounting{a.anchor.messages, a.anchor.estimate, a.anchor.prompt, a.billed, a.estimated, a.limit, a.window}
	if s.Messages == lost {
		s.Messages = -1
	}
	return s
}

func (s savedAccounting) accounting() accounting {
	a := accounting{anchor: anchor{s.Messages, max(0, s.Estimate), max(0, s.Prompt)}, limit: max(0, s.Limit), window: max(0, s.Window)}
	if s.Messages < 0 {
		a.anchor.messages = lost
	}
	if s.Billed >= 0 && s.Estimated >= 0 { // JSON has no other numbers that are none
		a.billed, a.estimated = s.Billed, s.Estimated
	}
	return a
}

func (b breaker) saved() savedBreaker {
	if b.failures == 0 { // what the history had then says nothing
		return savedBreaker{}
	}
	return savedBreaker{b.failures, b.total, b.window}
}

func (s savedBreaker) breaker() breaker {
	return breaker{failures: max(0, s.Failures), total: max(math.MinInt32, s.Total), window: s.Window} // so that no sum runs over
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
		if !utf8.ValidString(string(p.Kind) + p.Signature + p.ID + p.Name + p.MediaType) {
			saved[i].Raw = &rawPart{[]byte(p.Kind), []byte(p.Signature), []byte(p.ID), []byte(p.Name), []byte(p.MediaType)}
		}
	}
	return saved
}

func partsOf(saved []savedPart) []Part {
	parts := make([]Part, len(saved))
	for i, p := range saved {
		p.Part.Text, p.Part.Arguments = string(p.Text), p.Arguments
		if raw := p.Raw; raw != nil {
			p.Kind, p.Signature, p.ID, p.Name, p.MediaType = Kind(raw.Kind), string(raw.Signature), string(raw.ID), string(raw.Name), string(raw.MediaType)
		}
		parts[i] = p.Part
	}
	return parts
}

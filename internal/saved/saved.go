// Package saved is the form of a manager's memory outside of its process.
package saved

import (
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/accounting"
	"github.com/winnowgo/winnow/internal/breaker"
	"github.com/winnowgo/winnow/internal/minify"
	"github.com/winnowgo/winnow/internal/place"
	"github.com/winnowgo/winnow/internal/promise"
	"github.com/winnowgo/winnow/internal/record"
	"github.com/winnowgo/winnow/internal/sections"
)

// Version is the version of the form below. A reader accepts only its own version, and ignores fields that it does not
// know.
const Version = 1

// Snapshot is the whole memory of a manager. Texts are bytes, so that what is not valid UTF-8 comes back unchanged.
type Snapshot struct {
	Winnow int `json:"winnow"` // version
	Partner
	Names []Names `json:"names,omitempty"` // of calls, the newest last
	Request
	Accounting Accounting `json:"accounting,omitzero"`
	BodyLimits
	Refusals int             `json:"refusals,omitempty"`
	DigestAt int             `json:"digestAt,omitempty"`
	Breaker  breaker.Breaker `json:"breaker,omitzero"`
	Recovery *Recovery       `json:"attempt,omitempty"`
	Tries    Tries           `json:"run,omitzero"`
	CacheUse promise.Use     `json:"cacheUse,omitzero"`
	Promise  promise.Promise `json:"promise,omitzero"`
	Deltas   int             `json:"deltas,omitempty"` // that Options.Journal was given
	State
}

// Partner is the model that the conversation is held with.
type Partner struct {
	Model      string `json:"model,omitempty"`
	OtherModel bool   `json:"otherModel,omitempty"`
	// the provider has said that it binds thinking to what stands before it
	BindsThinking bool `json:"bindsThinking,omitempty"`
	Window        int  `json:"window,omitempty"` // of the manager
}

// BodyLimits are those that the provider told.
type BodyLimits struct {
	Body   int `json:"body,omitempty"`
	Images int `json:"images,omitempty"`
}

// Request is what was sent last. End is the newest message of its history, and Ahead the one in front of that.
type Request struct {
	Sent     []place.Key    `json:"sent,omitempty"` // its messages
	SentAt   time.Time      `json:"sentAt,omitzero"`
	Tokens   int            `json:"tokens,omitempty"`
	Estimate int            `json:"estimate,omitempty"`
	Bytes    int            `json:"bytes,omitempty"`
	End      place.Position `json:"end,omitzero"`
	Ahead    place.Position `json:"ahead,omitzero"`
}

// State is what a recovery can undo.
type State struct {
	Guess      accounting.Limit   `json:"guess,omitzero"`
	BodyGuess  accounting.Limit   `json:"bodyGuess,omitzero"`
	Refused    []place.Key        `json:"refused,omitempty"`
	Reopened   place.Position     `json:"standIn,omitzero"`
	Apart      []place.Key        `json:"apart,omitempty"`
	TurnStart  place.Position     `json:"turnStart,omitzero"`
	Flushed    bool               `json:"flushed,omitempty"`
	Edits      map[place.Key]Edit `json:"edits,omitempty"`
	Records    []Record           `json:"records,omitempty"`
	Checkpoint *Checkpoint        `json:"checkpoint,omitempty"`
}

// Recovery is a recovery whose outcome is not known yet, with the state from before it.
type Recovery struct {
	Before State              `json:"before"`
	Tokens accounting.Refused `json:"tokens,omitzero"`
	Bytes  accounting.Refused `json:"bytes,omitzero"`
}

// Tries counts what was tried for one request. It is saved so that a restart does not allow more.
type Tries struct {
	Refusals    int  `json:"refusals,omitempty"`
	Compactions int  `json:"compactions,omitempty"` // a summarizer was asked for
	Calls       int  `json:"calls,omitempty"`       // of the summarizer for them
	Truncated   bool `json:"truncated,omitempty"`
}

// Within returns t with its numbers in range: no count is negative.
func (t Tries) Within() Tries {
	return Tries{max(0, t.Refusals), max(0, t.Compactions), max(0, t.Calls), t.Truncated}
}

// Accounting is what the provider's counts have taught, and the limits that it named.
type Accounting struct {
	Messages  int     `json:"messages,omitempty"` // of the anchor; -1: what was sent last does not begin with it
	Estimate  int     `json:"estimate,omitempty"`
	Prompt    int     `json:"prompt,omitempty"`
	Billed    float64 `json:"billed,omitempty"`
	Estimated float64 `json:"estimated,omitempty"`
	Hidden    int     `json:"hidden,omitempty"` // at most
	Limit     int     `json:"limit,omitempty"`
	Window    int     `json:"window,omitempty"`
}

// AccountingOf returns what is kept of a meter, and of the limits that the provider named.
func AccountingOf(m accounting.Meter, limit, window int) Accounting {
	a := Accounting{
		Messages: m.Anchor.Messages, Estimate: m.Anchor.Estimate, Prompt: m.Anchor.Prompt,
		Billed: m.Billed, Estimated: m.Estimated, Hidden: m.MostHidden, Limit: limit, Window: window,
	}
	// Snapshots hold the number; the constant may change.
	if a.Messages == accounting.Lost {
		a.Messages = -1
	}
	return a
}

// Within returns what AccountingOf was given, with its numbers in range: a file may hold any number.
func (a Accounting) Within() (m accounting.Meter, limit, window int) {
	m.Anchor = accounting.Anchor{Messages: a.Messages, Estimate: max(0, a.Estimate), Prompt: max(0, a.Prompt)}
	if a.Messages < 0 {
		m.Anchor.Messages = accounting.Lost
	}
	if a.Billed >= 0 && a.Estimated >= 0 { // JSON has no NaN and no infinity
		m.Billed, m.Estimated = a.Billed, a.Estimated
	}
	m.MostHidden = max(0, a.Hidden)
	return m, max(0, a.Limit), max(0, a.Window)
}

// Edit is how one message is sent instead of as it is in the history.
type Edit struct {
	Key    place.Key    `json:"key"`             // of the message as it is sent
	Parts  []Part       `json:"parts,omitempty"` // empty where Forms says how they are made of the message's own
	Forms  minify.Forms `json:"forms,omitempty"`
	Op     string       `json:"op"`
	Reason string       `json:"reason"`

	Repeats place.Key `json:"repeats,omitzero"` // the earlier message, as it is sent, whose lines are left out
}

// Record is the text that stands for a run of old messages.
type Record struct {
	First place.Position `json:"first"`
	Count int            `json:"count"`
	Last  place.Key      `json:"last"` // the last message of the run
	Run   place.Key      `json:"run"`  // its messages together
	Bare  bool           `json:"bare,omitempty"`
	Text  []byte         `json:"text"`
}

// Part is a part of a message. Its text and its arguments are bytes: if the part is not a call, the arguments may not
// be JSON.
type Part struct {
	Kind      string `json:"kind,omitempty"`
	Signature string `json:"signature,omitempty"`
	ID        string `json:"id,omitempty"`
	Name      string `json:"name,omitempty"`
	MediaType string `json:"mediaType,omitempty"`
	Bytes     int    `json:"bytes,omitempty"`
	Width     int    `json:"width,omitempty"`
	Height    int    `json:"height,omitempty"`
	Pages     int    `json:"pages,omitempty"`
	Seconds   int    `json:"seconds,omitempty"`
	Tokens    int    `json:"tokens,omitempty"`
	Text      []byte `json:"text,omitempty"`
	Arguments []byte `json:"arguments,omitempty"`
	Raw       *raw   `json:"raw,omitempty"` // where one of the strings is not valid UTF-8
}

type raw struct{ Kind, Signature, ID, Name, MediaType []byte }

// Keep makes sure that the strings of p come back unchanged, whatever bytes they hold.
func (p *Part) Keep() {
	if !utf8.ValidString(p.Kind + p.Signature + p.ID + p.Name + p.MediaType) {
		p.Raw = &raw{[]byte(p.Kind), []byte(p.Signature), []byte(p.ID), []byte(p.Name), []byte(p.MediaType)}
	}
}

// Back puts the strings of p back that Keep kept.
func (p *Part) Back() {
	if r := p.Raw; r != nil {
		p.Kind, p.Signature, p.ID = string(r.Kind), string(r.Signature), string(r.ID)
		p.Name, p.MediaType = string(r.Name), string(r.MediaType)
	}
}

// Checkpoint is a summary, and what it stands for.
type Checkpoint struct {
	Text      []byte           `json:"text"`
	FirstKept place.Bookmark   `json:"firstKept"`
	Limited   place.Position   `json:"limited,omitzero"`
	Request   place.Position   `json:"request,omitzero"`
	Front     int              `json:"front,omitempty"` // of so many first messages, what the host inserted stays
	Leads     bool             `json:"leads,omitempty"` // Request stands in front of all that Text stands for
	Body      []byte           `json:"body"`
	Carried   sections.Carried `json:"carried"`
	Degraded  string           `json:"degraded,omitempty"`
	Healthy   *Checkpoint      `json:"healthy,omitempty"`
}

// Check returns an error if providers would refuse a request with c.
func (c *Checkpoint) Check() error {
	text := string(c.Text)
	inner, framed := strings.CutPrefix(text, sections.Begin)
	closed := strings.Contains(inner, sections.End)
	switch {
	case !framed || !closed || !utf8.ValidString(text):
		return errors.New("the summary is damaged")
	case c.FirstKept.Key == (place.Key{}):
		return errors.New("the summary does not say what it stands for")
	}
	return nil
}

// Check returns an error if a request with r could not be the one that was sent.
func (r *Record) Check() error {
	text := string(r.Text)
	isNamed := r.First.Key != (place.Key{}) && r.Last != (place.Key{}) && r.Run != (place.Key{})
	if r.Count <= 0 || !isNamed || !record.Is(text) || !utf8.ValidString(text) {
		return errors.New("a record is damaged")
	}
	return nil
}

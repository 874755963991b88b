// Package saved is the form that a manager's memory has in a snapshot, and most of it in the process too.
package saved

import (
	"encoding/base64"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/accounting"
	"github.com/winnowgo/winnow/internal/minify"
	"github.com/winnowgo/winnow/internal/place"
	"github.com/winnowgo/winnow/internal/promise"
	"github.com/winnowgo/winnow/internal/record"
	"github.com/winnowgo/winnow/internal/sections"
	"github.com/winnowgo/winnow/internal/summary"
)

// Version is the version of the form below. A reader accepts only its own version, and ignores fields that it does not
// know.
const Version = 1

// Snapshot is the whole memory of a manager. Texts are bytes, so that what is not valid UTF-8 comes back unchanged.
type Snapshot struct {
	Winnow int `json:"winnow"` // version
	Memory
	Recovery *Recovery `json:"attempt,omitempty"`
	Tries    Tries     `json:"run,omitzero"`
	Cache
	Deltas int `json:"deltas,omitempty"` // that Options.Journal was given
	State
}

// InRange brings the numbers of s into the range that they have in a ledger, so that no sum overflows and no count is
// negative: a file may hold any number. Least is 0, or what the field says.
func (s *Snapshot) InRange() { inRange(reflect.ValueOf(s), 0) }

func inRange(v reflect.Value, least int64) {
	switch {
	case v.CanInt():
		v.SetInt(max(v.Int(), least))
	case v.CanFloat():
		v.SetFloat(max(v.Float(), 0))
	case v.Kind() == reflect.Pointer && !v.IsNil():
		inRange(v.Elem(), 0)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		for i := range v.Len() {
			inRange(v.Index(i), 0)
		}
	case v.Kind() == reflect.Struct:
		for field, value := range v.Fields() {
			if value.CanSet() {
				least, _ := strconv.ParseInt(field.Tag.Get("least"), 10, 64) // 0 where it is not said
				inRange(value, least)
			}
		}
	}
}

// Memory is what a manager remembers in the form of a snapshot, except for what the parts below have.
type Memory struct {
	Partner
	Names []Names `json:"names,omitempty"` // of calls behind the newest summaries, the newest last
	Request
	Accounting accounting.Account `json:"accounting,omitzero"` // without guesses in a snapshot: State has them
	BodyLimits
	Refusals int `json:"refusals,omitempty"` // by the provider, since a request of Recover was last accepted

	// tokens of the history when a digest stood in for a summary, or when a summary was last tried in vain
	DigestAt int             `json:"digestAt,omitempty"`
	Breaker  summary.Breaker `json:"breaker,omitzero"`
}

// Partner is the model that the conversation is held with, and who held it.
type Partner struct {
	Model         string `json:"model,omitempty"`         // as the host names it; "": not known
	OtherModel    bool   `json:"otherModel,omitempty"`    // nothing was sent to Model yet, only to another one
	BindsThinking bool   `json:"bindsThinking,omitempty"` // to what stands before it: the provider has said so
	Window        int    `json:"window,omitempty"`        // of the manager, in tokens; 0: not known
}

// BodyLimits are the limits of a request's body.
type BodyLimits struct {
	Body   int `json:"body,omitempty"`   // bytes that the provider allows; 0: it did not say
	Images int `json:"images,omitempty"` // that a request may have, by what the provider refused; 0: not known
}

// Request is what was sent last.
type Request struct {
	Sent     []place.Key    `json:"sent,omitempty"`     // message by message
	SentAt   time.Time      `json:"sentAt,omitzero"`    // zero: nothing was sent
	Tokens   int            `json:"tokens,omitempty"`   // of the request
	Estimate int            `json:"estimate,omitempty"` // of its messages
	Bytes    int            `json:"bytes,omitempty"`    // of its body
	End      place.Position `json:"end,omitzero"`       // the newest message of its history, as that had it
	Ahead    place.Position `json:"ahead,omitzero"`     // the one ahead of End
}

// Cache is what became of the conversation in the provider's cache.
type Cache struct {
	CacheUse promise.Use     `json:"cacheUse,omitzero"` // of the whole conversation
	Promise  promise.Promise `json:"promise,omitzero"`  // of the last request
}

// State is what a recovery can undo.
type State struct {
	Guess     accounting.Limit `json:"guess,omitzero"`
	BodyGuess accounting.Limit `json:"bodyGuess,omitzero"`
	Refused   []place.Key      `json:"refused,omitempty"`
	Decisions
	Edits      map[place.Key]Edit `json:"edits,omitempty"`
	Records    []Record           `json:"records,omitempty"`
	Checkpoint *Checkpoint        `json:"checkpoint,omitempty"`
}

// Decisions are some of those about how the history is sent.
type Decisions struct {
	// a user request from before the checkpoint's cut that is sent besides checkpoint.Request; zero: none
	Reopened place.Position `json:"standIn,omitzero"`
	// results of calls that have one, shown apart since the first one was sent unanswered
	Apart []place.Key `json:"apart,omitempty"`
	// the user message that begins the oldest turn that is kept; zero: no turn was dropped
	TurnStart place.Position `json:"turnStart,omitzero"`
	Flushed   bool           `json:"flushed,omitempty"` // BeforeCompact ran since the last compaction
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
	Text  Text           `json:"text"`
}

// Text is a text that comes back from JSON with the same bytes, whether they are valid UTF-8 or not.
type Text string

// MarshalText writes t in base64.
func (t Text) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, []byte(t)), nil
}

// UnmarshalText reads what MarshalText has written.
func (t *Text) UnmarshalText(b []byte) error {
	text, err := base64.StdEncoding.AppendDecode(nil, b)
	*t = Text(text)
	return err
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
	Text Text `json:"text"` // as it is sent
	Boundary
	Body     Text             `json:"body"` // that the next one updates, with what a digest has no room for
	Carried  sections.Carried `json:"carried"`
	Degraded string           `json:"degraded,omitempty"` // why it was made without an LLM; "": it was not

	// If Degraded, the newest one before it that a model wrote. What that one stands for is not read again; nil: none.
	ByModel *Checkpoint `json:"healthy,omitempty"`
}

// Boundary says where, in the repaired history, a summary ends.
type Boundary struct {
	FirstKept place.Bookmark `json:"firstKept"` // the first message that the summary does not stand for

	// where the turn limit cut when the summary was made: no summary covers what lies before; zero: it did not cut
	Limited place.Position `json:"limited,omitzero"`
	// the user request before FirstKept that is kept verbatim; zero: none
	Request place.Position `json:"request,omitzero"`
	Front   int            `json:"front,omitempty"` // of so many first messages, what the host inserted stays in front
	Leads   bool           `json:"leads,omitempty"` // Request stands in front of all that the summary stands for
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
	case c.ByModel != nil:
		return c.ByModel.Check()
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

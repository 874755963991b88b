package winnow

import (
	"time"

	"github.com/winnowgo/winnow/internal/guess"
	"github.com/winnowgo/winnow/internal/minify"
	"github.com/winnowgo/winnow/internal/sections"
)

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

// snapshotVersion is that of the form below. A reader takes its own version and ignores fields that it
// does not know.
const snapshotVersion = 1

// savedState is what a run of Recover can undo.
type savedState struct {
	Guess      guess.Limit          `json:"guess,omitzero"`
	BodyGuess  guess.Limit          `json:"bodyGuess,omitzero"`
	Refused    []string             `json:"refused,omitempty"`
	StandIn    savedPosition        `json:"standIn,omitzero"`
	TurnStart  savedPosition        `json:"turnStart,omitzero"`
	Look       savedEpochSearch     `json:"look,omitzero"`
	Flushed    bool                 `json:"flushed,omitempty"`
	Edits      map[string]savedEdit `json:"edits,omitempty"`
	Records    []savedRecord        `json:"records,omitempty"`
	Checkpoint *savedCheckpoint     `json:"checkpoint,omitempty"`
}

type savedBreaker struct {
	Failures int `json:"failures"`
	Total    int `json:"total"`
	Window   int `json:"window"`
}

type savedAttempt struct {
	Before savedState    `json:"before"`
	Tokens guess.Refused `json:"tokens,omitzero"`
	Bytes  guess.Refused `json:"bytes,omitzero"`
	End    savedPosition `json:"end"`
}

// savedRun is what a run of Recover has used up of what it may try. A restart in its middle does not begin it anew.
type savedRun struct {
	Refusals    int  `json:"refusals,omitempty"`
	Compactions int  `json:"compactions,omitempty"`
	Calls       int  `json:"calls,omitempty"`
	Truncated   bool `json:"truncated,omitempty"`
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

type savedPosition struct {
	Key   string `json:"key"`
	Index int    `json:"index"`
}

type savedEpochSearch struct {
	At   int `json:"at"`
	Next int `json:"next"`
}

type savedBookmark struct {
	savedPosition
	Before string `json:"before,omitempty"`
	Count  int    `json:"count,omitempty"`
	After  string `json:"after,omitempty"`
}

type savedEdit struct {
	Key    string       `json:"key"`             // of the message as it is sent
	Parts  []savedPart  `json:"parts,omitempty"` // empty where Forms says how they are made of the message's own
	Forms  minify.Forms `json:"forms,omitempty"`
	Tokens int          `json:"tokens"`
	Op     Op           `json:"op"`
	Reason string       `json:"reason"`
}

type savedRecord struct {
	First savedPosition `json:"first"`
	Count int           `json:"count"`
	Last  string        `json:"last"` // the last message of the run
	Run   string        `json:"run"`  // its messages together
	Lean  int           `json:"lean,omitempty"`
	Text  []byte        `json:"text"`
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
	FirstKept savedBookmark    `json:"firstKept"`
	Limited   savedPosition    `json:"limited,omitzero"`
	Request   savedPosition    `json:"request,omitzero"`
	Body      []byte           `json:"body"`
	Carried   sections.Carried `json:"carried"`
	Degraded  bool             `json:"degraded,omitempty"`
	Healthy   *savedCheckpoint `json:"healthy,omitempty"`
}

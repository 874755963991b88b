package session

import (
	"encoding/json"

	"github.com/winnowgo/winnow"
)

// Codec stores what a provider's message holds and winnow's form does not: the values in [winnow.Message.Source] and
// [winnow.Part.Source]. Each adapter has one. A store without a codec keeps no Source, neither in the log nor in the
// running session, so that what is sent does not depend on a restart.
//
// Encode and Decode are safe for concurrent use.
type Codec interface {
	// Name is stored with what Encode returns. A log that was written with another codec is read without its
	// sources: the messages are then in winnow's form alone. It is short and never changes: "anthropic".
	Name() string

	// Encode returns one JSON value for each message, in the same order: what Decode needs to restore the sources
	// of that message, or nil where winnow's form alone exports to the same bytes. It gets the messages of one
	// Append. Where several messages come from one value of the SDK (the results in one user message), the first
	// of them may carry the value and the others a note that they belong to it. An error fails the Append.
	Encode(messages []winnow.Message) ([]json.RawMessage, error)

	// Decode sets Source and Parts[i].Source in messages from sources, which has one element for each message and
	// nil where Encode gave nil. It gets a part of a history in order: not always the same part that Encode got. A
	// message whose companions are missing, or have no source any more because they were edited, keeps no source.
	// It changes nothing else in messages. An error is reported as damage; the messages are used without sources.
	Decode(messages []winnow.Message, sources []json.RawMessage) error
}

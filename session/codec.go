package session

import (
	"encoding/json"

	"github.com/winnowgo/winnow"
)

// Codec stores what a provider's message holds beyond winnow's form: the values in [winnow.Message.Source] and
// [winnow.Part.Source]. Each adapter has one. A store without a codec keeps no Source, neither in the log nor in the
// running session, so that a restart never changes what is sent.
//
// Encode and Decode are safe for concurrent use.
type Codec interface {
	// Name is stored with what Encode returns. It is short and never changes: "anthropic". A log that was written with
	// another codec is read without its sources; its messages are then in winnow's form alone.
	Name() string

	// Encode returns one JSON value for each message, in the same order: what Decode needs to restore the sources of
	// that message, or nil if winnow's form alone exports to the same bytes. It gets the messages of one Append. If
	// several messages come from one value of the SDK (the results in one user message), the first may carry the value
	// and the others a note that they belong to it. An error fails the Append.
	Encode(messages []winnow.Message) ([]json.RawMessage, error)

	// Decode sets Source and Parts[i].Source in messages from sources, which has one element for each message, nil
	// where Encode gave nil. The messages are a part of a history, in order, but not always the part that Encode got.
	// If companions of a message are missing, or lost their source in an edit, the message gets no source. Decode
	// changes nothing else in messages. An error is reported as damage, and the messages are used without sources.
	Decode(messages []winnow.Message, sources []json.RawMessage) error
}

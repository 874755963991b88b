package winnow

// RepairToolPairing returns history in a form that Anthropic, OpenAI, Gemini and Bedrock accept:
//
//   - every call has one result, directly behind its assistant message and in call order; a late result
//     moves to its call, even across other assistant messages;
//   - results without a call and second results are dropped; a missing result is replaced by an error
//     result that says so; calls that still wait at the very end stay open;
//   - calls and results are paired by occurrence, so that ids may repeat in later turns and inside one
//     message, or be empty; the first use of an id keeps it and later ones get a suffix, call and result alike;
//   - a result without an id answers an open call of the newest message with calls before it: the first that
//     calls its tool or, if none does, the first; it gets the id of that call;
//   - calls of failed turns (StopReason "error" or "aborted") are dropped with their results; their text stays;
//     calls in messages that are not the model's are dropped too;
//   - a call that the provider runs itself and its result stay together: half of such a pair (see [Part]) is left out,
//     unless it is a call with which the provider goes on, behind which no other message but results stands;
//   - arguments that are not JSON are wrapped in an object; empty texts go, and with them messages that
//     would be empty.
//
// An answer of the model comes first where it came first in history, or where the message in front of it was empty.
// Anthropic, Gemini and Bedrock refuse that: the host, or its adapter, puts a message in front. A call that max_tokens
// cut may arrive with the arguments {}, which are valid JSON. Only the stop reason of the answer shows that the call
// was cut, and the host should not run it.
//
// A valid history is returned unchanged. The edits count tokens with CharsPerToken(4).
func RepairToolPairing(history []Message) ([]Message, []Edit) {
	r := repair{history: history}
	if r.isClean() {
		return clip(history), nil
	}
	return r.run()
}

// name decides the ids. A request goes on from earlier ones, and so do its names.
func (r *repair) name() {
	if r.forRequest {
		r.pairs.NameAgain(&r.given)
	} else {
		r.pairs.Name()
	}
}

// run pairs calls and results by their numbers first and writes the messages then, so that nothing is copied before its
// place is known.
func (r *repair) run() ([]Message, []Edit) {
	r.collect()
	r.pairs.Match()
	r.name()
	r.findLater()
	r.findLone()
	r.build()
	if len(r.edits) == 0 {
		return clip(r.history), nil
	}
	return r.out, r.edits
}

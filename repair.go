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
//   - calls of failed turns (StopReason "error" or "aborted") go with their results, their text stays;
//   - arguments that are not JSON are wrapped in an object; empty texts go, and with them messages that
//     would be empty.
//
// A valid history is returned as it is. The edits count tokens with CharsPerToken(4).
func RepairToolPairing(history []Message) ([]Message, []Edit) {
	r := repair{history: history}
	if r.isClean() {
		return clip(history), nil
	}
	return r.run()
}

// missingResult is the text of a result that stands in for one that the history does not have. It says
// what is known and no more: the call may or may not have run.
const missingResult = "[No result: the conversation has no result for this call. Whether it ran is not known.]"

// repair is one run of RepairToolPairing.
type repair struct {
	history    []Message
	forRequest bool    // texts without a visible character go as well, and see waits
	facts      []*fact // what is known of each message; nil: nothing

	calls  []callSlot
	first  []int32          // index into calls of each message's first call, -1 for none
	answer []int32          // for a result: index into calls of what it answers, -1 for nothing
	ids    map[string]int32 // call id -> calls of that id in the newest message that has it
	since  map[string]int32 // call id -> the first message that has it; nil: not asked for yet

	repeated bool     // an id is used twice, or is empty
	sent     []string // then: the id that each call is sent with, "" for one that is not

	out     []Message
	from    int     // history[from:to] is to be written next, as it is
	to      int     //
	origin  []int32 // for each message of out, and those to be written: its index in history, or -1
	changed []bool  // for each as in origin: it differs from that of its origin
	edits   []Edit
	standIn []Part // of every result that is made; nil until there is one
}

func (r *repair) run() ([]Message, []Edit) {
	r.collectCalls()
	r.pair()
	r.pairWithoutIDs()
	r.pairLate()
	r.nameCalls()
	r.build()
	if len(r.edits) == 0 {
		return clip(r.history), nil
	}
	return r.out, r.edits
}

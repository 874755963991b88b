package overflow

// told is what a host is told of a diagnosis: tokens and a limit only where tokens were counted.
type told struct {
	Class         Class
	Tokens, Limit int
}

func classify(err error) told {
	d := Diagnose(err, isOwn)
	if d.Class != ClassOverflow || d.Unit != UnitTokens {
		return told{Class: d.Class}
	}
	return told{d.Class, d.Size, d.Limit}
}

// ownErr is a refusal of the caller's own, around a provider's or without one.
type ownErr struct{ inner error }

func (e *ownErr) Error() string { return "the request does not fit: 5 tokens > 4" }
func (e *ownErr) Unwrap() error { return e.inner }

func isOwn(err error) bool {
	_, ok := err.(*ownErr)
	return ok
}

package adapter

// MostMarkers is how many markers of the prompt cache Anthropic and Bedrock accept in a request.
const MostMarkers = 4

// LongTTL is the longer one of the two lifetimes of a marker. An empty one is the shorter.
const LongTTL = "1h"

// CacheMarker is a marker of the prompt cache in a request.
type CacheMarker struct {
	TTL      string
	Message  bool // it stands in a message; false: in the tools or in the system prompt
	Boundary bool // the next request may continue there, see CacheBoundaries
	Gone     bool // set by LimitMarkers: it is taken out
}

// LimitMarkers takes out markers until at most a number of them is left: first the caller's in messages, then those of
// tools and system prompt, and last older boundaries. Of each kind the first go first, because a later marker covers
// what stands before it.
//
// A provider accepts no marker behind one that lives shorter. So one in a message lives no longer than the one before
// it in the messages, and those of tools and system prompt live as long as the longest in the messages. The markers are
// in the order in which the provider reads a request: tools, system prompt, messages.
func LimitMarkers(markers []CacheMarker, most int) {
	for _, kind := range []func(*CacheMarker) bool{
		func(m *CacheMarker) bool { return m.Message && !m.Boundary },
		func(m *CacheMarker) bool { return !m.Message },
		func(m *CacheMarker) bool { return m.Boundary },
	} {
		excess := -most
		for i := range markers {
			if !markers[i].Gone {
				excess++
			}
		}
		for i := range markers {
			if m := &markers[i]; excess > 0 && kind(m) {
				m.Gone = true
				excess--
			}
		}
	}
	orderLifetimes(markers)
}

func orderLifetimes(markers []CacheMarker) {
	var before *CacheMarker // in the messages
	for i := range markers {
		if m := &markers[i]; m.Message && !m.Gone {
			if before != nil && m.TTL == LongTTL {
				m.TTL = before.TTL
			}
			before = m
		}
	}
	long := false
	for i := len(markers) - 1; i >= 0; i-- {
		switch m := &markers[i]; {
		case m.Gone:
		case long:
			m.TTL = LongTTL
		default:
			long = m.TTL == LongTTL
		}
	}
}

// CacheBoundaries returns the messages of a request that should end in a marker of the prompt cache: the last one, and
// the last one of the previous request, which the newest message of the assistant answered. assistant says which
// messages are the assistant's.
func CacheBoundaries(assistant []bool) []int {
	last := len(assistant) - 1
	if last < 0 {
		return nil
	}
	at := last
	for at >= 0 && !assistant[at] {
		at--
	}
	for at >= 0 && assistant[at] {
		at--
	}
	if at < 0 || at == last {
		return []int{last}
	}
	return []int{last, at}
}

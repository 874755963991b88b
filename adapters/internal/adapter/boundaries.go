package adapter

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

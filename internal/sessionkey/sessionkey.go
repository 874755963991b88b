// Package sessionkey reads what a host's key of a session says of its channel.
package sessionkey

import "strings"

// Split returns the channel that a key names, the kind of conversation, and with whom, without the thread. Source of
// the form ([agent:NAME:]provider:kind:id): the reference system.
func Split(key string) (provider, kind, id string) {
	segments := strings.FieldsFunc(key, func(c rune) bool { return c == ':' }) // empty ones do not count
	if len(segments) > 2 && segments[0] == "agent" {
		segments = segments[2:]
	}
	if len(segments) > 2 {
		id = withoutThread(strings.Join(segments[2:], ":"))
	}
	segments = append(segments, "", "")
	return strings.ToLower(segments[0]), strings.ToLower(segments[1]), id
}

// withoutThread removes one trailing :thread:N or :topic:N.
func withoutThread(id string) string {
	head, digits, ok := cutAtLast(id, ":")
	if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return id
	}
	user, word, ok := cutAtLast(head, ":")
	if ok && (strings.EqualFold(word, "thread") || strings.EqualFold(word, "topic")) {
		return user
	}
	return id
}

// cutAtLast is strings.Cut at the last sep.
func cutAtLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

package openclaw

import "strings"

// HistoryLimits are turn limits by provider (the messaging channel: "telegram", "slack", …, in lower case).
type HistoryLimits map[string]ChannelLimits

// ChannelLimits are the turn limits of one channel. nil means not set; 0 means no limit.
type ChannelLimits struct {
	DMHistoryLimit *int                `json:"dmHistoryLimit,omitempty"` // direct messages, unless DMs says otherwise
	HistoryLimit   *int                `json:"historyLimit,omitempty"`   // groups and channels
	DMs            map[string]DMLimits `json:"dms,omitempty"`            // by user id, case-sensitive
}

// DMLimits are the limits of one user's direct messages.
type DMLimits struct {
	HistoryLimit *int `json:"historyLimit,omitempty"` // nil: the channel's DMHistoryLimit
}

// ForSession returns the turn limit for a session key of the form [agent:NAME:]provider:kind:id, where kind is dm,
// direct, group or channel and the id may end in :thread:N or :topic:N. ok is false if no limit is set; 0 with ok means
// none by choice.
func (l HistoryLimits) ForSession(sessionKey string) (limit int, ok bool) {
	provider, kind, id := splitKey(sessionKey)
	channel, ok := l[provider]
	if !ok {
		return 0, false
	}
	var found *int
	switch kind {
	case "dm", "direct":
		found = channel.DMHistoryLimit
		if user, ok := channel.DMs[id]; ok && id != "" && user.HistoryLimit != nil {
			found = user.HistoryLimit
		}
	case "group", "channel":
		found = channel.HistoryLimit
	}
	if found == nil {
		return 0, false
	}
	return *found, true
}

// splitKey returns the channel that a key names, the kind of conversation, and with whom, without the thread. Source of
// the form ([agent:NAME:]provider:kind:id): the reference system.
func splitKey(key string) (provider, kind, id string) {
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

// Package keys builds and parses the keys of sessions: for an agent, a person, a group, a thread or a job.
//
//	scheme := keys.Scheme{DMScope: keys.PerChannelPeer}
//	key := scheme.Direct("helper", keys.Peer{Channel: "telegram", ID: "Anna"}) // agent:helper:telegram:direct:Anna
//
// A store accepts any text as a key; the policies and limits of this module understand the forms here. Ids keep their
// case, and characters that would break the form are escaped, so that two persons never share a conversation. With
// [Scheme].Reference the keys are exactly those of OpenClaw, which lower-cases them.
package keys

import "strings"

// Kind says what a key stands for.
type Kind string

const (
	KindOther    Kind = ""         // a form that this package does not know
	KindMain     Kind = "main"     // an agent's main conversation: agent:A:main
	KindDirect   Kind = "direct"   // one person: agent:A[:channel[:account]]:direct:ID
	KindGroup    Kind = "group"    // agent:A:channel:group:ID
	KindChannel  Kind = "channel"  // agent:A:channel:channel:ID
	KindCron     Kind = "cron"     // a job: cron:ID; one run of it: agent:A:cron:ID:run:RUN
	KindHook     Kind = "hook"     // hook:ID
	KindNode     Kind = "node"     // node-ID
	KindSubagent Kind = "subagent" // agent:A:subagent:ID, or appended to the key of another agent or sub-agent
)

// Key is a parsed key. Its ids are not escaped.
type Key struct {
	Kind    Kind
	Agent   string // "" if the form has none
	Channel string // direct, group, channel: "telegram"; direct: "" if all channels share the conversation
	Account string // direct: the account of the addressed bot; "": all accounts share it
	ID      string // id of the person, group, channel, job, hook, node or sub-agent; main: name of the main key
	Run     string // cron: one run of the job; "": the job itself
	Parent  string // sub-agent of a sub-agent: the parent's key
	Thread  string // id of the thread or topic; "": the conversation itself
	Topic   bool   // the thread is a topic of a forum
}

// Type is the kind of conversation that policies distinguish.
type Type string

const (
	Direct Type = "direct" // one person, and everything that is not one of the others
	Group  Type = "group"  // groups and channels
	Thread Type = "thread" // threads and topics, in groups or with persons
)

// TypeOf returns the type of any key: a thread if it contains ":thread:" or ":topic:", else a group if it contains
// ":group:" or ":channel:", else direct. It ignores case.
func TypeOf(key string) Type {
	key = asciiLower(key)
	switch {
	case strings.Contains(key, ":thread:") || strings.Contains(key, ":topic:"):
		return Thread
	case strings.Contains(key, ":group:") || strings.Contains(key, ":channel:"):
		return Group
	}
	return Direct
}

// Type returns the type of the key.
func (k Key) Type() Type {
	switch {
	case k.Thread != "":
		return Thread
	case k.Kind == KindGroup || k.Kind == KindChannel:
		return Group
	}
	return Direct
}

// String returns the key as text. For [KindOther] that is the ID itself.
func (k Key) String() string { return k.format(escape) }

// format joins the parts. id returns the form of each id.
func (k Key) format(id func(string) string) string {
	base := k.base(id)
	switch {
	case k.Thread == "":
		return base
	case k.Topic:
		return join(base, "topic", id(k.Thread))
	}
	return join(base, "thread", id(k.Thread))
}

func (k Key) base(id func(string) string) string {
	agent := "agent:" + id(k.Agent)
	switch k.Kind {
	case KindMain:
		return join(agent, id(k.ID))
	case KindDirect:
		switch {
		case k.Channel == "":
			return join(agent, "direct", id(k.ID))
		case k.Account == "":
			return join(agent, id(k.Channel), "direct", id(k.ID))
		}
		return join(agent, id(k.Channel), id(k.Account), "direct", id(k.ID))
	case KindGroup, KindChannel:
		return join(agent, id(k.Channel), string(k.Kind), id(k.ID))
	case KindCron:
		switch {
		case k.Agent == "":
			return "cron:" + id(k.ID)
		case k.Run == "":
			return join(agent, "cron", id(k.ID))
		}
		return join(agent, "cron", id(k.ID), "run", id(k.Run))
	case KindHook:
		return "hook:" + id(k.ID)
	case KindNode:
		return "node-" + id(k.ID)
	case KindSubagent:
		if k.Parent != "" {
			agent = k.Parent
		}
		return join(agent, "subagent", id(k.ID))
	}
	return k.ID
}

func join(segments ...string) string { return strings.Join(segments, ":") }

// Parse parses a key. It accepts dm for direct and room for channel, and words in any case. For an unknown form ok is
// false, and ID is the whole key.
func Parse(key string) (k Key, ok bool) {
	base, thread, topic := cutThread(key)
	k, ok = parseBase(base)
	if !ok {
		return Key{ID: key}, false
	}
	k.Thread, k.Topic = unescape(thread), topic
	return k, true
}

// ParentOf returns the key that a thread, a topic or a sub-agent of a sub-agent belongs to: the part before the last
// marker. ok is false for all other keys.
func ParentOf(key string) (parent string, ok bool) {
	base, thread, _ := cutThread(key)
	if thread != "" {
		return base, true
	}
	if at := strings.LastIndex(asciiLower(key), ":subagent:"); at >= 0 && Depth(key) > 1 {
		return key[:at], true
	}
	return "", false
}

// Depth returns how many sub-agents deep a key is, 0 if it is not a sub-agent's.
func Depth(key string) int { return strings.Count(asciiLower(key), ":subagent:") }

// cutThread cuts the last thread or topic off.
func cutThread(key string) (base, thread string, topic bool) {
	lower := asciiLower(key)
	at, length := strings.LastIndex(lower, ":thread:"), len(":thread:")
	if t := strings.LastIndex(lower, ":topic:"); t > at {
		at, length, topic = t, len(":topic:"), true
	}
	if at < 0 || at+length == len(key) {
		return key, "", false
	}
	return key[:at], key[at+length:], topic
}

func parseBase(key string) (k Key, ok bool) {
	if id, ok := cutPrefix(key, "node-"); ok && id != "" && !strings.Contains(id, ":") {
		return Key{Kind: KindNode, ID: unescape(id)}, true
	}
	s := strings.Split(key, ":")
	for _, segment := range s {
		if segment == "" {
			return Key{}, false
		}
	}
	switch {
	case len(s) == 2 && isWord(s[0], "cron"):
		return Key{Kind: KindCron, ID: unescape(s[1])}, true
	case len(s) == 2 && isWord(s[0], "hook"):
		return Key{Kind: KindHook, ID: unescape(s[1])}, true
	case len(s) < 3 || !isWord(s[0], "agent"):
		return Key{}, false
	}
	k, ok = parseAgent(s[2:])
	k.Agent = unescape(s[1])
	if n := len(s) - 2; ok && k.Kind == KindSubagent && n > 3 {
		k.Parent = join(s[:n]...)
	}
	return k, ok
}

// parseAgent parses what follows agent:A.
func parseAgent(s []string) (k Key, ok bool) {
	last := len(s) - 1
	k.ID = unescape(s[last])
	switch {
	case last == 0:
		k.Kind = KindMain
	case last%2 == 1 && isChain(s):
		k.Kind = KindSubagent
	case last == 1 && isDirect(s[0]):
		k.Kind = KindDirect
	case last == 1 && isWord(s[0], "cron"):
		k.Kind = KindCron
	case last == 2 && isDirect(s[1]):
		k.Kind, k.Channel = KindDirect, unescape(s[0])
	case last == 2 && isWord(s[1], "group"):
		k.Kind, k.Channel = KindGroup, unescape(s[0])
	case last == 2 && (isWord(s[1], "channel") || isWord(s[1], "room")):
		k.Kind, k.Channel = KindChannel, unescape(s[0])
	case last == 3 && isDirect(s[2]):
		k.Kind, k.Channel, k.Account = KindDirect, unescape(s[0]), unescape(s[1])
	case last == 3 && isWord(s[0], "cron") && isWord(s[2], "run"):
		k.Kind, k.ID, k.Run = KindCron, unescape(s[1]), unescape(s[3])
	default:
		return Key{}, false
	}
	return k, true
}

// isChain reports whether s is a chain of sub-agents.
func isChain(s []string) bool {
	for i := 0; i < len(s); i += 2 {
		if !isWord(s[i], "subagent") {
			return false
		}
	}
	return true
}

func isDirect(segment string) bool { return isWord(segment, "direct") || isWord(segment, "dm") }

func isWord(segment, word string) bool { return asciiLower(segment) == word }

func cutPrefix(key, prefix string) (string, bool) {
	if len(key) < len(prefix) || asciiLower(key[:len(prefix)]) != prefix {
		return "", false
	}
	return key[len(prefix):], true
}

// ForHistory returns the key in the form that [winnow.HistoryLimits.ForSession] takes: channel:kind:id, with the id
// unescaped. It drops the account and the thread: a thread has the limit of its person or group. Other keys are
// returned unchanged.
//
// [winnow.HistoryLimits.ForSession]: https://pkg.go.dev/github.com/winnowgo/winnow#HistoryLimits.ForSession
func ForHistory(key string) string {
	k, ok := Parse(key)
	if !ok || k.Channel == "" {
		return key
	}
	return join(k.Channel, string(k.Kind), k.ID)
}

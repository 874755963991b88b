// Package keys builds and parses the keys of sessions: for an agent, a person, a group, a thread or a job.
//
//	scheme := keys.Scheme{DMScope: keys.PerChannelPeer}
//	key := scheme.Direct("helper", keys.Peer{Channel: "telegram", ID: "Anna"}) // agent:helper:telegram:direct:Anna
//
// A store accepts any text as a key; the policies and limits of this module understand the forms here. Ids keep their
// case, and characters that would break the form are escaped, so that two persons never share a conversation. With
// [Scheme].Reference the keys are exactly those of OpenClaw, which lower-cases them.
package keys

import (
	"slices"
	"strings"
)

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

// forms are the forms of most keys. Segments in upper case are parts of a key. A key has the first form of its kind
// whose needs it has.
var forms = []struct {
	kind        Kind
	form, needs string
}{
	{KindMain, "agent:AGENT:ID", ""},
	{KindSubagent, "agent:AGENT:subagent:ID", ""},
	{KindDirect, "agent:AGENT:CHANNEL:ACCOUNT:direct:ID", "CHANNEL ACCOUNT"},
	{KindDirect, "agent:AGENT:CHANNEL:direct:ID", "CHANNEL"},
	{KindDirect, "agent:AGENT:direct:ID", ""},
	{KindGroup, "agent:AGENT:CHANNEL:group:ID", ""},
	{KindChannel, "agent:AGENT:CHANNEL:channel:ID", ""},
	{KindCron, "agent:AGENT:cron:ID:run:RUN", "AGENT RUN"},
	{KindCron, "agent:AGENT:cron:ID", "AGENT"},
	{KindCron, "cron:ID", ""},
	{KindHook, "hook:ID", ""},
}

// parts returns the parts of the key by the segments that stand for them.
func (k *Key) parts() map[string]*string {
	return map[string]*string{
		"AGENT": &k.Agent, "CHANNEL": &k.Channel, "ACCOUNT": &k.Account, "ID": &k.ID, "RUN": &k.Run,
	}
}

// base returns the key without its thread.
func (k Key) base(id func(string) string) string {
	switch {
	case k.Kind == KindNode:
		return "node-" + id(k.ID)
	case k.Kind == KindSubagent && k.Parent != "":
		return join(k.Parent, "subagent", id(k.ID))
	}
	parts := k.parts()
	isMissing := func(segment string) bool { return *parts[segment] == "" }
	for _, f := range forms {
		if f.kind != k.Kind || slices.ContainsFunc(strings.Fields(f.needs), isMissing) {
			continue
		}
		segments := strings.Split(f.form, ":")
		for i, segment := range segments {
			if part := parts[segment]; part != nil {
				segments[i] = id(*part)
			}
		}
		return join(segments...)
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
	lower := asciiLower(key)
	if strings.HasPrefix(lower, "node-") && len(key) > len("node-") && !strings.Contains(key, ":") {
		return Key{Kind: KindNode, ID: unescape(key[len("node-"):])}, true
	}
	segments := strings.Split(key, ":")
	if slices.Contains(segments, "") {
		return Key{}, false
	}
	for _, f := range forms {
		k = Key{Kind: f.kind}
		if form := strings.Split(f.form, ":"); len(form) == len(segments) && k.parse(form, segments) {
			return k, true
		}
	}
	if at := strings.LastIndex(lower, ":subagent:"); at >= 0 {
		id := key[at+len(":subagent:"):]
		if k, _ = parseBase(key[:at]); k.Kind == KindSubagent && !strings.Contains(id, ":") {
			k.ID, k.Parent = unescape(id), key[:at]
			return k, true
		}
	}
	return Key{}, false
}

// parse sets the parts of the key from segments that have a form, which is as long.
func (k *Key) parse(form, segments []string) bool {
	parts := k.parts()
	for i, segment := range segments {
		if part := parts[form[i]]; part != nil {
			*part = unescape(segment)
			continue
		}
		word := asciiLower(segment)
		if word != form[i] && olderWords[word] != form[i] {
			return false
		}
	}
	return true
}

// olderWords are other words for those in forms.
var olderWords = map[string]string{"dm": "direct", "room": "channel"}

// ForHistory returns the key in the form that [openclaw.HistoryLimits.ForSession] takes: channel:kind:id, with the id
// unescaped. It drops the account and the thread: a thread has the limit of its person or group. Other keys are
// returned unchanged.
//
// [openclaw.HistoryLimits.ForSession]: https://pkg.go.dev/github.com/winnowgo/winnow/openclaw#HistoryLimits.ForSession
func ForHistory(key string) string {
	k, ok := Parse(key)
	if !ok || k.Channel == "" {
		return key
	}
	return join(k.Channel, string(k.Kind), k.ID)
}

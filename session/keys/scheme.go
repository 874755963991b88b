package keys

import (
	"cmp"
	"strings"
)

// Scope says which direct conversations share a key. It is the reference's dmScope.
type Scope string

const (
	Shared                Scope = ""                         // all of them share the agent's main conversation
	PerPeer               Scope = "per-peer"                 // one for each person, on all channels
	PerChannelPeer        Scope = "per-channel-peer"         // one for each person on each channel
	PerAccountChannelPeer Scope = "per-account-channel-peer" // the same, for each account of the bot
)

// Scheme builds the keys of an installation. The zero value puts all direct conversations of an agent into its main
// one, and keeps ids unchanged.
type Scheme struct {
	DMScope Scope
	MainKey string // name of an agent's main conversation ("main")

	// Links gives one name to a person who writes from several accounts. An id is "ID" or "channel:ID"; the first link
	// that has it counts. Links are ignored if DMScope is Shared.
	Links []Link

	// Reference builds the keys that OpenClaw builds: lower case, agents and accounts in [a-z0-9_-], nothing escaped.
	// Then ids that differ only in case, and some with a colon, get the same key. Use it for sessions that were stored
	// under such keys.
	Reference bool
}

// Link is a person with several ids.
type Link struct {
	Name string
	IDs  []string
}

// Peer is the sender of a message, as the channel names them.
type Peer struct {
	Channel string // "telegram" ("unknown")
	Account string // of the addressed bot ("default")
	ID      string // "": the message belongs to the main conversation
}

// Main returns the key of an agent's main conversation. An empty agent is "main".
func (s *Scheme) Main(agent string) string {
	return s.text(Key{Kind: KindMain, Agent: s.id(agent, "main"), ID: cmp.Or(s.trim(s.MainKey), "main")})
}

// Direct returns the key of the conversation with one person.
func (s *Scheme) Direct(agent string, from Peer) string {
	id := s.trim(from.ID)
	if s.DMScope == Shared || s.DMScope == "main" || id == "" {
		return s.Main(agent)
	}
	if name := s.linked(from); name != "" {
		id = name
	}
	k := Key{Kind: KindDirect, Agent: s.id(agent, "main"), ID: id}
	switch s.DMScope {
	case PerAccountChannelPeer:
		k.Account = s.id(from.Account, "default")
		k.Channel = cmp.Or(s.trim(from.Channel), "unknown")
	case PerChannelPeer:
		k.Channel = cmp.Or(s.trim(from.Channel), "unknown")
	}
	return s.text(k)
}

// Group returns the key of a group on a channel ("unknown"). An empty id is "unknown".
func (s *Scheme) Group(agent, channel, id string) string {
	return s.room(KindGroup, agent, channel, id)
}

// Channel returns the key of a channel or room on a messaging channel ("unknown"). An empty id is "unknown".
func (s *Scheme) Channel(agent, channel, id string) string {
	return s.room(KindChannel, agent, channel, id)
}

func (s *Scheme) room(kind Kind, agent, channel, id string) string {
	k := Key{Kind: kind, Agent: s.id(agent, "main")}
	k.Channel, k.ID = cmp.Or(s.trim(channel), "unknown"), cmp.Or(s.trim(id), "unknown")
	return s.text(k)
}

// Thread returns the key of a thread within the conversation that has the key parent; parent itself if id is empty.
func (s *Scheme) Thread(parent, id string) string { return s.below(parent, ":thread:", id) }

// Topic is Thread for a topic in a forum, such as Telegram's.
func (s *Scheme) Topic(parent, id string) string { return s.below(parent, ":topic:", id) }

func (s *Scheme) below(parent, marker, id string) string {
	if id = s.trim(id); id == "" {
		return parent
	}
	if s.Reference {
		return lower(parent + marker + id)
	}
	return parent + marker + escape(id)
}

// Cron returns the key of a job.
func (s *Scheme) Cron(job string) string { return s.text(Key{Kind: KindCron, ID: job}) }

// CronRun returns the key of one run of a job.
func (s *Scheme) CronRun(agent, job, run string) string {
	return s.text(Key{Kind: KindCron, Agent: s.id(agent, "main"), ID: job, Run: run})
}

// Hook returns the key of the conversation that a hook began.
func (s *Scheme) Hook(id string) string { return s.text(Key{Kind: KindHook, ID: id}) }

// Node returns the key of a device.
func (s *Scheme) Node(id string) string { return s.text(Key{Kind: KindNode, ID: id}) }

// Subagent returns the key of a sub-agent of an agent.
func (s *Scheme) Subagent(agent, id string) string {
	return s.text(Key{Kind: KindSubagent, Agent: s.id(agent, "main"), ID: id})
}

// SubagentOf returns the key of a sub-agent of the sub-agent that has the key parent.
func (s *Scheme) SubagentOf(parent, id string) string { return s.below(parent, ":subagent:", id) }

// id returns the id of an agent or account.
func (s *Scheme) id(id, otherwise string) string {
	if s.Reference {
		return referenceID(id, otherwise)
	}
	return cmp.Or(id, otherwise)
}

// linked returns the name that a link gives a person, or "".
func (s *Scheme) linked(p Peer) string {
	id := s.fold(p.ID)
	scoped := s.fold(p.Channel) + ":" + id
	for _, link := range s.Links {
		name := s.trim(link.Name)
		if name == "" {
			continue
		}
		for _, other := range link.IDs {
			if other = s.fold(other); other != "" && (other == id || p.Channel != "" && other == scoped) {
				return name
			}
		}
	}
	return ""
}

// trim removes white space if the reference does. Otherwise ids are opaque.
func (s *Scheme) trim(id string) string {
	if s.Reference {
		return strings.TrimSpace(id)
	}
	return id
}

// fold returns the form in which ids are compared.
func (s *Scheme) fold(id string) string {
	if s.Reference {
		return lower(strings.TrimSpace(id))
	}
	return id
}

func (s *Scheme) text(k Key) string {
	if s.Reference {
		return lower(k.format(func(id string) string { return id }))
	}
	return k.String()
}

// Package resets says when a conversation is stale, so that the next message of a person begins a new one: after an
// hour of the day, after a pause, or because the person asks for it. [Policy.For] is an option of package session.
package resets

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/winnowgo/winnow/session/keys"
)

// Mode is what makes a conversation stale.
type Mode string

const (
	Never Mode = ""      // nothing
	Daily Mode = "daily" // the next passing of an hour of the day, and a pause if Idle is set
	Idle  Mode = "idle"  // a pause
)

const (
	defaultIdle = time.Hour
	leastIdle   = time.Minute
)

// Rule says when a conversation is stale: the next message then begins a new one. The zero value means never.
type Rule struct {
	Mode Mode `json:"mode,omitempty"`
	// Hour is the hour at which a day begins. Values outside of 0 to 23 are clamped. If daylight saving time skips the
	// hour, the day begins with the first moment after the gap; if the hour occurs twice, the first one counts.
	Hour int `json:"hour,omitempty"`
	// Location is the time zone of Hour. nil: [time.Local].
	Location *time.Location `json:"-"`
	// Idle is the pause after which the conversation is stale. 0 means an hour with Idle, and no limit with
	// Daily. Less than a minute counts as a minute.
	Idle time.Duration `json:"idle,omitempty"`
}

// Decision is what a rule decides about a conversation.
type Decision struct {
	Due    bool
	Reason string    // "daily", "idle", or what the host gave to session.Session.Reset
	Since  time.Time // when the conversation became stale; zero if no rule decided
}

// Decide says whether a conversation is stale at now, if a person last wrote in it at last. It depends on nothing else.
// If the rule has both an hour and a pause, the reason is the one that came first. A conversation in which nobody wrote
// is not stale, nor is one whose last message lies in the future because a clock was set back.
func (r Rule) Decide(last, now time.Time) Decision {
	if r.Mode == Never || last.IsZero() {
		return Decision{}
	}
	var d Decision
	if r.Mode == Daily {
		if day := r.dayOf(now); last.Before(day) {
			d = Decision{Due: true, Reason: string(Daily), Since: r.dayAfter(last)}
		}
	}
	if idle := r.idle(); idle > 0 {
		if end := last.Add(idle); now.After(end) && (!d.Due || end.Before(d.Since)) {
			d = Decision{Due: true, Reason: string(Idle), Since: end}
		}
	}
	return d
}

// idle returns the longest pause that the rule allows, 0 for no limit.
func (r Rule) idle() time.Duration {
	switch {
	case r.Idle == 0 && r.Mode == Idle:
		return defaultIdle
	case r.Idle == 0:
		return 0
	}
	return max(r.Idle, leastIdle)
}

// dayOf returns when the day of now began: today at the hour, or yesterday if that is still ahead.
func (r Rule) dayOf(now time.Time) time.Time {
	now = now.In(cmp.Or(r.Location, time.Local))
	for back := 0; ; back++ { // a zone that skipped a day needs a second step
		if day := r.beginOf(now, -back); !day.After(now) {
			return day
		}
	}
}

// dayAfter returns the first beginning of a day after at.
func (r Rule) dayAfter(at time.Time) time.Time {
	at = at.In(cmp.Or(r.Location, time.Local))
	for ahead := 0; ; ahead++ {
		if day := r.beginOf(at, ahead); day.After(at) {
			return day
		}
	}
}

// beginOf returns when the day begins that is the given number of calendar days after that of at.
func (r Rule) beginOf(at time.Time, days int) time.Time {
	year, month, day := at.Date()
	hour := min(max(r.Hour, 0), 23)
	wall := time.Date(year, month, day+days, hour, 0, 0, 0, time.UTC)
	// When clocks change, time.Date does not specify which of two times it returns. Each has the offset in force some
	// time before or after.
	const aside = 26 * time.Hour // no zone is further from UTC, and none changes twice within two of them
	before := wall.Add(-offsetAt(wall.Add(-aside), at.Location()))
	after := wall.Add(-offsetAt(wall.Add(aside), at.Location()))
	if !sameWall(before.In(at.Location()), wall) && sameWall(after.In(at.Location()), wall) {
		return after.In(at.Location())
	}
	return before.In(at.Location()) // the first of two, or after the gap
}

func offsetAt(at time.Time, in *time.Location) time.Duration {
	_, seconds := at.In(in).Zone()
	return time.Duration(seconds) * time.Second
}

// sameWall reports whether two times show the same on a wall clock.
func sameWall(a, b time.Time) bool {
	const layout = "2006-01-02 15:04:05"
	return a.Format(layout) == b.Format(layout)
}

// Policy chooses the rule of a session, and knows what a person writes to begin anew. The zero value resets
// nothing.
//
//	store, err := session.OpenDirectory(dir, &session.Options{ResetRule: resets.Reference().For})
type Policy struct {
	Base      Rule               `json:"base,omitzero"`       // applies if neither of the others does
	ByType    map[keys.Type]Rule `json:"byType,omitempty"`    // by [keys.Type]; "dm" means "direct"
	ByChannel map[string]Rule    `json:"byChannel,omitempty"` // by [keys.Key].Channel; beats ByType

	// Triggers are what a person writes to begin anew, such as "/new".
	Triggers []string `json:"triggers,omitempty"`

	// MaxForkTokens is the largest conversation, in tokens, that a thread may begin with as a fork. 0: any size.
	MaxForkTokens int `json:"maxForkTokens,omitempty"`
}

// Reference returns the policy of OpenClaw 2026.3: a reset each day at 4 o'clock in the host's time zone, the
// triggers /new and /reset, and forks of up to 100 000 tokens.
func Reference() *Policy {
	return &Policy{
		Base:          Rule{Mode: Daily, Hour: 4},
		Triggers:      []string{"/new", "/reset"},
		MaxForkTokens: 100_000,
	}
}

// For returns the rule for a key in a form that package keys knows: that of its channel, else of its type, else Base.
// Rules are not merged: a field that one leaves out is not taken from another.
func (p *Policy) For(key string) Rule {
	k, _ := keys.Parse(key)
	if rule, ok := p.ofChannel(k.Channel); ok {
		return rule
	}
	of := keys.TypeOf(key)
	if rule, ok := p.ByType[of]; ok {
		return rule
	}
	if rule, ok := p.ByType["dm"]; ok && of == keys.Direct {
		return rule
	}
	return p.Base
}

// ofChannel returns the rule of a channel. If the exact name has no rule, one in another case counts.
func (p *Policy) ofChannel(channel string) (Rule, bool) {
	if rule, ok := p.ByChannel[channel]; ok || channel == "" {
		return rule, ok && channel != ""
	}
	for _, name := range slices.Sorted(maps.Keys(p.ByChannel)) {
		if strings.EqualFold(name, channel) {
			return p.ByChannel[name], true
		}
	}
	return Rule{}, false
}

// Trigger reports whether a person asks to begin anew, and returns what they wrote after the trigger. A trigger counts
// in any case, alone or followed by a space. mentions are names of the agent, as people write them in groups; they are
// cut off at the front. The host decides whether the sender may ask.
func (p *Policy) Trigger(text string, mentions ...string) (rest string, ok bool) {
	text = strings.TrimSpace(text)
	for cut := true; cut; {
		cut = false
		for _, mention := range mentions {
			if after, found := cutFold(text, mention); found && mention != "" && endsName(after) {
				text, cut = strings.TrimSpace(strings.TrimLeft(after, ":,")), true
			}
		}
	}
	for _, trigger := range p.Triggers {
		after, found := cutFold(text, trigger)
		if !found || trigger == "" {
			continue
		}
		if after == "" {
			return "", true
		}
		if after[0] == ' ' {
			return strings.TrimLeftFunc(after, unicode.IsSpace), true
		}
	}
	return "", false
}

// endsName reports whether after may follow a name.
func endsName(after string) bool {
	c, _ := utf8.DecodeRuneInString(after)
	return after == "" || c == ':' || c == ',' || unicode.IsSpace(c)
}

// cutFold cuts prefix off text, ignoring case.
func cutFold(text, prefix string) (after string, ok bool) {
	end, n := 0, utf8.RuneCountInString(prefix)
	for range n {
		if end == len(text) {
			return "", false
		}
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	if !strings.EqualFold(text[:end], prefix) {
		return "", false
	}
	return text[end:], true
}

// MayFork reports whether a thread may begin with a fork of a conversation of this many tokens.
func (p *Policy) MayFork(tokens int) bool {
	return p.MaxForkTokens <= 0 || tokens <= p.MaxForkTokens
}

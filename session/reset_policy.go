package session

import (
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/winnowgo/winnow/session/keys"
)

// ResetMode says what makes a conversation stale.
type ResetMode string

const (
	ResetNever ResetMode = ""      // nothing
	ResetDaily ResetMode = "daily" // an hour of the day that has passed since, and a pause if Idle is set
	ResetIdle  ResetMode = "idle"  // a pause
)

const (
	defaultIdle = time.Hour
	leastIdle   = time.Minute
)

// ResetRule says when a conversation is stale, so that the next message begins a new one. The zero value is never.
type ResetRule struct {
	Mode ResetMode `json:"mode,omitempty"`
	// Hour is the hour at which a day begins, 0 to 23; what is outside is clamped. Where the clock leaves the hour out,
	// at the beginning of summer time, the day begins with the first moment after the gap; where it comes twice, the
	// first one counts.
	Hour int `json:"hour,omitempty"`
	// Location is where the hour is told. nil: [time.Local].
	Location *time.Location `json:"-"`
	// Idle is the pause after which the conversation is stale. 0: with ResetIdle an hour, with ResetDaily none. Less
	// than a minute is a minute.
	Idle time.Duration `json:"idle,omitempty"`
}

// ResetDecision is what a rule says of a conversation.
type ResetDecision struct {
	Due    bool
	Reason string    // "daily", "idle", or what the host gave to [Session.Reset]
	Since  time.Time // when the conversation became stale; zero if no rule decided
}

// Decide says whether a conversation in which a person wrote last at last is stale at now. It depends on nothing else.
// With both an hour and a pause, whichever came first is the reason. A conversation in which nobody wrote is not stale,
// and neither is one whose last message lies in the future, because a clock went back.
func (r ResetRule) Decide(last, now time.Time) ResetDecision {
	if r.Mode == ResetNever || last.IsZero() {
		return ResetDecision{}
	}
	var d ResetDecision
	if r.Mode == ResetDaily {
		if day := r.dayOf(now); last.Before(day) {
			d = ResetDecision{Due: true, Reason: string(ResetDaily), Since: r.dayAfter(last)}
		}
	}
	if idle := r.idle(); idle > 0 {
		if end := last.Add(idle); now.After(end) && (!d.Due || end.Before(d.Since)) {
			d = ResetDecision{Due: true, Reason: string(ResetIdle), Since: end}
		}
	}
	return d
}

// idle returns the pause that the rule allows, 0 if any.
func (r ResetRule) idle() time.Duration {
	switch {
	case r.Idle == 0 && r.Mode == ResetIdle:
		return defaultIdle
	case r.Idle == 0:
		return 0
	}
	return max(r.Idle, leastIdle)
}

func (r ResetRule) location() *time.Location {
	if r.Location == nil {
		return time.Local
	}
	return r.Location
}

// dayOf returns when the day began that now belongs to: today at the hour, or yesterday if that is still ahead.
func (r ResetRule) dayOf(now time.Time) time.Time {
	now = now.In(r.location())
	for back := 0; ; back++ { // a zone that skipped a day takes a second step
		if day := r.beginOf(now, -back); !day.After(now) {
			return day
		}
	}
}

// dayAfter returns when the first day began after at.
func (r ResetRule) dayAfter(at time.Time) time.Time {
	at = at.In(r.location())
	for ahead := 0; ; ahead++ {
		if day := r.beginOf(at, ahead); day.After(at) {
			return day
		}
	}
}

// beginOf returns when the day begins that is so many days of the calendar after that of at.
func (r ResetRule) beginOf(at time.Time, days int) time.Time {
	year, month, day := at.Date()
	hour := min(max(r.Hour, 0), 23)
	wall := time.Date(year, month, day+days, hour, 0, 0, 0, time.UTC)
	// time.Date does not say which of two times it returns where the clock is changed. Each of them has the offset that
	// is in force some time before or after.
	const aside = 26 * time.Hour // no zone is further from UTC, and none changes twice within two of them
	before := wall.Add(-offsetAt(wall.Add(-aside), at.Location()))
	after := wall.Add(-offsetAt(wall.Add(aside), at.Location()))
	if !sameWall(before.In(at.Location()), wall) && sameWall(after.In(at.Location()), wall) {
		return after.In(at.Location())
	}
	return before.In(at.Location()) // the first of two, or behind the gap
}

func offsetAt(at time.Time, in *time.Location) time.Duration {
	_, seconds := at.In(in).Zone()
	return time.Duration(seconds) * time.Second
}

// sameWall says that clocks on the wall show the same.
func sameWall(a, b time.Time) bool {
	const layout = "2006-01-02 15:04:05"
	return a.Format(layout) == b.Format(layout)
}

// ResetPolicy says which rule a session has, and what a person writes to begin anew. The zero value resets nothing.
//
//	store, err := session.OpenDirectory(dir, &session.Options{ResetRule: session.ReferenceResets().For})
type ResetPolicy struct {
	Base      ResetRule               `json:"base,omitzero"`       // of all that the others do not name
	ByType    map[keys.Type]ResetRule `json:"byType,omitempty"`    // by [keys.Type]; "dm" is taken for "direct"
	ByChannel map[string]ResetRule    `json:"byChannel,omitempty"` // by [keys.Key].Channel; precedes ByType

	// Triggers are what a person writes to begin anew, as "/new".
	Triggers []string `json:"triggers,omitempty"`

	// MaxForkTokens is how many tokens a conversation may have that a thread begins with as a fork. 0: any number.
	MaxForkTokens int `json:"maxForkTokens,omitempty"`
}

// ReferenceResets returns the policy of OpenClaw 2026.3: each day at 4 o'clock of the host, triggers /new and /reset,
// forks of up to 100 000 tokens.
func ReferenceResets() *ResetPolicy {
	return &ResetPolicy{
		Base:          ResetRule{Mode: ResetDaily, Hour: 4},
		Triggers:      []string{"/new", "/reset"},
		MaxForkTokens: 100_000,
	}
}

// For returns the rule of a key of the forms that package keys knows: that of its channel, else of its type, else Base.
// A rule stands for itself: what it leaves out is not taken from another.
func (p *ResetPolicy) For(key string) ResetRule {
	k, _ := keys.Parse(key)
	return p.Rule(keys.TypeOf(key), k.Channel)
}

// Rule is For where the type and the channel are known; channel may be "".
func (p *ResetPolicy) Rule(of keys.Type, channel string) ResetRule {
	if rule, ok := p.ofChannel(channel); ok {
		return rule
	}
	if rule, ok := p.ByType[of]; ok {
		return rule
	}
	if rule, ok := p.ByType["dm"]; ok && of == keys.Direct {
		return rule
	}
	return p.Base
}

// ofChannel returns the rule of a channel; one that is written in another case counts where there is no other.
func (p *ResetPolicy) ofChannel(channel string) (ResetRule, bool) {
	if rule, ok := p.ByChannel[channel]; ok || channel == "" {
		return rule, ok && channel != ""
	}
	for _, name := range slices.Sorted(maps.Keys(p.ByChannel)) {
		if strings.EqualFold(name, channel) {
			return p.ByChannel[name], true
		}
	}
	return ResetRule{}, false
}

// Trigger says whether a person asks to begin anew, and returns what they wrote behind it. A trigger counts in upper
// and lower case, alone or with a space behind it. mentions are names of the agent that are cut off in front, as
// people write them in groups. Whether the sender may ask is the host's to know.
func (p *ResetPolicy) Trigger(text string, mentions ...string) (rest string, ok bool) {
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

// endsName says that a name ended before after.
func endsName(after string) bool {
	c, _ := utf8.DecodeRuneInString(after)
	return after == "" || c == ':' || c == ',' || unicode.IsSpace(c)
}

// cutFold cuts prefix off text, in upper or lower case.
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

// MayFork says whether a thread may begin with a fork of a conversation of so many tokens.
func (p *ResetPolicy) MayFork(tokens int) bool {
	return p.MaxForkTokens <= 0 || tokens <= p.MaxForkTokens
}

package resets_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session/keys"
	"github.com/winnowgo/winnow/session/resets"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	in, err := time.LoadLocation(name)
	require.NoError(t, err)
	return in
}

// at parses a wall-clock time of a zone, or a time with its own offset.
func at(t testing.TB, in *time.Location, text string) time.Time {
	t.Helper()
	if out, err := time.Parse("2006-01-02 15:04:05 -0700", text); err == nil {
		return out
	}
	out, err := time.ParseInLocation("2006-01-02 15:04:05", text, in)
	require.NoError(t, err)
	return out
}

func TestRule(t *testing.T) {
	daily := resets.Rule{Mode: resets.Daily, Hour: 4}
	for _, tt := range []struct {
		why       string
		rule      resets.Rule
		zone      string
		last, now string
		want      string // "" fresh, or reason and since
	}{
		{"the zero rule never resets", resets.Rule{}, "UTC", "2000-01-01 00:00:00", "2026-01-01 00:00:00", ""},
		{"an unknown mode never resets", resets.Rule{Mode: "weekly"}, "UTC", "2000-01-01 00:00:00", "2026-01-01 00:00:00", ""},

		{"daily: written today after the hour", daily, "UTC", "2026-05-02 04:00:01", "2026-05-02 23:59:59", ""},
		{"daily: the hour lies between", daily, "UTC", "2026-05-02 03:59:59", "2026-05-02 04:00:00", "daily 2026-05-02T04:00:00Z"},
		{"daily: written at the hour itself is of the new day", daily, "UTC", "2026-05-02 04:00:00", "2026-05-02 04:00:00", ""},
		{"daily: today's hour is still ahead, so yesterday's counts", daily, "UTC", "2026-05-01 04:00:00", "2026-05-02 03:59:59", ""},
		{"daily: before yesterday's hour, and today's is still ahead", daily, "UTC", "2026-05-01 03:59:59", "2026-05-02 03:59:59", "daily 2026-05-01T04:00:00Z"},
		{"daily: stale since the first hour that passed", daily, "UTC", "2026-04-01 12:00:00", "2026-05-02 05:00:00", "daily 2026-04-02T04:00:00Z"},
		{"daily: the first of a month", daily, "UTC", "2026-02-28 12:00:00", "2026-03-01 04:00:00", "daily 2026-03-01T04:00:00Z"},
		{"daily: no pause counts unless it is set", daily, "UTC", "2026-05-02 04:00:00", "2026-05-03 03:59:59", ""},
		{"daily: hour 0 is midnight", resets.Rule{Mode: resets.Daily}, "UTC", "2026-05-01 23:59:59", "2026-05-02 00:00:00", "daily 2026-05-02T00:00:00Z"},
		{"daily: an hour below 0 is 0", resets.Rule{Mode: resets.Daily, Hour: -7}, "UTC", "2026-05-01 23:59:59", "2026-05-02 00:00:00", "daily 2026-05-02T00:00:00Z"},
		{"daily: an hour above 23 is 23", resets.Rule{Mode: resets.Daily, Hour: 99}, "UTC", "2026-05-01 22:59:59", "2026-05-01 23:00:00", "daily 2026-05-01T23:00:00Z"},

		{"idle: without a pause an hour", resets.Rule{Mode: resets.Idle}, "UTC", "2026-05-01 10:00:00", "2026-05-01 11:00:00", ""},
		{"idle: a moment more than an hour", resets.Rule{Mode: resets.Idle}, "UTC", "2026-05-01 10:00:00", "2026-05-01 11:00:01", "idle 2026-05-01T11:00:00Z"},
		{"idle: the hour of the day does not count", resets.Rule{Mode: resets.Idle, Hour: 4, Idle: 9 * time.Hour}, "UTC", "2026-05-01 03:00:00", "2026-05-01 11:00:00", ""},
		{"idle: less than a minute is a minute", resets.Rule{Mode: resets.Idle, Idle: time.Second}, "UTC", "2026-05-01 10:00:00", "2026-05-01 10:01:00", ""},
		{"idle: a negative pause is a minute", resets.Rule{Mode: resets.Idle, Idle: -time.Hour}, "UTC", "2026-05-01 10:00:00", "2026-05-01 10:01:01", "idle 2026-05-01T10:01:00Z"},

		{"both: the pause ends first", resets.Rule{Mode: resets.Daily, Hour: 4, Idle: time.Hour}, "UTC", "2026-05-01 10:00:00", "2026-05-02 12:00:00", "idle 2026-05-01T11:00:00Z"},
		{"both: the hour comes first", resets.Rule{Mode: resets.Daily, Hour: 4, Idle: time.Hour}, "UTC", "2026-05-01 03:30:00", "2026-05-01 12:00:00", "daily 2026-05-01T04:00:00Z"},
		{"both: only the pause is over", resets.Rule{Mode: resets.Daily, Hour: 4, Idle: time.Hour}, "UTC", "2026-05-01 05:00:00", "2026-05-01 07:00:00", "idle 2026-05-01T06:00:00Z"},
		{"both: neither", resets.Rule{Mode: resets.Daily, Hour: 4, Idle: time.Hour}, "UTC", "2026-05-01 05:00:00", "2026-05-01 05:59:00", ""},

		{"a clock that went back: the last message is of tomorrow", daily, "UTC", "2026-05-03 10:00:00", "2026-05-02 10:00:00", ""},
		{"a clock that went back over the hour", daily, "UTC", "2026-05-02 04:00:30", "2026-05-02 03:59:30", ""},
		{"a clock that went back, and a pause", resets.Rule{Mode: resets.Idle}, "UTC", "2026-05-03 10:00:00", "2026-05-02 10:00:00", ""},

		{"a zone far in the east: its day begins before that of UTC", daily, "Pacific/Kiritimati", "2026-05-01 13:59:59 +0000", "2026-05-01 14:00:00 +0000", "daily 2026-05-01T14:00:00Z"},
		{"a zone far in the west", daily, "Pacific/Pago_Pago", "2026-05-01 14:59:59 +0000", "2026-05-01 15:00:00 +0000", "daily 2026-05-01T15:00:00Z"},
		{"a zone with a quarter of an hour", daily, "Asia/Kathmandu", "2026-05-01 22:14:59 +0000", "2026-05-01 22:15:00 +0000", "daily 2026-05-01T22:15:00Z"},
		{"the same moments in another zone are of one day", daily, "UTC", "2026-05-01 22:14:59 +0000", "2026-05-01 22:15:00 +0000", ""},

		{"summer time begins: the night has 23 hours", daily, "Europe/Berlin", "2026-03-29 03:59:59 +0200", "2026-03-29 04:00:00 +0200", "daily 2026-03-29T02:00:00Z"},
		{"summer time begins: 23 hours since the last hour are a day", daily, "Europe/Berlin", "2026-03-28 04:00:00 +0100", "2026-03-29 03:59:59 +0200", ""},
		{"summer time begins: the hour is left out, so the day begins behind the gap", resets.Rule{Mode: resets.Daily, Hour: 2}, "Europe/Berlin", "2026-03-29 01:59:59 +0100", "2026-03-29 03:00:00 +0200", "daily 2026-03-29T01:00:00Z"},
		{"summer time begins: a moment before the gap it is still the day before", resets.Rule{Mode: resets.Daily, Hour: 2}, "Europe/Berlin", "2026-03-28 02:00:00 +0100", "2026-03-29 01:59:59 +0100", ""},
		{"summer time begins at midnight, which is left out", resets.Rule{Mode: resets.Daily}, "Asia/Beirut", "2026-03-28 23:59:59 +0200", "2026-03-29 01:00:00 +0300", "daily 2026-03-28T22:00:00Z"},
		{"summer time begins with half an hour", resets.Rule{Mode: resets.Daily, Hour: 2}, "Australia/Lord_Howe", "2026-10-04 01:59:59 +1030", "2026-10-04 02:30:00 +1100", "daily 2026-10-03T15:30:00Z"},
		{"summer time ends: the night has 25 hours", daily, "Europe/Berlin", "2026-10-25 03:59:59 +0100", "2026-10-25 04:00:00 +0100", "daily 2026-10-25T03:00:00Z"},
		{"summer time ends: 24 hours and a half since the last hour are not a day", daily, "Europe/Berlin", "2026-10-24 04:00:00 +0200", "2026-10-25 03:30:00 +0100", ""},
		{"summer time ends: the first of two equal hours counts", resets.Rule{Mode: resets.Daily, Hour: 2}, "Europe/Berlin", "2026-10-25 01:59:59 +0200", "2026-10-25 02:00:00 +0200", "daily 2026-10-25T00:00:00Z"},
		{"summer time ends: the second of them is not a new day", resets.Rule{Mode: resets.Daily, Hour: 2}, "Europe/Berlin", "2026-10-25 02:30:00 +0200", "2026-10-25 02:00:00 +0100", ""},
		{"a zone that skipped a day: the day before is two back", daily, "Pacific/Apia", "2011-12-29 03:00:00 -1000", "2011-12-31 03:00:00 +1400", "daily 2011-12-29T14:00:00Z"},
		{"a zone that skipped a day: nothing between", daily, "Pacific/Apia", "2011-12-29 05:00:00 -1000", "2011-12-31 03:00:00 +1400", ""},
	} {
		t.Run(tt.why, func(t *testing.T) {
			in := zone(t, tt.zone)
			tt.rule.Location = in
			d := tt.rule.Decide(at(t, in, tt.last), at(t, in, tt.now))
			got := ""
			if d.Due {
				got = d.Reason + " " + d.Since.UTC().Format(time.RFC3339)
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestRuleOfAnEmptyConversation(t *testing.T) {
	rule := resets.Rule{Mode: resets.Daily, Idle: time.Minute}
	assert.Equal(t, resets.Decision{}, rule.Decide(time.Time{}, time.Now()), "nobody wrote: there is nothing to begin anew")
}

// TestResetRuleProperties: for random moments around the changes of clocks in zones of all kinds, a conversation is
// stale if and only if a beginning of a day lies between, as counted minute by minute.
func TestRuleProperties(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	zones := []string{
		"UTC", "Europe/Berlin", "America/New_York", "America/St_Johns", "America/Havana", "Asia/Beirut", "Africa/Cairo",
		"Australia/Lord_Howe", "Pacific/Apia", "Pacific/Chatham", "Africa/Casablanca", "Asia/Tehran", "America/Sao_Paulo",
	}
	for _, name := range zones {
		in := zone(t, name)
		for range 60 {
			start := time.Date(2010+random.IntN(16), time.Month(1+random.IntN(12)), 1+random.IntN(28), 0, 0, 0, 0, time.UTC)
			if _, change := start.In(in).ZoneBounds(); !change.IsZero() { // around the next change
				start = change.Add(-time.Duration(random.IntN(40)) * time.Hour).UTC()
			}
			hour := random.IntN(24)
			rule := resets.Rule{Mode: resets.Daily, Hour: hour, Location: in}
			last := start.Add(time.Duration(random.IntN(60*24)) * time.Minute)
			now := last.Add(time.Duration(random.IntN(60*48)) * time.Minute)
			began := false
			for m := last.Truncate(time.Minute).Add(time.Minute); !m.After(now); m = m.Add(time.Minute) {
				if beginsDay(m, in, hour) {
					began = true
				}
			}
			d := rule.Decide(last, now)
			name := fmt.Sprintf("%s, hour %d, %s to %s", name, hour, last.In(in), now.In(in))
			require.Equal(t, began, d.Due, name)
			if d.Due {
				require.True(t, d.Since.After(last) && !d.Since.After(now), name)
			}
		}
	}
}

// beginsDay reports whether at m, a whole minute, the clock shows the hour for the first time on its day, or first
// shows a later one because it was put forward over it.
func beginsDay(m time.Time, in *time.Location, hour int) bool {
	reached := func(m time.Time) bool { return m.In(in).Hour() >= hour }
	day := func(m time.Time) string { return m.In(in).Format(time.DateOnly) }
	before := m.Add(-time.Minute)
	if day(before) == day(m) {
		if !reached(m) || reached(before) {
			return false
		}
	} else if day(before) > day(m) { // put back over midnight
		return false
	} else if !reached(m) {
		return false
	}
	for earlier := m.Add(-3 * time.Hour); earlier.Before(before); earlier = earlier.Add(time.Minute) {
		if day(earlier) == day(m) && reached(earlier) {
			return false // shown already, before the clock was put back
		}
	}
	return true
}

func TestPolicy(t *testing.T) {
	rule := func(hour int) resets.Rule { return resets.Rule{Mode: resets.Daily, Hour: hour} }
	p := resets.Policy{
		Base:      rule(1),
		ByType:    map[keys.Type]resets.Rule{"dm": rule(2), keys.Group: rule(3), keys.Thread: {}},
		ByChannel: map[string]resets.Rule{"Telegram": rule(5), "matrix": rule(6), "Matrix": rule(7)},
	}
	for _, tt := range []struct {
		why, key string
		want     resets.Rule
	}{
		{"the channel precedes the type", "agent:a:telegram:group:1", rule(5)},
		{"the channel precedes the type of a thread", "agent:a:telegram:group:1:topic:2", rule(5)},
		{"a channel that is written so precedes one in another case", "agent:a:matrix:group:1", rule(6)},
		{"the type of a group", "agent:a:slack:group:1", rule(3)},
		{"the type of a channel is that of a group", "agent:a:slack:channel:1", rule(3)},
		{"a type may have the rule that never resets", "agent:a:slack:group:1:thread:2", resets.Rule{}},
		{"dm is direct", "agent:a:slack:direct:1", rule(2)},
		{"the main conversation is direct", "agent:a:main", rule(2)},
		{"a form that nobody knows is direct", "mine", rule(2)},
	} {
		assert.Equal(t, tt.want, p.For(tt.key), tt.why)
	}
	p.ByType = nil
	assert.Equal(t, rule(1), p.For("agent:a:slack:group:1"), "what nothing else is said of has the base")
	p.ByType = map[keys.Type]resets.Rule{"dm": rule(2), keys.Direct: rule(7)}
	assert.Equal(t, rule(7), p.For("agent:a:main"), "direct precedes dm")

	var zero resets.Policy
	assert.Equal(t, resets.Rule{}, zero.For("agent:a:main"), "the zero value never resets")
	_, ok := zero.Trigger("/new")
	assert.False(t, ok, "the zero value has no trigger")
	assert.True(t, zero.MayFork(1<<30), "the zero value has no limit for forks")

	reference := resets.Reference()
	assert.Equal(t, resets.Rule{Mode: resets.Daily, Hour: 4}, reference.For("agent:a:main"), "daily at 4, local time")
	assert.True(t, reference.MayFork(100_000), "a parent of 100 000 tokens is forked")
	assert.False(t, reference.MayFork(100_001), "a larger one is not")
}

func TestResetTriggers(t *testing.T) {
	p := resets.Reference()
	for _, tt := range []struct {
		why, text string
		mentions  []string
		rest      string
		ok        bool
	}{
		{"the trigger alone", "/new", nil, "", true},
		{"the other one", "/reset", nil, "", true},
		{"space around it is trimmed", " \n/new\t ", nil, "", true},
		{"in any case", "/NeW", nil, "", true},
		{"the rest is passed on", "/new what is the time?", nil, "what is the time?", true},
		{"more than one space before the rest", "/new   hello", nil, "hello", true},
		{"a longer word is another one", "/newest", nil, "", false},
		{"a line break is not a space", "/new\nhello", nil, "", false},
		{"in the middle of a text it is a text", "please /new", nil, "", false},
		{"nothing is not a trigger", "", nil, "", false},
		{"a mention is cut off in a group", "@bot /new", []string{"@bot"}, "", true},
		{"a mention in another case, with a colon", "@BOT: /new go on", []string{"@bot"}, "go on", true},
		{"two mentions", "@bot @claw /reset", []string{"@claw", "@bot"}, "", true},
		{"a mention without a space is another name", "@bottle /new", []string{"@bot"}, "", false},
		{"an empty mention is not a name", "/new", []string{""}, "", true},
		{"without a mention nothing is cut", "@bot /new", nil, "", false},
	} {
		rest, ok := p.Trigger(tt.text, tt.mentions...)
		assert.Equal(t, tt.ok, ok, tt.why)
		assert.Equal(t, tt.rest, rest, tt.why)
	}
	other := resets.Policy{Triggers: []string{"", "NEU", "ſtart"}}
	_, ok := other.Trigger("neu")
	assert.True(t, ok, "a host's own trigger, in any case")
	_, ok = other.Trigger("")
	assert.False(t, ok, "an empty trigger never matches")
	rest, ok := other.Trigger("START x")
	assert.True(t, ok, "letters of other lengths in the other case")
	assert.Equal(t, "x", rest)
}

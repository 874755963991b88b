package keys_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow/openclaw"
	"github.com/winnowgo/winnow/session/keys"
)

func ExampleScheme_Direct() {
	scheme := keys.Scheme{
		DMScope: keys.PerChannelPeer,
		Links:   []keys.Link{{Name: "anna", IDs: []string{"telegram:123", "slack:U07"}}},
	}
	fmt.Println(scheme.Direct("helper", keys.Peer{Channel: "telegram", ID: "Bob"}))
	fmt.Println(scheme.Direct("helper", keys.Peer{Channel: "telegram", ID: "123"}))
	fmt.Println(scheme.Direct("helper", keys.Peer{Channel: "irc", ID: "a:b"}))
	scheme.Reference = true
	fmt.Println(scheme.Direct("helper", keys.Peer{Channel: "telegram", ID: "Bob"}))
	// Output:
	// agent:helper:telegram:direct:Bob
	// agent:helper:telegram:direct:anna
	// agent:helper:irc:direct:a%3Ab
	// agent:helper:telegram:direct:bob
}

func ExampleParse() {
	k, ok := keys.Parse("agent:helper:slack:channel:C1:thread:1700.5")
	fmt.Println(ok, k.Kind, k.Agent, k.Channel, k.ID, k.Thread, keys.TypeOf(k.String()))
	parent, _ := keys.ParentOf("agent:helper:slack:channel:C1:thread:1700.5")
	fmt.Println(parent)
	// Output:
	// true channel helper slack C1 1700.5 thread
	// agent:helper:slack:channel:C1
}

func ExampleForHistory() {
	five := 5
	limits := openclaw.HistoryLimits{"telegram": {DMs: map[string]openclaw.DMLimits{"a:b": {HistoryLimit: &five}}}}
	scheme := keys.Scheme{DMScope: keys.PerAccountChannelPeer}
	key := scheme.Direct("helper", keys.Peer{Channel: "telegram", Account: "bot", ID: "a:b"})
	fmt.Println(key)
	fmt.Println(limits.ForSession(keys.ForHistory(key)))
	// Output:
	// agent:helper:telegram:bot:direct:a%3Ab
	// 5 true
}

func ExampleTypeOf() {
	fmt.Println(keys.TypeOf("agent:a:main"), keys.TypeOf("agent:a:irc:group:g"), keys.TypeOf("agent:a:main:thread:1"))
	// Output: direct group thread
}

// TestReferenceKeys has every row of the reference's table, with its rules for missing values and other spellings.
func TestReferenceKeys(t *testing.T) {
	bob := keys.Peer{Channel: " Telegram", Account: "My Bot!", ID: " Bob "}
	links := []keys.Link{
		{Name: " ", IDs: []string{"bob"}}, {Name: "Other", IDs: []string{"slack:bob"}},
		{Name: "Robert", IDs: []string{" TELEGRAM:BOB "}}, {Name: "late", IDs: []string{"bob"}},
	}
	s := func(scope keys.Scope, links ...keys.Link) *keys.Scheme {
		return &keys.Scheme{DMScope: scope, Links: links, Reference: true}
	}
	base := s(keys.Shared)
	for _, tt := range []struct{ got, want, reason string }{
		{base.Main(""), "agent:main:main", "no agent"},
		{base.Main(" Ops Team "), "agent:ops-team:main", "agents: a hyphen for what is not allowed"},
		{base.Main("--a..b--"), "agent:a-b:main", "no hyphen at the ends"},
		{base.Main("ab-"), "agent:ab-:main", "but where the id is allowed as it is"},
		{base.Main("__proto__"), "agent:main:main", "refused"},
		{base.Main("Constructor"), "agent:main:main", "refused in any case"},
		{base.Main(strings.Repeat("x", 70)), "agent:" + strings.Repeat("x", 64) + ":main", "64 at most"},
		{base.Main("äöü"), "agent:main:main", "nothing is left"},
		{(&keys.Scheme{MainKey: " Home ", Reference: true}).Main("a"), "agent:a:home", "another main key"},
		{base.Direct("a", bob), "agent:a:main", "the default scope"},
		{s("main").Direct("a", bob), "agent:a:main", "its name"},
		{s(keys.PerPeer).Direct("a", bob), "agent:a:direct:bob", "per peer"},
		{s(keys.PerChannelPeer).Direct("a", bob), "agent:a:telegram:direct:bob", "per channel and peer"},
		{s(keys.PerAccountChannelPeer).Direct("a", bob), "agent:a:telegram:my-bot:direct:bob", "per account"},
		{s(keys.PerChannelPeer).Direct("a", keys.Peer{ID: "x"}), "agent:a:unknown:direct:x", "no channel"},
		{s(keys.PerAccountChannelPeer).Direct("a", keys.Peer{Channel: "c", ID: "x"}), "agent:a:c:default:direct:x", "no account"},
		{s(keys.PerPeer).Direct("a", keys.Peer{ID: " "}), "agent:a:main", "no peer"},
		{s(keys.PerPeer, links...).Direct("a", bob), "agent:a:direct:robert", "the first link that has the id"},
		{s(keys.Shared, links...).Direct("a", bob), "agent:a:main", "links are not used with the main scope"},
		{base.Group("a", "Discord", "G:1"), "agent:a:discord:group:g:1", "groups: nothing is escaped"},
		{base.Group("a", "", ""), "agent:a:unknown:group:unknown", "no channel, no id"},
		{base.Channel("a", "Slack", "C1"), "agent:a:slack:channel:c1", "channels"},
		{base.Thread("agent:a:slack:channel:c1", "T.1"), "agent:a:slack:channel:c1:thread:t.1", "threads"},
		{base.Thread("agent:a:main", ""), "agent:a:main", "no thread"},
		{base.Topic("agent:a:telegram:group:-100", "7"), "agent:a:telegram:group:-100:topic:7", "topics"},
		{base.Cron("Job1"), "cron:job1", "jobs"},
		{base.CronRun("a", "Job1", "U-1"), "agent:a:cron:job1:run:u-1", "runs of jobs"},
		{base.Hook("U-1"), "hook:u-1", "hooks"},
		{base.Node("N1"), "node-n1", "nodes"},
		{base.Subagent("a", "U1"), "agent:a:subagent:u1", "sub-agents"},
		{base.SubagentOf("agent:a:subagent:u1", "U2"), "agent:a:subagent:u1:subagent:u2", "of sub-agents"},
		{base.Group("a", "c", "İΣΑΣ ΣΑΣ"), "agent:a:c:group:i\u0307σας σας", "lower case as JavaScript has it"},
		{base.Group("a", "\u2003c\u00a0", "x"), "agent:a:c:group:x", "white space around an id"},
	} {
		assert.Equal(t, tt.want, tt.got, tt.reason)
	}
}

func TestOpaqueKeys(t *testing.T) {
	s := keys.Scheme{DMScope: keys.PerChannelPeer}
	assert.NotEqual(t, s.Group("a", "matrix", "!Ab:x"), s.Group("a", "matrix", "!aB:x"), "case is kept")
	assert.NotEqual(t, s.Group("a", "c", "x"), s.Group("A", "c", "x"), "agents too")
	assert.Equal(t, "agent:a:matrix:group:!Ab%3Ahome.org", s.Group("a", "matrix", "!Ab:home.org"))
	assert.Equal(t, "agent:a:c:group:%74hread", s.Group("a", "c", "thread"), "a word that means something")
	links := keys.Scheme{DMScope: keys.PerPeer, Links: []keys.Link{{Name: "Anna", IDs: []string{"irc:anna"}}}}
	assert.Equal(t, "agent:a:direct:Anna", links.Direct("a", keys.Peer{Channel: "irc", ID: "anna"}))
	assert.Equal(t, "agent:a:direct:ANNA", links.Direct("a", keys.Peer{Channel: "irc", ID: "ANNA"}), "another person")
	assert.Equal(t, "agent:a:direct:anna", links.Direct("a", keys.Peer{Channel: "xmpp", ID: "anna"}), "elsewhere")
	assert.Equal(t, "agent:main:main", s.Main(""))
	assert.Equal(t, "agent:a:unknown:direct: ", s.Direct("a", keys.Peer{ID: " "}), "a space is an id")
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		key    string
		want   keys.Key
		reason string
	}{
		{"agent:a:main", keys.Key{Kind: keys.KindMain, Agent: "a", ID: "main"}, "the main key"},
		{"agent:a:direct:p", keys.Key{Kind: keys.KindDirect, Agent: "a", ID: "p"}, "per peer"},
		{"AGENT:a:IRC:DM:P", keys.Key{Kind: keys.KindDirect, Agent: "a", Channel: "IRC", ID: "P"}, "dm is direct; any case"},
		{"agent:a:c:acc:direct:p", keys.Key{Kind: keys.KindDirect, Agent: "a", Channel: "c", Account: "acc", ID: "p"}, "per account"},
		{"agent:a:c:room:r", keys.Key{Kind: keys.KindChannel, Agent: "a", Channel: "c", ID: "r"}, "room is the old word"},
		{"agent:a:t:group:-1:topic:7", keys.Key{Kind: keys.KindGroup, Agent: "a", Channel: "t", ID: "-1", Thread: "7", Topic: true}, "topics"},
		{"agent:a:main:thread:7", keys.Key{Kind: keys.KindMain, Agent: "a", ID: "main", Thread: "7"}, "threads"},
		{"cron:j", keys.Key{Kind: keys.KindCron, ID: "j"}, "jobs"},
		{"agent:a:cron:j:run:u", keys.Key{Kind: keys.KindCron, Agent: "a", ID: "j", Run: "u"}, "runs"},
		{"hook:u", keys.Key{Kind: keys.KindHook, ID: "u"}, "hooks"},
		{"node-x", keys.Key{Kind: keys.KindNode, ID: "x"}, "nodes"},
		{"agent:a:subagent:u", keys.Key{Kind: keys.KindSubagent, Agent: "a", ID: "u"}, "sub-agents"},
		{"agent:a:subagent:u:subagent:v", keys.Key{Kind: keys.KindSubagent, Agent: "a", ID: "v", Parent: "agent:a:subagent:u"}, "below others"},
		{"agent:a:c:group:x%3ay", keys.Key{Kind: keys.KindGroup, Agent: "a", Channel: "c", ID: "x:y"}, "escapes in any case"},
		{"agent:a:c:group:100%", keys.Key{Kind: keys.KindGroup, Agent: "a", Channel: "c", ID: "100%"}, "no escape"},
	} {
		got, ok := keys.Parse(tt.key)
		assert.True(t, ok, tt.reason)
		assert.Equal(t, tt.want, got, tt.reason)
	}
	for _, key := range []string{"", ":", "main", "agent", "agent:a", "agent::main", "agent:a:b:c", "a:b:c:d:e:f:g", "cron:", "cron:a:b", "node-"} {
		got, ok := keys.Parse(key)
		assert.False(t, ok, key)
		assert.Equal(t, keys.Key{ID: key}, got, "other keys stay whole")
		assert.Equal(t, key, got.String())
	}
}

func TestParents(t *testing.T) {
	for key, want := range map[string]string{
		"agent:a:c:group:g:thread:1":             "agent:a:c:group:g",
		"agent:a:c:group:g:topic:1:thread:2":     "agent:a:c:group:g:topic:1",
		"agent:a:subagent:u:subagent:v":          "agent:a:subagent:u",
		"agent:a:subagent:u:subagent:v:thread:1": "agent:a:subagent:u:subagent:v",
		"agent:a:subagent:u":                     "",
		"agent:a:c:group:g":                      "",
		"agent:a:c:group:g:thread:":              "",
		"agent:a:İ:SUBAGENT:u:SUBAGENT:v":        "agent:a:İ:SUBAGENT:u",
	} {
		parent, ok := keys.ParentOf(key)
		assert.Equal(t, want, parent, key)
		assert.Equal(t, want != "", ok, key)
	}
	assert.Equal(t, 2, keys.Depth("agent:a:subagent:u:subagent:v"))
	assert.Zero(t, keys.Depth("agent:a:main"))
}

// TestKeysComeBack builds keys of ids that try to break the form: each comes back in its parts, and has its type.
func TestKeysComeBack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "A", ":", "%", "%3A", "%25", "thread", "topic", ":thread:", ":group:", "direct", "dm", "run",
		"cron", "subagent", "channel", "room", "group", "agent", "node-", "é", "\xff", " ", "1"}
	id := func() string {
		text := pieces[random.IntN(len(pieces))]
		for random.IntN(3) == 0 {
			text += pieces[random.IntN(len(pieces))]
		}
		return text
	}
	kinds := []keys.Kind{keys.KindMain, keys.KindDirect, keys.KindGroup, keys.KindChannel, keys.KindCron, keys.KindHook,
		keys.KindNode, keys.KindSubagent}
	seen := map[string]keys.Key{}
	for range 50_000 {
		k := keys.Key{Kind: kinds[random.IntN(len(kinds))], ID: id()}
		hasAgent := k.Kind != keys.KindHook && k.Kind != keys.KindNode && (k.Kind != keys.KindCron || random.IntN(3) > 0)
		if hasAgent {
			k.Agent = id()
		}
		switch k.Kind {
		case keys.KindDirect:
			if random.IntN(2) == 0 {
				k.Channel = id()
			}
			if k.Channel != "" && random.IntN(2) == 0 {
				k.Account = id()
			}
		case keys.KindGroup, keys.KindChannel:
			k.Channel = id()
		case keys.KindCron:
			if hasAgent && random.IntN(2) == 0 {
				k.Run = id()
			}
		}
		if random.IntN(3) == 0 {
			k.Thread, k.Topic = id(), random.IntN(2) == 0
		}
		text := k.String()
		got, ok := keys.Parse(text)
		if !ok || got != k {
			t.Fatalf("%+v becomes %q, which is %+v", k, text, got)
		}
		want := keys.Direct
		switch {
		case k.Thread != "":
			want = keys.Thread
		case k.Kind == keys.KindGroup, k.Kind == keys.KindChannel:
			want = keys.Group
		}
		if keys.TypeOf(text) != want {
			t.Fatalf("%q is of type %s, its parts say %s", text, keys.TypeOf(text), want)
		}
		if other, ok := seen[text]; ok && other != k {
			t.Fatalf("%+v and %+v are both %q", k, other, text)
		}
		seen[text] = k
	}
}

func FuzzParse(f *testing.F) {
	for _, key := range []string{"agent:a:main", "agent:a:c:direct:%3a:thread:1", "node-", "%", "agent:%:%"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		k, ok := keys.Parse(key)
		if !ok {
			assert.Equal(t, key, k.String())
			return
		}
		again, ok := keys.Parse(k.String())
		assert.True(t, ok)
		assert.Equal(t, k, again, "the form that String gives is stable")
		keys.TypeOf(key)
		keys.ParentOf(key)
		keys.ForHistory(key)
	})
}

// TestForHistory: the limits of the root apply to keys of all forms.
func TestForHistory(t *testing.T) {
	n := func(n int) *int { return &n }
	limits := openclaw.HistoryLimits{"telegram": {DMHistoryLimit: n(20), HistoryLimit: n(50), DMs: map[string]openclaw.DMLimits{
		"123": {HistoryLimit: n(5)}, "A%b:c": {HistoryLimit: n(7)},
	}}}
	s := keys.Scheme{DMScope: keys.PerAccountChannelPeer}
	channel := keys.Scheme{DMScope: keys.PerChannelPeer}
	for _, tt := range []struct {
		key    string
		limit  int
		ok     bool
		reason string
	}{
		{channel.Direct("a", keys.Peer{Channel: "telegram", ID: "123"}), 5, true, "a person"},
		{s.Direct("a", keys.Peer{Channel: "telegram", Account: "b", ID: "123"}), 5, true, "at an account"},
		{s.Direct("a", keys.Peer{Channel: "telegram", Account: "b", ID: "A%b:c"}), 7, true, "an id that is escaped"},
		{s.Direct("a", keys.Peer{Channel: "telegram", ID: "new"}), 20, true, "the channel's limit"},
		{s.Thread(channel.Direct("a", keys.Peer{Channel: "telegram", ID: "123"}), "x.9"), 5, true, "a thread of a person"},
		{s.Topic(s.Group("a", "telegram", "-100"), "7"), 50, true, "a topic of a group"},
		{s.Channel("a", "telegram", "news"), 50, true, "a channel"},
		{s.Main("a"), 0, false, "the main conversation"},
		{"telegram:dm:123", 5, true, "a key without an agent"},
	} {
		limit, ok := limits.ForSession(keys.ForHistory(tt.key))
		assert.Equal(t, tt.ok, ok, "%s: %s", tt.key, tt.reason)
		assert.Equal(t, tt.limit, limit, "%s: %s", tt.key, tt.reason)
	}
}

package provider_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow/internal/test/provider"
)

// words is a text of n tokens, of which name is the first.
func words(name string, n int) string { return name + strings.Repeat("word", n-1) }

// step is one request of a conversation and what it must cost.
type step struct {
	why  string
	wait time.Duration // before it
	body object
	want provider.Usage
}

func runSteps(t *testing.T, name string, o provider.Options, path string, steps []step) {
	t.Helper()
	now := time.Unix(0, 0)
	o.Now = func() time.Time { return now }
	o.Model = func(*provider.Request) provider.Answer { return provider.Answer{Text: "ok"} }
	p := provider.New(o)
	for i, s := range steps {
		now = now.Add(s.wait)
		status, answer := post(t, p, path, s.body)
		assert.Equal(t, 200, status, answer)
		s.want.Output = 1
		assert.Equal(t, s.want, p.Exchanges()[i].Usage, "%s, %d: %s", name, i, s.why)
	}
}

// grow is a conversation with Anthropic whose last block is marked: a system prompt, then messages.
func grow(system string, texts ...string) object {
	var out list
	for i, s := range texts {
		block := text(s)
		if i == len(texts)-1 {
			block = with(block, marked)
		}
		out = append(out, object{"role": []string{"user", "assistant"}[i%2], "content": list{block}})
	}
	return object{"model": "m", "max_tokens": 10, "system": list{text(system)}, "messages": out}
}

func TestMessagesCache(t *testing.T) {
	system, first, reply, second := words("sys_", 3000), words("one_", 996), words("rep_", 496), words("two_", 196)
	for name, steps := range map[string][]step{
		"a conversation that grows": {
			{why: "all is written", body: grow(system, first), want: provider.Usage{CacheWrite: 4000}},
			{why: "the mark has moved on: what was there is read", wait: time.Minute, body: grow(system, first, reply, second), want: provider.Usage{CacheRead: 4000, CacheWrite: 700}},
			{why: "the same once more", body: grow(system, first, reply, second), want: provider.Usage{CacheRead: 4700}},
		},
		"an entry ends": {
			{body: grow(system, first), want: provider.Usage{CacheWrite: 4000}},
			{why: "read in time, which keeps it alive", wait: 4 * time.Minute, body: grow(system, first), want: provider.Usage{CacheRead: 4000}},
			{why: "8 minutes after it was written", wait: 4 * time.Minute, body: grow(system, first), want: provider.Usage{CacheRead: 4000}},
			{why: "after 5 minutes without a reader", wait: 5 * time.Minute, body: grow(system, first), want: provider.Usage{CacheWrite: 4000}},
		},
		"edits": {
			{body: grow(system, first, reply, second), want: provider.Usage{CacheWrite: 4700}},
			{why: "nothing was written behind the change", body: grow(system, words("ONE_", 996), reply, second), want: provider.Usage{CacheWrite: 4700}},
			{why: "another system prompt", body: grow(words("SYS_", 3000), first, reply, second), want: provider.Usage{CacheWrite: 4700}},
			{why: "another model", body: with(grow(system, first, reply, second), object{"model": "n"}), want: provider.Usage{CacheWrite: 4700}},
			{why: "tools in front of all", body: with(grow(system, first, reply, second), object{"tools": list{object{"name": "f"}}}), want: provider.Usage{CacheWrite: 4703}},
			{why: "another tool_choice", body: with(grow(system, first, reply, second), object{"tool_choice": object{"type": "auto"}}), want: provider.Usage{CacheWrite: 4700}},
			{why: "as at first", body: grow(system, first, reply, second), want: provider.Usage{CacheRead: 4700}},
		},
		"marks": {
			{why: "none: nothing is cached", body: with(grow(system, first), object{"messages": list{user(text(first))}}), want: provider.Usage{Input: 4000}},
			{why: "only the system prompt", body: with(grow(system), object{"system": list{with(text(system), marked)}, "messages": list{user(text(first))}}), want: provider.Usage{Input: 1000, CacheWrite: 3000}},
			{why: "it is read whatever stands behind it", body: with(grow(system), object{"system": list{with(text(system), marked)}, "messages": list{user(text(second))}}), want: provider.Usage{Input: 200, CacheRead: 3000}},
			{why: "the automatic mark", body: with(grow(system), object{"cache_control": marked["cache_control"], "messages": list{user(text(second))}}), want: provider.Usage{CacheRead: 3000, CacheWrite: 200}},
		},
		"too short": {
			{why: "below the minimum it is not even written", body: grow("short", "text"), want: provider.Usage{Input: 7}},
			{body: grow("short", "text"), want: provider.Usage{Input: 7}},
		},
		"an hour": {
			{body: with(grow(system), object{"system": list{with(text(system), object{"cache_control": object{"type": "ephemeral", "ttl": "1h"}})}, "messages": list{user(with(text(first), marked))}}),
				want: provider.Usage{CacheWrite: 4000, Write1h: 3000}},
			{why: "after 50 minutes the hour's part is left", wait: 50 * time.Minute,
				body: with(grow(system), object{"system": list{with(text(system), object{"cache_control": object{"type": "ephemeral", "ttl": "1h"}})}, "messages": list{user(with(text(first), marked))}}),
				want: provider.Usage{CacheRead: 3000, CacheWrite: 1000}},
		},
	} {
		runSteps(t, name, provider.Options{}, "/v1/messages", steps)
	}
}

// TestLookBack: an entry is found up to 20 blocks before a mark.
func TestLookBack(t *testing.T) {
	long := func(n int) object {
		blocks := list{text(words("doc_", 1996))}
		for i := range n {
			blocks = append(blocks, text(fmt.Sprintf("%04d", i)))
		}
		last := len(blocks) - 1
		blocks[last] = with(blocks[last].(object), marked)
		return with(grow("system12"), object{"messages": list{user(blocks...)}})
	}
	runSteps(t, "near", provider.Options{}, "/v1/messages", []step{
		{body: long(0), want: provider.Usage{CacheWrite: 2002}},
		{why: "19 blocks on", body: long(19), want: provider.Usage{CacheRead: 2002, CacheWrite: 19}},
	})
	runSteps(t, "far", provider.Options{}, "/v1/messages", []step{
		{body: long(0), want: provider.Usage{CacheWrite: 2002}},
		{why: "20 blocks on", body: long(20), want: provider.Usage{CacheWrite: 2022}},
	})
}

func TestChatCache(t *testing.T) {
	conversation := func(texts ...string) object { return chat(texts...) }
	first, reply, second := words("one_", 2996), words("rep_", 496), words("two_", 196)
	for name, steps := range map[string][]step{
		"a conversation that grows": {
			{why: "a write costs nothing", body: conversation(first), want: provider.Usage{Input: 3000}},
			{why: "3000 rounded down to a multiple of 128", body: conversation(first, reply, second), want: provider.Usage{Input: 3700 - 2944, CacheRead: 2944}},
			{why: "an edit in the middle", body: conversation(first, words("REP_", 496), second), want: provider.Usage{Input: 3700 - 2944, CacheRead: 2944}},
			{why: "an edit at the front", body: conversation(words("ONE_", 2996), reply, second), want: provider.Usage{Input: 3700}},
			{why: "5 minutes later", wait: 5 * time.Minute, body: conversation(first), want: provider.Usage{Input: 3000}},
		},
		"too short": {
			{body: conversation(words("one_", 900)), want: provider.Usage{Input: 904}},
			{body: conversation(words("one_", 900)), want: provider.Usage{Input: 904}},
		},
	} {
		runSteps(t, name, provider.Options{}, "/v1/chat/completions", steps)
	}
	runSteps(t, "no cache", provider.Options{Cache: provider.Cache{None: true}}, "/v1/chat/completions", []step{
		{body: conversation(first), want: provider.Usage{Input: 3000}},
		{body: conversation(first), want: provider.Usage{Input: 3000}},
	})
	runSteps(t, "a cache of its own", provider.Options{Cache: provider.Cache{TTL: time.Hour, MinTokens: 256}}, "/v1/chat/completions", []step{
		{body: conversation(words("one_", 508)), want: provider.Usage{Input: 512}},
		{wait: 59 * time.Minute, body: conversation(words("one_", 508)), want: provider.Usage{CacheRead: 512}},
	})
}

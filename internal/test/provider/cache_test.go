package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow/internal/test/provider"
)

// words is a text of n tokens, of which name is the first.
func words(name string, n int) string { return name + strings.Repeat("word", n-1) }

// step is one request of a conversation and what it must cost.
type step struct {
	why  string
	body object
	want provider.Usage
}

func runSteps(t *testing.T, name, path string, steps []step) {
	t.Helper()
	p := provider.New(provider.Options{})
	for i, s := range steps {
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
	// n blocks behind a long one, of which the last is marked
	long := func(n int) object {
		blocks := list{text(words("doc_", 1996))}
		for i := range n {
			blocks = append(blocks, text(fmt.Sprintf("%04d", i)))
		}
		blocks[n] = with(blocks[n].(object), marked)
		return with(grow("system12"), object{"messages": list{user(blocks...)}})
	}
	onSystem := func(text_ string) object {
		return with(grow(system), object{"system": list{with(text(system), marked)}, "messages": list{user(text(text_))}})
	}
	for name, steps := range map[string][]step{
		"a conversation that grows": {
			{"all is written", grow(system, first), provider.Usage{CacheWrite: 4000}},
			{"the mark has moved on: what was there is read", grow(system, first, reply, second), provider.Usage{CacheRead: 4000, CacheWrite: 700}},
			{"the same once more", grow(system, first, reply, second), provider.Usage{CacheRead: 4700}},
		},
		"edits": {
			{"", grow(system, first, reply, second), provider.Usage{CacheWrite: 4700}},
			{"nothing was written behind the change", grow(system, words("ONE_", 996), reply, second), provider.Usage{CacheWrite: 4700}},
			{"another system prompt", grow(words("SYS_", 3000), first, reply, second), provider.Usage{CacheWrite: 4700}},
			{"another model", with(grow(system, first, reply, second), object{"model": "n"}), provider.Usage{CacheWrite: 4700}},
			{"tools in front of all", with(grow(system, first, reply, second), object{"tools": list{object{"name": "f"}}}), provider.Usage{CacheWrite: 4703}},
			{"another tool_choice", with(grow(system, first, reply, second), object{"tool_choice": object{"type": "auto"}}), provider.Usage{CacheWrite: 4700}},
			{"as at first", grow(system, first, reply, second), provider.Usage{CacheRead: 4700}},
		},
		"marks": {
			{"none: nothing is cached", with(grow(system, first), object{"messages": list{user(text(first))}}), provider.Usage{Input: 4000}},
			{"only the system prompt", onSystem(first), provider.Usage{Input: 1000, CacheWrite: 3000}},
			{"it is read whatever stands behind it", onSystem(second), provider.Usage{Input: 200, CacheRead: 3000}},
			{"the automatic mark", with(grow(system), object{"cache_control": marked["cache_control"], "messages": list{user(text(second))}}), provider.Usage{CacheRead: 3000, CacheWrite: 200}},
		},
		"too short": {
			{"below the minimum it is not even written", grow("short", "text"), provider.Usage{Input: 7}},
			{"", grow("short", "text"), provider.Usage{Input: 7}},
		},
		"19 blocks on": {
			{"", long(0), provider.Usage{CacheWrite: 2002}},
			{"an entry is found up to 20 blocks before a mark", long(19), provider.Usage{CacheRead: 2002, CacheWrite: 19}},
		},
		"20 blocks on": {{"", long(0), provider.Usage{CacheWrite: 2002}}, {"too far", long(20), provider.Usage{CacheWrite: 2022}}},
	} {
		runSteps(t, name, "/v1/messages", steps)
	}
}

func TestChatCache(t *testing.T) {
	first, reply, second := words("one_", 2996), words("rep_", 496), words("two_", 196)
	runSteps(t, "a conversation that grows", "/v1/chat/completions", []step{
		{"a write costs nothing", chat(first), provider.Usage{Input: 3000}},
		{"3000 rounded down to a multiple of 128", chat(first, reply, second), provider.Usage{Input: 3700 - 2944, CacheRead: 2944}},
		{"an edit in the middle", chat(first, words("REP_", 496), second), provider.Usage{Input: 3700 - 2944, CacheRead: 2944}},
		{"an edit at the front", chat(words("ONE_", 2996), reply, second), provider.Usage{Input: 3700}},
		{"too short", chat(words("one_", 900)), provider.Usage{Input: 904}},
		{"too short", chat(words("one_", 900)), provider.Usage{Input: 904}},
	})
}

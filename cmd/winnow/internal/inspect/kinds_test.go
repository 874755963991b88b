package inspect

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/test/agents"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// file is a made-up session, line by line, as a program writes it.
type file struct {
	lines []string
	last  string // id of the last line
}

type object = map[string]any

func (f *file) line(v object) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // the test is wrong
	}
	f.lines = append(f.lines, string(data))
}

func at(minute int) string {
	return time.Date(2026, 6, 1, 9, minute, 0, 0, time.UTC).Format(time.RFC3339)
}

// claude adds a line of Claude Code. prompt is what was billed for an answer: none of it, or all but 100, was cached.
func (f *file) claude(minute int, role string, content any, more object) {
	id := fmt.Sprint("l", len(f.lines))
	line := object{"type": role, "uuid": id, "parentUuid": f.last, "sessionId": "s", "cwd": "/w", "version": "2.0.0",
		"timestamp": at(minute), "message": object{"role": role, "content": content}}
	for key, v := range more {
		line[key] = v
	}
	f.last = id
	f.line(line)
}

func (f *file) claudeAnswer(minute int, model string, content []object, read, write int, more object) {
	m := object{"id": fmt.Sprint("m", len(f.lines)), "role": "assistant", "model": model, "content": content,
		"usage": object{"input_tokens": 0, "cache_read_input_tokens": read, "cache_creation_input_tokens": write, "output_tokens": 20}}
	if model == "<synthetic>" {
		m["usage"] = object{"input_tokens": 0, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0, "output_tokens": 0}
	}
	line := object{"message": m}
	for key, v := range more {
		line[key] = v
	}
	f.claude(minute, "assistant", nil, line)
}

func said(text string) []object { return []object{{"type": "text", "text": text}} }

// twoAnswers is a session of two questions with answers, of which 20 000 tokens were billed for the first prompt.
func twoAnswers() *file {
	f := &file{}
	f.claude(0, "user", "Is it green?", nil)
	f.claudeAnswer(0, "claude-sonnet-4-5", said("It is."), 0, 20_000, nil)
	f.claude(1, "user", "And now?", nil)
	f.claudeAnswer(1, "claude-sonnet-4-5", said("Still."), 20_000, 100, nil)
	return f
}

// local adds a local command of Claude Code and what it printed, long after the last answer.
func (f *file) local(minute int, name string) {
	f.claude(minute, "user", "<command-name>/"+name+"</command-name>\n<command-message>"+name+"</command-message>\n<command-args></command-args>", nil)
	f.claude(minute, "user", "<local-command-stdout>done</local-command-stdout>", nil)
}

// codex adds a line of Codex.
func (f *file) codex(minute int, typ string, payload object) {
	f.line(object{"timestamp": at(minute), "type": typ, "payload": payload})
}

func (f *file) codexSays(minute int, role, text string) {
	kind := map[string]string{"user": "input_text", "assistant": "output_text"}[role]
	f.codex(minute, "response_item", object{"type": "message", "role": role, "content": []object{{"type": kind, "text": text}}})
}

// codexCount adds the count of a call: of all calls so far, and of this one.
func (f *file) codexCount(minute, total, input, cached int) {
	usage := func(n int) object {
		return object{"input_tokens": n, "cached_input_tokens": cached, "output_tokens": 20}
	}
	f.codex(minute, "event_msg", object{"type": "token_count", "info": object{
		"total_token_usage": usage(total), "last_token_usage": usage(input), "model_context_window": 258_400}})
}

func codexBegin() *file {
	f := &file{}
	f.codex(0, "session_meta", object{"id": "s", "cwd": "/w", "cli_version": "0.50.0"})
	f.codex(0, "turn_context", object{"model": "gpt-5-codex"})
	f.codexSays(0, "user", "Is it green?")
	return f
}

// pi adds a message of pi or OpenClaw.
func (f *file) pi(minute int, message object) {
	id := fmt.Sprintf("%08x", len(f.lines)+1)
	f.line(object{"type": "message", "id": id, "parentId": f.last, "timestamp": at(minute), "message": message})
	f.last = id
}

func (f *file) piAnswer(minute int, model string, read, write int) {
	f.pi(minute, object{"role": "assistant", "content": said("It is."), "provider": "anthropic", "model": model, "stopReason": "stop",
		"usage": object{"input": 0, "output": 20, "cacheRead": read, "cacheWrite": write}})
}

func piTwo(model string) *file {
	f := &file{}
	f.line(object{"type": "session", "version": 3, "id": "s1", "timestamp": at(0), "cwd": "/w"})
	f.pi(0, object{"role": "user", "content": "Is it green?"})
	f.piAnswer(0, model, 0, 20_000)
	f.pi(1, object{"role": "user", "content": "And now?"})
	f.piAnswer(1, model, 20_000, 100)
	return f
}

// TestKinds: a made-up file of each kind that real ones are of, with figures that were worked out by hand. Prompts are
// in uncached tokens, of the host that compacts at the limit; its messages are so short that they do not count. The first
// prompt of 20 000 tokens is written to the cache at 1.25, and the second, a minute later, read from it at 0.1: 27 000. OpenAI takes nothing for
// writing: 22 000.
func TestKinds(t *testing.T) {
	const warm = 1.25*20_000 + 0.1*20_000
	const cold = 1.25*20_000 + 1.25*20_000
	for _, tt := range []struct {
		name        string
		file        func() *file
		requests    int
		turns       int
		window      int
		overhead    int
		price       float64
		prompts     float64
		compactions int
		answers     int // that were billed
	}{
		{"claude code, ends with an answer", twoAnswers, 2, 2, 200_000, 20_000, 3, warm, 0, 2},
		{"ends in /exit", func() *file { f := twoAnswers(); f.local(30, "exit"); return f }, 2, 2, 200_000, 20_000, 3, warm, 0, 2},
		{"ends in /clear", func() *file { f := twoAnswers(); f.local(30, "clear"); return f }, 2, 2, 200_000, 20_000, 3, warm, 0, 2},
		{"ends in /mcp", func() *file { f := twoAnswers(); f.local(30, "mcp"); return f }, 2, 2, 200_000, 20_000, 3, warm, 0, 2},
		{"ends in /model", func() *file { f := twoAnswers(); f.local(30, "model"); return f }, 2, 2, 200_000, 20_000, 3, warm, 0, 2},
		{"ends with a question", func() *file { f := twoAnswers(); f.claude(30, "user", "Anybody?", nil); return f }, 2, 2, 200_000, 20_000, 3, warm, 0, 2},
		{"ends with an error of the API", func() *file {
			f := twoAnswers()
			f.claude(30, "user", "Anybody?", nil)
			f.claudeAnswer(30, "<synthetic>", said("API Error: overloaded"), 0, 0, object{"isApiErrorMessage": true})
			return f
		}, 2, 2, 200_000, 20_000, 3, warm, 0, 2},
		{"ends with what nobody answered", func() *file {
			f := twoAnswers()
			f.claudeAnswer(30, "<synthetic>", said("No response requested."), 0, 0, nil)
			return f
		}, 2, 2, 200_000, 20_000, 3, warm, 0, 2},
		{"interrupted", func() *file {
			f := twoAnswers()
			f.claude(30, "user", "[Request interrupted by user]", nil)
			return f
		}, 2, 2, 200_000, 20_000, 3, warm, 0, 2},
		{"a local command in the middle, and a pause: its answer is no turn", func() *file {
			f := &file{}
			f.claude(0, "user", "Is it green?", nil)
			f.claudeAnswer(0, "claude-opus-4-6", said("It is."), 0, 20_000, nil)
			f.local(1, "model")
			f.claude(20, "user", "And now?", nil)
			f.claudeAnswer(20, "claude-opus-4-6", said("Still."), 0, 20_100, nil)
			return f
		}, 2, 2, 200_000, 20_000, 5, cold, 0, 2},
		{"a cache of an hour, by its pauses: nobody knows at which price it was written", func() *file {
			f := &file{}
			f.claude(0, "user", "Is it green?", nil)
			f.claudeAnswer(0, "claude-sonnet-4-5", said("It is."), 0, 20_000, nil)
			f.claude(20, "user", "And now?", nil)
			f.claudeAnswer(20, "claude-sonnet-4-5", said("Still."), 20_000, 100, nil)
			return f
		}, 2, 2, 200_000, 20_000, 3, warm, 0, 2},
		{"the larger window", func() *file {
			f := twoAnswers()
			f.claude(2, "user", "More?", nil)
			f.claudeAnswer(2, "claude-sonnet-4-5", said("Yes."), 0, 240_000, nil)
			return f
		}, 3, 3, 1_000_000, 20_000, 3, warm + 0.1*20_000, 0, 3},
		{"compacted", func() *file {
			f := twoAnswers()
			f.claude(2, "user", "Summary: it is green.", object{"isCompactSummary": true})
			f.claude(2, "user", "Go on.", nil)
			f.claudeAnswer(2, "claude-sonnet-4-5", said("Yes."), 0, 20_200, nil)
			return f
		}, 3, 3, 200_000, 20_000, 3, warm + 0.1*20_000, 1, 3},

		{"codex", func() *file {
			f := codexBegin()
			f.codexSays(0, "assistant", "It is.")
			f.codexCount(0, 20_000, 20_000, 0)
			f.codexSays(1, "user", "And now?")
			f.codexSays(1, "assistant", "Still.")
			f.codexCount(1, 40_100, 20_100, 20_000)
			return f
		}, 2, 2, 258_400, 20_000, 1.25, 20_000 + 0.1*20_000, 0, 2},
		{"codex: the first count stands in front of its answer", func() *file {
			f := codexBegin()
			f.codexCount(0, 20_000, 20_000, 0)
			f.codexSays(0, "assistant", "It is.")
			f.codexCount(0, 40_050, 20_050, 20_000)
			return f
		}, 1, 1, 258_400, 20_050, 1.25, 50 + 0.1*20_000, 0, 2}, // the second call reads what the first one wrote
		{"codex: a count that is repeated for a limit", func() *file {
			f := codexBegin()
			f.codexSays(0, "assistant", "It is.")
			f.codexCount(0, 20_000, 20_000, 0)
			f.codexCount(0, 20_000, 20_000, 0)
			return f
		}, 1, 1, 258_400, 20_000, 1.25, 20_000, 0, 1},
		{"codex: compacted by the provider", func() *file {
			f := codexBegin()
			f.codexSays(0, "assistant", "It is.")
			f.codexCount(0, 20_000, 20_000, 0)
			f.codex(1, "compacted", object{"message": "", "replacement_history": []object{
				{"type": "message", "role": "user", "content": []object{{"type": "input_text", "text": "Is it green?"}}},
				{"type": "compaction", "encrypted_content": "gAAAA"}}})
			f.codexSays(1, "user", "And now?")
			f.codexSays(1, "assistant", "Still.")
			f.codexCount(1, 40_100, 20_100, 20_000)
			return f
		}, 2, 2, 258_400, 20_000, 1.25, 20_000 + 0.1*20_000, 1, 2},

		{"openclaw", func() *file { return piTwo("claude-sonnet-4-5") }, 2, 2, 64_000, 20_000, 3, warm, 0, 2},
		{"openclaw: delivered by the gateway", func() *file {
			f := piTwo("claude-sonnet-4-5")
			f.pi(30, object{"role": "assistant", "content": said("It is."), "provider": "openclaw", "model": "delivery-mirror", "stopReason": "stop",
				"usage": object{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}})
			return f
		}, 2, 2, 64_000, 20_000, 3, warm, 0, 2},
		{"openclaw: a failed call", func() *file {
			f := piTwo("claude-sonnet-4-5")
			f.pi(30, object{"role": "assistant", "content": []object{}, "provider": "anthropic", "model": "claude-sonnet-4-5", "stopReason": "error",
				"usage": object{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}})
			return f
		}, 2, 2, 64_000, 20_000, 3, warm, 0, 2},
		{"openclaw: compacted 23 times", func() *file {
			f := piTwo("claude-sonnet-4-5")
			for range 23 {
				id := fmt.Sprintf("%08x", len(f.lines)+1)
				f.line(object{"type": "compaction", "id": id, "parentId": f.last, "timestamp": at(1), "summary": "It is green.",
					"tokensBefore": 20_000, "firstKeptEntryId": f.last})
				f.last = id
			}
			return f
		}, 2, 2, 64_000, 20_000, 3, warm, 23, 2},
		{"a model that nobody knows, with no counts: the overhead is assumed", func() *file {
			f := piTwo("house-model")
			for i, l := range f.lines {
				f.lines[i] = strings.NewReplacer(`"cacheWrite":20000`, `"cacheWrite":0`, `"cacheWrite":100`, `"cacheWrite":0`,
					`"cacheRead":20000`, `"cacheRead":0`, `"output":20`, `"output":0`).Replace(l)
			}
			return f
		}, 2, 2, 64_000, 8_000, 1, 1.25*8_000 + 0.1*8_000, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "s1.jsonl")
			require.NoError(t, os.WriteFile(path, []byte(strings.Join(tt.file().lines, "\n")+"\n"), 0o600))
			index := `{"agent:main:main":{"sessionId":"s1","contextTokens":64000}}`
			require.NoError(t, os.WriteFile(filepath.Join(dir, "sessions.json"), []byte(index), 0o600))
			s, _, err := recording.OpenFile(path)
			require.NoError(t, err)
			r, err := replay(s, Basis{})
			require.NoError(t, err)
			assert.Len(t, r.Requests, tt.requests)
			assert.Len(t, r.Turns, tt.turns)
			assert.Equal(t, tt.window, r.Window, r.windowFrom)
			assert.InDelta(t, tt.overhead, *r.Overhead, 100, r.overheadFrom) // less the short messages
			assert.InDelta(t, tt.price, r.Price, 1e-9, r.priceFrom)
			assert.Len(t, s.Compactions, tt.compactions)
			assert.Len(t, s.Calls, tt.answers)
			assert.InEpsilon(t, tt.prompts, r.Limit.Requests, 0.01)
			assert.InDelta(t, r.Limit.Total(), r.Winnow.Total(), 1, "there is nothing to leave out")
		})
	}
}

// TestSavingByHand: after a pause the cache is cold, and old work is what can be left out. The prompts, in uncached
// tokens, with P for the prompt and the tools and R for each of n results: the first writes P, each of the next reads
// what was sent and writes R. The last, 20 minutes later, writes P + nR at the other host. Winnow makes records of old
// results in front of the last but one: that reads P and writes the rest, and the last writes what is left.
func TestSavingByHand(t *testing.T) {
	const p, n, lines = 20_000, 16, 100
	f := &file{}
	f.claude(0, "user", "What do the logs say?", nil)
	written := p
	for k := range n {
		id := fmt.Sprint("t", k)
		call := object{"type": "tool_use", "id": id, "name": "Bash", "input": object{"command": fmt.Sprint("tail log", k)}}
		f.claudeAnswer(0, "claude-sonnet-4-5", []object{call}, 0, written, nil)
		var b strings.Builder
		for i := range lines {
			fmt.Fprintf(&b, "the worker with the number %d says that it has done %d of all pieces\n", 7*i+k, i*i+k*13)
		}
		f.claude(0, "user", []object{{"type": "tool_result", "tool_use_id": id, "content": b.String()}}, nil)
		written += 2_000
	}
	f.claudeAnswer(0, "claude-sonnet-4-5", said("Nothing."), 0, written, nil)
	f.claude(20, "user", "Then something else: is it green?", nil)
	f.claudeAnswer(20, "claude-sonnet-4-5", said("It is."), 0, written, nil)
	s, err := recording.Open([]byte(strings.Join(f.lines, "\n")))
	require.NoError(t, err)
	r, err := replay(s, Basis{Window: 100_000})
	require.NoError(t, err)
	require.Len(t, r.Requests, n+2)
	result := float64(r.Filled.Tokens) / n // nearly all of it is the results
	first := 1.25 * p                      // up to the last two, which are the same for both
	for k := range n - 1 {
		first += 0.1*(p+float64(k)*result) + 1.25*result
	}
	other := first + 0.1*(p+(n-1)*result) + 1.25*result + 1.25*(p+n*result)
	rewritten, last := float64(r.Requests[n].Tokens), float64(r.Requests[n+1].Tokens)
	require.True(t, r.Requests[n].Epoch)
	require.Less(t, rewritten, p+n*result/2, "more than half of the results are records")
	ours := first + 0.1*p + 1.25*(rewritten-p) + 1.25*last
	assert.InEpsilon(t, other, r.Limit.Requests, 0.02)
	saving := 100 * (1 - r.Winnow.Requests/r.Limit.Requests)
	assert.InDelta(t, 100*(1-ours/other), saving, 3, "in points")
	assert.Greater(t, saving, 5.0)
}

var shownPercent = regexp.MustCompile(`([0-9]+) %`)

// TestPartsAddUp: in random sessions the parts of each whole that a page names add up to it, and no other percentage is
// above the whole.
func TestPartsAddUp(t *testing.T) {
	forms := []agents.Form{agents.Claude, agents.Codex, agents.Pi3}
	data, err := os.ReadFile(recorded("english"))
	require.NoError(t, err)
	history, err := recording.Read(data)
	require.NoError(t, err)
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(seed, 40))
		from := random.IntN(100)
		for from > 0 && !recording.BeginsTurn(&history[from]) {
			from--
		}
		part := history[from:min(len(history), from+10+random.IntN(60))]
		f := agents.Write(forms[seed%3], part, agents.Options{Noise: true, Compact: seed%2 == 0}, random)
		s, err := recording.Open(f.Data)
		require.NoError(t, err)
		r, err := replay(s, Basis{Window: 120_000 + random.IntN(100_000)})
		require.NoError(t, err)
		sum := 0
		for _, m := range shownPercent.FindAllStringSubmatch(strings.ReplaceAll(r.Filled.Summary(), "less than 1 %", ""), -1) {
			n, err := strconv.Atoi(m[1])
			require.NoError(t, err)
			sum += n
		}
		assert.Equal(t, 100, sum, r.Filled.Summary())
		tokens := 0
		for _, k := range r.Filled.Kinds {
			tokens += k.Tokens
		}
		assert.Equal(t, r.Filled.Tokens, tokens)
		for _, o := range []outcome{r.Winnow, r.Limit} {
			assert.InDelta(t, o.Total(), o.Requests+o.Answers, 1e-6)
		}
		var text strings.Builder
		require.NoError(t, writeText(&text, r))
		for line := range strings.Lines(text.String()) {
			if strings.Contains(line, "more than") || strings.Contains(line, "more)") {
				continue // of what the other host costs
			}
			for _, m := range shownPercent.FindAllStringSubmatch(line, -1) {
				n, err := strconv.Atoi(m[1])
				require.NoError(t, err)
				assert.LessOrEqual(t, n, 100, line)
			}
		}
	}
}

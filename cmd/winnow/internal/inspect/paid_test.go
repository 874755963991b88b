package inspect

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// claudeBilled adds an answer of Claude Code with what was billed: uncached, read, written for five minutes, written
// for an hour, and the answer.
func (f *file) claudeBilled(model string, tokens [5]int, more object) {
	f.claude(0, "user", "And now?", more)
	usage := object{"input_tokens": tokens[0], "cache_read_input_tokens": tokens[1],
		"cache_creation_input_tokens": tokens[2] + tokens[3], "output_tokens": tokens[4], "cache_creation": object{
			"ephemeral_5m_input_tokens": tokens[2], "ephemeral_1h_input_tokens": tokens[3]}}
	line := object{"message": object{"id": "m" + f.last, "role": "assistant", "model": model, "content": said("It is."),
		"usage": usage}}
	for key, v := range more {
		line[key] = v
	}
	f.claude(0, "assistant", nil, line)
}

// codexBilled adds an answer of Codex that was billed: the whole prompt, what of it was read and written, and the
// answer, all of them since the session began, and of this call.
func (f *file) codexBilled(sum *[4]int, tokens [4]int) {
	f.codexSays(0, "assistant", "It is.")
	usage := func(n [4]int) object {
		return object{"input_tokens": n[0], "cached_input_tokens": n[1], "cache_write_input_tokens": n[2],
			"output_tokens": n[3], "reasoning_output_tokens": n[3] / 2, "total_tokens": n[0] + n[3]}
	}
	for i := range sum {
		sum[i] += tokens[i]
	}
	for range 2 { // each change of a limit repeats the counts
		f.codex(0, "event_msg", object{"type": "token_count", "info": object{
			"total_token_usage": usage(*sum), "last_token_usage": usage(tokens)}})
	}
}

// TestBillByHand: what the calls in a file cost, each figure worked out by hand from the price list: dollars for a
// million tokens.
func TestBillByHand(t *testing.T) {
	for _, tt := range []struct {
		name string
		file func() *file
		want float64
		also []string // what is said beside the sum
		not  string
	}{
		{"both lifetimes", func() *file {
			f := &file{}
			f.claudeBilled("claude-opus-4-6", [5]int{3, 0, 1_000, 20_000, 100}, nil)
			f.claudeBilled("claude-opus-4-6", [5]int{3, 21_000, 500, 0, 200}, nil)
			return f
		}, (5*6 + .5*21_000 + 6.25*1_500 + 10*20_000 + 25*300) / 1e6, []string{"21,500 written to the cache (20,000 of that for longer)"}, "Of that,"},
		{"several models, each at its own price", func() *file {
			f := &file{}
			f.claudeBilled("claude-opus-4-6", [5]int{10, 0, 20_000, 0, 100}, nil)
			f.claudeBilled("claude-haiku-4-5", [5]int{10, 0, 20_000, 0, 100}, nil)
			f.claudeBilled("claude-opus-4-6", [5]int{10, 20_000, 100, 0, 100}, nil)
			return f
		}, (5*20 + 6.25*20_100 + .5*20_000 + 25*200 + 1*10 + 1.25*20_000 + 5*100) / 1e6,
			[]string{"Of that, claude-haiku-4-5 $0.026, claude-opus-4-6 $0.141."}, ""},
		{"a sub-agent in the same file", func() *file {
			f := &file{}
			f.claudeBilled("claude-opus-4-6", [5]int{10, 0, 20_000, 0, 100}, nil)
			main := f.last
			f.last = ""
			f.claudeBilled("claude-haiku-4-5", [5]int{100, 0, 0, 0, 50}, object{"isSidechain": true})
			f.last = main
			return f
		}, (5*10 + 6.25*20_000 + 25*100 + 1*100 + 5*50) / 1e6, []string{"2 calls"}, ""},
		{"advice by another model, which each line of an answer repeats, and the place where it ran", func() *file {
			f := &file{}
			f.claudeBilled("claude-opus-5-5", [5]int{10, 0, 20_000, 0, 100}, nil)
			f.claude(1, "user", "And now?", nil)
			for _, text := range []string{"It", "is."} {
				f.claude(1, "assistant", nil, object{"message": object{"id": "x", "role": "assistant", "model": "claude-opus-5-5", "content": said(text),
					"usage": object{"input_tokens": 10, "cache_read_input_tokens": 20_000, "output_tokens": 100, "inference_geo": "us", "iterations": []object{
						{"type": "message", "input_tokens": 10, "cache_read_input_tokens": 20_000, "output_tokens": 100},
						{"type": "advisor_message", "model": "claude-opus-4-6", "input_tokens": 3_000, "output_tokens": 200}}}}})
			}
			return f
		}, (4*10 + 5*20_000 + 20*100 + 1.1*(4*10+.2*20_000+20*100+5*3_000+25*200)) / 1e6, []string{"3 calls"}, ""},
		{"a model that costs more above a size", func() *file {
			f := &file{}
			f.claudeBilled("claude-haiku-5-5", [5]int{0, 0, 99_000, 0, 100}, nil)
			f.claudeBilled("claude-haiku-5-5", [5]int{0, 99_000, 2_000, 0, 100}, nil)
			return f
		}, (.125*99_000 + .5*100 + 5*(.01*99_000+.125*2_000+.5*100)) / 1e6, nil, ""},
		{"answers without counts", func() *file {
			f := twoAnswers()
			f.claude(2, "user", "More?", nil)
			f.claude(2, "assistant", nil, object{"message": object{"id": "x", "role": "assistant", "model": "claude-sonnet-4-5", "content": said("No.")}})
			return f
		}, (3.75*20_100 + .3*20_000 + 15*40) / 1e6, []string{"2 calls"}, ""},
		{"a model without a price beside another", func() *file {
			f := &file{}
			f.claudeBilled("claude-opus-4-6", [5]int{10, 0, 20_000, 0, 100}, nil)
			f.claudeBilled("claude-opus-4-6", [5]int{10, 20_000, 0, 0, 100}, nil)
			f.claudeBilled("house-model", [5]int{10, 0, 0, 0, 100}, nil)
			return f
		}, (5*20 + 6.25*20_000 + .5*20_000 + 25*200) / 1e6, []string{"Not in it, because no price is known for 1 call of house-model."}, ""},
		{"codex: counts since the beginning, repeated; reasoning is part of the answer", func() *file {
			f, sum := codexBegin(), [4]int{}
			f.codexBilled(&sum, [4]int{20_000, 0, 0, 400})
			f.codexSays(1, "user", "And now?")
			f.codexBilled(&sum, [4]int{21_000, 19_968, 0, 600})
			return f
		}, (1.25*(20_000+1_032) + .125*19_968 + 10*1_000) / 1e6, []string{"21,032 of input, 19,968 read"}, ""},
		{"codex: writes that cost more", func() *file {
			f, sum := &file{}, [4]int{}
			f.codex(0, "session_meta", object{"id": "s", "cwd": "/w", "cli_version": "0.150.0"})
			f.codex(0, "turn_context", object{"model": "gpt-6.2-sol"})
			f.codexSays(0, "user", "Is it green?")
			f.codexBilled(&sum, [4]int{20_000, 0, 19_000, 400})
			return f
		}, (2*1_000 + 2.5*19_000 + 10*400) / 1e6, []string{"19,000 written to the cache"}, ""},
		{"pi: the host that served a model has a price of its own", func() *file {
			f := &file{}
			f.line(object{"type": "session", "version": 3, "id": "s1", "timestamp": at(0), "cwd": "/w"})
			f.pi(0, object{"role": "user", "content": "Is it green?"})
			f.pi(0, object{"role": "assistant", "content": said("It is."), "provider": "openrouter", "model": "openai/gpt-oss-20b", "stopReason": "stop",
				"usage": object{"input": 10_000, "output": 1_000, "cacheRead": 0, "cacheWrite": 0}})
			return f
		}, (.03*10_000 + .13*1_000) / 1e6, []string{"1 call"}, ""},
		{"pi: what the file itself says is beside it, and a call beside the conversation counts", func() *file {
			f := piTwo("claude-sonnet-4-5")
			f.pi(2, object{"role": "user", "content": "More?"})
			f.pi(2, object{"role": "assistant", "content": said("No."), "provider": "anthropic", "model": "claude-sonnet-4-5", "stopReason": "stop",
				"usage": object{"input": 1_000, "output": 20, "cacheRead": 0, "cacheWrite": 3_000, "cacheWrite1h": 2_000,
					"cost": object{"input": .003, "output": .0003, "cacheRead": 0, "cacheWrite": .0158, "total": .0191}}})
			f.line(object{"type": "usage", "id": "u1", "parentId": f.last, "timestamp": at(3), "kind": "other",
				"usage": object{"input": 100, "output": 0, "cacheRead": 0, "cacheWrite": 0}})
			return f
		}, (3.75*20_100 + .3*20_000 + 15*40 + 3*1_000 + 15*20 + 3.75*1_000 + 6*2_000 + 3*100) / 1e6, []string{"The file itself says $0.019."}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := recording.Open([]byte(strings.Join(tt.file().lines, "\n")))
			require.NoError(t, err)
			r, err := replay(s, Basis{})
			require.NoError(t, err)
			assert.InDelta(t, tt.want, r.paid().Dollars, 1e-9)
			said := r.Billed()
			assert.Contains(t, said, "That is "+money(tt.want)+" at today's prices")
			for _, part := range tt.also {
				assert.Contains(t, said, part)
			}
			if tt.not != "" {
				assert.NotContains(t, said, tt.not)
			}
		})
	}
}

// TestReasoningOfEarlierTurns: OpenAI does not read it again, so that it is nothing that winnow has left out.
func TestReasoningOfEarlierTurns(t *testing.T) {
	f, sum := codexBegin(), [4]int{}
	for i := range 6 {
		f.codex(i, "response_item", object{"type": "reasoning", "id": "r", "summary": []object{}, "encrypted_content": strings.Repeat("gAAA", 2_000)})
		f.codexBilled(&sum, [4]int{20_000 + 20*i, min(i, 1) * 19_968, 0, 400})
		f.codexSays(i, "user", "And now?")
	}
	s, err := recording.Open([]byte(strings.Join(f.lines, "\n")))
	require.NoError(t, err)
	r, err := replay(s, Basis{})
	require.NoError(t, err)
	assert.Contains(t, r.headline(), "as much as")
	assert.Less(t, r.Requests[5].History, 300, "the questions and answers alone")
	assert.InEpsilon(t, r.Limit.Requests, r.Winnow.Requests, .01, "nor does the other host pay for it")
}

// TestCachedForLong: the lifetime is that of most of what the file counts as written by the replay's model.
func TestCachedForLong(t *testing.T) {
	f := &file{}
	f.claudeBilled("claude-opus-4-6", [5]int{3, 0, 1_000, 20_000, 100}, nil)
	f.claudeBilled("claude-opus-4-6", [5]int{3, 21_000, 0, 500, 200}, nil)
	f.claudeBilled("claude-haiku-4-5", [5]int{3, 0, 30_000, 0, 100}, nil)
	s, err := recording.Open([]byte(strings.Join(f.lines, "\n")))
	require.NoError(t, err)
	b := Basis{}.complete(s, letters{})
	assert.Equal(t, time.Hour, b.cache.TTL)
	assert.InDelta(t, 2*20_000, b.promptCost(20_000, 0), 1e-6)
	assert.InDelta(t, 1.25*20_000, b.cost(winnow.Usage{CacheWrite: 20_000}), 1e-6, "what was billed is by the file's counts")
}

// TestBillOfMessages: winnow's messages have a bill, too, and may name the model beside each.
func TestBillOfMessages(t *testing.T) {
	lines := `{"role":"user","parts":[{"text":"Is it green?"}]}
{"role":"assistant","model":"claude-opus-4-6","parts":[{"text":"It is."}],"usage":{"input":10,"cacheWrite":20000,"output":100}}
{"role":"user","parts":[{"text":"And now?"}]}
{"role":"assistant","model":"claude-haiku-4-5","parts":[{"text":"Still."}],"usage":{"input":20,"output":100}}
{"role":"user","parts":[{"text":"And now?"}]}
{"role":"assistant","model":"claude-opus-4-6","parts":[{"text":"Still."}],"usage":{"input":10,"cacheRead":20000,"output":100}}`
	want := (5*20 + 6.25*20_000 + .5*20_000 + 25*200 + 1*20 + 5*100) / 1e6
	for _, data := range []string{lines, "[" + strings.ReplaceAll(lines, "\n", ",") + "]"} {
		s, err := recording.Open([]byte(data))
		require.NoError(t, err)
		r, err := replay(s, Basis{})
		require.NoError(t, err)
		assert.Equal(t, "claude-opus-4-6", r.Model)
		assert.InDelta(t, want, r.paid().Dollars, 1e-9)
	}
}

package inspect

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/test/recording"
)

// reported replays a file of a host whose system prompt and tools have 20 000 tokens.
func reported(t *testing.T, f *file) *report {
	t.Helper()
	s, err := recording.Open([]byte(strings.Join(f.lines, "\n")))
	require.NoError(t, err)
	overhead := 20_000
	r, err := replay(s, Basis{Overhead: &overhead})
	require.NoError(t, err)
	return r
}

// TestRecordedBill: what a file says that the prompts cost, and what the model of the cache says of them, by hand, in
// dollars. Where nothing can be left out, winnow costs as much, whatever the model says.
func TestRecordedBill(t *testing.T) {
	const opus = "claude-opus-5-5" // $4, read .2, written 5, answers 20
	for _, tt := range []struct {
		name                      string
		file                      func(f *file)
		calls                     int
		prompts, modeled, answers float64 // in millionths
		explained                 string
	}{
		{"the provider counts what is not in the file", func(f *file) {
			f.claudeBilled(opus, [5]int{0, 0, 20_000, 0, 100}, nil)
			for k := range 3 {
				f.claudeBilled(opus, [5]int{0, 20_000 + 3_000*k, 3_000, 0, 100}, nil)
			}
		}, 4, .2*(20+23+26)*1_000 + 5*29_000, .2*(20+23+26)*1_000 + 5*29_000, 20 * 400, ""},
		{"one answer without a count", func(f *file) {
			f.claudeBilled(opus, [5]int{0, 0, 20_000, 0, 100}, nil)
			f.claude(0, "user", "More?", nil)
			f.claude(0, "assistant", nil, object{"message": object{"id": "x", "role": "assistant", "model": opus, "content": said("No.")}})
			f.claudeBilled(opus, [5]int{0, 20_000, 200, 0, 100}, nil)
		}, 2, .2*20_000 + 5*20_200, .2*20_000 + 5*20_200, 20 * 200, ""},
		{"each model has its prices and its cache", func(f *file) {
			f.claudeBilled(opus, [5]int{0, 0, 20_000, 0, 100}, nil)
			f.claudeBilled("claude-haiku-4-5", [5]int{0, 0, 20_100, 0, 100}, nil)
			f.claudeBilled(opus, [5]int{0, 20_000, 300, 0, 100}, nil)
			f.claudeBilled("claude-haiku-4-5-20251001", [5]int{0, 20_100, 300, 0, 100}, nil)
		}, 4, 5*20_300 + .2*20_000 + 1.25*20_400 + .1*20_100, 5*20_300 + .2*20_000 + 1.25*20_400 + .1*20_100, 20*200 + 5*200, ""},
		{"a model without a price", func(f *file) {
			f.claudeBilled(opus, [5]int{0, 0, 20_000, 0, 100}, nil)
			f.claudeBilled("house-1", [5]int{20_100, 0, 0, 0, 100}, nil)
			f.claudeBilled(opus, [5]int{0, 20_000, 200, 0, 100}, nil)
		}, 2, .2*20_000 + 5*20_200, .2*20_000 + 5*20_200, 20 * 200, ""},
		{"more was read than the pause lets expect", func(f *file) {
			f.claudeAnswer(0, opus, said("It is."), 0, 20_000, nil)
			f.claude(4, "user", "And now?", nil)
			f.claudeAnswer(4, opus, said("It is."), 20_000, 1_000, nil)
			f.claude(70, "user", "And now?", nil)
			f.claudeAnswer(70, opus, said("It is."), 21_000, 1_000, nil)
		}, 3, .2*41_000 + 5*22_000, .2*40_000 + 5*23_000, 20 * 60, "$0.118 was billed; by our model of the cache it is $0.123: 1,000 tokens more were read"},
		{"only the price of writing differs", func(f *file) {
			f.claudeBilled("gpt-6.2-sol", [5]int{20_000, 0, 0, 0, 100}, nil)
			f.claudeBilled("gpt-6.2-sol", [5]int{500, 20_000, 0, 0, 100}, nil)
		}, 2, 2*20_500 + .1*20_000, 2.5*20_500 + .1*20_000, 10 * 200, "as much was read, but the rest has another price than what is written to the cache"},
		{"no price of its own for the cache", func(f *file) {
			f.claudeBilled("gpt-5.4-pro", [5]int{20_000, 0, 0, 0, 100}, nil)
			f.claudeBilled("gpt-5.4-pro", [5]int{500, 20_000, 0, 0, 100}, nil)
		}, 2, 30 * 40_500, 30 * 40_500, 180 * 200, ""},
		{"a prompt that shrinks, of which the file does not have much", func(f *file) {
			f.claudeBilled(opus, [5]int{0, 0, 100_000, 0, 100}, nil)
			f.claudeBilled(opus, [5]int{2_000, 0, 0, 0, 100}, nil)
		}, 2, 5*100_000 + 4*2_000, 5*100_000 + .2*2_000, 20 * 200, "2,000 tokens less were read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &file{}
			f.claude(0, "user", "Is it green?", nil)
			tt.file(f)
			r := reported(t, f)
			b := &r.Recorded
			assert.Equal(t, tt.calls, b.Calls)
			assert.InDelta(t, tt.prompts/1e6, b.Prompts, 1e-9)
			assert.InDelta(t, tt.modeled/1e6, b.Modeled, 1e-9)
			assert.InDelta(t, tt.answers/1e6, b.Answers, 1e-9)
			of := ""
			if tt.calls < len(r.Requests) {
				of = fmt.Sprintf(" for %d of %d requests", tt.calls, len(r.Requests))
			}
			if strings.Contains(tt.name, "without a price") {
				of += "; no price is known for 1 request of house-1"
			}
			sum := money((tt.prompts + tt.answers) / 1e6)
			assert.Equal(t, fmt.Sprintf("%s with winnow: as much as %s that was billed%s", sum, sum, of), r.headline())
			if tt.explained == "" {
				assert.Empty(t, r.Explained())
			} else {
				assert.Contains(t, r.Explained(), tt.explained)
			}
		})
	}
}

// TestLeftOut: winnow's prompts have what the provider counts and the file has not, and what the recorded host had
// compacted.
func TestLeftOut(t *testing.T) {
	const text, host = 1_000, 5_000 // tokens of the first question, of the system prompt and the tools
	r := &replayer{report: &report{Basis: *basisOf(200_000, host), Source: &recording.Session{Facts: recording.Facts{
		Compactions: []recording.Compaction{{Before: 4}}}}}}
	for _, x := range []struct {
		known, text, billed, want int
		why                       string
	}{
		{1, text, 6_500, 0, "500 tokens more than the text"},
		{3, 2 * text, 7_000, 0, "fewer more than the text"},
		{5, 3 * text, 7_500, 500, "of 8 000 tokens after a compaction"},
		{7, 4 * text, 8_200, 500, "it stays out"},
		{9, 5 * text, 5_400, 4_300, "much less than before, without a word"},
		{11, 6 * text, 400, 6 * text, "no more than the messages"},
		{13, 7 * text, 12_400, 0, "all is there again: the small one was not the whole prompt"},
	} {
		r.known = x.known
		r.follow(counted{model: "m", prompt: x.billed, text: host + x.text, leftOut: r.Recorded.last.leftOut})
		assert.Equal(t, x.want, r.Recorded.last.leftOut, x.why)
	}
}

// TestSold: what Claude sold in another way has another price, where the table knows it.
func TestSold(t *testing.T) {
	f := &file{}
	for _, sold := range []object{{}, {"service_tier": "standard"}, {"service_tier": "batch"}, {"speed": "fast"}, {"service_tier": "priority"}} {
		f.claude(0, "user", "Is it green?", nil)
		usage := object{"input_tokens": 1_000, "output_tokens": 100}
		for key, v := range sold {
			usage[key] = v
		}
		f.claude(0, "assistant", nil, object{"message": object{"id": "m" + f.last, "role": "assistant", "model": "claude-opus-5-5",
			"content": said("It is."), "usage": usage}})
	}
	r := reported(t, f)
	assert.InDelta(t, (2+.5+2)*(4*1_000+20*100)/1e6, r.paid().Dollars, 1e-9)
	assert.Contains(t, r.Billed(), "Of that, claude-opus-5-5 $0.012, claude-opus-5-5-batch $0.003, claude-opus-5-5-fast $0.012. "+
		"Not in it, because no price is known for 1 call of claude-opus-5-5-priority.")
	assert.Contains(t, r.headline(), "that was billed for 4 of 5 requests; no price is known for 1 request of claude-opus-5-5-priority")
	assert.NotContains(t, r.parts(), "Not in it", "nothing is beside these requests")

	f = &file{}
	f.claude(0, "user", "Is it green?", nil)
	f.claude(0, "assistant", nil, object{"message": object{"id": "m", "role": "assistant", "model": "claude-opus-5-5",
		"content": said("It is."), "usage": object{"input_tokens": 20_000, "output_tokens": 100, "service_tier": "priority"}}})
	assert.Contains(t, reported(t, f).Billed(), "of output. No price is known for 1 call of claude-opus-5-5-priority.")
	assert.Contains(t, reported(t, f).headline(), " compacting at the limit, at the price of claude-opus-5-5; "+
		"no price is known for 1 request of claude-opus-5-5-priority")
}

// TestAlias: a name that only the file has is the model that the user says it is.
func TestAlias(t *testing.T) {
	f := &file{}
	f.claudeBilled("my-deployment", [5]int{0, 0, 20_000, 0, 100}, nil)
	s, err := recording.Open([]byte(strings.Join(f.lines, "\n")))
	require.NoError(t, err)
	r, err := replay(s, Basis{Model: "claude-opus-5-5"})
	require.NoError(t, err)
	assert.InDelta(t, (5*20_000+20*100)/1e6, r.Recorded.Prompts+r.Recorded.Answers, 1e-9)
	assert.InDelta(t, (5*20_000+20*100)/1e6, r.paid().Dollars, 1e-9)
}

// TestLasted: a lifetime that only the pauses tell is in no price, and what it may have cost is said.
func TestLasted(t *testing.T) {
	f := &file{}
	for k := range 3 {
		f.claude(20*k, "user", "Is it green?", nil)
		f.claudeAnswer(20*k, "claude-opus-5-5", said("It is."), min(k, 1)*20_000, 20_000-min(k, 1)*19_900, nil)
	}
	r := reported(t, f)
	assert.Equal(t, time.Hour, r.cache.TTL)
	assert.InDelta(t, (5*20_200+.2*40_000)/1e6, r.Recorded.Prompts, 1e-9)
	assert.Contains(t, r.Explained(), "it cost "+money(3*20_200/1e6)+" more")
}

// TestSavingOfBill: what winnow leaves out of the file's text comes off the prompts that were billed, with all that the
// file lacks in them. A rewrite reads what stands in front of it, and of what the file lacks nothing.
func TestSavingOfBill(t *testing.T) {
	const n, lacking = 30, 500 // results; tokens more that are billed at each request
	var words strings.Builder
	for i := range 2_000 {
		fmt.Fprintf(&words, "%d lines of log %d\n", i*i, 7*i)
	}
	f := &file{}
	f.claude(0, "user", "What do the logs say?", nil)
	read, prompt := 0, 20_000
	for k := range n {
		id := fmt.Sprint("t", k)
		call := object{"type": "tool_use", "id": id, "name": "Bash", "input": object{"command": fmt.Sprint("tail log", k)}}
		f.claudeAnswer(0, "claude-opus-4-6", []object{call}, read, prompt-read, nil)
		text := words.String()[100*k : 100*k+6_000]
		f.claude(0, "user", []object{{"type": "tool_result", "tool_use_id": id, "content": text}}, nil)
		read, prompt = prompt, prompt+lacking+3_500
	}
	f.claudeAnswer(0, "claude-opus-4-6", said("Nothing."), read, prompt-read, nil)
	r := reported(t, f)
	theirs, ours, common, rewrites := 0.0, 0.0, 0, 0
	for i, q := range r.Requests {
		billed := 20_000 + i*(lacking+3_500)
		left := billed - (20_000 + q.History - q.Tokens)
		if q.Epoch {
			common, rewrites = q.Cached, rewrites+1
		}
		theirs += .1*float64(max(0, billed-lacking-3_500)) + 1.25*(lacking+3_500)
		ours += .1*float64(common) + 1.25*float64(left-common)
		common = left
	}
	theirs += 1.25*20_000 - 1.25*(lacking+3_500) - .1*(20_000-lacking-3_500) // the first one reads nothing
	require.Positive(t, rewrites)
	assert.InDelta(t, theirs*5/1e6, r.Recorded.Prompts, 1e-9)
	assert.InDelta(t, theirs*5/1e6, r.Recorded.Modeled, 1e-9)
	assert.InEpsilon(t, ours*5/1e6, r.Recorded.Winnow, .001, "but for fractions of tokens")
	assert.Contains(t, r.headline(), fmt.Sprintf(": %s than %s that was billed", percentMore(ours+100*(n+1), theirs+100*(n+1)),
		money((theirs+100*(n+1))*5/1e6)))
}

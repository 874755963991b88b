package prompt

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/winnowgo/winnow"
)

// ToolUse is what is known of how tools are used, for [ToolUse.Choose]. Prices are relative to uncached input.
// [ToolUse.Add] each conversation that has ended.
type ToolUse struct {
	Conversations int            `json:"conversations"` // that were added
	Used          map[string]int `json:"used"`          // in how many of them a tool was called, by name

	Requests   int     `json:"requests,omitempty"`   // of one conversation (30)
	Prompt     int     `json:"prompt,omitempty"`     // tokens of a request besides the tools (30 000)
	ReadPrice  float64 `json:"readPrice,omitempty"`  // of a cached token (0.1)
	WritePrice float64 `json:"writePrice,omitempty"` // of a token that is written to the cache (1.25)
}

// Add counts which tools a conversation called, by themselves or through call_tool.
func (u *ToolUse) Add(history []winnow.Message) {
	u.Conversations++
	if u.Used == nil {
		u.Used = map[string]int{}
	}
	seen := map[string]bool{}
	for i := range history {
		for k := range history[i].Parts {
			if p := &history[i].Parts[k]; p.Kind == winnow.KindToolCall {
				name := p.Name
				if name == callToolName {
					name = calledTool(p.Arguments)
				}
				if name != "" && !seen[name] {
					seen[name] = true
					u.Used[name]++
				}
			}
		}
	}
}

// answerTokens is what a request for a schema costs in answers: some 60 tokens, at five times the price of input.
const answerTokens = 60 * 5

// Choose returns tools with Tool.Always set for those that are cheaper to send whole with every request than to list
// by name, for Options.OnDemand. Tools that have Always set keep it. Choose at the start of a conversation and keep
// the choice: another list of tools breaks the provider's cache.
func (u *ToolUse) Choose(tools []Tool, opts *Options) ([]Tool, error) {
	// A tool that a conversation needs with probability p costs, on demand, p times its schema from then on and one
	// more request. Sent whole, it costs its schema once to write, and to read in each later request.
	o := opts.withDefaults()
	if err := o.withEstimator(); err != nil {
		return nil, err
	}
	count := newCounter(o.Estimator)
	requests, prompt := cmp.Or(max(0, u.Requests), 30), cmp.Or(max(0, u.Prompt), 30_000)
	read, write := cmp.Or(max(0, u.ReadPrice), .1), cmp.Or(max(0, u.WritePrice), 1.25)
	roundTrip := float64(prompt)*read + answerTokens

	tools = slices.Clone(tools)
	for i := range tools {
		t := &tools[i]
		size := float64(o.Form.tokens(t, count))
		whole := size * (write + read*float64(requests-1))
		loaded := size*(write+read*float64(requests)/2) + roundTrip // it is needed half-way, on average
		t.Always = t.Always || u.share(t.Name)*loaded >= whole
	}
	return tools, nil
}

// share returns the share of conversations that call a tool. Half a call in half of one more conversation is added
// (Krichevsky and Trofimov's estimate), so that one conversation decides little.
func (u *ToolUse) share(name string) float64 {
	return (float64(u.Used[name]) + .5) / (float64(u.Conversations) + 1)
}

// maxFound is how many tools Find returns.
const maxFound = 5

// Find returns the names of the tools and skills, at most five, whose name or description has most of the words.
func (l *Loader) Find(words string) []string {
	wanted := wordsOf(words)
	type found struct {
		name string
		hits int
	}
	var list []found
	look := func(name, description string) {
		has, hits := wordsOf(name+" "+description), 0
		for word := range wanted {
			if has[word] {
				hits++
			}
		}
		if hits > 0 {
			list = append(list, found{name, hits})
		}
	}
	for name, t := range l.tools {
		look(name, t.Description)
	}
	for name, s := range l.skills {
		if !s.Hidden {
			look(name, s.Description)
		}
	}
	slices.SortFunc(list, func(a, b found) int { return cmp.Or(b.hits-a.hits, cmp.Compare(a.name, b.name)) })
	var names []string
	for _, f := range list[:min(len(list), maxFound)] {
		names = append(names, f.name)
	}
	return slices.Compact(names) // a skill and a tool may have one name
}

// wordsOf returns the words of a text in lower case: runs of letters and digits of three bytes or more, without a
// plural's s.
func wordsOf(text string) map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if len(word) > 3 {
			word = strings.TrimSuffix(word, "s")
		}
		if len(word) >= 3 { // else every "a" would be found
			words[word] = true
		}
	}
	return words
}

// calledTool returns the tool that a call of call_tool names, or "".
func calledTool(arguments json.RawMessage) string {
	var call struct{ Name string }
	if json.Unmarshal(arguments, &call) != nil {
		return ""
	}
	return call.Name
}

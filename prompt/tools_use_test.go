package prompt_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
	"github.com/winnowgo/winnow/internal/test/times"
	"github.com/winnowgo/winnow/prompt"
)

func always(tools []prompt.Tool) (names []string) {
	for _, t := range tools {
		if t.Always {
			names = append(names, t.Name)
		}
	}
	return names
}

func calls(names ...string) []winnow.Message {
	m := winnow.Message{Role: winnow.RoleAssistant}
	for _, name := range names {
		m.Parts = append(m.Parts, winnow.Part{Kind: winnow.KindToolCall, ID: "1", Name: name})
	}
	return []winnow.Message{m}
}

func TestToolsAreChosenByUseSizeAndPrice(t *testing.T) {
	tools := manyTools(3)
	tools[2].Always = true
	used := &prompt.ToolUse{}
	for i := range 10 {
		used.Add(nil)
		if i%2 == 0 {
			used.Add(calls(tools[0].Name, tools[0].Name))
		} else {
			used.Add([]winnow.Message{{Role: winnow.RoleAssistant, Parts: []winnow.Part{
				{Kind: winnow.KindToolCall, Name: "call_tool", Arguments: []byte(`{"name": "` + tools[0].Name + `"}`)}}}})
		}
	}
	chosen, err := used.Choose(tools, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{tools[0].Name, tools[2].Name}, always(chosen), "what is used, also through call_tool, and what the host wants")
	assert.Empty(t, always(tools[:2]), "the host's list is not written to")

	for _, c := range []struct {
		why   string
		use   prompt.ToolUse
		wants bool
	}{
		{"nothing is known: half of the conversations may call it", prompt.ToolUse{}, true},
		{"four conversations did not call it", prompt.ToolUse{Conversations: 4}, false},
		{"one more request costs more in a long conversation", prompt.ToolUse{Conversations: 4, Prompt: 400_000}, true},
		{"a schema is carried through many requests", prompt.ToolUse{Requests: 500}, false},
		{"where nothing is cached, a schema is paid each time", prompt.ToolUse{ReadPrice: 1, WritePrice: 1, Prompt: 1_000}, false},
	} {
		chosen, err := c.use.Choose(tools[1:2], nil)
		require.NoError(t, err)
		assert.Equal(t, c.wants, chosen[0].Always, c.why)
	}
}

// At the edge, half of what a tool costs on demand is what it costs whole: in 30 requests, half a call comes half-way.
func TestToolsAreChosenAtTheEdge(t *testing.T) {
	tools := manyTools(1)
	sent, err := prompt.Assemble(prompt.Input{Tools: tools}, nil)
	require.NoError(t, err)
	size := sent.ToolSizes[0].Tokens
	for _, c := range []struct {
		use    prompt.ToolUse
		prompt int // tokens besides the tool
	}{
		{prompt.ToolUse{ReadPrice: .5, WritePrice: 2}, 47*size - 600}, // .5×(size×(2 + .5×15) + .5×prompt + 300) = size×(2 + .5×29)
		{prompt.ToolUse{}, 111*size/2 - 3_000},                        // .5×(size×(1.25 + .1×15) + .1×prompt + 300) = size×(1.25 + .1×29)
	} {
		for more, wants := range map[int]bool{1: true, -1: false} {
			c.use.Prompt = c.prompt + more
			chosen, err := c.use.Choose(tools, nil)
			require.NoError(t, err)
			assert.Equal(t, wants, chosen[0].Always, "%+v", c.use)
		}
	}
}

func TestFind(t *testing.T) {
	l := prompt.NewLoader(append(skills, prompt.Skill{Name: "secret-mail", Description: "sends mail", Hidden: true}), []prompt.Tool{
		{Tool: winnow.Tool{Name: "send_mail", Description: "Sends a mail to people."}}, {Tool: winnow.Tool{Name: "list_mails", Description: "Lists the mails of a folder."}},
		{Tool: winnow.Tool{Name: "weather", Description: "Says how the weather is."}},
	})
	assert.Equal(t, []string{"list_mails", "send_mail"}, l.Find("a mail folder, please")[:2], "most words first")
	assert.Equal(t, []string{"weather"}, l.Find("WEATHER"))
	assert.Empty(t, l.Find("tax"))
	assert.Empty(t, l.Find(""))
	assert.NotContains(t, l.Find("secret mail"), "secret-mail", "only the host loads a hidden skill")
	assert.LessOrEqual(t, len(prompt.NewLoader(nil, manyTools(50)).Find("service operation")), 5)
}

// The recorded sessions' calls, with their tools among others that they never call: what the definitions cost if all
// are sent, if all are loaded on demand, and if each is where it is cheaper, by the use in the other half of the
// sessions. A load costs a request. What was loaded stays in the history.
func TestToolsByNeedInRecordedSessions(t *testing.T) {
	files, err := filepath.Glob("../../shared/corpus/*.jsonl.gz")
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("no shared data")
	}
	use := &prompt.ToolUse{}
	var sessions [][]string // the tools of each request
	every := times.Every(6)
	for i := range len(files) / every {
		data, err := os.ReadFile(files[i*every])
		require.NoError(t, err)
		history, err := recording.Read(data)
		require.NoError(t, err)
		if i%2 == 0 {
			use.Add(history)
			continue
		}
		for k := range history {
			if history[k].Role != winnow.RoleAssistant {
				continue
			}
			var names []string
			for _, p := range history[k].Parts {
				if p.Kind == winnow.KindToolCall {
					names = append(names, p.Name)
				}
			}
			sessions = append(sessions, names)
		}
		sessions = append(sessions, nil, []string{""}) // the end of a session
	}
	byUse := slices.SortedFunc(maps.Keys(use.Used), func(a, b string) int { return use.Used[b] - use.Used[a] })
	for _, n := range []int{20, 60, 180} {
		filler := manyTools(n)
		tools := slices.Clone(filler)
		for i, name := range byUse[:min(len(byUse), n/2)] {
			tools[i].Name = name
		}
		chosen, err := use.Choose(tools, nil)
		require.NoError(t, err)
		all, _ := playTools(t, tools, nil, sessions)
		demand, loads := playTools(t, tools, []prompt.Tool{}, sessions)
		best, bestLoads := playTools(t, tools, chosen, sessions)
		t.Logf("%3d tools, %2d sent: all 1.000, on demand %.3f (%d loads), by need %.3f (%d loads)",
			n, len(always(chosen)), demand/all, loads, best/all, bestLoads)
		assert.LessOrEqual(t, best, min(all, demand)*1.02, "the choice is by the use of other sessions, so it may be a little worse")
		if n == 60 {
			assert.LessOrEqual(t, best/all, .5)
		}
	}
}

// playTools returns what the definitions cost over sessions, and how many were loaded. A nil list means that all are
// sent.
func playTools(t *testing.T, tools, sent []prompt.Tool, sessions [][]string) (cost float64, loads int) {
	const read, write, trip = .1, 1.25, 30_000*.1 + 300
	opts := &prompt.Options{OnDemand: sent != nil}
	in := prompt.Input{Tools: tools}
	if sent != nil {
		in.Tools = append(prompt.OnDemandTools(), sent...)
		if len(sent) == 0 {
			in.Tools = append(in.Tools, tools...)
		}
	}
	a, err := prompt.Assemble(in, opts)
	require.NoError(t, err)
	sizes, isSent := map[string]float64{}, map[string]bool{}
	whole, err := prompt.Assemble(prompt.Input{Tools: tools}, nil)
	require.NoError(t, err)
	for _, s := range whole.ToolSizes {
		sizes[s.Name] = float64(s.Tokens)
	}
	for _, tool := range a.Tools {
		isSent[tool.Name] = true
	}
	loaded, held := map[string]bool{}, 0.
	price := write
	for _, names := range sessions {
		if slices.Equal(names, []string{""}) {
			loaded, held, price = map[string]bool{}, 0, write
			continue
		}
		cost += float64(a.Tokens)*price + held*read
		price = read
		for _, name := range names {
			if size, isKnown := sizes[name]; isKnown && !isSent[name] && !loaded[name] {
				loaded[name] = true
				loads++
				held += size
				cost += size*write + trip
			}
		}
	}
	return cost, loads
}

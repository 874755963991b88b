package wire

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
)

var apis = map[string]API{"messages": Messages{}, "chat": Chat{}, "responses": Responses{}, "contents": Contents{}}

// write edits a body with what edit makes of its messages.
func write(api API, body string, edit func([]winnow.Message) []winnow.Message) (string, int) {
	return writeMarked(api, body, edit, NoMarks)
}

func writeMarked(api API, body string, edit func([]winnow.Message) []winnow.Message, set Marks) (string, int) {
	v := jsonedit.Value(body)
	list := v.Get(api.List())
	h := Read(api, list.Elements())
	e := jsonedit.Edit(v)
	lost := h.Write(e, list, edit(slices.Clone(h.Messages)), set)
	return string(e.Bytes(v)), lost
}

// random makes bodies with members that nobody knows, everywhere, and white space between.
type random struct {
	*rand.Rand
	n int
}

// object returns an object with these members and unknown ones, in any order.
func (r *random) object(members ...string) string {
	for range r.IntN(3) {
		r.n++
		members = append(members, fmt.Sprintf(`"new_%d":%s`, r.n, []string{`"x"`, `{"text":"not ours","type":"text"}`, `[1, {"a":null}]`, `true`}[r.IntN(4)]))
	}
	r.Shuffle(len(members), func(i, k int) { members[i], members[k] = members[k], members[i] })
	return "{" + r.join(members) + "}"
}

func (r *random) join(list []string) string {
	return strings.Join(list, []string{",", ", ", " ,\n\t"}[r.IntN(3)])
}

func (r *random) list(of ...string) string { return "[" + r.join(of) + "]" }

// said is a text that no other block has. Its escapes are not those that package json writes.
func (r *random) said() string {
	r.n++
	return fmt.Sprintf(`"text %d \u00e9\/ <&>"`, r.n)
}

// body returns a conversation of an API: questions, calls side by side, and results, some with several blocks.
func (r *random) body(name string) string {
	var list []string
	for range 1 + r.IntN(4) {
		calls := 1 + r.IntN(3)
		var said, asked, answered []string
		for i := range calls {
			r.n++
			id := fmt.Sprintf(`"call_%d"`, r.n)
			many := r.list(r.object(`"type":"text"`, `"text":`+r.said()), r.object(`"type":"text"`, `"text":`+r.said()), r.object(`"type":"unheard_of"`, `"text":"?"`))
			switch name {
			case "messages":
				content := r.said()
				if i == 1 {
					content = many
				}
				asked = append(asked, r.object(`"type":"tool_use"`, `"id":`+id, `"name":"read"`, `"input":{ "b":1, "a":2 }`))
				answered = append(answered, r.object(`"type":"tool_result"`, `"tool_use_id":`+id, `"content":`+content))
			case "chat":
				asked = append(asked, r.object(`"type":"function"`, `"id":`+id, `"function":`+r.object(`"name":"read"`, `"arguments":"{ }"`)))
				answered = append(answered, r.object(`"role":"tool"`, `"tool_call_id":`+id, `"content":`+r.said()))
			case "responses":
				asked = append(asked, r.object(`"type":"function_call"`, `"call_id":`+id, `"name":"read"`, `"arguments":"{ }"`))
				answered = append(answered, r.object(`"type":"function_call_output"`, `"call_id":`+id, `"output":`+r.said()))
			case "contents":
				asked = append(asked, r.object(`"functionCall":`+r.object(`"id":`+id, `"name":"read"`, `"args":{ "b":1, "a":2 }`)))
				answered = append(answered, r.object(`"functionResponse":`+r.object(`"id":`+id, `"name":"read"`, `"response":{"output":`+r.said()+`}`)))
			}
		}
		switch name {
		case "messages":
			said = append(asked, r.object(`"type":"text"`, `"text":`+r.said()))
			list = append(list, r.object(`"role":"user"`, `"content":`+r.said()), r.object(`"role":"assistant"`, `"content":`+r.list(said...)),
				r.object(`"role":"user"`, `"content":`+r.list(answered...)))
		case "chat":
			list = append(list, r.object(`"role":"user"`, `"content":`+r.list(r.object(`"type":"text"`, `"text":`+r.said()))),
				r.object(`"role":"assistant"`, `"content":`+r.said(), `"tool_calls":`+r.list(asked...)))
			list = append(list, answered...)
		case "responses":
			list = append(list, r.object(`"role":"user"`, `"content":`+r.said()))
			list = append(append(list, asked...), answered...)
		case "contents":
			list = append(list, r.object(`"role":"user"`, `"parts":`+r.list(r.object(`"text":`+r.said()))), r.object(`"role":"model"`, `"parts":`+r.list(asked...)),
				r.object(`"role":"user"`, `"parts":`+r.list(answered...)))
		}
	}
	return r.object(`"model":"m"`, `"`+apis[name].List()+`":`+r.list(list...))
}

// Random bodies with unknown members everywhere. Without an edit the bytes are the same; with one, nothing differs but
// the texts that were edited. A message that goes takes nothing else with it.
func TestUnknownMembersStay(t *testing.T) {
	for name, api := range apis {
		for seed := range uint64(300) {
			r := &random{Rand: rand.New(rand.NewPCG(seed, 1))}
			body := r.body(name)
			require.True(t, json.Valid([]byte(body)), body)
			same, _ := write(api, body, func(m []winnow.Message) []winnow.Message { return m })
			require.Equal(t, body, same, name)

			want := body
			got, _ := write(api, body, func(m []winnow.Message) []winnow.Message {
				for i := range m {
					for k := range m[i].Parts {
						p := m[i].Parts[k]
						if p.Kind != winnow.KindText || r.IntN(2) > 0 {
							continue
						}
						literal := p.Source.(*Block).text
						m[i].Parts, m[i].Source = slices.Clone(m[i].Parts), nil
						m[i].Parts[k] = winnow.Part{Text: fmt.Sprintf("edited %d\n<é>", k)}
						want = strings.Replace(want, string(literal), fmt.Sprintf(`"edited %d\n<é>"`, k), 1)
					}
				}
				return m
			})
			require.Equal(t, want, got, name)

			elements := jsonedit.Value(body).Get(api.List()).Elements()
			cut := r.IntN(len(elements))
			for cut < len(elements) && !strings.Contains(string(elements[cut]), `"role":"user"`) {
				cut++
			}
			gone, _ := write(api, body, func(m []winnow.Message) []winnow.Message {
				return slices.DeleteFunc(m, func(m winnow.Message) bool { return m.Source.(*piece).to <= cut })
			})
			left := jsonedit.Value(gone).Get(api.List()).Elements()
			require.Equal(t, fmt.Sprintf("%s", elements[cut:]), fmt.Sprintf("%s", left), "%s: %s", name, gone)
		}
	}
}

// What stands beside results goes without them, and they without it.
func TestBesideResults(t *testing.T) {
	for _, tt := range []struct {
		api                    API
		call, results, besides string
	}{
		{Messages{}, `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"n","input":{}},{"type":"tool_use","id":"b","name":"n","input":{}}]}`,
			`{"type":"tool_result","tool_use_id":"a","content":"r"},{"type":"tool_result","tool_use_id":"b"}`, `{"type":"text","text":"<system-reminder>So.</system-reminder>"}`},
		{Contents{}, `{"role":"model","parts":[{"functionCall":{"id":"a","name":"n"}},{"functionCall":{"id":"b","name":"n"}}]}`,
			`{"functionResponse":{"id":"a","name":"n","response":{"output":"r"}}},{"functionResponse":{"id":"b","name":"n","response":{}}}`, `{"text":"Two images."}`},
	} {
		content := "content"
		if tt.api == (Contents{}) {
			content = "parts"
		}
		body := func(blocks string) string {
			return `{"` + tt.api.List() + `":[` + tt.call + `,{"role":"user","` + content + `":[` + blocks + `]}]}`
		}
		got, _ := write(tt.api, body(tt.results+","+tt.besides), func(m []winnow.Message) []winnow.Message { return m[:3] })
		assert.JSONEq(t, body(tt.results), got)
		got, _ = write(tt.api, body(tt.results+","+tt.besides), func(m []winnow.Message) []winnow.Message {
			return append([]winnow.Message{{Role: winnow.RoleUser, Injected: true, Parts: []winnow.Part{{Text: "R"}}}}, m[3:]...)
		})
		assert.Contains(t, got, tt.besides)
		assert.NotContains(t, got, `"a"`)
	}
}

// The results of one answer are written into one message of the API in which they are blocks, with their markers, and
// stay in the client's order elsewhere.
func TestResultsOfOneAnswer(t *testing.T) {
	const (
		q, on  = `{"role":"user","content":"q"}`, `{"role":"assistant","content":"on"}`
		calls  = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"n","input":{}},{"type":"tool_use","id":"b","name":"n","input":{}}]}`
		a      = `{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"A"}]}`
		b      = `{"type":"tool_result","tool_use_id":"b","content":"B","cache_control":{"type":"ephemeral"}}`
		made   = `{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"made"}]}`
		gq     = `{"role":"user","parts":[{"text":"q"}]}`
		gcalls = `{"role":"model","parts":[{"functionCall":{"id":"a","name":"n"}},{"functionCall":{"id":"b","name":"n"}}]}`
		ga     = `{"functionResponse":{"id":"a","name":"n","response":{"output":"A"}}}`
		gb     = `{"functionResponse":{"id":"b","name":"n","response":{"output":"B"}}}`
		ccalls = `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"n","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"n","arguments":"{}"}}]}`
		ca, cb = `{"role":"tool","tool_call_id":"a","content":"A"}`, `{"role":"tool","tool_call_id":"b","content":"B"}`
	)
	user := func(blocks ...string) string { return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}` }
	gemini := func(parts ...string) string { return `{"role":"user","parts":[` + strings.Join(parts, ",") + `]}` }
	const standIn = -1
	for _, tt := range []struct {
		name  string
		api   API
		list  []string
		order []int // of the messages that are read
		want  []string
	}{
		{"one that is missing is made, behind a text", Messages{}, []string{q, calls, user(b)}, []int{0, 1, standIn, 2}, []string{q, calls, user(b, made)}},
		{"behind blocks", Messages{}, []string{q, calls, user(strings.Replace(b, `"B"`, `[{"type":"text","text":"B"}]`, 1))}, []int{0, 1, standIn, 2},
			[]string{q, calls, user(strings.Replace(b, `"B"`, `[{"type":"text","text":"B"}]`, 1), made)}},
		{"one that comes late moves, with its marker", Messages{}, []string{q, calls, user(a), on, user(b), on}, []int{0, 1, 2, 4, 3, 5}, []string{q, calls, user(a, b), on, on}},
		{"a text stands between", Messages{}, []string{q, calls, user(a), q, user(b)}, []int{0, 1, 2, 4, 3}, []string{q, calls, user(a, b), q}},
		{"Gemini's", Contents{}, []string{gq, gcalls, gemini(ga), gq, gemini(gb)}, []int{0, 1, 2, 4, 3}, []string{gq, gcalls, gemini(ga, gb), gq}},
		{"each a message of its own", Chat{}, []string{q, ccalls, cb, ca}, []int{0, 1, 3, 2}, []string{q, ccalls, cb, ca}},
	} {
		list := func(of []string) string { return `{"` + tt.api.List() + `":[` + strings.Join(of, ",") + `]}` }
		got, lost := write(tt.api, list(tt.list), func(m []winnow.Message) (out []winnow.Message) {
			for _, at := range tt.order {
				if at == standIn {
					out = append(out, winnow.Message{Role: winnow.RoleTool, ToolCallID: "a", Parts: []winnow.Part{{Text: "made"}}})
				} else {
					out = append(out, m[at])
				}
			}
			return out
		})
		assert.Equal(t, list(tt.want), got, tt.name)
		assert.Zero(t, lost, tt.name)
	}
}

// Markers of the client stay, and move to the block before where theirs goes.
func TestMarkers(t *testing.T) {
	block := func(text, marker string) string {
		if marker != "" {
			marker = `,"cache_control":{"type":"ephemeral","ttl":"` + marker + `"}`
		}
		return `{"type":"text","text":"` + text + `"` + marker + `}`
	}
	user := func(blocks ...string) string { return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}` }
	model := func(text string) string { return `{"role":"assistant","content":"` + text + `"}` }
	result := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"LONG","cache_control":{"type":"ephemeral"},"x":1}]}`
	call := `{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"tool_use","id":"c","name":"n","input":{}}]}`
	without := func(gone ...int) func([]winnow.Message) []winnow.Message {
		return func(m []winnow.Message) (out []winnow.Message) {
			for i := range m {
				if !slices.Contains(gone, i) {
					out = append(out, m[i])
				}
			}
			return out
		}
	}
	record := func(from, to int) func([]winnow.Message) []winnow.Message {
		return func(m []winnow.Message) []winnow.Message {
			return slices.Replace(m, from, to, winnow.Message{Role: winnow.RoleUser, Injected: true, Parts: []winnow.Part{{Text: "R"}}})
		}
	}
	for _, tt := range []struct {
		name string
		list []string
		edit func([]winnow.Message) []winnow.Message
		want []string
		lost int
	}{
		{"a result is shortened", []string{user(block("a", "")), call, result}, func(m []winnow.Message) []winnow.Message {
			m[2].Parts, m[2].Source = []winnow.Part{{Text: "S"}}, nil
			return m
		}, []string{user(block("a", "")), call, strings.Replace(result, "LONG", "S", 1)}, 0},
		{"its message goes", []string{user(block("a", "")), model("b"), user(block("c", "5m")), model("d"), user(block("e", ""))}, without(2),
			[]string{user(block("a", "")), `{"role":"assistant","content":[{"type":"text","text":"b","cache_control":{"type":"ephemeral","ttl":"5m"}}]}`, model("d"), user(block("e", ""))}, 0},
		{"a record stands there", []string{user(block("a", "")), model("b"), user(block("c", "1h")), model("d"), user(block("e", ""))}, record(1, 4),
			[]string{user(block("a", "")), user(block("R", "1h")), user(block("e", ""))}, 0},
		{"the one before has one, which lives longer", []string{user(block("a", ""), block("b", "1h")), model("c"), user(block("d", "5m")), model("e"), user(block("f", ""))}, without(1, 2, 3),
			[]string{user(block("a", "1h"), block("b", "1h")), user(block("f", ""))}, 0},
		{"nothing is before it", []string{user(block("a", "5m")), model("b"), user(block("c", ""))}, without(0, 1), []string{user(block("c", ""))}, 1},
		{"not on thinking", []string{user(block("a", "")), `{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"text","text":"b","cache_control":{"type":"ephemeral","ttl":"5m"}}]}`, user(block("c", ""))},
			func(m []winnow.Message) []winnow.Message { m[1].Parts, m[1].Source = m[1].Parts[:1], nil; return m },
			[]string{user(block("a", "5m")), `{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"}]}`, user(block("c", ""))}, 0},
		{"with a system message that is not shown", []string{user(block("a", "")), strings.Replace(user(block("s", "5m")), `"user"`, `"system","clear_at":"next_user_message"`, 1), model("b"), user(block("c", ""))}, without(0, 1),
			[]string{user(block("c", ""))}, 1},
		{"in what a search found", []string{user(block("a", "")), call, strings.Replace(result, `"LONG","cache_control":{"type":"ephemeral"}`, `[{"type":"search_result","source":"s","title":"t","content":[`+block("f", "5m")+`]}]`, 1), user(block("c", ""))},
			func(m []winnow.Message) []winnow.Message { return append(m[:1:1], m[3]) }, []string{user(block("a", "5m")), user(block("c", ""))}, 0},
	} {
		got, lost := write(Messages{}, `{"messages":[`+strings.Join(tt.list, ", ")+`]}`, tt.edit)
		assert.JSONEq(t, `{"messages":[`+strings.Join(tt.want, ",")+`]}`, got, "%s: %s", tt.name, got)
		assert.Equal(t, tt.lost, lost, tt.name)
	}
}

// TestChatMarkers has those that OpenRouter passes on to Anthropic.
func TestChatMarkers(t *testing.T) {
	const marker = `,"cache_control":{"type":"ephemeral"}`
	text := func(role, text, marker string) string {
		return `{"role":"` + role + `","content":[{"type":"text","text":"` + text + `"` + marker + `}]}`
	}
	call := `{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"n","arguments":"{}"}}]}`
	result := func(content string) string { return `{"role":"tool","tool_call_id":"c","content":` + content + `}` }
	long := result(`[{"type":"text","text":"LONG"` + marker + `,"x":1}]`)
	for _, tt := range []struct {
		name string
		list []string
		edit func([]winnow.Message) []winnow.Message
		want []string
		lost int
	}{
		{"a result is shortened", []string{text("user", "a", ""), call, long}, func(m []winnow.Message) []winnow.Message {
			m[2].Parts, m[2].Source = []winnow.Part{{Text: "S"}}, nil
			return m
		}, []string{text("user", "a", ""), call, strings.Replace(long, "LONG", "S", 1)}, 0},
		{"a step goes: not to a call", []string{text("user", "a", ""), `{"role":"assistant","content":"b"}`, text("user", "c", ""), call, result(`"r"`), text("user", "d", marker), text("user", "e", "")},
			func(m []winnow.Message) []winnow.Message { return append(m[:4:4], m[6:]...) },
			[]string{text("user", "a", ""), `{"role":"assistant","content":"b"}`, text("user", "c", marker), call, text("user", "e", "")}, 0},
		{"to a text", []string{text("user", "a", ""), `{"role":"assistant","content":"b"}`, text("user", "c", marker), text("user", "e", "")},
			func(m []winnow.Message) []winnow.Message { return append(m[:2:2], m[3:]...) },
			[]string{text("user", "a", ""), text("assistant", "b", marker), text("user", "e", "")}, 0},
		{"to a record", []string{text("user", "a", ""), call, long, text("user", "e", "")}, func(m []winnow.Message) []winnow.Message {
			return slices.Replace(m, 1, 3, winnow.Message{Role: winnow.RoleUser, Injected: true, Parts: []winnow.Part{{Text: "R"}}})
		}, []string{text("user", "a", ""), text("user", "R", marker), text("user", "e", "")}, 0},
		{"of a whole message", []string{text("user", "a", ""), `{"role":"assistant","content":"b"` + marker + `}`, text("user", "e", "")}, func(m []winnow.Message) []winnow.Message { return append(m[:1:1], m[2]) },
			[]string{text("user", "a", marker), text("user", "e", "")}, 0},
		{"none is before it", []string{text("user", "a", marker), text("user", "e", "")}, func(m []winnow.Message) []winnow.Message { return m[1:] },
			[]string{text("user", "e", "")}, 1},
	} {
		got, lost := write(Chat{}, `{"messages":[`+strings.Join(tt.list, ", ")+`]}`, tt.edit)
		assert.JSONEq(t, `{"messages":[`+strings.Join(tt.want, ",")+`]}`, got, "%s: %s", tt.name, got)
		assert.Equal(t, tt.lost, lost, tt.name)
	}
}

// TestEndMarks: where the next request may continue, and where what stays at a rewrite does.
func TestEndMarks(t *testing.T) {
	const marker = `,"cache_control":{"type":"ephemeral"}`
	text := func(role, text, marker string) string {
		return `{"role":"` + role + `","content":[{"type":"text","text":"` + text + `"` + marker + `}]}`
	}
	record := func(text string) winnow.Message {
		return winnow.Message{Role: winnow.RoleUser, Injected: true, Parts: []winnow.Part{{Text: text}}}
	}
	list := []string{text("system", "s", ""), text("system", "t", ""), text("user", "a", ""), text("assistant", "b", ""), text("user", "c", ""), text("assistant", "d", ""), text("user", "e", "")}
	want := []string{text("system", "s", ""), text("system", "t", marker), text("user", "a", ""), `{"role":"user","content":"R"}`, text("user", "Q", marker), text("user", "c", marker), text("assistant", "d", ""), text("user", "e", marker)}
	got, _ := writeMarked(Chat{}, `{"messages":[`+strings.Join(list, ",")+`]}`, func(m []winnow.Message) []winnow.Message {
		return slices.Replace(m, 3, 4, record("R"), record("Q"))
	}, EndMarks)
	assert.JSONEq(t, `{"messages":[`+strings.Join(want, ",")+`]}`, got)
}

// TestBreakpoints: behind what winnow has made, and nowhere else, stands a breakpoint of OpenAI's, in the blocks that
// each of its APIs has.
func TestBreakpoints(t *testing.T) {
	record := func(m []winnow.Message) []winnow.Message {
		return slices.Insert(m[:2], 1, winnow.Message{Role: winnow.RoleUser, Injected: true, Parts: []winnow.Part{{Text: "R \"1\""}}})
	}
	const explicit = `,"prompt_cache_breakpoint":{"mode":"explicit"}}]}`
	for _, tt := range []struct {
		api              API
		user, more, made string
	}{
		{Chat{}, `{"role":"user","content":"a"}`, `{"role":"user","content":"b"}`, `{"role":"user","content":[{"type":"text","text":"R \"1\""` + explicit},
		{Responses{}, `{"role":"user","content":"a"}`, `{"role":"user","content":[{"type":"input_text","text":"b"}]}`,
			`{"type":"message","role":"user","content":[{"type":"input_text","text":"R \"1\""` + explicit},
	} {
		list := tt.api.List()
		got, _ := writeMarked(tt.api, `{"`+list+`":[`+tt.user+`,`+tt.more+`]}`, record, MadeMarks)
		assert.JSONEq(t, `{"`+list+`":[`+tt.user+`,`+tt.made+`,`+tt.more+`]}`, got)

		answer := strings.Replace(strings.Replace(tt.made, `"user"`, `"assistant"`, 1), `"input_text"`, `"output_text"`, 1)
		got, lost := write(tt.api, `{"`+list+`":[`+tt.user+`,`+answer+`,`+tt.more+`]}`, func(m []winnow.Message) []winnow.Message { return append(m[:1:1], m[2]) })
		assert.Zero(t, lost)
		assert.Contains(t, got, `"a"`+explicit, "the client's own moves")
	}
}

func FuzzRead(f *testing.F) {
	for name := range apis {
		r := &random{Rand: rand.New(rand.NewPCG(7, 7))}
		f.Add(r.body(name))
	}
	f.Fuzz(func(t *testing.T, body string) {
		if !json.Valid([]byte(body)) {
			return
		}
		for name, api := range apis {
			got, _ := write(api, body, func(m []winnow.Message) []winnow.Message { return m })
			assert.Equal(t, body, got, name)
			half, _ := write(api, body, func(m []winnow.Message) []winnow.Message {
				out := m[:0]
				for i := range m {
					if i%2 == 0 {
						continue
					}
					if len(m[i].Parts) > 0 {
						m[i].Parts, m[i].Source = []winnow.Part{{Text: "short"}}, nil
					}
					out = append(out, m[i])
				}
				return out
			})
			assert.True(t, json.Valid([]byte(half)), "%s: %q became %q", name, body, half)
		}
	})
}

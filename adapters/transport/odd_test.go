package transport_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/adapters/transport"
	"github.com/winnowgo/winnow/internal/test/provider"
)

// odd makes conversations of all that clients send which most do not. Each object has a member of its own, x, by which
// it is found again.
type odd struct {
	*rand.Rand
	n       int
	markers int
	repeats bool // ids of calls are the same in each turn
	ids     bool // Gemini's calls have ids
	turn    int
}

func (o *odd) next() int { o.n++; return o.n }

func (o *odd) object(members ...string) string {
	return "{" + strings.Join(append(members, fmt.Sprintf(`"x":%d`, o.next())), ",") + "}"
}

func listOf(of ...string) string { return "[" + strings.Join(of, ",") + "]" }

func (o *odd) one(of ...string) string { return of[o.IntN(len(of))] }

func (o *odd) long() string {
	return strings.Repeat(fmt.Sprintf(`line %d of it: \"all\" is well \u00e9\n`, o.next()), 20+o.IntN(100))
}

func (o *odd) typed() string { return fmt.Sprintf("TYPED-%d do it, please", o.next()) }

// marker is a marker for the prompt cache, of which a request has three at most.
func (o *odd) marker() string {
	if o.markers == 3 || o.IntN(30) > 0 {
		return `"m":0`
	}
	o.markers++
	return `"cache_control":{"type":"ephemeral"}`
}

func (o *odd) id(i int) string {
	if o.repeats {
		return fmt.Sprint("call_", i)
	}
	return fmt.Sprint("call_", o.next())
}

const pixel = `iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==`

// torn returns results in another order, at times without one of several, as of an agent that was interrupted.
func (o *odd) torn(results []string) []string {
	o.Shuffle(len(results), func(i, k int) { results[i], results[k] = results[k], results[i] })
	if len(results) > 1 && o.IntN(4) == 0 {
		return results[1:]
	}
	return results
}

// messages is a turn of Anthropic's API.
func (o *odd) messages() (list []string) {
	text := func(s string) string { return o.object(`"type":"text"`, `"text":"`+s+`"`, o.marker()) }
	image := o.object(`"type":"image"`, `"source":{"type":"base64","media_type":"image/png","data":"`+pixel+`"}`)
	document := o.object(`"type":"document"`, `"title":"T"`, `"citations":{"enabled":true}`, `"source":{"type":"text","media_type":"text/plain","data":"A document."}`)
	reminder := text("<system-reminder>\\nThe list of tasks is empty.\\n</system-reminder>")
	asked := o.one(`"`+o.typed()+`"`, listOf(text(o.typed())), listOf(reminder, text(o.typed())), listOf(image, text(o.typed())),
		listOf(document, text(o.typed())), listOf(o.object(`"type":"container_upload"`, `"file_id":"file_1"`), text(o.typed())))
	list = append(list, o.object(`"role":"user"`, `"content":`+asked))
	for range 1 + o.IntN(3) {
		var said, results []string
		served := func(call, result, content string) {
			id := fmt.Sprint("srvtoolu_", o.next())
			said = append(said, o.object(`"type":"`+call+`"`, `"id":"`+id+`"`, `"name":"web_search"`, `"server_name":"s"`, `"input":{"query":"q"}`),
				o.object(`"type":"`+result+`"`, `"tool_use_id":"`+id+`"`, `"content":`+content))
		}
		switch o.IntN(5) {
		case 0:
			served("server_tool_use", "web_search_tool_result", listOf(o.object(`"type":"web_search_result"`, `"url":"u"`, `"title":"t"`, `"encrypted_content":"ENC"`)))
		case 1:
			served("mcp_tool_use", "mcp_tool_result", listOf(o.object(`"type":"text"`, `"text":"`+o.long()+`"`)))
		case 2:
			served("server_tool_use", "bash_code_execution_tool_result", o.object(`"type":"bash_code_execution_result"`, `"stdout":"`+o.long()+`"`, `"return_code":0`))
		case 3:
			said = append(said, o.object(`"type":"text"`, `"text":"As it says."`, `"citations":[{"type":"char_location","cited_text":"A","document_index":0,"start_char_index":0,"end_char_index":1}]`))
		}
		for i := range 1 + o.IntN(3) {
			id := o.id(i)
			said = append(said, o.object(`"type":"tool_use"`, `"id":"`+id+`"`, `"name":"read"`, `"input":{"path":"a/`+id+`.go"}`, `"caller":{"type":"direct"}`, o.marker()))
			content := o.one(`"content":"`+o.long()+`"`, `"content":`+listOf(text(o.long())), `"content":`+listOf(text(o.long()), image, text(o.long())),
				`"content":`+listOf(o.object(`"type":"search_result"`, `"source":"s"`, `"title":"t"`, `"content":`+listOf(text(o.long())))), `"content":"failed","is_error":true`,
				`"content":`+listOf(o.object(`"type":"tool_reference"`, `"tool_name":"read"`)), `"is_error":false`)
			results = append(results, o.object(`"type":"tool_result"`, `"tool_use_id":"`+id+`"`, content, o.marker()))
		}
		results = o.torn(results)
		if o.IntN(3) == 0 {
			results = append(results, reminder)
		}
		list = append(list, o.object(`"role":"assistant"`, `"content":`+listOf(said...)), o.object(`"role":"user"`, `"content":`+listOf(results...)))
	}
	return append(list, o.object(`"role":"assistant"`, `"content":"Done."`))
}

// chat is a turn of Chat Completions.
func (o *odd) chat() (list []string) {
	text := func(s string) string { return o.object(`"type":"text"`, `"text":"`+s+`"`, o.marker()) }
	if o.turn == 0 {
		list = append(list, o.object(`"role":"developer"`, `"content":"Be brief."`))
	}
	asked := o.one(`"`+o.typed()+`"`, listOf(text(o.typed())), listOf(text(o.typed()), o.object(`"type":"image_url"`, `"image_url":{"url":"data:image/png;base64,`+pixel+`","detail":"low"}`)),
		listOf(text(o.typed()), o.object(`"type":"input_audio"`, `"input_audio":{"data":"AAAA","format":"wav"}`)), listOf(text(o.typed()), o.object(`"type":"file"`, `"file":{"file_id":"f"}`)))
	list = append(list, o.object(`"role":"user"`, `"name":"ann"`, `"content":`+asked))
	for range 1 + o.IntN(3) {
		var calls, results []string
		for i := range 1 + o.IntN(3) {
			id := o.id(i)
			call := o.object(`"type":"function"`, `"id":"`+id+`"`, `"function":`+o.object(`"name":"read"`, `"arguments":"{ \"path\":\"a/`+id+`.go\" }"`))
			calls = append(calls, call)
			results = append(results, o.object(`"role":"tool"`, `"tool_call_id":"`+id+`"`, `"content":`+o.one(`"`+o.long()+`"`, listOf(text(o.long())), listOf(text(o.long()), text(o.long())), `""`)))
		}
		results = o.torn(results)
		said := o.one(`"content":null`, `"content":"I look."`, `"content":"","refusal":null`, `"content":"So.","reasoning_content":"Hm."`, `"content":`+listOf(o.object(`"type":"text"`, `"text":"I look."`)))
		list = append(append(list, o.object(`"role":"assistant"`, said, `"tool_calls":`+listOf(calls...))), results...)
	}
	return append(list, o.one(o.object(`"role":"assistant"`, `"content":"Done."`), o.object(`"role":"assistant"`, `"content":"", "refusal":"No."`),
		o.object(`"role":"assistant"`, `"content":"Heard.","audio":{"id":"audio_1"}`)))
}

// responses is a turn of Responses.
func (o *odd) responses() (list []string) {
	text := func(s string) string { return o.object(`"type":"input_text"`, `"text":"`+s+`"`) }
	image := o.object(`"type":"input_image"`, `"image_url":"data:image/png;base64,`+pixel+`"`)
	list = append(list, o.one(o.object(`"role":"user"`, `"content":"`+o.typed()+`"`), o.object(`"type":"message"`, `"role":"user"`, `"content":`+listOf(text(o.typed()), image))))
	if o.IntN(4) == 0 {
		list = append(list, o.object(`"type":"message"`, `"role":"developer"`, `"content":`+listOf(text("Permissions: all."))))
	}
	for range 1 + o.IntN(3) {
		var results []string
		last := ""
		if o.IntN(2) == 0 {
			last = fmt.Sprint("rs_", o.next())
			list = append(list, o.object(`"type":"reasoning"`, `"id":"`+last+`"`, `"summary":[{"type":"summary_text","text":"Hm."}]`, `"encrypted_content":"ENC"`))
			last = " of " + last
		}
		switch o.IntN(6) {
		case 0:
			list = append(list, o.object(`"type":"web_search_call"`, `"id":"ws_`+fmt.Sprint(o.next())+last+`"`, `"status":"completed"`, `"action":{"type":"search","query":"q"}`))
			last = ""
		case 1:
			list = append(list, o.object(`"type":"mcp_call"`, `"id":"mcp_`+fmt.Sprint(o.next())+last+`"`, `"server_label":"s"`, `"name":"n"`, `"arguments":"{}"`, `"output":"`+o.long()+`"`))
			last = ""
		case 2:
			list = append(list, o.object(`"type":"message"`, `"id":"msg_`+fmt.Sprint(o.next())+last+`"`, `"role":"assistant"`, `"status":"completed"`,
				`"content":`+listOf(o.object(`"type":"output_text"`, `"text":"I look."`, `"annotations":[{"type":"url_citation","url":"u"}]`))))
			last = ""
		}
		for i := range 1 + o.IntN(3) {
			id := o.id(i)
			output := `"output":` + o.one(`"`+o.long()+`"`, listOf(text(o.long()), image), listOf(text(o.long())), `""`)
			switch o.IntN(6) {
			case 0:
				list = append(list, o.object(`"type":"custom_tool_call"`, `"id":"ctc_`+fmt.Sprint(o.next())+last+`"`, `"call_id":"`+id+`"`, `"name":"sh"`, `"input":"ls"`))
				results = append(results, o.object(`"type":"custom_tool_call_output"`, `"call_id":"`+id+`"`, output))
			case 1:
				list = append(list, o.object(`"type":"shell_call"`, `"id":"sh_`+fmt.Sprint(o.next())+last+`"`, `"call_id":"`+id+`"`, `"action":{"commands":["ls"]}`, `"status":"completed"`))
				results = append(results, o.object(`"type":"shell_call_output"`, `"call_id":"`+id+`"`, `"output":[{"stdout":"`+o.long()+`","stderr":"","outcome":{"type":"exit","exit_code":0}}]`))
			default:
				list = append(list, o.object(`"type":"function_call"`, `"id":"fc_`+fmt.Sprint(o.next())+last+`"`, `"call_id":"`+id+`"`, `"name":"read"`, `"arguments":"{ \"path\":\"a/`+id+`.go\" }"`))
				results = append(results, o.object(`"type":"function_call_output"`, `"call_id":"`+id+`"`, output))
			}
			last = ""
		}
		results = o.torn(results)
		list = append(list, results...)
	}
	return append(list, o.object(`"role":"assistant"`, `"content":"Done."`))
}

var cleared = regexp.MustCompile(`(line \d+ of it: \\"all\\" is well \\u00e9\\n)+`)

// shortened is what a client leaves of its history that shortens it by itself: old results, or the first turns, go.
func (o *odd) shortened(list []string) []string {
	if o.IntN(4) > 0 {
		return list
	}
	if begin := o.IntN(len(list) + 1); o.turn > 3 && begin < len(list)/2 && typed.MatchString(list[begin]) {
		return slices.Clone(list[begin:])
	}
	list = slices.Clone(list)
	for i := range list {
		if o.IntN(4) == 0 {
			list[i] = cleared.ReplaceAllString(list[i], "[cleared]")
		}
	}
	return list
}

// contents is a turn of Gemini's API.
func (o *odd) contents() (list []string) {
	text := func(s string) string { return o.object(`"text":"` + s + `"`) }
	data := o.object(`"inlineData":{"mimeType":"image/png","data":"` + pixel + `"}`)
	list = append(list, o.object(o.one(`"role":"user"`, `"r":0`), `"parts":`+o.one(listOf(text(o.typed())), listOf(data, text(o.typed())), listOf(o.object(`"fileData":{"mimeType":"application/pdf","fileUri":"u"}`), text(o.typed())))))
	for range 1 + o.IntN(3) {
		var said, results []string
		if o.IntN(2) == 0 {
			said = append(said, o.object(`"text":"Hm."`, `"thought":true`))
		}
		if o.IntN(4) == 0 {
			said = append(said, o.object(`"executableCode":{"language":"PYTHON","code":"1"}`), o.object(`"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"`+o.long()+`"}`))
		}
		for i := range 1 + o.IntN(3) {
			id := ""
			if o.ids {
				id = `"id":"` + o.id(i) + `",`
			}
			signature := `"s":0`
			if i == 0 {
				signature = `"thoughtSignature":"U0lH"`
			}
			said = append(said, o.object(`"functionCall":{`+id+`"name":"read","args":{"path":"`+fmt.Sprint(o.next())+`"}}`, signature))
			results = append(results, o.object(`"functionResponse":{`+id+`"name":"read","response":`+o.one(`{"output":"`+o.long()+`"}`, `{"result":"`+o.long()+`"}`, `{"error":"failed"}`,
				`{"lines":["`+o.long()+`"],"n":1}`, `{"output":"`+o.long()+`"},"parts":[{"inlineData":{"mimeType":"image/png","data":"`+pixel+`"}}]`)+`}`))
		}
		if o.ids {
			results = o.torn(results)
		}
		list = append(list, o.object(`"role":"model"`, `"parts":`+listOf(said...)), o.object(`"role":"user"`, `"parts":`+listOf(results...)))
	}
	return append(list, o.object(`"role":"model"`, `"parts":`+listOf(text("Done."))))
}

var snakes = map[string]string{"functionCall": "function_call", "functionResponse": "function_response", "inlineData": "inline_data", "mimeType": "mime_type",
	"fileData": "file_data", "fileUri": "file_uri", "thoughtSignature": "thought_signature", "executableCode": "executable_code", "codeExecutionResult": "code_execution_result"}

func renamed(text string, to map[string]string, back bool) string {
	for a, b := range to {
		if back {
			a, b = b, a
		}
		text = strings.ReplaceAll(text, `"`+a+`":`, `"`+b+`":`)
	}
	return text
}

// objects collects the objects of a body by their x.
func objects(v any, in map[float64]map[string]any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			objects(e, in)
		}
	case map[string]any:
		if x, ok := v["x"].(float64); ok {
			in[x] = v
		}
		for _, e := range v {
			objects(e, in)
		}
	}
}

var (
	shown = regexp.MustCompile("^(text|content|output|response|parts|.*call_id|tool_use_id|tool_calls|function_?[Rr]esponse|function_?[Cc]all|input)$")
	said  = regexp.MustCompile(`"role":"(assistant|model)"|"type":"\w+_call"|"type":"reasoning"`)
	typed = regexp.MustCompile(`TYPED-\d+ `)
)

// differs says in what an object differs from the client's, beside its texts, its ids and what stands in it.
func differs(sent, of map[string]any) string {
	for name, v := range of {
		now, is := sent[name]
		switch {
		case name == "cache_control", name == "id":
		case !is:
			return "without " + name
		case !shown.MatchString(name) && !reflect.DeepEqual(v, now):
			return fmt.Sprintf("%s: %v, was %v", name, now, v)
		}
	}
	return ""
}

// oddAPI is an API in which odd conversations are sent.
type oddAPI struct {
	path, list string
	turn       func(*odd) []string
	check      func(body, list []byte) error
}

// checkSent asserts that what was sent is valid, and has all of body but texts and whole messages.
func (a *oddAPI) checkSent(t *testing.T, body, sent string, isLogged bool) {
	var was, is map[string]any
	require.NoError(t, json.Unmarshal([]byte(body), &was))
	require.NoError(t, json.Unmarshal([]byte(sent), &is), "%s", sent)
	if a.list == "contents" { // what checks it knows one way of writing
		body, sent = renamed(body, snakes, true), renamed(sent, snakes, true)
	}
	listIn := func(body string) []byte {
		var q map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(body), &q))
		return q[a.list]
	}
	if err := a.check([]byte(sent), listIn(sent)); err != nil {
		require.NoError(t, a.check([]byte(body), listIn(body)), "the client's own")
		require.NoError(t, err, "%s", sent)
	}
	theirs, ours := map[float64]map[string]any{}, map[float64]map[string]any{}
	objects(was, theirs)
	objects(is, ours)
	for x, of := range ours {
		require.Empty(t, differs(of, theirs[x]), "%v", of)
	}
	for _, text := range typed.FindAllString(body, -1) {
		require.Contains(t, sent, text)
	}
	marks := func(s string) int { return strings.Count(s, `"cache_control"`) }
	require.LessOrEqual(t, marks(sent), 4)
	require.True(t, isLogged || marks(sent) >= marks(body), "a marker is lost")
}

// TestOddConversations: whatever a client sends, requests are valid, and nothing of its own is lost beside texts.
func TestOddConversations(t *testing.T) {
	const tools = `"tools":[{"type":"function","name":"read","function":{"name":"read"},"input_schema":{"type":"object"}},{"type":"function","name":"sh","function":{"name":"sh"},"input_schema":{"type":"object"}}]`
	strict := provider.New(provider.Options{Window: adaptertest.HugeWindow, Prefill: true})
	serve := func(path string) func(body, _ []byte) error {
		return func(body, _ []byte) error {
			w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, path, strings.NewReader(string(body)))
			r.Header = http.Header{"X-Api-Key": {"k"}, "Authorization": {"Bearer k"}, "Anthropic-Version": {"2023-06-01"}}
			if strict.ServeHTTP(w, r); w.Code != http.StatusOK {
				return fmt.Errorf("%s", w.Body)
			}
			return nil
		}
	}
	valid := func(f func([]byte) error) func(_, list []byte) error {
		return func(_, list []byte) error { return f(list) }
	}
	for name, api := range map[string]oddAPI{
		"messages":  {"/v1/messages", "messages", (*odd).messages, serve("/v1/messages")},
		"chat":      {"/v1/chat/completions", "messages", (*odd).chat, serve("/v1/chat/completions")},
		"responses": {"/v1/responses", "input", (*odd).responses, valid(adaptertest.ValidItems)},
		"contents":  {"/v1beta/models/gemini-3-pro:generateContent", "contents", (*odd).contents, valid(adaptertest.ValidContents)},
	} {
		for seed := range uint64(*seeds) {
			t.Run(fmt.Sprint(name, seed), func(t *testing.T) {
				o := &odd{Rand: rand.New(rand.NewPCG(seed, 5)), repeats: seed%3 == 1, ids: seed%2 == 0}
				var log strings.Builder
				var got []byte
				tr, err := transport.New(roundTrip(func(r *http.Request) (*http.Response, error) {
					got, _ = io.ReadAll(r.Body)
					return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
				}), &transport.Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), MarkCache: seed%4 == 0,
					Manager: func(*http.Request, string) (int, *winnow.Options) { return 12_000, nil }})
				require.NoError(t, err)
				var list []string
				smaller := 0
				for o.turn = range 15 {
					list = o.shortened(list)
					turn := api.turn(o)
					for i, element := range turn {
						if list = append(list, element); said.MatchString(element) || i+1 < len(turn) && !said.MatchString(turn[i+1]) {
							continue // no request ends here
						}
						body := `{"model":"` + map[bool]string{true: "gpt-6.1-sol", false: "claude-opus-4-5"}[name == "responses"] + `","max_tokens":500,` + tools + `,"metadata":{"a": [1]},"` + api.list + `":` + listOf(list...) + `}`
						if name == "contents" && seed%4 > 1 {
							body = renamed(body, snakes, false)
						}
						r, err := http.NewRequest(http.MethodPost, "http://x"+api.path, strings.NewReader(body))
						require.NoError(t, err)
						res, err := tr.RoundTrip(r)
						require.NoError(t, err)
						_, _ = io.ReadAll(res.Body)
						_ = res.Body.Close()
						api.checkSent(t, body, string(got), strings.Contains(log.String(), "no place"))
						if len(got) < len(body) {
							smaller++
						}
					}
				}
				assert.Greater(t, smaller, 10, "%s", &log)
				assert.NotContains(t, log.String(), "not managed")
			})
		}
	}
}

var seeds = flag.Int("odd.seeds", 3, "how many odd conversations are sent in each API")

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

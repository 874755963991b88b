package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
	"github.com/winnowgo/winnow/internal/test/provider"
	"github.com/winnowgo/winnow/winnowtest"
)

// The conversation of the cases: a question, a call, its result, an answer.
const (
	begun  = `{"role":"user","content":[{"type":"text","text":"` + adapter.Opening + `"}]}`
	ask    = `{"role":"user","content":[{"type":"text","text":"q"}]}`
	said   = `{"role":"assistant","content":[{"type":"text","text":"a"}]}`
	callA  = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{"path":"x"}}]}`
	callAB = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{}},{"type":"tool_use","id":"b","name":"ls","input":{}}]}`
	gotA   = `{"role":"user","content":[` + resA + `]}`
	gotAB  = `{"role":"user","content":[` + resA + `,` + resB + `]}`
	gotB   = `{"role":"user","content":[` + resB + `]}`
	resA   = `{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"ra"}]}`
	resB   = `{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"rb"}]}`
	later  = `{"type":"text","text":"[A later result of read, call a:]"}`
)

const asJSON = "JSON"

// turn is a question, an assistant message with a call and these blocks around it, its result and a question.
func turn(before, after string) []string {
	return []string{ask, `{"role":"assistant","content":[` + before + `{"type":"tool_use","id":"a","name":"read","input":{}}` + after + `]}`, gotA, ask}
}

func withResult(content string) []string {
	return []string{ask, callA, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"` + content + `}]}`, said, ask}
}

const picture = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}`

// found is a search result with a hit.
func found(before string) string {
	return `{"type":"search_result","source":"s","title":"t","content":[` + before + `{"type":"text","text":"hit"}]}`
}

// served is an answer with a call that the API ran itself, at a server that returned content.
func served(content string) string {
	return `{"role":"assistant","content":[{"type":"mcp_tool_use","id":"m","name":"x","server_name":"s","input":{}},{"type":"mcp_tool_result","tool_use_id":"m","is_error":false,"content":[` + content + `]}]}`
}

var cases = []adaptertest.Case{
	// What the SDK does not know.
	{Name: "unknown block before a call", Imports: turn(`{"type":"mcp_tool_use","id":"m","x":[1]},`, ``), Forms: asJSON, Reason: "an unknown block stays in its message"},
	{Name: "unknown block behind a call", Imports: turn(``, `,{"type":"compaction","content":"c"}`), Forms: asJSON, Reason: "in its place"},
	{Name: "unknown blocks around", Imports: turn(`{"type":"future"},`, `,{"type":"future","n":null}`), Forms: asJSON, Reason: "each of them"},
	{Name: "unknown block alone", Imports: []string{ask, `{"role":"assistant","content":[{"type":"future","x":1}]}`, ask}, Forms: asJSON, Reason: "in its role"},
	{Name: "unknown block beside results", Imports: []string{ask, callA, `{"role":"user","content":[` + resA + `,{"type":"future"}]}`, ask}, Forms: asJSON, Reason: "of the user as well"},
	{Name: "unknown block of a user", Imports: []string{`{"role":"user","content":[{"type":"text","text":"q"},{"type":"container_upload","file_id":"f"}]}`, said, ask}, Forms: asJSON, Reason: "files, and what comes next"},
	{Name: "unknown block in a result", Imports: withResult(`,"content":[{"type":"future","x":1},{"type":"text","text":"t"}]`), Forms: asJSON, Reason: "within a result"},
	{Name: "unknown member of a message", Imports: []string{`{"role":"user","content":[{"type":"text","text":"q"}],"clear_at":"never"}`, said, ask}, Forms: asJSON, Reason: "at every level"},
	{Name: "unknown member of a text", Imports: []string{`{"role":"user","content":[{"type":"text","text":"q","later":{"x":1}}]}`, said, ask}, Forms: asJSON, Reason: "at every level"},
	{Name: "unknown member of a call", Imports: []string{ask, `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{},"caller":{"type":"direct"}}]}`, gotA, ask}, Forms: asJSON, Reason: "at every level"},
	{Name: "unknown member of a result", Imports: withResult(`,"content":[{"type":"text","text":"t","later":1}],"later":2`), Forms: asJSON, Reason: "at every level"},
	{Name: "unknown member of a call whose id is replaced", Imports: []string{ask, `{"role":"assistant","content":[{"type":"tool_use","id":"read:0","name":"read","input":{},"later":1}]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"read:0","content":"r","later":2}]}`, ask},
		Want:  ask + `{"role":"assistant","content":[{"type":"tool_use","id":"call_2dddf05adcfc0532d64a31fd","name":"read","input":{},"later":1}]}{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_2dddf05adcfc0532d64a31fd","content":"r","later":2}]}` + ask,
		Forms: asJSON, Reason: "the rest stays"},
	{Name: "unknown member of a message that is rebuilt", Imports: []string{`{"role":"user","content":[{"type":"text","text":" "},{"type":"text","text":"q","later":1}],"mine":2}`},
		Want: `{"role":"user","content":[{"type":"text","text":"q","later":1}]}`, Forms: asJSON, Reason: "the blocks that stay are the caller's"},
	{Name: "unknown role", Imports: []string{ask, `{"role":"critic","content":[{"type":"text","text":"c"}]}`, said, ask}, Forms: asJSON, Reason: "carried"},
	{Name: "unknown content", Imports: []string{ask, `{"role":"assistant","content":{"later":1}}`, ask}, Forms: asJSON, Reason: "in its role"},
	{Name: "known blocks", Imports: []string{`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}},{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"},"title":"t"}]}`, said, ask}, Reason: "as they are"},
	{Name: "cache markers", Imports: []string{`{"role":"user","content":[{"type":"text","text":"q","cache_control":{"type":"ephemeral"}}]}`, said, ask}, Reason: "as they are"},
	{Name: "a server's tool", Imports: turn(`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"q"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","title":"t","url":"u","encrypted_content":"e"}]},`, ``), Reason: "its result stays in the message"},

	{Name: "a search for tools", Imports: turn(`{"type":"server_tool_use","id":"srvtoolu_1","name":"tool_search_tool_bm25","input":{"query":"q"}},{"type":"tool_search_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"tool_search_tool_search_result","tool_references":[{"type":"tool_reference","tool_name":"read"}]}},`, ``), Reason: "what it found stays loaded"},
	{Name: "a search for tools without its result", Imports: turn(`{"type":"text","text":"a"},{"type":"server_tool_use","id":"srvtoolu_1","name":"tool_search_tool_bm25","input":{"query":"q"}},`, ``),
		Want: strings.Join(turn(`{"type":"text","text":"a"},`, ``), ""), Reason: "half of a pair is not sent"},
	{Name: "a reference to a tool in a result", Imports: withResult(`,"content":[{"type":"tool_reference","tool_name":"read"}]`), Forms: asJSON, Reason: "of a search that the host runs"},
	{Name: "a tool of an MCP server", Imports: turn(`{"type":"mcp_tool_use","id":"m","name":"n","server_name":"s","input":{}},{"type":"mcp_tool_result","tool_use_id":"m","content":[]},`, ``), Forms: asJSON, Reason: "its result stays in the message"},
	{Name: "a tool of an MCP server without its result", Imports: turn(`{"type":"thinking","thinking":"t","signature":"c2ln"},{"type":"text","text":"a"},{"type":"mcp_tool_use","id":"m","name":"n","server_name":"s","input":{}},`, ``),
		Want: strings.Join(turn(`{"type":"thinking","thinking":"t","signature":"c2ln"},{"type":"text","text":"a"},`, ``), ""), Forms: asJSON, Reason: "half of a pair is not sent; what stands beside it is"},
	{Name: "a result of code without its call", Imports: turn(`{"type":"text","text":"a"},{"type":"bash_code_execution_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"bash_code_execution_tool_result_error","error_code":"unavailable"}},`, ``),
		Want: strings.Join(turn(`{"type":"text","text":"a"},`, ``), ""), Reason: "its call was in an answer that is gone"},
	{Name: "a pause", Imports: []string{ask, `{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}]}`}, Reason: "the API goes on with it"},
	{Name: "a pause, and the rest", Imports: []string{ask, `{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}]}`, `{"role":"assistant","content":[{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},{"type":"text","text":"a"}]}`, ask}, Reason: "two answers of one turn"},

	// A call whose result comes twice.
	{Name: "another result", Imports: []string{ask, callA, gotA, said, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"done"},{"type":"image","source":{"type":"url","url":"u"}}]},{"type":"text","text":"fyi"}]}`},
		Want: ask + callA + gotA + said + `{"role":"user","content":[` + later + `,{"type":"text","text":"done"},{"type":"image","source":{"type":"url","url":"u"}}]}{"role":"user","content":[{"type":"text","text":"fyi"}]}`, Reason: "it is shown where it stands"},
	{Name: "another result before an answer", Imports: []string{ask, callA, gotA, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"done"}]}]}`, said, ask},
		Want: ask + callA + `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"done"}]}]}` + said + ask, Reason: "in the place of the first, which the model has not seen"},
	{Name: "the same result again", Imports: []string{ask, callA, gotA, said, gotA, ask}, Want: ask + callA + gotA + said + ask, Reason: "it says nothing new"},

	// Results.
	{Name: "result alone", Imports: []string{ask, callA, gotA}, Reason: "the usual loop"},
	{Name: "results in two imports", Imports: []string{ask, callAB, gotA, gotB, ask}, Want: ask + callAB + gotAB + ask, Reason: "one message for all"},
	{Name: "results out of order", Imports: []string{ask, callAB, `{"role":"user","content":[` + resB + `,` + resA + `]}`, ask}, Want: ask + callAB + gotAB + ask, Reason: "in the order of the calls"},
	{Name: "results out of order, in one import", Imports: []string{ask + callAB + `{"role":"user","content":[` + resB + `,` + resA + `]}` + ask}, Reason: "as the caller has them"},
	{Name: "two imports, out of order", Imports: []string{ask, callAB, gotB, gotA, ask}, Want: ask + callAB + gotAB + ask, Reason: "in the order of the calls"},
	{Name: "call and result in one import", Imports: []string{ask + callA + gotA + ask}, Reason: "as read from a file"},
	{Name: "a word before the result", Imports: []string{ask, callA, ask, gotA}, Want: ask + callA + gotA + ask, Reason: "results come first"},
	{Name: "a word before the result, in its message", Imports: []string{ask, callA, `{"role":"user","content":[{"type":"text","text":"w"},` + resA + `]}`}, Want: ask + callA + `{"role":"user","content":[` + resA + `,{"type":"text","text":"w"}]}`, Reason: "results come first"},
	{Name: "a word behind the result", Imports: []string{ask, callA, `{"role":"user","content":[` + resA + `,{"type":"text","text":"w"}]}`}, Reason: "as it is"},
	{Name: "result twice", Imports: []string{ask, callA, gotA, gotA, ask}, Want: ask + callA + gotA + ask, Reason: "the first counts"},
	{Name: "result missing", Imports: []string{ask, callAB, gotA, ask}, Want: ask + callAB + `{"role":"user","content":[` + resA + `,{"type":"tool_result","tool_use_id":"b","is_error":true,"content":[{"type":"text","text":"[No result: the conversation has no result for this call. Whether it ran is not known.]"}]}]}` + ask, Reason: "an error stands in"},
	{Name: "result of nothing", Imports: []string{ask, said, gotA, ask}, Want: ask + said + ask, Reason: "it goes"},
	{Name: "history begins with a result", Imports: []string{gotA, said, ask}, Want: begun + said + ask, Reason: "a request begins with the user"},
	{Name: "history begins with the assistant", Imports: []string{said + ask}, Reason: "the caller sends it so, and Claude takes it"},
	{Name: "nothing but an empty message behind the assistant", Imports: []string{said + `{"role":"user","content":[]}`}, Want: begun + said, Reason: "as when the answer is imported alone"},
	{Name: "nothing but a blank message behind the assistant", Imports: []string{said + `{"role":"user","content":[{"type":"text","text":" "}]}`}, Want: begun + said, Reason: "it is not sent"},
	{Name: "the same id in two turns", Imports: []string{ask, callA, gotA, callA, gotA, ask},
		Want:   ask + callA + gotA + strings.ReplaceAll(callA, `"id":"a"`, `"id":"a_2"`) + strings.ReplaceAll(gotA, `"tool_use_id":"a"`, `"tool_use_id":"a_2"`) + ask,
		Reason: "unique in the request"},
	{Name: "result with an image", Imports: withResult(`,"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}]`), Reason: "as it is"},
	{Name: "error with an image", Imports: withResult(`,"is_error":true,"content":[{"type":"text","text":"e"},{"type":"image","source":{"type":"url","url":"u"}}]`),
		Want: ask + callA + `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":[{"type":"text","text":"e"},{"type":"text","text":"[image]"}]},{"type":"image","source":{"type":"url","url":"u"}}]}` + said + ask, Reason: "an error holds text only"},

	// Empty content in each spelling.
	{Name: "result without content", Imports: withResult(``), Reason: "accepted"},
	{Name: "result with an empty text", Imports: withResult(`,"content":""`), Forms: asJSON, Reason: "accepted"},
	{Name: "result with an empty list", Imports: withResult(`,"content":[]`), Want: strings.Join(withResult(``), ""), Reason: "refused"},
	{Name: "result with an empty block", Imports: withResult(`,"content":[{"type":"text","text":""}]`), Want: strings.Join(withResult(``), ""), Reason: "refused"},
	{Name: "result with a blank block", Imports: withResult(`,"content":[{"type":"text","text":" "}]`), Want: strings.Join(withResult(``), ""), Reason: "refused"},
	{Name: "result with a null", Imports: withResult(`,"content":null`), Forms: asJSON, Reason: "as if it was left out"},
	{Name: "text as content", Imports: []string{`{"role":"user","content":"q"}`, `{"role":"assistant","content":"a"}`, `{"role":"user","content":"q"}`}, Forms: asJSON, Reason: "as it is"},
	{Name: "empty text beside an image in a result", Imports: withResult(`,"content":[{"type":"text","text":""},` + picture + `],"cache_control":{"type":"ephemeral"}`),
		Want: strings.Join(withResult(`,"content":[`+picture+`],"cache_control":{"type":"ephemeral"}`), ""), Reason: "refused at every depth"},
	{Name: "empty text beside an image in a result and a word", Imports: []string{ask, callA, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[` + picture + `,{"type":"text","text":""}]},{"type":"text","text":"q"}]}`},
		Want: ask + callA + `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[` + picture + `]},{"type":"text","text":"q"}]}`, Reason: "they stay together"},
	{Name: "empty text in a search result", Imports: []string{`{"role":"user","content":[` + found(`{"type":"text","text":""},`) + `,{"type":"text","text":"q"}]}`},
		Want: `{"role":"user","content":[` + found(``) + `,{"type":"text","text":"q"}]}`, Reason: "refused at every depth"},
	{Name: "empty text in a search result in a result", Imports: withResult(`,"content":[` + found(`{"type":"text","text":" "},`) + `]`),
		Want: strings.Join(withResult(`,"content":[`+found(``)+`]`), ""), Reason: "refused at every depth"},
	{Name: "empty text in what a server returned", Imports: []string{ask, served(`{"type":"text","text":""},{"type":"text","text":"r"}`), ask}, Want: ask + served(`{"type":"text","text":"r"}`) + ask, Forms: asJSON, Reason: "refused"},
	{Name: "nothing but an empty text in what a server returned", Imports: []string{ask, served(`{"type":"text","text":" "}`), ask}, Want: ask + served(`{"type":"text","text":"[empty]"}`) + ask, Forms: asJSON, Reason: "refused"},
	{Name: "empty text in a document", Imports: []string{`{"role":"user","content":[{"type":"document","source":{"type":"content","content":[{"type":"text","text":""},` + picture + `]}}]}`},
		Want: `{"role":"user","content":[{"type":"document","source":{"type":"content","content":[` + picture + `]}}]}`, Forms: asJSON, Reason: "refused at every depth"},
	{Name: "empty text as content", Imports: []string{ask, `{"role":"assistant","content":""}`, ask}, Want: ask + ask, Forms: asJSON, Reason: "refused"},
	{Name: "empty list as content", Imports: []string{ask, `{"role":"assistant","content":[]}`, ask}, Want: ask + ask, Reason: "refused"},
	{Name: "empty block", Imports: []string{ask, `{"role":"assistant","content":[{"type":"text","text":""},{"type":"text","text":"a"}]}`, ask}, Want: ask + said + ask, Reason: "refused"},
	{Name: "blank block beside a call", Imports: turn(`{"type":"text","text":" \n"},`, ``), Want: strings.Join(turn(``, ``), ""), Reason: "refused"},
	{Name: "blank question", Imports: []string{ask, said, `{"role":"user","content":[{"type":"text","text":" "}]}`}, Want: ask + said, Reason: "refused"},
	{Name: "space at the end", Imports: []string{ask, `{"role":"assistant","content":[{"type":"text","text":"a \n"}]}`}, Want: ask + said, Reason: "the model is to go on"},
	{Name: "space at the end, unknown member", Imports: []string{ask, `{"role":"assistant","content":[{"type":"text","text":"a ","later":1}],"mine":2}`}, Want: ask + `{"role":"assistant","content":[{"type":"text","text":"a","later":1}],"mine":2}`, Forms: asJSON, Reason: "what else it holds stays"},
	{Name: "call without arguments", Imports: []string{ask, `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{}}]}`, gotA, ask}, Reason: "an object"},

	{Name: "call with a null for arguments", Imports: []string{ask, `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":null,"cache_control":{"type":"ephemeral"}}]}`, gotA, ask},
		Want: ask + `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{},"cache_control":{"type":"ephemeral"}}]}` + gotA + ask, Reason: "the API refuses it: a nil map of Go, too"},
	{Name: "call with no arguments at all", Imports: []string{ask, `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read"}]}`, gotA, ask},
		Want: ask + `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{}}]}` + gotA + ask, Reason: "the API requires the field"},
	{Name: "call with a list for arguments", Imports: []string{ask, `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":[1]}]}`, gotA, ask},
		Want: ask + `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{"arguments":[1]}}]}` + gotA + ask, Reason: "only an object is accepted"},

	// Thinking.
	{Name: "signed thinking", Imports: turn(`{"type":"thinking","thinking":"Hm.","signature":"c2ln"},`, ``), Reason: "byte for byte"},
	{Name: "encrypted thinking", Imports: turn(`{"type":"redacted_thinking","data":"ZW5j"},`, ``), Reason: "byte for byte"},
	{Name: "thinking between calls", Imports: turn(`{"type":"thinking","thinking":"Hm.","signature":"c2ln"},{"type":"text","text":"t"},{"type":"thinking","thinking":"","signature":"c2lo"},`, ``), Reason: "in its place"},
	{Name: "thinking with an unknown member", Imports: turn(`{"type":"thinking","thinking":"Hm.","signature":"c2ln","later":1},`, ``), Forms: asJSON, Reason: "byte for byte"},
	{Name: "thinking and an id that is replaced", Imports: []string{ask, `{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"c2ln"},{"type":"tool_use","id":"read:0","name":"read","input":{}}]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"read:0"}]}`, ask},
		Want: ask + `{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"c2ln"},{"type":"tool_use","id":"call_2dddf05adcfc0532d64a31fd","name":"read","input":{}}]}{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_2dddf05adcfc0532d64a31fd"}]}` + ask, Reason: "the signature stays"},

	// Several of these together.
	{Name: "unknown block between two calls", Imports: []string{`{"role":"user","content":[{"type":"text","text":"q"}]}`, `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{}},{"type":"future","x":1},{"type":"tool_use","id":"b","name":"ls","input":{}}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"rb"}]}]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"ra"}]}]}`},
		Want:  `{"role":"user","content":[{"type":"text","text":"q"}]}{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{}},{"type":"future","x":1},{"type":"tool_use","id":"b","name":"ls","input":{}}]}{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"ra"}]},{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"rb"}]}]}`,
		Forms: asJSON, Reason: "in its place, results in two imports, out of order"},
	{Name: "unknown member of an image's source", Imports: []string{`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk=","later":1}}]}`}, Forms: asJSON, Reason: "at every level"},
	{Name: "unknown member of a result's block", Imports: []string{`{"role":"user","content":[{"type":"text","text":"q"}]}`, `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{}}]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"ra","later":1}]}]}`}, Forms: asJSON, Reason: "at every level"},
	{Name: "signed thinking, results in two imports, out of order", Imports: []string{`{"role":"user","content":[{"type":"text","text":"q"}]}`, `{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"c2ln"},{"type":"tool_use","id":"a","name":"read","input":{}},{"type":"tool_use","id":"b","name":"ls","input":{}}]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"rb"}]}]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"ra"}]}]}`},
		Want: `{"role":"user","content":[{"type":"text","text":"q"}]}{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"c2ln"},{"type":"tool_use","id":"a","name":"read","input":{}},{"type":"tool_use","id":"b","name":"ls","input":{}}]}{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"ra"}]},{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"rb"}]}]}`, Reason: "the thinking stays in front"},
	{Name: "encrypted thinking, results in two imports, out of order", Imports: []string{`{"role":"user","content":[{"type":"text","text":"q"}]}`, `{"role":"assistant","content":[{"type":"redacted_thinking","data":"ZW5j"},{"type":"tool_use","id":"a","name":"read","input":{}},{"type":"tool_use","id":"b","name":"ls","input":{}}]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"rb"}]}]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"ra"}]}]}`},
		Want: `{"role":"user","content":[{"type":"text","text":"q"}]}{"role":"assistant","content":[{"type":"redacted_thinking","data":"ZW5j"},{"type":"tool_use","id":"a","name":"read","input":{}},{"type":"tool_use","id":"b","name":"ls","input":{}}]}{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"ra"}]},{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"rb"}]}]}`, Reason: "the thinking stays in front"},
	{Name: "empty list as the content of a result, beside another", Imports: []string{`{"role":"user","content":[{"type":"text","text":"q"}]}`, `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{}},{"type":"tool_use","id":"b","name":"ls","input":{}}]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[]},{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"rb"}]}]}`},
		Want: `{"role":"user","content":[{"type":"text","text":"q"}]}{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{}},{"type":"tool_use","id":"b","name":"ls","input":{}}]}{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"},{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"rb"}]}]}`, Reason: "the other stays"},
}

var forms = []adaptertest.Form[sdk.MessageParam]{
	{Name: "typed", Read: func(raw json.RawMessage) (m sdk.MessageParam, err error) { return m, json.Unmarshal(raw, &m) }},
	{Name: asJSON, Read: func(raw json.RawMessage) (sdk.MessageParam, error) { return param.Override[sdk.MessageParam](raw), nil }},
}

var betaForms = []adaptertest.Form[sdk.BetaMessageParam]{
	{Name: "typed", Read: func(raw json.RawMessage) (m sdk.BetaMessageParam, err error) { return m, json.Unmarshal(raw, &m) }},
	{Name: asJSON, Read: func(raw json.RawMessage) (sdk.BetaMessageParam, error) {
		return param.Override[sdk.BetaMessageParam](raw), nil
	}},
}

var betaUnderTest = winnowtest.Adapter[sdk.BetaMessageParam]{Import: ImportBeta, Export: ExportBeta}

// send returns a function that sends messages with the SDK and returns what the server got.
func send(t *testing.T) func(*testing.T, []sdk.MessageParam) []json.RawMessage {
	url, got := adaptertest.Sent(t, answerJSON)
	return func(t *testing.T, values []sdk.MessageParam) []json.RawMessage {
		_, err := clientOf(url).Messages.New(t.Context(), sdk.MessageNewParams{Model: "m", MaxTokens: 1, Messages: values})
		require.NoError(t, err)
		return got(t, "messages")
	}
}

func TestCases(t *testing.T) {
	t.Run("messages", func(t *testing.T) { adaptertest.CheckCases(t, underTest, forms, send(t), cases) })
	t.Run("beta", func(t *testing.T) {
		url, got := adaptertest.Sent(t, answerJSON)
		adaptertest.CheckCases(t, betaUnderTest, betaForms, func(t *testing.T, values []sdk.BetaMessageParam) []json.RawMessage {
			_, err := clientOf(url).Beta.Messages.New(t.Context(), sdk.BetaMessageNewParams{Model: "m", MaxTokens: 1, Messages: values})
			require.NoError(t, err)
			return got(t, "messages")
		}, cases)
	})
}

// TestCodec: stored messages are exported with the same bytes.
func TestCodec(t *testing.T) { adaptertest.CheckCodec(t, underTest, Codec(), forms, cases) }

// TestUsageSays: the usage has what the API left out of the thinking, and why it missed its cache.
func TestUsageSays(t *testing.T) {
	client := clientOf(adaptertest.Answers(t, `{"id":"m","role":"assistant","content":[{"type":"text","text":"a"}],"usage":{"input_tokens":9,"output_tokens":5},`+
		`"input_transformations":[{"type":"thinking_dropped","reason":"prefix_binding_mismatch"},{"type":"thinking_dropped","reason":"model_mismatch"}],`+
		`"diagnostics":{"cache_miss_reason":{"type":"tools_changed"}}}`))
	answer, err := CheckBeta(client.Beta.Messages.New(t.Context(), sdk.BetaMessageNewParams{MaxTokens: 1}))
	require.NoError(t, err)
	want := &winnow.Usage{Input: 9, Output: 5, ThinkingDropped: 1, CacheMiss: "tools_changed"}
	assert.Equal(t, want, ResponseBeta(answer).Usage)
}

// TestAnswers has what models give and the SDK does not know: it is sent back.
func TestAnswers(t *testing.T) {
	for _, tt := range []struct{ name, content, want string }{
		{"known", `{"type":"text","text":"a","citations":null}`, `{"type":"text","text":"a"}`},
		{"member of a text", `{"type":"text","text":"a","later":1}`, ``},
		{"member of thinking", `{"type":"thinking","thinking":"Hm.","signature":"c2ln","later":[1]}`, ``},
		{"member of a call", `{"type":"tool_use","id":"a","name":"read","input":{"n":1},"later":{"x":null}}`, ``},
		{"member of encrypted thinking", `{"type":"redacted_thinking","data":"ZW5j","later":true}`, ``},
		{"block", `{"type":"future","x":1}`, ``},
		{"block and a call", `{"type":"future","x":1},{"type":"tool_use","id":"a","name":"read","input":{}}`, ``},
	} {
		want := tt.want
		if want == "" {
			want = tt.content
		}
		answer := `{"id":"msg_1","role":"assistant","stop_reason":"end_turn","content":[` + tt.content + `],"usage":{"input_tokens":1,"output_tokens":1}}`
		client := clientOf(adaptertest.Answers(t, answer))
		question := winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "q"}}}
		t.Run(tt.name, func(t *testing.T) {
			got, err := Check(client.Messages.New(t.Context(), sdk.MessageNewParams{MaxTokens: 1}))
			require.NoError(t, err)
			assert.JSONEq(t, `{"role":"assistant","content":[`+want+`]}`, jsonOf(t, Export([]winnow.Message{question, Response(got)})[1]))
		})
		t.Run(tt.name+", beta", func(t *testing.T) {
			got, err := CheckBeta(client.Beta.Messages.New(t.Context(), sdk.BetaMessageNewParams{MaxTokens: 1}))
			require.NoError(t, err)
			assert.JSONEq(t, `{"role":"assistant","content":[`+want+`]}`, jsonOf(t, ExportBeta([]winnow.Message{question, ResponseBeta(got)})[1]))
		})
	}
}

// events are a stream in which the model thinks, says something and calls a tool.
var events = []string{
	adaptertest.SSE("message_start", `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"usage":{"input_tokens":10,"output_tokens":1}}}`),
	adaptertest.SSE("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`),
	adaptertest.SSE("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}`),
	adaptertest.SSE("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}`),
	adaptertest.SSE("content_block_stop", `{"type":"content_block_stop","index":0}`),
	adaptertest.SSE("content_block_start", `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"read","input":{}}}`),
	adaptertest.SSE("content_block_delta", `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"path\":\"x\"}"}}`),
	adaptertest.SSE("content_block_stop", `{"type":"content_block_stop","index":1}`),
	adaptertest.SSE("message_delta", `{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7}}`),
	adaptertest.SSE("message_stop", `{"type":"message_stop"}`),
}

// TestStreams has streams that fail at each event, and whole ones.
func TestStreams(t *testing.T) {
	overflow := adaptertest.SSE("error", `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 215000 tokens > 200000 maximum"}}`)
	collectors := map[string]func(ctx context.Context, url string) (winnow.Message, error){
		"messages": func(ctx context.Context, url string) (winnow.Message, error) { return streamed(ctx, url, nil) },
		"beta": func(ctx context.Context, url string) (winnow.Message, error) {
			return asBetaMessage(CollectBeta(clientOf(url).Beta.Messages.NewStreaming(ctx, sdk.BetaMessageNewParams{MaxTokens: 1}), nil))
		},
	}
	for name, collect := range collectors {
		t.Run(name, func(t *testing.T) {
			m, err := collect(t.Context(), adaptertest.Streaming(t, false, events...))
			require.NoError(t, err)
			assert.Equal(t, []winnow.Part{
				{Kind: winnow.KindThinking, Text: "Hm.", Signature: "c2ln"},
				{Kind: winnow.KindToolCall, ID: "a", Name: "read", Arguments: json.RawMessage(`{"path":"x"}`)},
			}, adaptertest.Bare(m).Parts)
			assert.Equal(t, "tool_use", m.StopReason)
			for n := range events {
				_, err := collect(t.Context(), adaptertest.Streaming(t, false, append(events[:n:n], overflow)...))
				assert.Equal(t, winnow.ErrorInfo{Class: winnow.ErrorOverflow, Tokens: 215000, Limit: 200000}, winnow.ClassifyError(err), "an error in the place of event %d", n)
				_, err = collect(t.Context(), adaptertest.Streaming(t, false, events[:n]...))
				assert.ErrorIs(t, err, io.ErrUnexpectedEOF, "%d events", n)
				_, err = collect(t.Context(), adaptertest.Streaming(t, true, events[:n]...))
				assert.Error(t, err, "a connection that breaks behind %d events", n)
			}
		})
	}
}

// TestErrorsInsideOf200 has gateways that answer so.
func TestErrorsInsideOf200(t *testing.T) {
	for _, body := range []string{
		`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 215000 tokens > 200000 maximum"}}`,
		`{"error":{"message":"prompt is too long: 215000 tokens > 200000 maximum"}}`,
	} {
		client := clientOf(adaptertest.Answers(t, body))
		_, err := Check(client.Messages.New(t.Context(), sdk.MessageNewParams{MaxTokens: 1}))
		assert.Equal(t, winnow.ErrorInfo{Class: winnow.ErrorOverflow, Tokens: 215000, Limit: 200000}, winnow.ClassifyError(err), body)
		_, err = CheckBeta(client.Beta.Messages.New(t.Context(), sdk.BetaMessageNewParams{MaxTokens: 1}))
		assert.Equal(t, winnow.ErrorOverflow, winnow.ClassifyError(err).Class, body)
	}
	own := errors.New("mine")
	_, err := Check(nil, own)
	assert.Equal(t, own, err)
}

// TestForms has the recorded sessions typed, as JSON, and in the types of the beta API.
func TestForms(t *testing.T) {
	adaptertest.CheckForms(t, underTest,
		adaptertest.Copying[sdk.MessageParam]{Name: "JSON", Copy: adaptertest.Given(param.Override[sdk.MessageParam])},
		adaptertest.Copying[sdk.MessageParam]{Name: "read by the SDK", Copy: reread},
		adaptertest.Copying[sdk.MessageParam]{Name: "beta", Copy: func(messages []sdk.MessageParam) ([]sdk.MessageParam, error) {
			b, err := json.Marshal(messages)
			if err != nil {
				return nil, err
			}
			var beta []sdk.BetaMessageParam
			if err := json.Unmarshal(b, &beta); err != nil {
				return nil, err
			}
			out := make([]sdk.MessageParam, len(messages))
			for i := range beta {
				for k := range beta[i].Content {
					if call := beta[i].Content[k].OfToolUse; call != nil {
						call.Input = exact(call.Input, messages[i].Content[k].OfToolUse.Input)
					}
				}
				out[i] = param.Override[sdk.MessageParam](&beta[i])
			}
			return out, nil
		}})
}

// TestBeta uses blocks that only the beta API knows, and edits values of its types.
func TestBeta(t *testing.T) {
	own := []sdk.BetaMessageParam{
		{Role: "user", Content: []sdk.BetaContentBlockParamUnion{{OfText: &sdk.BetaTextBlockParam{Text: "q"}}}},
		{Role: "assistant", Content: []sdk.BetaContentBlockParamUnion{
			{OfMCPToolUse: &sdk.BetaMCPToolUseBlockParam{ID: "m", Name: "n", ServerName: "s", Input: map[string]any{}}},
			{OfToolUse: &sdk.BetaToolUseBlockParam{ID: "read:0", Name: "read", Input: map[string]any{"path": "x"}}},
			{OfToolUse: &sdk.BetaToolUseBlockParam{ID: "b", Name: "read", Input: map[string]any{"path": "y"}}},
		}},
		{Role: "user", Content: []sdk.BetaContentBlockParamUnion{
			{OfToolResult: &sdk.BetaToolResultBlockParam{ToolUseID: "read:0", Content: []sdk.BetaToolResultBlockParamContentUnion{
				{OfText: &sdk.BetaTextBlockParam{Text: "r"}}, {OfToolReference: &sdk.BetaToolReferenceBlockParam{ToolName: "t"}},
			}}},
			{OfToolResult: &sdk.BetaToolResultBlockParam{ToolUseID: "b", IsError: sdk.Bool(true), Content: []sdk.BetaToolResultBlockParamContentUnion{
				{OfImage: &sdk.BetaImageBlockParam{Source: sdk.BetaImageBlockParamSourceUnion{OfURL: &sdk.BetaURLImageSourceParam{URL: "u"}}}},
			}}},
		}},
	}
	history := ImportBeta(own)
	require.Len(t, history, 4)
	assert.Equal(t, winnow.KindOpaque, history[1].Parts[0].Kind)
	assert.Equal(t, winnow.KindImage, history[3].Parts[0].Kind)
	const id = "call_2dddf05adcfc0532d64a31fd"
	assert.JSONEq(t, `[{"role":"user","content":[{"type":"text","text":"q"}]},
		{"role":"assistant","content":[{"type":"mcp_tool_use","id":"m","name":"n","server_name":"s","input":{}},
			{"type":"tool_use","id":"`+id+`","name":"read","input":{"path":"x"}},{"type":"tool_use","id":"b","name":"read","input":{"path":"y"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"`+id+`","content":[{"type":"text","text":"r"},{"type":"tool_reference","tool_name":"t"}]},
			{"type":"tool_result","tool_use_id":"b","is_error":true,"content":[{"type":"text","text":"[image]"}]},
			{"type":"image","source":{"type":"url","url":"u"}}]}]`, jsonOf(t, ExportBeta(history)))
	plain := Import([]sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("q")), sdk.NewAssistantMessage(sdk.NewTextBlock("a"))})
	assert.Equal(t, "q", ExportBeta(plain)[0].Content[0].OfText.Text, "what is new is typed, as a host may want to mark it")

	system := []sdk.BetaTextBlockParam{{Text: "s", CacheControl: sdk.NewBetaCacheControlEphemeralParam()}}
	assert.Equal(t, system, ExportBetaSystem(ImportBetaSystem(system)))
	assert.Nil(t, ImportBetaSystem(nil))
	assert.Equal(t, `{"path":"x"}`, string(adapter.Arguments(own[1].Content[1].OfToolUse.Input)), "the caller's values are as they were")
}

// TestMedia reads the pixels of images and the pages of documents, in messages and in results.
func TestMedia(t *testing.T) {
	_, png := adaptertest.PNG(t)
	_, pdf := adaptertest.PDF()
	media := `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + png + `"}},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"` + pdf + `"}}`
	for _, form := range forms {
		values := make([]sdk.MessageParam, 3)
		for i, raw := range []string{`{"role":"user","content":[` + media + `]}`, callA, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[` + media + `]}]}`} {
			var err error
			values[i], err = form.Read(json.RawMessage(raw))
			require.NoError(t, err)
		}
		adaptertest.CheckMedia(t, Import(values), 2, 2, 0)
	}
}

// TestCounter counts with the API's endpoint, once for the same content, and the manager continues from that count.
func TestCounter(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		assert.Equal(t, "/v1/messages/count_tokens", r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"input_tokens":700}`)
	}))
	defer server.Close()
	client := clientOf(server.URL)
	c := NewCounter(*client, sdk.MessageCountTokensParams{Model: "m"})
	m, err := winnow.New(100_000, nil)
	require.NoError(t, err)
	history := Import([]sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock(strings.Repeat("word ", 500)))})
	request, err := m.Prepare(t.Context(), history)
	require.NoError(t, err)
	for range 2 {
		n, err := c.Count(t.Context(), request.Messages)
		require.NoError(t, err)
		assert.Equal(t, 700, n)
		m.Counted(winnow.Usage{Input: n})
	}
	assert.Equal(t, 1, asked)
	history = append(history, Import([]sdk.MessageParam{sdk.NewAssistantMessage(sdk.NewTextBlock("a")), sdk.NewUserMessage(sdk.NewTextBlock("q"))})...)
	next, err := m.Prepare(t.Context(), history)
	require.NoError(t, err)
	assert.InDelta(t, 710, next.Tokens, 20)
	_, err = c.Count(t.Context(), history)
	require.NoError(t, err)
	assert.Equal(t, 2, asked, "other content")
	server.Close()
	_, err = c.Count(t.Context(), history[:1])
	assert.NoError(t, err, "it is remembered")
	_, err = c.Count(t.Context(), history[:2])
	assert.Error(t, err)
}

// TestMarkRequest sets markers where the next request continues, takes out those that are too many, and does not modify
// the history. MarkCache sets only the newest one.
func TestMarkRequest(t *testing.T) {
	const m = `,"cache_control":{"type":"ephemeral"}`
	marked := func(s string) string { // at its last block
		i := strings.LastIndex(s, "}]")
		return s[:i] + m + s[i:]
	}
	within := strings.Replace(resA, `"text":"ra"`, `"text":"ra"`+m, 1)
	inside := strings.Replace(gotA, resA, within, 1) // the API counts markers in results too
	think := `{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"thinking","thinking":"Hm.","signature":"c2ln"}]}`
	hour := func(s string) string { return strings.ReplaceAll(s, `"ephemeral"}`, `"ephemeral","ttl":"1h"}`) }
	for _, tt := range []struct {
		name, want, newest string
		in                 []string
	}{
		{"nothing", ``, ``, nil},
		{"a question", marked(ask), marked(ask), []string{ask}},
		{"the second question", marked(ask) + said + marked(ask), ask + said + marked(ask), []string{ask, said, ask}},
		{"a step", ask + said + marked(ask) + callA + marked(gotA), ask + said + ask + callA + marked(gotA), []string{ask, said, ask, callA, gotA}},
		{"two results", marked(ask) + callAB + marked(gotAB), ask + callAB + marked(gotAB), []string{ask, callAB, gotAB}},
		{"the assistant goes on", marked(ask) + marked(said), ask + marked(said), []string{ask, said}},
		{"a thought at the end", marked(ask) + strings.Replace(think, `"text":"a"`, `"text":"a"`+m, 1), ask + strings.Replace(think, `"text":"a"`, `"text":"a"`+m, 1), []string{ask, think}},
		{"marked already", marked(ask) + said + marked(ask), ask + said + marked(ask), []string{ask, said, marked(ask)}},
		{"three that the caller set", marked(ask) + said + marked(ask) + marked(said) + marked(ask), ask + said + ask + said + marked(ask), []string{marked(ask), said, marked(ask), marked(said), ask}},
		{"four in results", ask + callA + gotA + callA + gotA + callA + marked(inside) + callA + marked(inside), ask + callA + gotA + callA + gotA + callA + gotA + callA + marked(gotA), []string{ask, callA, inside, callA, inside, callA, inside, callA, inside}},
		{"four that the caller set", ask + said + marked(ask) + marked(said) + marked(ask) + said + marked(ask), ask + said + ask + said + ask + said + marked(ask), []string{marked(ask), marked(said), marked(ask), marked(said), ask, said, ask}},
		{"an hour behind five minutes", marked(ask) + said + marked(ask), ask + said + marked(ask), []string{ask, said, marked(ask)}},
		{"an hour in front", hour(marked(ask)) + said + marked(ask) + said + marked(ask), ask + said + ask + said + marked(ask), []string{hour(marked(ask)), said, ask, said, ask}},
	} {
		list := func(s string) string { return "[" + strings.ReplaceAll(s, "}{", "},{") + "]" }
		want, newest := list(tt.want), list(tt.newest)
		for i, form := range forms {
			t.Run(tt.name+"/"+form.Name, func(t *testing.T) {
				values, beta := make([]sdk.MessageParam, len(tt.in)), make([]sdk.BetaMessageParam, len(tt.in))
				for k, raw := range tt.in {
					var err error
					values[k], err = form.Read(json.RawMessage(raw))
					require.NoError(t, err)
					beta[k], err = betaForms[i].Read(json.RawMessage(raw))
					require.NoError(t, err)
				}
				before := jsonOf(t, values)
				params, betaParams := sdk.MessageNewParams{Messages: values}, sdk.BetaMessageNewParams{Messages: beta}
				MarkRequest(&params, "")
				MarkRequestBeta(&betaParams, "")
				assert.JSONEq(t, want, jsonOf(t, params.Messages))
				assert.JSONEq(t, want, jsonOf(t, betaParams.Messages))
				assert.JSONEq(t, newest, jsonOf(t, MarkCache(values, "")))
				assert.JSONEq(t, newest, jsonOf(t, MarkCacheBeta(beta, "")))
				assert.Equal(t, before, jsonOf(t, values), "the history is as it was")
				assert.Equal(t, before, jsonOf(t, beta))
			})
		}
	}
	longest := MarkCache([]sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("q"))}, sdk.CacheControlEphemeralTTLTTL1h)
	assert.JSONEq(t, `[`+hour(marked(ask))+`]`, jsonOf(t, longest))
}

// TestMarkersAreAccepted marks requests whose callers marked tools, system prompt and messages, for five minutes or an
// hour. The provider accepts each of them, and the end is always marked.
func TestMarkersAreAccepted(t *testing.T) {
	p := provider.New(provider.Options{Window: adaptertest.HugeWindow})
	client := atProvider(p)
	lifetimes := []sdk.CacheControlEphemeralTTL{"", sdk.CacheControlEphemeralTTLTTL5m, sdk.CacheControlEphemeralTTLTTL1h}
	marker := func(n int) sdk.CacheControlEphemeralParam {
		c := sdk.NewCacheControlEphemeralParam()
		c.TTL = lifetimes[n%len(lifetimes)]
		return c
	}
	for seed := range 4 * 3 * 3 * 6 * 3 {
		ownTools, own, ttl := seed%3, seed/3%6, lifetimes[seed/18%3]
		system, hours := seed/54%4, seed/216%3
		build := func() sdk.MessageNewParams {
			params := sdk.MessageNewParams{Model: "claude", MaxTokens: 16}
			for i := range 3 {
				tool := sdk.ToolParam{Name: fmt.Sprintf("read%d", i)}
				if i < ownTools {
					tool.CacheControl = marker(hours + i)
				}
				params.Tools = append(params.Tools, sdk.ToolUnionParam{OfTool: &tool})
			}
			for i := range system {
				params.System = append(params.System, sdk.TextBlockParam{Text: "Be careful.", CacheControl: marker(hours * (i + 1))})
			}
			for i := range 4 {
				q, r := sdk.NewTextBlock("q"), sdk.NewToolResultBlock("call"+fmt.Sprint(i), "x", false)
				if i < own {
					q.OfText.CacheControl = marker(hours + i)
				}
				if i < own-3 {
					r.OfToolResult.Content[0].OfText.CacheControl = marker(hours + 2*i)
				}
				params.Messages = append(params.Messages, sdk.NewUserMessage(q), sdk.NewAssistantMessage(sdk.NewToolUseBlock("call"+fmt.Sprint(i), map[string]any{}, "read0")), sdk.NewUserMessage(r))
			}
			return params
		}
		params := build()
		given := jsonOf(t, params)
		tools, texts := params.Tools, params.System
		MarkRequest(&params, ttl)
		assert.Contains(t, jsonOf(t, params.Messages[len(params.Messages)-1]), `"cache_control"`, "the end")
		_, err := client.Messages.New(t.Context(), params)
		require.NoError(t, err, "%s\n%s", given, jsonOf(t, params))
		assert.Equal(t, jsonOf(t, build().Tools)+jsonOf(t, build().System), jsonOf(t, tools)+jsonOf(t, texts), "the caller's values are as they were")

		alone := build()
		alone.Messages = MarkCache(alone.Messages, "")
		if ownTools <= 1 && system <= 2 && hours == 0 { // what MarkCache leaves room for
			_, err = client.Messages.New(t.Context(), alone)
			require.NoError(t, err, "%s\n%s", given, jsonOf(t, alone))
		}
	}
	automatic := sdk.MessageNewParams{Model: "claude", MaxTokens: 16, CacheControl: marker(2), System: SystemBlocks("a", "b"), Messages: []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("q"))}}
	MarkRequest(&automatic, "")
	_, err := client.Messages.New(t.Context(), automatic)
	require.NoError(t, err)
}

// TestMarkersWithin has markers of the caller in search results and documents, beside results and in them.
func TestMarkersWithin(t *testing.T) {
	p := provider.New(provider.Options{Window: adaptertest.HugeWindow})
	client := atProvider(p)
	const text = `[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]`
	const longText = `[{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"1h"}}]`
	search := func(content string) string {
		return `{"type":"search_result","source":"s","title":"t","content":` + content + `}`
	}
	document := func(content string) string {
		return `{"type":"document","source":{"type":"content","content":` + content + `}}`
	}
	question := func(b string) string { return `{"role":"user","content":[` + b + `]}` }
	result := func(b string) string {
		return question(`{"type":"tool_result","tool_use_id":"a","content":[` + b + `]}`)
	}
	for _, form := range forms {
		for name, raw := range map[string][]string{
			"beside": {question(search(text)), said, question(document(longText)), said, question(search(text)), said, question(search(longText))},
			"inside": {question(document(text)), callA, result(search(longText) + "," + document(text)), said, question(search(text)), said, ask},
			"four":   {question(document(text)), said, question(search(text) + "," + search(text) + "," + search(text))},
		} {
			var values []sdk.MessageParam
			for _, r := range raw {
				v, err := form.Read(json.RawMessage(r))
				require.NoError(t, err)
				values = append(values, v)
			}
			for _, ttl := range []sdk.CacheControlEphemeralTTL{"", sdk.CacheControlEphemeralTTLTTL1h} {
				params := sdk.MessageNewParams{Model: "claude", MaxTokens: 16, Tools: tools, System: SystemBlocks("a"), Messages: Export(Import(values))}
				MarkRequest(&params, ttl)
				_, err := client.Messages.New(t.Context(), params)
				require.NoError(t, err, "%s/%s", form.Name, name)
			}
		}
	}
}

// TestMarkCacheIsSent has the markers at the server, and none in the history of the next request.
func TestMarkCacheIsSent(t *testing.T) {
	url, got := adaptertest.Sent(t, answerJSON)
	client := clientOf(url)
	m, err := winnow.New(100_000, nil)
	require.NoError(t, err)
	history := Import([]sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("q"))})
	for range 4 {
		_, _, err := winnow.Do(t.Context(), m, history, func(ctx context.Context, messages []winnow.Message) (*sdk.Message, error) {
			return Check(client.Messages.New(ctx, sdk.MessageNewParams{Model: "m", MaxTokens: 1, Messages: MarkCache(Export(messages), "")}))
		})
		require.NoError(t, err)
		markers := 0
		for _, raw := range got(t, "messages") {
			markers += strings.Count(string(raw), `"cache_control"`)
		}
		assert.Equal(t, 1, markers)
		history = append(history, Import([]sdk.MessageParam{sdk.NewAssistantMessage(sdk.NewTextBlock("a")), sdk.NewUserMessage(sdk.NewTextBlock("q"))})...)
	}
}

package wire

import (
	"encoding/json"
	"strconv"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
)

// Chat is OpenAI's Chat Completions, which many servers speak.
type Chat struct{}

// List implements [API].
func (Chat) List() string { return "messages" }

// Before tool calls, a message could hold one call of a function, without an id, and the next message was its result.
// Such pairs get an id here, which is never sent.
const functionPrefix = "winnow_function_call_"

func (Chat) read(r *reader, of value) {
	members := membersOf(of)
	content := members.get("content")
	p := piece{content: content, list: listIn(content)}
	switch members.get("role").Text() {
	case "system", "developer":
		r.content(content, chatBlock)
		r.message(winnow.Message{Role: winnow.RoleSystem}, p)
	case "user":
		r.content(content, chatBlock)
		r.message(winnow.Message{Role: winnow.RoleUser, Speaker: members.get("name").Text()}, p)
	case "assistant":
		chatAssistant(r, of, members)
		r.message(winnow.Message{Role: winnow.RoleAssistant}, p)
	case "tool":
		p.id = members.get("tool_call_id")
		r.content(content, chatBlock)
		r.message(winnow.Message{Role: winnow.RoleTool, ToolCallID: p.id.Text()}, p)
	case "function":
		m := winnow.Message{Role: winnow.RoleTool, ToolName: members.get("name").Text()}
		if r.functions > 0 { // otherwise its call was sent separately: a repair pairs them by name
			m.ToolCallID = functionPrefix + strconv.Itoa(r.functions)
		}
		r.content(content, chatBlock)
		r.message(m, p)
	default:
		r.opaque(winnow.Message{Role: winnow.RoleUser, Injected: true}, of)
	}
}

// Members in which servers return reasoning and accept it again, as a text and signed or encrypted in a list.
var (
	reasoningNames   = []string{"reasoning_content", "reasoning"}
	reasoningDetails = "reasoning_details"
)

func chatAssistant(r *reader, of value, members members) {
	for _, name := range reasoningNames {
		if v := members.get(name); v.Text() != "" {
			r.part(winnow.Part{Kind: winnow.KindThinking, Text: v.Text(), MediaType: name}, Block{raw: v, text: v})
			break
		}
	}
	if v := members.get(reasoningDetails); len(v) > len("[]") && v.Exists() {
		r.part(winnow.Part{Kind: winnow.KindThinking, Signature: string(v), MediaType: reasoningDetails}, Block{raw: v})
	}
	if content := members.get("content"); content.IsText() && content.Text() != "" {
		r.part(winnow.Part{Text: content.Text()}, Block{raw: content, text: content, gone: []byte("null")})
	} else {
		in := &list{raw: content, empty: []byte("null")}
		for _, b := range content.Elements() {
			chatBlock(r, b, in)
		}
	}
	if v := members.get("refusal"); v.Text() != "" {
		r.part(winnow.Part{Text: v.Text()}, Block{raw: v, text: v, typ: "refusal"})
	}
	if v := members.get("audio"); v.Get("id").Text() != "" {
		r.part(winnow.Part{Kind: winnow.KindOpaque, Name: v.Get("id").Text()}, Block{raw: v, typ: "audio"})
	}
	if v := members.get("function_call"); v.Get("name").Text() != "" {
		r.functions++
		r.part(winnow.Part{
			Kind: winnow.KindToolCall, ID: functionPrefix + strconv.Itoa(r.functions), Name: v.Get("name").Text(),
			Arguments: argumentsOf(v.Get("arguments")), MediaType: "function_call",
		}, Block{raw: v, arguments: v.Get("arguments"), isMade: true})
	}
	calls := &list{raw: members.get("tool_calls")}
	for _, c := range calls.raw.Elements() {
		chatCall(r, c, calls)
	}
}

// argumentsOf returns the arguments of a call, which OpenAI's APIs have as a text, and some servers as an object.
func argumentsOf(of value) json.RawMessage {
	if of.IsObject() {
		return adapter.Arguments(json.RawMessage(of))
	}
	return json.RawMessage(of.Text())
}

// googlePrefix distinguishes a thought signature from those of other APIs, which are not sent here.
const googlePrefix = "google:"

func chatCall(r *reader, of value, in *list) {
	b := Block{raw: of, list: in, id: of.Get("id"), typ: "function"}
	p := winnow.Part{Kind: winnow.KindToolCall, ID: b.id.Text()}
	if f := of.Get("custom"); f.Exists() {
		b.typ = "custom"
		p.Name, p.Arguments, p.MediaType = f.Get("name").Text(), jsonedit.Quote(f.Get("input").Text()), b.typ
	} else {
		f := of.Get("function")
		b.arguments = f.Get("arguments")
		p.Name, p.Arguments = f.Get("name").Text(), argumentsOf(b.arguments)
	}
	// Gemini's servers that speak Chat Completions put the signature of its thoughts here, and want it back.
	if s := of.Get("extra_content.google.thought_signature").Text(); s != "" {
		p.Signature = googlePrefix + s
	}
	r.part(p, b)
}

// chatBlock reads an element of a list of content.
func chatBlock(r *reader, of value, in *list) {
	b := Block{raw: of, list: in, typ: of.Get("type").Text()}
	var p winnow.Part
	switch b.typ {
	case "text", "refusal":
		b.text = of.Get(b.typ)
		p.Text = b.text.Text()
	case "image_url":
		p = adapter.Media(winnow.KindImage, "", of.Get("image_url.url").Text(), nil)
	case "input_audio":
		sound := of.Get("input_audio")
		p = adapter.Media(winnow.KindOpaque, "audio/"+sound.Get("format").Text(), sound.Get("data").Text(), nil)
	case "file":
		p = adapter.Media(winnow.KindOpaque, "", of.Get("file.file_data").Text(), nil)
	default:
		p = winnow.Part{Kind: winnow.KindOpaque, Bytes: len(of)}
	}
	r.part(p, b)
}

func (Chat) text(_ winnow.Role, text string) []byte {
	return jsonedit.Object("type", "text", "text", text)
}

func (Chat) message(blocks [][]byte) []byte {
	if len(blocks) == 1 { // every server takes a string
		if b := value(blocks[0]); b.Get("type").Text() == "text" && b.Get(cacheControl) == nil {
			return jsonedit.Object("role", "user", "content", b.Get("text"))
		}
	}
	return jsonedit.Object("role", "user", "content", jsonedit.List(blocks...))
}

func (Chat) result(m *winnow.Message, _ *Block) []byte {
	text := adapter.Text(m.Parts)
	if IsFunctionID(m.ToolCallID) {
		return jsonedit.Object("role", "function", "name", m.ToolName, "content", text)
	}
	return jsonedit.Object("role", "tool", "tool_call_id", m.ToolCallID, "content", text)
}

func (Chat) settle(*writer) {}

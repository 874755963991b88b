package responses

import (
	"encoding/json"
	"strings"

	"github.com/openai/openai-go/v3/packages/param"
	sdk "github.com/openai/openai-go/v3/responses"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/internal/jsontext"
)

// Item is an item of a request.
type Item = sdk.ResponseInputItemUnionParam

// fields are the fields that are read from an item.
type fields struct {
	typ       string // "message", "function_call", …
	role      string // of a message
	id        string
	call      string // call_id
	name      string // of a tool
	text      string // arguments or input of a call; text of reasoning
	encrypted string // of reasoning
	approves  string // the id of the request that an approval answers
	size      int    // bytes as sent, if nothing else is read
	hollow    bool   // a list of content has an empty text, which is no part
}

// overridden returns the JSON that a caller set instead of an item's fields. The SDK does so for all items of an
// answer, whose fields are then empty.
func overridden(of *Item) json.RawMessage {
	var s param.ParamStruct
	switch {
	case of.OfMessage != nil:
		s = of.OfMessage
	case of.OfInputMessage != nil:
		s = of.OfInputMessage
	case of.OfOutputMessage != nil:
		s = of.OfOutputMessage
	case of.OfFunctionCall != nil:
		s = of.OfFunctionCall
	case of.OfFunctionCallOutput != nil:
		s = of.OfFunctionCallOutput
	case of.OfReasoning != nil:
		s = of.OfReasoning
	default: // rare kinds are read as JSON
		return marshal(of)
	}
	override, ok := s.Overrides()
	if !ok {
		return nil
	}
	if raw, ok := override.(json.RawMessage); ok {
		return raw
	}
	return marshal(of)
}

func marshal(of *Item) json.RawMessage {
	if override, ok := of.Overrides(); ok {
		if raw, ok := override.(json.RawMessage); ok {
			return raw
		}
	}
	raw, err := of.MarshalJSON()
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}

// read returns the fields of an item, and parts with its content.
func read(of *Item, parts []winnow.Part) (fields, []winnow.Part) {
	if raw := overridden(of); raw != nil {
		return readJSON(raw, parts)
	}
	switch {
	case of.OfMessage != nil:
		m := of.OfMessage
		parts = appendText(parts, m.Content.OfString.Value, nil)
		all := appendInput(parts, m.Content.OfInputItemContentList)
		return fields{typ: "message", role: string(m.Role),
			hollow: len(all)-len(parts) < len(m.Content.OfInputItemContentList)}, all
	case of.OfInputMessage != nil:
		m := of.OfInputMessage
		all := appendInput(parts, m.Content)
		return fields{typ: "message", role: m.Role, hollow: len(all)-len(parts) < len(m.Content)}, all
	case of.OfOutputMessage != nil:
		m := of.OfOutputMessage
		for k := range m.Content {
			c := &m.Content[k]
			if c.OfOutputText != nil {
				parts = appendText(parts, c.OfOutputText.Text, nil)
			} else if c.OfRefusal != nil {
				parts = appendText(parts, c.OfRefusal.Refusal, nil)
			} else {
				parts = appendOther(parts, c, nil)
			}
		}
		return fields{typ: "message", role: "assistant", id: m.ID}, parts
	case of.OfFunctionCall != nil:
		c := of.OfFunctionCall
		return fields{typ: functionCall, id: c.ID.Value, call: c.CallID, name: c.Name, text: c.Arguments}, parts
	case of.OfFunctionCallOutput != nil:
		o := of.OfFunctionCallOutput
		parts = appendText(parts, o.Output.OfString.Value, nil)
		all := appendOutput(parts, o.Output.OfResponseFunctionCallOutputItemArray)
		return fields{typ: functionOutput, call: o.CallID.Value, name: o.Name.Value,
			hollow: len(all)-len(parts) < len(o.Output.OfResponseFunctionCallOutputItemArray)}, all
	}
	r := of.OfReasoning
	var text strings.Builder
	for k := range r.Summary {
		joinText(&text, r.Summary[k].Text)
	}
	for k := range r.Content {
		joinText(&text, r.Content[k].Text)
	}
	return fields{typ: reasoning, id: r.ID, text: text.String(), encrypted: r.EncryptedContent.Value}, parts
}

func joinText(b *strings.Builder, s string) {
	if b.Len() > 0 && s != "" {
		b.WriteString("\n")
	}
	b.WriteString(s)
}

// appendText adds a text, unless it is empty, which makes no difference.
func appendText(parts []winnow.Part, s string, source any) []winnow.Part {
	if s == "" {
		return parts
	}
	return append(parts, winnow.Part{Text: s, Source: source})
}

func appendInput(parts []winnow.Part, content []sdk.ResponseInputContentUnionParam) []winnow.Part {
	for k := range content {
		switch c := &content[k]; {
		case c.OfInputText != nil:
			parts = appendText(parts, c.OfInputText.Text, c)
		case c.OfInputImage != nil:
			parts = append(parts, media(winnow.KindImage, c.OfInputImage.ImageURL.Value, c))
		case c.OfInputFile != nil:
			parts = append(parts, media(winnow.KindOpaque, c.OfInputFile.FileData.Value, c))
		default:
			parts = appendOther(parts, c, c)
		}
	}
	return parts
}

// appendOther adds an element of a list of content that the SDK does not expect there, and holds as JSON. Its own
// decoder does so with the text of an answer, for example.
func appendOther(parts []winnow.Part, c json.Marshaler, source any) []winnow.Part {
	raw, err := c.MarshalJSON()
	if err != nil || string(raw) == "null" {
		return append(parts, winnow.Part{Kind: winnow.KindOpaque, Source: source})
	}
	return appendContent(parts, raw, source)
}

func appendOutput(parts []winnow.Part, content []sdk.ResponseFunctionCallOutputItemUnionParam) []winnow.Part {
	for k := range content {
		switch c := &content[k]; {
		case c.OfInputText != nil:
			parts = appendText(parts, c.OfInputText.Text, c)
		case c.OfInputImage != nil:
			parts = append(parts, media(winnow.KindImage, c.OfInputImage.ImageURL.Value, c))
		case c.OfInputFile != nil:
			parts = append(parts, media(winnow.KindOpaque, c.OfInputFile.FileData.Value, c))
		default:
			parts = appendOther(parts, c, c)
		}
	}
	return parts
}

// media returns a part whose payload is a URL, usually a data URL.
func media(kind winnow.Kind, url string, source any) winnow.Part {
	p := winnow.Part{Kind: kind, MediaType: adapter.DataURLType(url), Bytes: len(url), Source: source}
	adapter.Measure(&p, url)
	return p
}

// readJSON reads an item that is given as JSON.
func readJSON(raw json.RawMessage, parts []winnow.Part) (fields, []winnow.Part) {
	f := fields{size: len(raw)}
	var content, output []byte
	var text strings.Builder
	// Slices of raw share its memory, which the part's Source keeps anyway.
	jsontext.Members(raw, func(key string, value []byte) {
		switch key {
		case "type":
			f.typ = jsontext.Text(value)
		case "role":
			f.role = jsontext.Text(value)
		case "id":
			f.id = jsontext.Text(value)
		case "call_id":
			f.call = jsontext.Text(value)
		case "name":
			f.name = jsontext.Text(value)
		case "arguments", "input":
			f.text = jsontext.Text(value)
		case "approval_request_id":
			f.approves = jsontext.Text(value)
		case "encrypted_content":
			f.encrypted = jsontext.Text(value)
		case "content":
			content = value
		case "output":
			output = value
		case "summary":
			jsontext.Elements(value, func(s []byte) { joinText(&text, readContent(s).text) })
		}
	})
	if f.typ == "" && f.role != "" {
		f.typ = "message"
	}
	switch f.typ {
	case "message":
		parts, f.hollow = appendJSON[sdk.ResponseInputContentUnionParam](parts, content)
	case functionOutput, customOutput:
		parts, f.hollow = appendJSON[sdk.ResponseFunctionCallOutputItemUnionParam](parts, output)
	case reasoning:
		jsontext.Elements(content, func(c []byte) { joinText(&text, readContent(c).text) })
		f.text = text.String()
	}
	return f, parts
}

// content holds the fields that are read from an element of a list of content.
type content struct {
	typ  string
	text string // or a refusal
	url  string // URL of an image, or data of a file
}

func readContent(raw []byte) content {
	var c content
	jsontext.Members(raw, func(key string, value []byte) {
		switch key {
		case "type":
			c.typ = jsontext.Text(value)
		case "text", "refusal":
			c.text = jsontext.Text(value)
		case "image_url", "file_data":
			c.url = jsontext.Text(value)
		}
	})
	return c
}

// appendJSON adds the content of a message or an output: a text, or a list of T. It reports whether the list has an
// empty text.
func appendJSON[T param.ParamStruct, P param.InferPtr[T]](parts []winnow.Part, list []byte) (all []winnow.Part,
	hollow bool) {
	if len(list) > 0 && list[0] == '"' {
		return appendText(parts, jsontext.Text(list), nil), false
	}
	jsontext.Elements(list, func(raw []byte) {
		source, n := param.Override[T, P](json.RawMessage(raw)), len(parts)
		parts = appendContent(parts, raw, &source)
		hollow = hollow || len(parts) == n
	})
	return parts, hollow
}

// appendContent adds an element of a list of content that is given as JSON.
func appendContent(parts []winnow.Part, raw []byte, source any) []winnow.Part {
	switch c := readContent(raw); c.typ {
	case "input_text", "output_text", "text", "summary_text", "refusal":
		return appendText(parts, c.text, source)
	case "input_image":
		return append(parts, media(winnow.KindImage, c.url, source))
	case "input_file":
		return append(parts, media(winnow.KindOpaque, c.url, source))
	}
	return append(parts, winnow.Part{Kind: winnow.KindOpaque, Bytes: len(raw), Source: source})
}

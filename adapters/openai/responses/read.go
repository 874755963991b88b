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

// givenAs returns the JSON that is sent for an item, and nil for a typed one that is read in place. The SDK gives all
// items of an answer as JSON.
func givenAs(of *Item) json.RawMessage {
	var s adapter.Param
	switch {
	case of.OfMessage != nil:
		s = of.OfMessage
	case of.OfFunctionCall != nil:
		s = of.OfFunctionCall
	case of.OfFunctionCallOutput != nil:
		s = of.OfFunctionCallOutput
	default: // rare kinds
		return adapter.Raw(of)
	}
	if adapter.IsTyped(s) {
		return nil
	}
	return adapter.Raw(of)
}

// read returns the fields of an item, and parts with its content.
func read(of *Item, parts []winnow.Part) (fields, []winnow.Part) {
	raw := givenAs(of)
	switch {
	case raw != nil:
		return readJSON(raw, parts)
	case of.OfMessage != nil:
		m := of.OfMessage
		parts = appendText(parts, m.Content.OfString.Value, nil)
		parts, hollow := appendTyped(parts, m.Content.OfInputItemContentList)
		return fields{typ: "message", role: string(m.Role), hollow: hollow}, parts
	case of.OfFunctionCall != nil:
		c := of.OfFunctionCall
		return fields{typ: functionCall, id: c.ID.Value, call: c.CallID, name: c.Name, text: c.Arguments}, parts
	case of.OfFunctionCallOutput != nil:
		o := of.OfFunctionCallOutput
		parts = appendText(parts, o.Output.OfString.Value, nil)
		parts, hollow := appendTyped(parts, o.Output.OfResponseFunctionCallOutputItemArray)
		return fields{typ: functionOutput, call: o.CallID.Value, name: o.Name.Value, hollow: hollow}, parts
	}
	return fields{}, parts // it cannot be encoded
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

// element is an element of a typed list of content, in a message or an output.
type element[T any] interface {
	*T
	adapter.Param
	GetText() *string
	GetImageURL() *string
	GetFileData() *string
}

// appendTyped adds typed content. It reports whether that has an empty text.
func appendTyped[T any, P element[T]](parts []winnow.Part, list []T) (all []winnow.Part, hollow bool) {
	for k := range list {
		c, n := P(&list[k]), len(parts)
		switch text, url, data := c.GetText(), c.GetImageURL(), c.GetFileData(); {
		case text != nil:
			parts = appendText(parts, *text, c)
		case url != nil:
			parts = append(parts, adapter.Media(winnow.KindImage, "", *url, c))
		case data != nil:
			parts = append(parts, adapter.Media(winnow.KindOpaque, "", *data, c))
		default: // what the SDK does not expect there, and holds as JSON
			parts = appendContent(parts, adapter.Raw(c), c)
		}
		hollow = hollow || len(parts) == n
	}
	return parts, hollow
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
		return append(parts, adapter.Media(winnow.KindImage, "", c.url, source))
	case "input_file":
		return append(parts, adapter.Media(winnow.KindOpaque, "", c.url, source))
	}
	return append(parts, winnow.Part{Kind: winnow.KindOpaque, Bytes: len(raw), Source: source})
}

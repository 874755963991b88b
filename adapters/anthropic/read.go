package anthropic

import (
	"encoding/json"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/internal/jsontext"
)

// A message or a block is either typed or given as JSON (param.Override). The SDK itself returns unknown blocks as
// JSON, but its decoder drops the whole content of a message with one: such messages have to be given as JSON. Typed
// blocks of the common kinds are read in place, all others as the JSON that is sent.

type (
	message = sdk.MessageParam
	block   = sdk.ContentBlockParamUnion
	inner   = sdk.ToolResultBlockParamContentUnion // a block in a result
)

// Types of blocks that are read. Of other blocks only the size is known.
const (
	typeText             = "text"
	typeThinking         = "thinking"
	typeRedactedThinking = "redacted_thinking"
	typeToolUse          = "tool_use"
	typeToolResult       = "tool_result"
	typeImage            = "image"
	typeDocument         = "document"
	typeSearchResult     = "search_result"
	typeCompaction       = "compaction"
	typeServedResult     = "mcp_tool_result" // of a server that the API calls
)

// fields are the fields that are read from a block.
type fields struct {
	typ       string
	text      string // of a text, or of thinking
	signature string // of thinking; the data of redacted thinking
	id        string // of a call, also of one that the API runs itself; of a result that of its call
	name      string // of a call, likewise
	input     any    // of a call
	toolset   string // of a call
	isError   bool   // of a result

	content   []inner // of a result
	emptyList bool    // of a result: an empty list of content, which the API refuses

	mediaType string // of an image or a document
	bytes     int    // of an image, a document, or a block that is not read
	data      string // of an image or a document, in Base64
}

// givenAs returns the JSON that is sent for a block, and nil for a typed one that is read in place.
func givenAs(b *block) json.RawMessage {
	var s adapter.Param
	switch {
	case b.OfText != nil:
		s = b.OfText
	case b.OfToolUse != nil:
		s = b.OfToolUse
	case b.OfToolResult != nil:
		s = b.OfToolResult
	case b.OfThinking != nil:
		s = b.OfThinking
	case b.OfImage != nil:
		s = b.OfImage
	default:
		return adapter.Raw(b)
	}
	if adapter.IsTyped(s) {
		return nil
	}
	return adapter.Raw(b)
}

// read returns the fields of a block.
func read(b *block) fields {
	raw := givenAs(b)
	switch {
	case raw != nil:
		return readJSON(raw)
	case b.OfText != nil:
		return fields{typ: typeText, text: b.OfText.Text}
	case b.OfThinking != nil:
		return fields{typ: typeThinking, text: b.OfThinking.Thinking, signature: b.OfThinking.Signature}
	case b.OfToolUse != nil:
		c := b.OfToolUse
		return fields{typ: typeToolUse, id: c.ID, name: c.Name, input: c.Input, toolset: c.ToolsetName.Value}
	case b.OfToolResult != nil:
		r := b.OfToolResult
		return fields{typ: typeToolResult, id: r.ToolUseID, isError: r.IsError.Value, content: r.Content,
			emptyList: r.Content != nil && len(r.Content) == 0}
	case b.OfImage != nil:
		return imageFields(b.OfImage)
	}
	return fields{} // it cannot be encoded
}

// isResult reports whether b is a result, and reads as little as possible.
func isResult(b *block) bool {
	if raw := givenAs(b); raw != nil {
		return typeOf(raw) == typeToolResult
	}
	return b.OfToolResult != nil
}

func isResultBlock(b block) bool { return isResult(&b) }

// typeOf returns the type of a block that is given as JSON.
func typeOf(raw []byte) (typ string) {
	jsontext.Members(raw, func(key string, value []byte) {
		if key == "type" {
			typ = jsontext.Text(value)
		}
	})
	return typ
}

// readJSON reads a block that is given as JSON.
func readJSON(raw []byte) fields {
	f := fields{bytes: len(raw)}
	var text, thinking, data, useID, input, content, source []byte
	jsontext.Members(raw, func(key string, value []byte) {
		switch key {
		case "type":
			f.typ = jsontext.Text(value)
		case "text":
			text = value
		case "thinking":
			thinking = value
		case "signature":
			f.signature = jsontext.Text(value)
		case "data":
			data = value
		case "id":
			f.id = jsontext.Text(value)
		case "name":
			f.name = jsontext.Text(value)
		case "input":
			input = value
		case "tool_use_id":
			useID = value
		case "toolset_name":
			f.toolset = jsontext.Text(value)
		case "is_error":
			f.isError = string(value) == "true"
		case "content":
			content = value
		case "source":
			source = value
		}
	})
	switch f.typ {
	case typeText:
		f.text = jsontext.Text(text)
	case typeThinking:
		f.text = jsontext.Text(thinking)
	case typeRedactedThinking:
		f.signature = jsontext.Text(data)
	case typeToolUse:
		if input != nil && string(input) != "null" {
			f.input = json.RawMessage(input)
		}
	case typeToolResult:
		f.id = jsontext.Text(useID)
		f.content, f.emptyList = innerOf(content)
	case typeImage, typeDocument:
		f.source(source)
	case typeCompaction:
		f.text = jsontext.Text(content)
	default:
		f.half(jsontext.Text(useID))
	}
	return f
}

// half makes f half of a pair that the API runs itself, if its type says so: "server_tool_use", "mcp_tool_use", and the
// result of each tool, "web_search_tool_result" for example. use is the id of the call that a result answers. Other
// blocks have no id here.
func (f *fields) half(use string) {
	switch {
	case strings.HasSuffix(f.typ, "_"+typeToolUse) && f.name != "": // with its id and its name
	case strings.HasSuffix(f.typ, "_"+typeToolResult):
		f.id, f.name = use, ""
	default:
		f.id, f.name = "", ""
	}
}

// innerOf returns the content of a result that is given as JSON: a text or a list.
func innerOf(raw []byte) (content []inner, emptyList bool) {
	if len(raw) > 0 && raw[0] == '"' {
		if text := jsontext.Text(raw); text != "" {
			return []inner{{OfText: &sdk.TextBlockParam{Text: text}}}, false
		}
		return nil, false
	}
	jsontext.Elements(raw, func(b []byte) { content = append(content, param.Override[inner](json.RawMessage(b))) })
	return content, len(raw) > 0 && raw[0] == '[' && len(content) == 0
}

// readInner returns the fields of a block in a result.
func readInner(c *inner) fields {
	switch {
	case c.OfText != nil && adapter.IsTyped(c.OfText):
		return fields{typ: typeText, text: c.OfText.Text}
	case c.OfImage != nil && adapter.IsTyped(c.OfImage):
		return imageFields(c.OfImage)
	}
	return readJSON(adapter.Raw(c))
}

// imageFields returns the type and the data of an image as they are sent.
func imageFields(b *sdk.ImageBlockParam) fields {
	f := fields{typ: typeImage}
	switch s := &b.Source; {
	case s.OfBase64 != nil:
		f.mediaType, f.data, f.bytes = string(s.OfBase64.MediaType), s.OfBase64.Data, len(s.OfBase64.Data)
	case s.OfURL != nil:
		f.bytes = len(s.OfURL.URL)
	}
	return f
}

// contents are the fields that are read from a message.
type contents struct {
	role   sdk.MessageParamRole
	blocks []block
	ok     bool // false: the form of the content is unknown
}

// contentOf returns the role and the blocks of a message.
func contentOf(m *message) contents {
	if adapter.IsTyped(m) {
		return contents{m.Role, m.Content, true}
	}
	var c contents
	var content []byte
	jsontext.Members(adapter.Raw(m), func(key string, value []byte) {
		switch key {
		case "role":
			c.role = sdk.MessageParamRole(jsontext.Text(value))
		case "content":
			content = value
		}
	})
	switch {
	case len(content) == 0:
	case content[0] == '"':
		c.ok = true
		if text := jsontext.Text(content); text != "" {
			c.blocks = []block{sdk.NewTextBlock(text)}
		}
	case content[0] == '[':
		c.ok = true
		jsontext.Elements(content, func(b []byte) {
			c.blocks = append(c.blocks, param.Override[block](json.RawMessage(b)))
		})
	}
	c.ok = c.ok && c.role != ""
	return c
}

// othersOf returns the members other than role and content of a message that is given as JSON.
func othersOf(m *message) map[string]any {
	others := map[string]any{}
	jsontext.Members(adapter.Raw(m), func(key string, value []byte) {
		if key != "role" && key != "content" {
			others[key] = json.RawMessage(value)
		}
	})
	return others
}

// source reads the source of an image or a document that is given as JSON.
func (f *fields) source(source []byte) {
	var kind, media, data, url string
	jsontext.Members(source, func(key string, value []byte) {
		switch key {
		case "type":
			kind = jsontext.Text(value)
		case "media_type":
			media = jsontext.Text(value)
		case "data":
			data = jsontext.Text(value)
		case "url":
			url = jsontext.Text(value)
		}
	})
	f.bytes = 0
	switch {
	case kind == "base64" && f.typ == typeDocument:
		f.mediaType, f.data, f.bytes = "application/pdf", data, len(data)
	case kind == "base64":
		f.mediaType, f.data, f.bytes = media, data, len(data)
	case kind == "text":
		f.mediaType, f.bytes = "text/plain", len(data)
	case kind == "url" && f.typ == typeDocument:
		f.mediaType = "application/pdf" // the size of the referenced data is unknown
	case kind == "url":
		f.bytes = len(url)
	case kind == "content":
		f.bytes = len(source)
	}
}

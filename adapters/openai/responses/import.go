package responses

import (
	"cmp"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/internal/jsontext"
)

type piece = adapter.Piece[Item]

// turn is the Source of an assistant message: its items.
type turn struct{ items []Item }

// Types of items that are read or built. MediaType holds the type of a call, unless it is a function's.
const (
	functionCall   = "function_call"
	functionOutput = "function_call_output"
	customCall     = "custom_tool_call"
	customOutput   = "custom_tool_call_output"
	reasoning      = "reasoning"
	compaction     = "compaction"
)

// Import returns items in winnow's form. The result points to the caller's items, which must not be changed while it is
// in use. Importing the same items again gives equal messages.
//
// A message of nothing but reminders of an agent is marked as no person's (Injected). Afterwards the host may mark others,
// messages that must survive (Pinned) and outputs that are errors (IsError), for which the API has no field.
func Import(items []Item) []winnow.Message {
	im := importer{
		out:   make([]winnow.Message, 0, len(items)),
		parts: make([]winnow.Part, 0, len(items)+len(items)/4),
	}
	for i := range items {
		im.add(items, i)
	}
	im.endTurn()
	return im.out
}

// importer turns items into messages. Parts share a few blocks of memory.
type importer struct {
	out   []winnow.Message
	parts []winnow.Part
	names adapter.ToolNames
	turn  *turn // the current assistant message; nil: none
	begin int   // index of its first part
	first int   // index of its first item
}

func (im *importer) add(items []Item, i int) {
	begin := len(im.parts)
	f, parts := read(&items[i], im.parts)
	im.parts = parts
	of := &items[i]
	switch {
	case f.typ == "message" && f.role == "user":
		im.single(winnow.Message{Role: winnow.RoleUser}, of, begin).Hollow = f.hollow
	case f.typ == "message" && f.role != "assistant": // system and developer
		im.single(winnow.Message{Role: winnow.RoleSystem}, of, begin).Hollow = f.hollow
	case f.typ == functionOutput, f.typ == customOutput:
		im.single(winnow.Message{Role: winnow.RoleTool, ToolCallID: f.call}, of, begin).Hollow = f.hollow
	case isOutput(f.typ):
		if f.call == "" { // of the local shell
			f.call = f.id
		}
		im.opaque(winnow.Message{Role: winnow.RoleTool, ToolCallID: f.call}, of, f.size)
	case f.typ == "configuration_update", f.typ == "additional_tools":
		im.opaque(winnow.Message{Role: winnow.RoleSystem}, of, f.size)
	case f.typ == compaction:
		im.opaque(winnow.Message{Role: winnow.RoleUser, Injected: true, Pinned: true}, of, f.size)
		im.compacted(f.encrypted)
	case f.typ == "compaction_trigger", f.typ == "mcp_approval_response", f.typ == "":
		im.opaque(winnow.Message{Role: winnow.RoleUser, Injected: true}, of, f.size)
		part := &im.parts[len(im.parts)-1]
		part.ID, part.Name = halfOf(&f)
	default:
		im.assistant(items, i, begin, f)
	}
}

// isOutput reports whether an item is the host's output of a call of one of the API's own tools.
func isOutput(typ string) bool {
	switch typ {
	case "computer_call_output", "local_shell_call_output", "shell_call_output", "apply_patch_call_output":
		return true
	}
	return false
}

// isCall reports whether an item is a call that the host answers.
func isCall(typ string) bool {
	switch typ {
	case functionCall, customCall, "computer_call", "local_shell_call", "shell_call", "apply_patch_call":
		return true
	}
	return false
}

// halfOf returns the ID and the Name of an item that is half of a pair: a call that the API runs itself or that it asks
// the host to approve, and the result. A search without an id is answered by the next result.
func halfOf(f *fields) (id, name string) {
	switch f.typ {
	case "mcp_approval_request":
		return f.id, f.typ
	case "mcp_approval_response":
		return f.approves, ""
	case "program", "tool_search_call":
		return cmp.Or(f.call, f.typ), f.typ
	case "program_output":
		return cmp.Or(f.call, "program"), ""
	case "tool_search_output":
		return cmp.Or(f.call, "tool_search_call"), ""
	}
	return "", ""
}

// single adds a message of one item, whose parts begin at begin. It returns the message's piece.
func (im *importer) single(m winnow.Message, of *Item, begin int) *piece {
	im.closeTurn(begin)
	if m.Role == winnow.RoleTool {
		m.ToolName = im.names.Of(m.ToolCallID)
	}
	m.Parts = im.parts[begin:len(im.parts):len(im.parts)]
	if m.Role == winnow.RoleUser && !m.Injected {
		adapter.NoteWhose(&m, false)
	}
	p := &piece{Of: of, Count: 1}
	m.Source = p
	im.out = append(im.out, m)
	return p
}

// opaque adds a message of one item that is not read.
func (im *importer) opaque(m winnow.Message, of *Item, size int) {
	begin := len(im.parts)
	im.parts = append(im.parts, winnow.Part{Kind: winnow.KindOpaque, Bytes: size})
	im.single(m, of, begin)
}

// compacted gives the newest message, an item of compaction, what the provider reads of it. The API's endpoint for
// compactions returns the messages of people in front of the item, with ids: they belong to it, and are pinned.
func (im *importer) compacted(sealed string) {
	last := len(im.out) - 1
	p := &im.out[last].Parts[0]
	p.MediaType, p.Signature = winnow.MediaCompaction, sealed
	for k := last - 1; k >= 0; k-- {
		m := &im.out[k]
		own := adapter.PieceOf[Item](m)
		if m.Role != winnow.RoleUser || m.Injected || own == nil {
			return
		}
		if f, _ := read(own.Of, nil); f.id == "" {
			return
		}
		m.Pinned = true
	}
}

// assistant adds an item to the current assistant message. Its content begins at begin.
func (im *importer) assistant(items []Item, i, begin int, f fields) {
	if im.turn == nil {
		im.turn, im.begin, im.first = new(turn), begin, i
	}
	im.turn.items = items[im.first : i+1 : i+1]
	of := &items[i]
	if f.typ == "message" {
		count := len(im.parts) - begin
		for k := range im.parts[begin:] {
			im.parts[begin+k].Source = &piece{Of: of, Block: im.turn, Index: k, Count: count}
		}
		return
	}
	p := winnow.Part{Source: &piece{Of: of, Block: im.turn, Count: 1}}
	switch {
	case f.typ == reasoning:
		p.Kind, p.ID, p.Text, p.Signature = winnow.KindThinking, f.id, f.text, f.encrypted
		if p.Text == "" && p.Signature == "" { // the server keeps it, so it is not empty
			p.Signature = f.id
		}
	case f.typ == functionCall:
		p.Kind, p.ID, p.Name, p.Arguments = winnow.KindToolCall, f.call, f.name, []byte(f.text)
	case f.typ == customCall:
		p.Kind, p.ID, p.Name, p.MediaType, p.Arguments = winnow.KindToolCall, f.call, f.name, customCall,
			jsontext.Quote(f.text)
	case isCall(f.typ):
		p.Kind, p.ID, p.MediaType = winnow.KindToolCall, f.call, f.typ
		p.Name = strings.TrimSuffix(f.typ, "_call")
		p.Arguments = adapter.Raw(of)
	default:
		p.Kind, p.Bytes = winnow.KindOpaque, f.size
		p.ID, p.Name = halfOf(&f)
	}
	im.parts = append(im.parts, p)
}

// endTurn adds the current assistant message.
func (im *importer) endTurn() { im.closeTurn(len(im.parts)) }

// closeTurn adds the current assistant message, whose parts end at end.
func (im *importer) closeTurn(end int) {
	if im.turn == nil {
		return
	}
	parts := im.parts[im.begin:end:end]
	im.names.Add(parts)
	im.out = append(im.out, winnow.Message{Role: winnow.RoleAssistant, Parts: parts, Source: im.turn})
	im.turn = nil
}

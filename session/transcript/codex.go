package transcript

import (
	"encoding/json"
	"slices"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/session/entry"
)

// A rollout file of Codex is a list:
//
//	{"timestamp":"…","type":"response_item","payload":{"type":"message","role":"user","content":[…]}}
//
// Items of the Responses API make up the conversation. Events are for the screen, but some of them report changes of
// the conversation. Consecutive items of the model are one answer. The oldest files have bare items.

// codexKnown are the known kinds of lines that are not part of the conversation.
var codexKnown = []string{
	"session_meta", "turn_context", "world_state", "ghost_snapshot", "compacted", "state",
	"agent_message", "user_message", "agent_reasoning", "agent_reasoning_raw_content", "agent_reasoning_section_break",
	"token_count", "task_started", "task_complete", "turn_started", "turn_complete", "turn_aborted",
	"exec_command_begin", "exec_command_end", "patch_apply_begin", "patch_apply_end", "mcp_tool_call_begin",
	"mcp_tool_call_end", "web_search_begin", "web_search_end", "view_image_tool_call", "context_compacted",
	"entered_review_mode", "exited_review_mode", "item_started", "item_completed", "error", "warning",
	"thread_rolled_back", "thread_name_updated", "plan_update", "thread_settings_applied", "sub_agent_activity",
}

// codexCopies are events that repeat an item, or whose whole content is used. They are not carried.
var codexCopies = []string{"agent_message", "user_message", "agent_reasoning", "agent_reasoning_raw_content"}

type codexReader struct {
	*builder
	line    members
	item    members
	at      string
	model   string
	answer  *entry.Entry      // the current answer; nil: the next item begins a new one
	newest  *entry.Entry      // the newest answer
	billed  string            // the total usage of the newest count
	extras  extras            // of answer
	tools   map[string]string // by the id of a call
	started bool              // a person or the model said something
}

func readCodex(b *builder, data []byte) {
	r := &codexReader{builder: b, tools: map[string]string{}}
	b.lines(data, r.read)
	r.endAnswer()
}

func (r *codexReader) read(raw []byte) {
	r.line.read(raw)
	r.at = r.line.text("timestamp")
	typ, payload := r.line.text("type"), r.line.get("payload")
	if len(payload) == 0 || payload[0] != '{' { // the oldest form
		payload = raw
		if typ == "" && r.line.has("id") {
			typ = "session_meta"
		} else if typ != "" {
			typ = "response_item"
		}
	}
	r.item.read(payload)
	switch typ {
	case "session_meta":
		r.meta(raw)
	case "response_item":
		r.response(payload, raw)
	case "event_msg":
		r.event(raw)
	case "compacted":
		r.endAnswer()
		r.compacted(raw)
	case "turn_context":
		if model := r.item.text("model"); model != "" {
			r.model = model
		}
		r.carryKnown(typ, raw)
	default:
		r.carryKnown(typ, raw)
	}
}

// carryKnown carries a line of a known kind that is not part of the conversation.
func (r *codexReader) carryKnown(kind string, raw []byte) {
	switch {
	case slices.Contains(codexCopies, kind):
		r.t.Report.Carried[kind]++
	case slices.Contains(codexKnown, kind):
		r.known(kind, r.at, raw)
	default:
		r.unknown(kind, r.at, raw)
	}
}

// meta reads what the file says about itself. A session that continues another one also holds that one's metadata.
func (r *codexReader) meta(raw []byte) {
	o := &r.t.Session
	if o.ID != "" {
		r.known("session_meta", r.at, raw)
		return
	}
	o.ID, o.CWD, o.Version = r.item.text("id"), r.item.text("cwd"), r.item.text("cli_version")
	r.note(r.at, r.item.without("id", "cwd", "cli_version", "program", "version", "base_instructions", "instructions"))
	instructions := r.item.object("base_instructions").text("text")
	if instructions == "" {
		instructions = r.item.text("instructions")
	}
	if instructions != "" {
		r.add(&winnow.Message{Role: winnow.RoleSystem, Parts: []winnow.Part{{Text: instructions}}}, nil)
	}
}

// add adds a message after the newest one.
func (r *codexReader) add(m *winnow.Message, x *extras) *entry.Entry {
	e := &entry.Entry{Type: entry.TypeMessage, Message: m, Time: parseTime(r.at)}
	m.Time = e.Time
	if x != nil {
		e.Source = x.source()
	}
	r.path(e, r.leaf)
	return e
}

// response takes an item of the conversation.
func (r *codexReader) response(payload, raw []byte) {
	switch typ := r.item.text("type"); typ {
	case "message":
		if r.item.text("role") == "assistant" {
			parts, rest := readCodexContent(r.item.get("content"))
			r.say(parts, r.withItem(rest, "type", "role", "content"))
			return
		}
		r.endAnswer()
		r.add(r.readMessage(r.item))
	case "reasoning":
		if p, ok := readReasoning(r.item); ok {
			r.say([]winnow.Part{p}, r.withItem(nil, "type", "id", "summary", "content", "encrypted_content"))
		}
	case "function_call", "custom_tool_call", "local_shell_call":
		known := []string{"type", "call_id", "name", "arguments", "input", "action"}
		r.say([]winnow.Part{r.call(typ)}, r.withItem(nil, known...))
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		r.endAnswer()
		r.result()
	case "web_search_call", "image_generation_call", "tool_search_call", "file_search_call", "computer_call",
		"mcp_call":
		p := winnow.Part{Kind: winnow.KindOpaque, MediaType: typ, Bytes: len(payload)}
		r.say([]winnow.Part{p}, map[int]members{0: {{string(Codex), payload}}})
	default:
		if isSealed(r.item) {
			r.endAnswer()
			r.addSealed(payload)
			return
		}
		r.carryKnown(typ, raw)
	}
}

// isSealed reports whether an item is a compaction by the provider, which only the provider reads.
func isSealed(item members) bool {
	return slices.Contains(codexCompactions, item.text("type")) && item.text("encrypted_content") != ""
}

// codexCompactions are the names that versions of Codex have for an item of compaction.
var codexCompactions = []string{winnow.MediaCompaction, "compaction_summary", "context_compaction"}

// addSealed adds an item of compaction by the provider.
func (r *codexReader) addSealed(raw []byte) {
	var item members
	item.read(raw)
	x := &extras{}
	x.part(0, member{string(Codex), raw})
	p := winnow.Part{Kind: winnow.KindOpaque, MediaType: winnow.MediaCompaction, Bytes: len(raw)}
	p.Signature = item.text("encrypted_content")
	r.add(&winnow.Message{Role: winnow.RoleUser, Injected: true, Pinned: true, Parts: []winnow.Part{p}}, x)
}

// withItem returns the extras of parts. The unknown members of their item go to the first part.
func (r *codexReader) withItem(parts map[int]members, known ...string) map[int]members {
	x := extras{parts: parts}
	x.part(0, r.item.without(known...)...)
	return x.parts
}

// readMessage reads a message of anybody but the model.
func (r *codexReader) readMessage(item members) (*winnow.Message, *extras) {
	m := &winnow.Message{Role: winnow.RoleUser}
	x := &extras{}
	m.Parts, x.parts = readCodexContent(item.get("content"))
	x.message = item.without("type", "role", "content")
	switch role := item.text("role"); {
	case role == "assistant":
		m.Role = winnow.RoleAssistant
	case role != "user" && !r.started: // part of the first request; later ones are notes
		m.Role = winnow.RoleSystem
	case role != "user" || isContext(m.Parts):
		m.Injected = true
		m.Transient = len(m.Parts) > 0 &&
			startsWithAny(m.Parts[0].Text, []string{"<turn_aborted>", "<subagent_notification>"})
	default:
		r.started = true
	}
	return m, x
}

// contextTexts begin user messages that Codex itself writes.
var contextTexts = []string{
	"<environment_context>", "<user_instructions>", "# AGENTS.md instructions for", "<permissions instructions>",
	"<turn_aborted>", "<skill>", "<user_shell_command>", "<subagent_notification>", "<collaboration_mode>",
	"<user_action>", "<model_switch>", "<personality_spec>", "<goal_context>",
}

func isContext(parts []winnow.Part) bool {
	return len(parts) > 0 && parts[0].Kind == winnow.KindText && startsWithAny(parts[0].Text, contextTexts)
}

// say adds parts to the answer, and begins one if necessary.
func (r *codexReader) say(parts []winnow.Part, rest map[int]members) {
	r.started = true
	if r.answer == nil {
		r.extras = extras{}
		r.answer = r.add(&winnow.Message{Role: winnow.RoleAssistant}, nil)
		r.answer.Model = r.model
		r.newest = r.answer
	}
	m := r.answer.Message
	for i, more := range rest {
		r.extras.part(len(m.Parts)+i, more...)
	}
	m.Parts = append(m.Parts, parts...)
}

func (r *codexReader) endAnswer() {
	if r.answer != nil {
		r.answer.Source = r.extras.source()
	}
	r.answer = nil
}

// call reads a call of a tool.
func (r *codexReader) call(typ string) winnow.Part {
	p := winnow.Part{Kind: winnow.KindToolCall, ID: r.item.text("call_id"), Name: r.item.text("name")}
	switch typ {
	case "local_shell_call":
		p.Name, p.Arguments = "local_shell", r.item.get("action")
	case "custom_tool_call":
		p.Arguments = jsontext.Quote(r.item.text("input"))
	default:
		text := r.item.text("arguments")
		if raw := []byte(text); json.Valid(raw) {
			p.Arguments = raw
		} else if text != "" {
			p.Arguments = jsontext.Quote(text)
		}
	}
	if p.ID == "" {
		p.ID = r.item.text("id")
	}
	r.tools[p.ID] = p.Name
	return p
}

// readReasoning reads an item of reasoning. ok is false if it is empty.
func readReasoning(item members) (p winnow.Part, ok bool) {
	p = winnow.Part{Kind: winnow.KindThinking, ID: item.text("id"), Signature: item.text("encrypted_content")}
	if p.Signature != "" {
		p.MediaType = "reasoning" // so that no provider takes it for its own without the item
	}
	for _, list := range []string{"summary", "content"} {
		jsontext.Elements(item.get(list), func(value []byte) {
			var block members
			block.read(value)
			if text := block.text("text"); text != "" {
				if p.Text != "" {
					p.Text += "\n\n"
				}
				p.Text += text
			}
		})
	}
	return p, p.Text != "" || p.Signature != ""
}

// result adds the result of a call.
func (r *codexReader) result() {
	x := &extras{}
	m := &winnow.Message{Role: winnow.RoleTool, ToolCallID: r.item.text("call_id")}
	m.ToolName = r.tools[m.ToolCallID]
	output := r.item.get("output")
	if len(output) > 0 && output[0] == '{' { // {content, success}
		var object members
		object.read(output)
		m.IsError = string(object.get("success")) == "false"
		output = object.get("content")
		if items := object.get("content_items"); items != nil {
			output = items
		}
	}
	m.Parts, x.parts = readCodexContent(output)
	x.message = r.item.without("type", "call_id", "output")
	if len(m.Parts) > 0 {
		m.IsError = m.IsError || failed(m.Parts[0].Text)
	}
	r.add(m, x)
}

// readCodexContent reads a content: a text, or a list.
func readCodexContent(raw []byte) (parts []winnow.Part, rest map[int]members) {
	if len(raw) > 0 && raw[0] == '"' {
		if text := jsontext.Text(raw); text != "" {
			parts = []winnow.Part{{Text: text}}
		}
		return parts, nil
	}
	var block members
	var x extras
	jsontext.Elements(raw, func(value []byte) {
		block.read(value)
		p := winnow.Part{}
		switch typ := block.text("type"); typ {
		case "input_text", "output_text", "text", "summary_text", "reasoning_text":
			p.Text = block.text("text")
		case "refusal":
			p.Text = block.text("refusal")
		case "input_image":
			var more members
			p, more = urlPart(block.text("image_url"))
			x.part(len(parts), more...)
		default:
			p = winnow.Part{Kind: winnow.KindOpaque, MediaType: kindName(typ), Bytes: len(value)}
			x.part(len(parts), member{string(Codex), value})
		}
		parts = append(parts, p)
	})
	return parts, x.parts
}

package transcript

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/session/entry"
)

// A file of Claude Code is a tree of lines:
//
//	{"type":"user","uuid":"…","parentUuid":null,"timestamp":"…","message":{"role":"user","content":…}}
//
// An answer of the model is one line per block, all with the same message.id and usage. The results of parallel calls
// follow the lines of their calls, so the tree forks there although the conversation does not. Here they follow one
// another. A compaction is a line of type system followed by the summary as a user's line.

// claudeKnown are the known kinds of lines that are not part of the conversation.
var claudeKnown = []string{
	"agent-color", "agent-name", "agent-setting", "ai-title", "attachment", "custom-title", "file-history-snapshot",
	"last-prompt", "mode", "permission-mode", "pr-link", "progress", "queue-operation", "saved_hook_context", "summary",
	"system", "tag", "task-summary", "worktree-state",
}

type claudeReader struct {
	*builder
	line     members
	message  members
	answers  map[string]*answer // by message.id
	calls    map[string]*answer // by the id of a call without a result so far
	tools    map[string]string  // by the id of a call
	of       map[string]*answer // by path entry of an answer or of a result of its calls
	main     string             // the newest entry of the main conversation
	side     string             // the newest entry of a sub-agent
	titled   bool               // a person set the title: other titles do not count
	boundary struct {
		line   string // the newest compaction, whose summary is still to come
		parent string // the entry that it follows
		tokens int
		kept   string // the first line that it kept
	}
}

// answer is one answer of the model.
type answer struct {
	entry  *entry.Entry
	extras extras
	tail   string         // the newest result of its calls, or the answer
	beside []*entry.Entry // what the provider asked a model beside it
}

func readClaude(b *builder, data []byte) {
	r := &claudeReader{
		builder: b, answers: map[string]*answer{}, calls: map[string]*answer{}, tools: map[string]string{},
		of: map[string]*answer{},
	}
	b.lines(data, r.read)
	for _, a := range r.answers {
		a.entry.Source = a.extras.source()
	}
	switch {
	case r.main != "":
		b.leaf = r.tail(r.main)
	case r.side != "":
		b.leaf = r.tail(r.side)
	}
}

func (r *claudeReader) read(raw []byte) {
	r.line.read(raw)
	r.origin()
	typ, id := r.line.text("type"), r.line.text("uuid")
	if id != "" && r.resolve(id) != "" {
		r.t.Report.Double++
		return
	}
	at := r.line.text("timestamp")
	switch {
	case typ == "user" && r.line.isTrue("isCompactSummary"):
		r.compaction(id)
	case typ == "user" && !r.line.isTrue("isVisibleInTranscriptOnly"):
		r.message = r.line.object("message")
		r.user(id)
	case typ == "assistant":
		r.message = r.line.object("message")
		r.assistant(id)
	case typ == "summary":
		// others belong to the sessions that this one continues
		if r.resolve(r.line.text("leafUuid")) != "" && !r.titled {
			r.name(r.line.text("summary"), at)
		}
		r.beyond(typ, id, raw)
	case typ == "ai-title" && !r.titled:
		r.name(r.line.text("aiTitle"), at)
		r.beyond(typ, id, raw)
	case typ == "custom-title":
		r.titled = true
		r.name(r.line.text("customTitle"), at)
		r.beyond(typ, id, raw)
	case typ == "system" && r.line.text("subtype") == "compact_boundary":
		r.beyond(typ, id, raw)
		r.compactBoundary(id)
	default:
		r.beyond(typ, id, raw)
	}
}

// beyond carries a line that is not part of the conversation. Its children follow its own parent.
func (r *claudeReader) beyond(typ, id string, raw []byte) {
	r.standIn(id, r.line.text("parentUuid"))
	at := r.line.text("timestamp")
	if typ == "user" || slices.Contains(claudeKnown, typ) {
		r.known(typ, at, raw)
	} else {
		r.unknown(typ, at, raw)
	}
}

// origin reads what a line says about the session.
func (r *claudeReader) origin() {
	o := &r.t.Session
	if o.ID != "" {
		return
	}
	if o.ID = r.line.text("sessionId"); o.ID == "" || !r.line.has("cwd") && !r.line.has("version") {
		o.ID = ""
		return
	}
	o.CWD, o.Version = r.line.text("cwd"), r.line.text("version")
	more := members{}
	if branch := r.line.get("gitBranch"); branch != nil {
		more = append(more, member{"gitBranch", branch})
	}
	r.note(r.line.text("timestamp"), more)
}

// add adds an entry where its line belongs.
func (r *claudeReader) add(e *entry.Entry, id, parent string) {
	e.ID, e.Time = id, parseTime(r.line.text("timestamp"))
	r.path(e, parent)
	if r.line.isTrue("isSidechain") {
		r.side = e.ID
	} else {
		r.main = e.ID
	}
	r.leaf = e.ID
}

// before returns the path entry that the line follows: the last result of an answer.
func (r *claudeReader) before() string {
	if r.line.isTrue("isSidechain") {
		r.leaf = r.newest(r.side)
	} else {
		r.leaf = r.newest(r.main)
	}
	return r.tail(r.parent(r.line.text("parentUuid")))
}

func (r *claudeReader) newest(id string) string {
	if id == "" {
		return rootID
	}
	return id
}

// tail returns the newest result of the answer that entry id belongs to, or id.
func (r *claudeReader) tail(id string) string {
	if a := r.of[id]; a != nil {
		return a.tail
	}
	return id
}

// compactBoundary remembers where the next summary belongs.
func (r *claudeReader) compactBoundary(id string) {
	c := &r.boundary
	meta := r.line.object("compactMetadata")
	preserved := meta.object("preservedSegment")
	c.line, c.tokens, c.kept = id, meta.number("preTokens"), preserved.text("headUuid")
	if c.parent = r.resolve(r.line.text("logicalParentUuid")); c.parent == "" || c.parent == rootID {
		c.parent = r.newest(r.main)
	}
	c.parent = r.tail(c.parent)
	if id != "" {
		r.alias[id] = c.parent
	}
}

// compaction takes the summary of a compaction.
func (r *claudeReader) compaction(id string) {
	c := r.boundary
	r.boundary.line = ""
	e := &entry.Entry{Type: entry.TypeCompaction, Summary: r.summary()}
	parent := r.newest(r.main)
	if c.line != "" {
		parent, e.TokensBefore = c.parent, c.tokens
		if c.kept != "" {
			e.FirstKept = r.firstKept(c.kept)
		}
	} else if p := r.resolve(r.line.text("parentUuid")); p != "" && p != rootID {
		parent = r.tail(p)
	}
	r.add(e, id, parent)
}

// summary returns the text of a user's line.
func (r *claudeReader) summary() string {
	var x extras
	parts := readClaudeContent(r.line.object("message").get("content"), &x)
	return textOf(parts)
}

// user adds the results in a user's line, and the rest of its content as a message.
func (r *claudeReader) user(id string) {
	content := r.message.get("content")
	at := parseTime(r.line.text("timestamp"))
	var results []*entry.Entry
	var rest []byte
	if len(content) > 0 && content[0] == '[' {
		results, rest = r.results(content)
	} else {
		rest = content
	}
	if len(results) == 1 {
		if details := r.line.get("toolUseResult"); details != nil {
			results[0].Message.Details = json.RawMessage(details)
		}
	}
	before := r.before()
	for i, e := range results {
		last := i == len(results)-1 && rest == nil
		e.Message.Time = at
		r.result(e, partID(id, i, last), before)
		before = e.ID
	}
	if rest == nil && len(results) > 0 {
		return
	}
	var x extras
	m := &winnow.Message{Role: winnow.RoleUser, Time: at, Parts: readClaudeContent(rest, &x)}
	if m.Injected = r.line.isTrue("isMeta") || isHarness(m.Parts); m.Injected && len(m.Parts) > 0 {
		m.Transient = startsWithAny(m.Parts[0].Text, reminderTexts)
		m.InForce = skillIn(m.Parts[0].Text)
	}
	x.line = r.line.without(claudeMembers...)
	r.add(&entry.Entry{Type: entry.TypeMessage, Message: m, Source: x.source()}, id, before)
}

// claudeMembers are the members of a line that are read, or that repeat in every line what the session's note says
// once.
var claudeMembers = []string{
	"type", "uuid", "parentUuid", "isSidechain", "timestamp", "message", "requestId", "toolUseResult", "isMeta",
	"isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage", "sourceToolAssistantUUID",
	"cwd", "sessionId", "version", "gitBranch", "userType", "slug", "entrypoint", "promptId",
}

// claudeMessageMembers are the members of a message that are read or carry no information.
var claudeMessageMembers = []string{
	"id", "type", "role", "model", "content", "usage", "stop_reason", "stop_sequence",
}

// partID returns the id of one of several entries made from one line. The last one gets the line's id.
func partID(id string, i int, last bool) string {
	if last || id == "" {
		return id
	}
	return id + "#" + strconv.Itoa(i+1)
}

// results returns the results in a content, and its other blocks as a list, nil if it has none.
func (r *claudeReader) results(content []byte) (results []*entry.Entry, rest []byte) {
	var block members
	jsontext.Elements(content, func(value []byte) {
		block.read(value)
		if block.text("type") != "tool_result" {
			if rest == nil {
				rest = []byte{'['}
			} else {
				rest = append(rest, ',')
			}
			rest = append(rest, value...)
			return
		}
		var x extras
		m := &winnow.Message{Role: winnow.RoleTool, ToolCallID: block.text("tool_use_id"),
			IsError: block.isTrue("is_error")}
		m.ToolName = r.tools[m.ToolCallID]
		m.Parts = readClaudeContent(block.get("content"), &x)
		results = append(results, &entry.Entry{Type: entry.TypeMessage, Message: m, Source: x.source()})
	})
	if rest != nil {
		rest = append(rest, ']')
	}
	return results, rest
}

// result adds a result after the others of its answer.
func (r *claudeReader) result(e *entry.Entry, id, before string) {
	a := r.calls[e.Message.ToolCallID]
	if a == nil { // the call is not in the file, or is answered already
		r.add(e, id, before)
		return
	}
	delete(r.calls, e.Message.ToolCallID)
	before = a.tail
	if !r.line.isTrue("isSidechain") && r.of[r.main] != a { // the conversation continued without it
		before = r.newest(r.main)
	}
	r.add(e, id, before)
	a.tail = e.ID
	r.of[e.ID] = a
}

// harnessTexts begin messages in the role of a person that no person wrote.
var harnessTexts = []string{
	"[Request interrupted by user", "<local-command-stdout>", "<local-command-stderr>", "<local-command-caveat>",
	"<bash-stdout>", "<bash-stderr>", "<task-notification>", "<system-reminder>",
	"Caveat: The messages below were generated by the user",
}

// reminderTexts begin those of the harness's texts that serve one moment: reminders, and what local commands printed.
var reminderTexts = []string{
	"<local-command-", "<bash-stdout>", "<bash-stderr>", "<system-reminder>",
	"Caveat: The messages below were generated by the user",
}

// skillIn returns what a text of the harness states, as winnow.Message.InForce: it holds the body of a skill.
func skillIn(text string) []string {
	folder, found := strings.CutPrefix(text, "Base directory for this skill: ")
	if folder, _, _ = strings.Cut(folder, "\n"); !found {
		return nil
	}
	folder = strings.TrimRight(strings.TrimSpace(folder), `/\`)
	return []string{"instructions " + strings.ToLower(folder[strings.LastIndexAny(folder, `/\`)+1:])}
}

func isHarness(parts []winnow.Part) bool {
	return len(parts) > 0 && parts[0].Kind == winnow.KindText && startsWithAny(parts[0].Text, harnessTexts)
}

func startsWithAny(text string, beginnings []string) bool {
	return slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(text, b) })
}

// assistant adds a line of an answer. If the answer exists already, the line extends it.
func (r *claudeReader) assistant(id string) {
	key := r.message.text("id")
	a := r.answers[key]
	if a == nil || key == "" {
		a = r.newAnswer(id, key)
	} else if id != "" {
		r.alias[id] = a.entry.ID
		if r.line.isTrue("isSidechain") {
			r.side = a.entry.ID
		} else {
			r.main = a.entry.ID
		}
	}
	m := a.entry.Message
	first := len(m.Parts)
	var x extras
	m.Parts = append(m.Parts, readClaudeContent(r.message.get("content"), &x)...)
	for i, rest := range x.parts {
		a.extras.part(first+i, rest...)
	}
	for _, p := range m.Parts[first:] {
		if p.Kind == winnow.KindToolCall {
			r.calls[p.ID], r.tools[p.ID] = a, p.Name
		}
	}
	a.extras.line = a.extras.line.and(r.line.without(claudeMembers...))
	a.extras.message = a.extras.message.and(r.message.without(claudeMessageMembers...))
	if usage := r.message.object("usage"); len(usage) > 0 {
		m.Usage = readClaudeUsage(usage)
		var sold members
		if how := claudeSold(usage); len(how) > 0 {
			sold = members{{"usage", how.append(nil)}}
		}
		a.extras.message = a.extras.message.and(sold)
		r.callsBeside(a, usage, sold)
	}
	if reason := r.message.text("stop_reason"); reason != "" {
		m.StopReason = reason
	}
	if r.line.isTrue("isApiErrorMessage") {
		m.StopReason = "error"
	}
}

// callsBeside adds what the provider asked a model beside the answer: for advice, or for a summary. The usage of the
// answer has no part of that.
func (r *claudeReader) callsBeside(a *answer, usage, sold members) {
	n := 0
	jsontext.Elements(usage.get("iterations"), func(value []byte) {
		var call members
		call.read(value)
		if call.text("type") == "message" || !call.has("type") {
			return
		}
		if n == len(a.beside) { // each line of the answer repeats them
			x := extras{message: sold}
			a.beside = append(a.beside, &entry.Entry{Type: entry.TypeUsage, Time: a.entry.Message.Time,
				Model: cmp.Or(call.text("model"), a.entry.Model), Source: x.source()})
			r.beside(a.beside[n])
		}
		a.beside[n].Usage = readClaudeUsage(call)
		n++
	})
}

func (r *claudeReader) newAnswer(id, key string) *answer {
	m := &winnow.Message{Role: winnow.RoleAssistant, Time: parseTime(r.line.text("timestamp"))}
	a := &answer{entry: &entry.Entry{Type: entry.TypeMessage, Message: m, Model: r.message.text("model")}}
	r.add(a.entry, id, r.before())
	a.tail = a.entry.ID
	r.of[a.entry.ID] = a
	if key == "" {
		key = a.entry.ID
	}
	r.answers[key] = a
	return a
}

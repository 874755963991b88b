// Package wire reads the history in the body of a request, in plain JSON and without an SDK, and writes it again: it
// edits the body. What was not changed keeps its bytes. Of a block that was changed only the text is another one, and
// every other member of the client's object stays, known or not. New objects are made only for what winnow itself
// writes.
package wire

import (
	"slices"
	"strconv"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
	"github.com/winnowgo/winnow/internal/mem"
)

type value = jsonedit.Value

// members are those of an object, read at once.
type members []member

type member struct {
	name string
	of   value
}

func membersOf(object value) members {
	all := make(members, 0, 8)
	object.Members(func(name string, of value) { all = append(all, member{name, of}) })
	return all
}

// get returns a member, or nothing. The last one of a name counts.
func (m members) get(name string) (of value) {
	for _, x := range m {
		if x.name == name {
			of = x.of
		}
	}
	return of
}

// API is how a provider writes a conversation. Each is in a file of its own.
type API interface {
	// List is the member of a body that has the history.
	List() string
	// read reads an element of the list.
	read(r *reader, of value)
	// text returns a new block of text for a message of a role.
	text(role winnow.Role, text string) []byte
	// message returns a new message of the user with these blocks.
	message(blocks [][]byte) []byte
	// result returns a new result: a block, or an element of the list.
	result(m *winnow.Message, call *Block) []byte
	// settle is called when all messages are written.
	settle(w *writer)
}

// History is a history in a body.
type History struct {
	Messages []winnow.Message

	api      API
	elements []element
	pieces   []*piece
	reader   reader
}

// element is one of the list.
type element struct {
	raw    value
	role   winnow.Role
	pieces []*piece
}

// piece is the Source of a message: what of the list it was read from. Its place among the pieces is the ID of the
// message, so that it is found again when the message has been changed.
type piece struct {
	role     winnow.Role
	from, to int   // the elements
	raw      value // a result that is a block among others
	in       value // the list of those
	id       value // of a result: the literal with the id of its call
	call     string
	blocks   []*Block
	list     value // where new blocks go: an element's list of content, if it has one
	content  value // the content, in whatever form

	wrap string // the member of a content that is an object
}

// Block is the Source of a part: what it was read from.
type Block struct {
	raw  value // an element of a list, a member of an object, or a whole element of the history
	text value // the literal that holds the text of the part; empty: there is none

	id, arguments value // of a call

	api   API
	kind  winnow.Kind
	list  *list // that has raw as an element; nil: none
	gone  []byte
	of    *piece
	place int // in of

	values *Values // that of was imported from

	isWhole bool   // raw is an element of the history
	member  string // raw is an object, and what takes its place has this one member
	isMade  bool   // its id was made here, and is never sent
	typ     string // of an item or a block, where it matters
}

// list is a list of blocks.
type list struct {
	raw   value
	empty []byte // what takes its place when it has none left; nil: its member goes
	owner value  // an element of the history that goes instead
	left  int
}

// Read reads the history of a request.
func Read(api API, elements []value) *History {
	h := &History{api: api}
	h.reader.history = h
	h.begin(elements)
	h.Add(elements)
	adapter.EnsureRequest(h.Messages)
	return h
}

// begin finds out what the provider does not show.
func (h *History) begin(elements []value) {
	if e, ok := h.api.(interface {
		begin(r *reader, elements []value)
	}); ok {
		e.begin(&h.reader, elements)
	}
}

// Add reads what follows the history, such as an answer of the model as a history has it, and returns its messages.
func (h *History) Add(elements []value) []winnow.Message {
	n := len(h.Messages)
	for _, of := range elements {
		h.elements = append(h.elements, element{raw: of})
		h.api.read(&h.reader, of)
	}
	h.end()
	return h.Messages[n:]
}

// end ends what several elements make up.
func (h *History) end() {
	if e, ok := h.api.(interface{ end(r *reader) }); ok {
		e.end(&h.reader)
	}
}

// reader reads elements. Parts share a few blocks of memory.
type reader struct {
	history *History
	parts   []winnow.Part
	blocks  []*Block
	begin   int // of the parts that belong to no message yet
	names   adapter.ToolNames
	calls   []winnow.Part // of the newest assistant message

	shownFrom int               // the API shows no system message before this element (Messages)
	lastUser  int               // the last element of the user (Messages)
	functions int               // calls without an id so far, of Chat Completions
	made      map[string]int    // calls without an id so far, by what they are (Gemini)
	open      []openCall        // calls that may wait for their response (Gemini)
	named     map[string]string // the newest call without an id, by its tool (Gemini)
	turn      *piece            // the current turn of the model (Responses)
}

// partsPerBlock is for how many parts memory is taken at once.
const partsPerBlock = 128

// part adds a part of the next message.
func (r *reader) part(p winnow.Part, b Block) *Block {
	b.kind, b.api = p.Kind, r.history.api
	block := &b
	p.Source = block
	r.parts = append(r.parts, p)
	r.blocks = append(r.blocks, block)
	return block
}

// message adds a message with the parts that were read since the last one. It is from the newest element.
func (r *reader) message(m winnow.Message, p piece) *piece {
	h := r.history
	at := len(h.elements) - 1
	if p.to == 0 {
		p.from, p.to = at, at+1
	}
	p.role, p.call = m.Role, m.ToolCallID
	of := &p
	p.blocks = r.blocks[r.begin:len(r.blocks):len(r.blocks)]
	for k, b := range p.blocks {
		b.of, b.place = of, k
		if b.list != nil {
			b.list.left++
		}
	}
	m.Parts = r.parts[r.begin:len(r.parts):len(r.parts)]
	r.begin = len(r.parts)
	m.ID, m.Source = strconv.Itoa(len(h.pieces)), of
	switch m.Role {
	case winnow.RoleAssistant:
		r.names.Add(m.Parts)
		r.calls = m.Parts
	case winnow.RoleUser:
		if !m.Injected {
			adapter.NoteWhose(&m, len(h.elements[at].pieces) > 0)
		}
	case winnow.RoleTool:
		if m.ToolName == "" {
			m.ToolName = r.names.Of(m.ToolCallID)
		}
	}
	for i := p.from; i < p.to; i++ {
		e := &h.elements[i]
		e.role = m.Role
		e.pieces = append(e.pieces, of)
	}
	h.pieces = append(h.pieces, of)
	h.Messages = append(h.Messages, m)
	if len(r.parts)+16 > cap(r.parts) { // no list that messages have is copied
		r.parts, r.blocks, r.begin = make([]winnow.Part, 0, partsPerBlock), make([]*Block, 0, partsPerBlock), 0
	}
	return of
}

// opaque adds a message of an element of which only the size is read.
func (r *reader) opaque(m winnow.Message, of value) *piece {
	r.part(winnow.Part{Kind: winnow.KindOpaque, Bytes: len(of)}, Block{raw: of, isWhole: true})
	return r.message(m, piece{})
}

// inCallOrder sorts the newest messages, which are results of one element, as their calls are.
func (r *reader) inCallOrder(from int) {
	adapter.SortByCalls(r.history.Messages[from:], r.calls)
}

// pieceOf returns what m was read from, changed or not, or nil if winnow made it.
func (h *History) pieceOf(m *winnow.Message) *piece {
	if p, ok := m.Source.(*piece); ok {
		return p
	}
	i, err := strconv.Atoi(m.ID)
	if err != nil || i < 0 || i >= len(h.pieces) || h.pieces[i].role != m.Role || m.Summary {
		return nil
	}
	return h.pieces[i]
}

// AppendSource appends what p was read from to a text, but for a cache marker in it: clients move that.
func AppendSource(to []byte, p *winnow.Part) []byte {
	if b, ok := p.Source.(*Block); ok {
		return append(to, b.raw.Delete(cacheControl).Delete(Breakpoint)...)
	}
	return to
}

// Detached returns the messages without what they were read from, in memory of their own: the body can be freed.
func (h *History) Detached(body []byte) []winnow.Message {
	from := mem.Address(mem.String(body))
	own := func(s string) string {
		if at := mem.Address(s); s != "" && at >= from && at < from+uintptr(len(body)) {
			return strings.Clone(s)
		}
		return s
	}
	out := slices.Clone(h.Messages)
	for i := range out {
		m := &out[i]
		m.Source, m.ToolCallID, m.ToolName, m.Parts = nil, own(m.ToolCallID), own(m.ToolName), slices.Clone(m.Parts)
		for k := range m.Parts {
			p := &m.Parts[k]
			p.Source, p.Text, p.Signature, p.ID, p.Name = nil, own(p.Text), own(p.Signature), own(p.ID), own(p.Name)
			p.MediaType, p.Arguments = own(p.MediaType), slices.Clone(p.Arguments)
		}
	}
	return out
}

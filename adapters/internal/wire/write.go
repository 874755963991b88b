package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/internal/adapter"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
)

// Marks says which cache markers [History.Write] sets.
type Marks int

const (
	NoMarks   Marks = iota
	EndMarks        // Anthropic's, where the next request may continue
	MadeMarks       // OpenAI's, behind what winnow has made: it stays so when what follows is rewritten
)

// Write edits the list of a body so that it has messages, which were made of h.Messages, and sets markers. lost is how
// many markers of the client have no place any more.
func (h *History) Write(e *jsonedit.Editor, body value, messages []winnow.Message, set Marks) (lost int) {
	w := writer{
		history: h, api: h.api, edit: e, list: body, count: len(body.Elements()),
		present: make(map[*piece]bool, len(messages)), at: map[int]int{}, moved: map[*piece]bool{},
	}
	for run := range adapter.Runs(messages) {
		w.run(run)
	}
	w.dropRest()
	w.api.settle(&w)
	w.moveMarkers(cacheControl)
	w.moveMarkers(Breakpoint)
	switch set {
	case EndMarks:
		w.markEnds(value(`{"type":"ephemeral"}`))
	case MadeMarks:
		w.markMade()
	}
	w.put()
	return w.lost
}

// writer makes the list of a request.
type writer struct {
	history *History
	api     API
	edit    *jsonedit.Editor
	list    value // in the body
	count   int   // of its elements: others were answered since
	out     []entry
	present map[*piece]bool // written in their own elements
	at      map[int]int     // where in out an element is
	call    map[string]*Block
	moved   map[*piece]bool // written elsewhere
	lost    int             // markers of the client without a place
}

// entry is an element of the new list.
type entry struct {
	element int    // of the history; -1: a new one
	raw     []byte // of a new one
	role    winnow.Role
}

// isBlocks reports whether results are blocks of the user's message.
func (w *writer) isBlocks() bool { _, ok := w.api.(blockAPI); return ok }

// blockAPI is an API in which the results of one answer stand in one message of the user.
type blockAPI interface{ resultsAreBlocks() }

// run writes the messages between two of the model, or one of the model.
func (w *writer) run(run []winnow.Message) {
	if adapter.IsAssistant(&run[0]) {
		w.noteCalls(&run[0])
	}
	results := 0
	for results < len(run) && run[results].Role == winnow.RoleTool {
		results++
	}
	if results > 0 && w.isBlocks() {
		w.results(run[:results])
		run = run[results:]
	} else if results > 1 {
		run = append(w.asTheyStood(run[:results]), run[results:]...)
	}
	for i := range run {
		w.message(&run[i])
	}
}

// noteCalls remembers the calls of the model's newest message.
func (w *writer) noteCalls(m *winnow.Message) {
	w.call = map[string]*Block{}
	p := w.history.pieceOf(m)
	if p == nil {
		return
	}
	for k, b := range w.align(p, m) {
		if part := &m.Parts[k]; b != nil && part.Kind == winnow.KindToolCall {
			w.call[part.ID] = b
		}
	}
}

// message writes a message in its place.
func (w *writer) message(m *winnow.Message) {
	p := w.history.pieceOf(m)
	switch {
	case p == nil:
		w.made(m)
	case w.present[p]: // it is there twice
		w.copied(p, m)
	default:
		if !w.place(p) {
			w.copied(p, m)
			return
		}
		w.piece(p, m)
	}
}

// place puts the elements of p at the end. ok is false if they have another place.
func (w *writer) place(p *piece) (ok bool) {
	for i := p.from; i < p.to; i++ {
		if at, placed := w.at[i]; placed {
			if at < len(w.out)-1 {
				return false
			}
			continue
		}
		w.at[i] = len(w.out)
		w.out = append(w.out, entry{element: i, role: p.role})
	}
	w.present[p] = true
	return true
}

// made writes a message that winnow made.
func (w *writer) made(m *winnow.Message) {
	if m.Role != winnow.RoleTool {
		w.newMessage(m)
		return
	}
	call := w.call[m.ToolCallID]
	if call != nil && isOwnCall(call.typ) {
		w.edit.Remove(call.raw) // winnow cannot write the output of one
		return
	}
	raw := w.api.result(m, call)
	if w.isBlocks() {
		raw = w.api.message([][]byte{raw})
	}
	w.out = append(w.out, entry{element: -1, raw: raw, role: winnow.RoleTool})
}

func (w *writer) newMessage(m *winnow.Message) {
	if blocks := w.newBlocks(m); len(blocks) > 0 {
		w.out = append(w.out, entry{element: -1, raw: w.api.message(blocks), role: winnow.RoleUser})
	}
}

// newBlocks returns the parts of m as blocks of a message of the user.
func (w *writer) newBlocks(m *winnow.Message) (blocks [][]byte) {
	for k := range m.Parts {
		p := &m.Parts[k]
		if b, ok := p.Source.(*Block); ok && b.list != nil {
			blocks = append(blocks, w.edit.Bytes(b.raw))
		} else if adapter.IsShown(p) {
			blocks = append(blocks, w.api.text(winnow.RoleUser, adapter.TextOf(p)))
		}
	}
	return blocks
}

// copied writes a message whose element stands elsewhere.
func (w *writer) copied(p *piece, m *winnow.Message) {
	w.piece(p, m)
	w.moved[p] = true
	switch {
	case !w.isBlocks():
		for i := p.from; i < p.to; i++ {
			w.out = append(w.out, entry{element: -1, raw: w.edit.Bytes(w.history.elements[i].raw), role: m.Role})
		}
	case len(p.raw) > 0:
		w.out = append(w.out, entry{element: -1, raw: w.api.message([][]byte{w.edit.Bytes(p.raw)}), role: m.Role})
	default:
		w.newMessage(m)
	}
}

// piece writes what is changed of p, which became m.
func (w *writer) piece(p *piece, m *winnow.Message) {
	if m.Role == winnow.RoleTool && m.ToolCallID != p.call && len(p.id) > 0 {
		w.edit.Replace(p.id, jsonedit.Quote(m.ToolCallID))
	}
	if m.Source == p {
		return
	}
	of := w.align(p, m)
	texts := map[*Block][]string{}
	var last *Block // that has a text
	isKept := make([]bool, len(p.blocks))
	for k := range m.Parts {
		part, b := &m.Parts[k], of[k]
		switch {
		case b == nil && !adapter.IsShown(part):
		case b == nil:
			last = w.insert(p, of[k+1:], last, texts, adapter.TextOf(part))
		case part.Source == b:
			isKept[b.place] = true
			if len(b.text) > 0 {
				last = b
			}
		default:
			isKept[b.place] = true
			switch {
			case part.Kind == winnow.KindToolCall:
				w.callPart(part, b)
			case len(b.text) > 0:
				texts[b], last = append(texts[b], adapter.TextOf(part)), b
			case b.member != "":
				w.edit.Replace(b.raw, jsonedit.Object(b.member, adapter.TextOf(part)))
			default: // a line in the place of an image
				w.edit.Replace(b.raw, w.api.text(p.role, adapter.TextOf(part)))
			}
		}
	}
	for b, list := range texts {
		w.edit.Replace(b.text, jsonedit.Quote(strings.Join(list, "\n")))
	}
	for k, b := range p.blocks {
		if isKept[k] {
			continue
		}
		w.remove(b)
		if call := w.call[m.ToolCallID]; b.isWhole && m.Role == winnow.RoleTool && call != nil {
			w.edit.Remove(call.raw) // of a kind that the API has made for itself
		}
	}
}

// align returns the block that each part of m has changed, or is; nil: it is new.
func (w *writer) align(p *piece, m *winnow.Message) []*Block {
	of := make([]*Block, len(m.Parts))
	taken := make([]bool, len(p.blocks))
	for k := range m.Parts {
		if b, ok := m.Parts[k].Source.(*Block); ok && b.of == p {
			of[k], taken[b.place] = b, true
		}
	}
	canReplace := w.isFree(p)
	next := 0
	for k := range m.Parts {
		if of[k] != nil {
			next = of[k].place + 1
			continue
		}
		end := len(p.blocks) // parts keep their order
		for _, b := range of[k+1:] {
			if b != nil && b.place >= next {
				end = b.place
				break
			}
		}
		part := &m.Parts[k]
		fits := func(b *Block) bool { return !taken[b.place] && b.kind == part.Kind }
		free := slices.IndexFunc(p.blocks[next:end], fits)
		if free < 0 && part.Kind == winnow.KindText && canReplace {
			free = slices.IndexFunc(p.blocks[next:end], func(b *Block) bool { return !taken[b.place] && b.list != nil })
		}
		if free < 0 || part.Kind == winnow.KindThinking {
			continue
		}
		of[k] = p.blocks[next+free]
		next += free + 1
		taken[of[k].place] = true
	}
	return of
}

// isFree reports whether a text may stand wherever another block of p does: not in a response of a function of Gemini.
func (w *writer) isFree(p *piece) bool {
	_, isContents := w.api.(Contents)
	return len(p.list) > 0 && (!isContents || len(p.raw) == 0)
}

// insert writes a text that has no block: as one in front of the next block, or at the end of a text, or of the list.
func (w *writer) insert(p *piece, behind []*Block, last *Block, texts map[*Block][]string, text string) *Block {
	isFree := w.isFree(p)
	if last == nil && !isFree {
		if k := slices.IndexFunc(p.blocks, func(b *Block) bool { return len(b.text) > 0 }); k >= 0 {
			last = p.blocks[k]
		}
	}
	for _, b := range behind {
		if b != nil && b.list != nil && isFree {
			w.edit.Before(b.raw, w.api.text(p.role, text))
			return last
		}
	}
	switch {
	case isFree:
		w.edit.Append(p.list, w.api.text(p.role, text))
	case last != nil:
		if texts[last] == nil {
			texts[last] = []string{last.text.Text()}
		}
		texts[last] = append(texts[last], text)
	case len(p.content) > 0 && p.wrap != "":
		w.edit.Replace(p.content, jsonedit.Object(p.wrap, text))
	case len(p.content) > 0:
		w.edit.Replace(p.content, jsonedit.Quote(text))
	}
	return last
}

// callPart writes what is changed of a call: its id, or its arguments.
func (w *writer) callPart(part *winnow.Part, b *Block) {
	if len(b.id) > 0 && !b.isMade && b.id.Text() != part.ID {
		w.edit.Replace(b.id, jsonedit.Quote(part.ID))
	}
	switch { // arguments that were no JSON
	case b.arguments.IsText():
		if b.arguments.Text() != string(part.Arguments) {
			w.edit.Replace(b.arguments, jsonedit.Quote(string(part.Arguments)))
		}
	case len(b.arguments) == 0 || len(part.Arguments) == 0:
	case !bytes.Equal(adapter.Arguments(json.RawMessage(b.arguments)), part.Arguments):
		w.edit.Replace(b.arguments, part.Arguments)
	}
}

// remove takes a block out.
func (w *writer) remove(b *Block) {
	switch {
	case len(b.gone) > 0:
		w.edit.Replace(b.raw, b.gone)
	default:
		w.edit.Remove(b.raw)
	}
	if b.list == nil {
		return
	}
	if b.list.left--; b.list.left == 0 {
		if len(b.list.owner) > 0 {
			w.edit.Remove(b.list.owner)
		} else if b.list.empty != nil {
			w.edit.Replace(b.list.raw, b.list.empty)
		} else {
			w.edit.Remove(b.list.raw)
		}
	}
}

// dropRest takes out of the elements that stay what is not sent of them.
func (w *writer) dropRest() {
	for _, e := range w.out {
		if e.element < 0 {
			continue
		}
		for _, p := range w.history.elements[e.element].pieces {
			if !w.present[p] {
				w.drop(p)
				w.present[p] = true
			}
		}
	}
}

// drop takes all blocks of p out of its element.
func (w *writer) drop(p *piece) {
	if len(p.raw) > 0 {
		w.edit.Remove(p.raw)
		return
	}
	for _, b := range p.blocks {
		w.remove(b)
	}
}

// put edits the list of the body.
func (w *writer) put() {
	h, elements := w.history, w.list.Elements()
	next := 0
	stays := len(w.out) > 0 && w.out[0].element >= 0 && w.isFirstRead(w.out[0].element) // what was read last is sent
	skip := func(to int) {
		for ; next < to; next++ {
			stays = stays && len(h.elements[next].pieces) == 0
			if !stays {
				w.edit.Remove(elements[next])
			}
			if !stays && len(h.elements[next].pieces) == 0 && markerOf(elements[next], cacheControl).Exists() {
				w.lost++
			}
		}
	}
	var news [][]byte
	for i := range w.out {
		e := &w.out[i]
		if e.element < next || e.element >= w.count {
			if e.element >= 0 {
				e.raw = w.edit.Bytes(h.elements[e.element].raw)
			}
			news = append(news, e.raw)
			continue
		}
		skip(e.element)
		for _, raw := range news {
			w.edit.Before(elements[e.element], raw)
		}
		news, next, stays = nil, e.element+1, true
	}
	skip(w.count)
	for _, raw := range news {
		w.edit.Append(w.list, raw)
	}
}

// isFirstRead reports whether no element before one was read.
func (w *writer) isFirstRead(at int) bool {
	return !slices.ContainsFunc(w.history.elements[:at], func(e element) bool { return len(e.pieces) > 0 })
}

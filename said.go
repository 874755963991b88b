package winnow

import (
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/sections"
	"github.com/winnowgo/winnow/internal/toolcall"
)

// What people said in the messages that a summary stands for. It is made from the history each time, so that no summary
// can lose any of it. Only where the host has dropped these messages is it taken from the summary that stands there,
// which has it in a section that code owns.

// dialogue is what people and the agent said in a history, as far as a summary quotes it.
type dialogue struct {
	messages  []Message
	calls     answered // in messages
	from      int      // where to begin: what stands before it is in a summary of the provider
	tools     *minifier
	stays     func(i int) bool   // message i is in the request
	isLimited func(i int) bool   // a turn limit has dropped message i
	note      func(i int) string // how to recall message i
}

// dialogueIn returns what was said in messages, of which all is to be quoted.
func dialogueIn(messages []Message, tools *minifier) *dialogue {
	never := func(int) bool { return false }
	return &dialogue{
		messages: messages, calls: answered{messages: listed(messages)}, tools: tools, stays: never, isLimited: never,
		note: func(int) string { return "" },
	}
}

func (d *draft) dialogue() *dialogue {
	s := dialogueIn(d.history, &d.minifier)
	s.from, s.note = max(0, d.compactedAt), shortening{d}.noteOf
	return s
}

// add adds to said what people said in the messages before message end that are not in the request. What came of it may
// stand behind end.
func (s *dialogue) add(said *sections.Dialogue, end int) {
	agent := "" // its newest text in the turn
	for i := s.from; i < len(s.messages); i++ {
		switch m := &s.messages[i]; {
		case m.Summary && i < end:
			said.Read(joinedText(m))
			agent = ""
		case beginsTurn(m):
			words := s.words(i)
			isQuoted := s.mayQuote(i, end) && words != ""
			if said.EndsOpen() || isQuoted && agent != "" && sections.IsShort(words) {
				said.Agent(agent, words)
			}
			agent = ""
			if isQuoted {
				said.Person(m.Time, m.Speaker, words, s.note(i))
			} else if (i >= end || s.stays(i)) && !m.Pinned && !s.isLimited(i) {
				said.Open()
			}
			if i >= end {
				return
			}
		case m.Role == RoleAssistant:
			if text := messageParts(m); !runes.IsBlank(text) {
				agent = text
			}
		case i < end && !s.stays(i):
			if text := s.words(i); text != "" {
				question := ""
				if call := s.calls.of(i).part; call != nil {
					question = toolcall.Question(call.Arguments, sections.AskedChars)
				}
				said.Answer(m.Time, m.Speaker, question, text, s.note(i))
			}
		}
	}
}

// mayQuote reports whether message i, of a person, is quoted in front of message end if it has words.
func (s *dialogue) mayQuote(i, end int) bool { return i < end && !s.stays(i) && !s.isLimited(i) }

// behind returns how many messages of people are newer than all that is quoted in front of message end.
func (s *dialogue) behind(end int) (n int) {
	for i := len(s.messages) - 1; i >= s.from; i-- {
		switch m := &s.messages[i]; {
		case m.Summary && i < end:
			return n
		case !beginsTurn(m) || s.words(i) == "":
		case s.mayQuote(i, end):
			return n
		default:
			n++
		}
	}
	return n
}

// words returns what a person said in message i, or through a tool; "": nothing.
func (s *dialogue) words(i int) (text string) {
	switch m := &s.messages[i]; {
	case beginsTurn(m):
		text = s.wordsOf(i)
	case m.Role == RoleTool:
		if said, ok := s.tools.saidIn(m, s.calls.tool(i)); ok {
			text = said
		}
	}
	if runes.IsBlank(text) {
		return ""
	}
	return text
}

// wordsOf returns the text of message i, with a line for each part that is none.
func (s *dialogue) wordsOf(i int) string {
	m := &s.messages[i]
	words := messageParts(m)
	for k := range m.Parts {
		if p := &m.Parts[k]; isAttachment(p) {
			words = strings.TrimPrefix(words+"\n", "\n") + strings.TrimSuffix(partLabel(p), "]") + s.note(i) + "]"
		}
	}
	return words
}

// isAttachment reports whether p is an image or a file, and not what a provider did itself.
func isAttachment(p *Part) bool {
	return p.Kind == KindImage || p.Kind == KindOpaque && p.ID == "" && p.MediaType != MediaCompaction
}

// attachmentsBefore names what is not text in the messages of tools and of the host before message end that are not in
// the request: the newest ones. Those of people stand with their words.
func (s *dialogue) attachmentsBefore(end int) string {
	var names []string
	for i := end - 1; i >= s.from && len(names) < mostAttachments; i-- {
		m := &s.messages[i]
		isFromHost := m.Role == RoleUser && m.Injected
		if m.Role != RoleTool && !isFromHost || s.stays(i) || s.isLimited(i) {
			continue
		}
		for k := range m.Parts {
			if p := &m.Parts[k]; isAttachment(p) {
				names = append(names, strings.Trim(partLabel(p), "[]")+s.note(i))
			}
		}
	}
	if names == nil {
		return ""
	}
	slices.Reverse(names)
	return "; it also stands for " + strings.Join(names, "; ")
}

// mostAttachments is how many attachments of tools and of the host are named behind a summary.
const mostAttachments = 8

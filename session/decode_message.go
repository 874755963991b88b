package session

import (
	"bytes"
	"time"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/jsontext"
)

// Most of a log is messages, and package json scans each of them twice. What this module wrote is read in one pass: its
// members stand in the order of the fields. Any other form is left to package json, with the same result.

// The number of objects and lists that enclose a raw value: package json limits the depth.
const (
	depthOfDelta     = 1 // the entry
	depthOfSource    = 2 // the entry, its source
	depthOfDetails   = 1 // the message
	depthOfArguments = 3 // the message, the list of its parts, the part
)

// readMessage reads a message in the form that writeMessage writes. It returns nil if text has another form.
func readMessage(text []byte) *winnow.Message {
	p := messageParser{headParser: headParser{text: text}}
	m := p.message()
	if p.bad || len(p.text) > 0 {
		return nil
	}
	return m
}

// messageParser consumes the values of a message from a text.
type messageParser struct {
	headParser
	isFirst bool // no comma stands before the next member
}

func (p *messageParser) message() *winnow.Message {
	m := &winnow.Message{}
	p.opens()
	p.stringOf(`"id":`, &m.ID)
	p.bad = p.bad || !p.member(`"role":`)
	m.Role = p.role()
	p.literal(`,"parts":`)
	m.Parts = p.parts()
	p.stringOf(`"toolCallId":`, &m.ToolCallID)
	p.stringOf(`"toolName":`, &m.ToolName)
	m.IsError = p.member(`"isError":true`)
	if p.member(`"details":`) {
		m.Details = p.raw(depthOfDetails)
	}
	p.stringOf(`"stopReason":`, &m.StopReason)
	if p.member(`"usage":`) {
		m.Usage = p.usage()
	}
	if p.member(`"time":`) {
		m.Time = p.time()
	}
	m.Pinned = p.member(`"pinned":true`)
	m.Injected = p.member(`"injected":true`)
	m.Transient = p.member(`"transient":true`)
	if p.member(`"inForce":`) {
		m.InForce = p.names()
	}
	m.Summary = p.member(`"summary":true`)
	p.closes()
	return m
}

// names reads a list of strings.
func (p *messageParser) names() (list []string) {
	p.literal(`[`)
	for !p.bad && !p.has(`]`) {
		if len(list) > 0 {
			p.literal(`,`)
		}
		list = append(list, p.string())
	}
	p.bad = p.bad || len(list) == 0
	return list
}

func (p *messageParser) parts() []winnow.Part {
	if p.has(`null`) {
		return nil
	}
	p.literal(`[`)
	parts := []winnow.Part{}
	for !p.bad && !p.has(`]`) {
		if len(parts) > 0 {
			p.literal(`,`)
		}
		parts = append(parts, p.part())
	}
	return parts
}

func (p *messageParser) part() (part winnow.Part) {
	p.opens()
	if p.member(`"kind":`) {
		part.Kind = p.kind()
	}
	p.stringOf(`"text":`, &part.Text)
	p.stringOf(`"signature":`, &part.Signature)
	p.stringOf(`"id":`, &part.ID)
	p.stringOf(`"name":`, &part.Name)
	if p.member(`"arguments":`) {
		part.Arguments = p.raw(depthOfArguments)
	}
	p.stringOf(`"mediaType":`, &part.MediaType)
	p.intOf(`"bytes":`, &part.Bytes)
	p.intOf(`"width":`, &part.Width)
	p.intOf(`"height":`, &part.Height)
	p.intOf(`"pages":`, &part.Pages)
	p.intOf(`"seconds":`, &part.Seconds)
	p.intOf(`"tokens":`, &part.Tokens)
	p.closes()
	return part
}

func (p *messageParser) usage() *winnow.Usage {
	u := &winnow.Usage{}
	p.opens()
	p.intOf(`"input":`, &u.Input)
	p.intOf(`"cacheRead":`, &u.CacheRead)
	p.intOf(`"cacheWrite":`, &u.CacheWrite)
	p.intOf(`"output":`, &u.Output)
	p.closes()
	return u
}

// opens consumes the brace before the first member of an object.
func (p *messageParser) opens() {
	p.literal(`{`)
	p.isFirst = true
}

// closes consumes the brace after the last member. The enclosing object now has a member.
func (p *messageParser) closes() {
	p.literal(`}`)
	p.isFirst = false
}

// member skips the name of a member, and the comma before it, if they come next.
func (p *messageParser) member(name string) bool {
	before := p.text
	if !p.isFirst && !p.has(`,`) {
		return false
	}
	if !p.has(name) {
		p.text = before
		return false
	}
	p.isFirst = false
	return true
}

func (p *messageParser) stringOf(name string, to *string) {
	if p.member(name) {
		*to = p.string()
	}
}

func (p *messageParser) intOf(name string, to *int) {
	if p.member(name) {
		*to = p.int()
	}
}

// string consumes a string and copies it.
func (p *messageParser) string() string {
	s, n := jsontext.String(p.text)
	p.bad = p.bad || n == 0
	p.text = p.text[n:]
	return s
}

func (p *messageParser) role() winnow.Role {
	for _, role := range []winnow.Role{winnow.RoleUser, winnow.RoleAssistant, winnow.RoleTool, winnow.RoleSystem} {
		if p.hasQuoted(string(role)) {
			return role
		}
	}
	return winnow.Role(p.string())
}

func (p *messageParser) kind() winnow.Kind {
	for _, kind := range []winnow.Kind{winnow.KindToolCall, winnow.KindThinking, winnow.KindImage, winnow.KindOpaque} {
		if p.hasQuoted(string(kind)) {
			return kind
		}
	}
	var kind winnow.Kind
	p.bad = kind.UnmarshalText([]byte(p.string())) != nil || p.bad
	return kind
}

// hasQuoted skips the string s, which needs no escapes, if it comes next.
func (p *messageParser) hasQuoted(s string) bool {
	end := len(s) + 1
	if p.bad || len(p.text) <= end || p.text[0] != '"' || string(p.text[1:end]) != s || p.text[end] != '"' {
		return false
	}
	p.text = p.text[end+1:]
	return true
}

// raw consumes any value. depth lists and objects enclose it.
func (p *messageParser) raw(depth int) []byte {
	n := jsontext.Value(p.text, depth)
	p.bad = p.bad || n == 0
	value := bytes.Clone(p.text[:n])
	p.text = p.text[n:]
	return value
}

func (p *messageParser) int() int {
	negative := p.has(`-`)
	digits := p.text
	n := p.number()
	if length := len(digits) - len(p.text); length > 1 && digits[0] == '0' {
		p.bad = true
	}
	if negative {
		n = -n
	}
	return int(n)
}

func (p *messageParser) time() (t time.Time) {
	text := p.quoted()
	p.bad = p.bad || t.UnmarshalText(text) != nil
	return t
}

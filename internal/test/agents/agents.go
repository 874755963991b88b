// Package agents writes session files like those of other agents, with the branches, copies, notes and damage of real
// files. It is based on the documentation of the forms and shares no code with the readers.
package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/winnowgo/winnow"
)

// Form is one of the forms of files.
type Form string

const (
	Pi1    Form = "pi-1" // without ids
	Pi2    Form = "pi-2" // the tree
	Pi3    Form = "pi-3" // OpenClaw's form
	Claude Form = "claude-code"
	Codex  Form = "codex"
)

// Forms are all of them.
var Forms = []Form{Pi1, Pi2, Pi3, Claude, Codex}

// File is a session as a program recorded it.
type File struct {
	Data    []byte
	Want    []winnow.Message // the conversation on its branch
	Unknown int              // lines unknown to every reader
	Damaged int              // lines that are not JSON
	Billed  winnow.Usage     // usage of all answers on the branch
	Detours int              // turns that are not on the branch
	Summary string           // summary of the newest compaction, "" if there was none
}

// Options say what a file has besides the conversation.
type Options struct {
	Noise    bool // other kinds of lines, unknown lines and damage
	Branches bool // retracted turns, sub-agents
	Compact  bool // a compaction near the middle
}

// Write returns a session file with the conversation history.
func Write(form Form, history []winnow.Message, o Options, r *rand.Rand) File {
	w := &writer{Options: o, r: r, at: time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC)}
	var p program
	switch form {
	case Claude:
		p = &claude{writer: w}
	case Codex:
		p = &codex{writer: w}
	default:
		p = &pi{writer: w, version: int(form[len(form)-1] - '0')}
	}
	p.begin()
	middle, detours := len(history)/2, 0
	for i, m := range history {
		m = plain(m)
		isTurn := m.Role == winnow.RoleUser && !m.Injected
		isDue := i >= middle && w.file.Summary == "" && len(w.file.Want) > 0
		if isTurn && o.Compact && isDue {
			w.file.Summary = fmt.Sprintf("## Goal\nPart %d of the work is done.", r.IntN(100))
			p.compact(w.file.Summary)
			w.tokens, w.cached = 0, hidden
		}
		if isTurn && o.Branches && r.IntN(6) == 0 && len(w.file.Want) > 0 {
			p.detour()
			detours++
		}
		w.at = w.at.Add(time.Duration(1+r.IntN(40_000)) * time.Millisecond)
		m.Time = w.at
		p.message(m)
		if o.Noise && r.IntN(12) == 0 {
			w.noise(p)
		}
	}
	w.file.Data, w.file.Detours = w.out.Bytes(), detours
	return w.file
}

// program writes the lines of one program.
type program interface {
	begin()
	message(m winnow.Message)
	compact(summary string)
	detour()            // a turn that is not on the branch
	other(unknown bool) // a line that is not part of the conversation
}

type writer struct {
	Options
	r    *rand.Rand
	at   time.Time
	out  bytes.Buffer
	file File
	ids  int

	tokens int // of the messages that a request has
	cached int // tokens that the provider has in its cache
}

// object is a JSON object.
type object = map[string]any

func (w *writer) line(v object) {
	e := json.NewEncoder(&w.out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // the test is wrong
	}
}

// id returns a new id of n hexadecimal digits.
func (w *writer) id(n int) string {
	w.ids++
	return fmt.Sprintf("%0*x", n, uint32(w.ids)*2654435761)[:n]
}

func (w *writer) now() string { return w.at.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// noise writes other lines besides the conversation.
func (w *writer) noise(p program) {
	switch w.r.IntN(6) {
	case 0:
		w.file.Damaged++
		w.out.WriteString(`{"type":"user","message":{"role":"us` + "\n")
	case 1:
		w.file.Unknown++
		p.other(true)
	case 2:
		w.out.WriteString("\n\x00\x00\n")
	default:
		p.other(false)
	}
}

// hidden are the tokens of a system prompt and tools that no file has.
const hidden = 16_000

// usage is what was billed for an answer, to a host that sends everything: what the request before had is read from
// the cache.
func (w *writer) usage(m *winnow.Message) *winnow.Usage {
	prompt, behind := hidden+w.tokens, 1+w.r.IntN(9) // nothing is cached behind the last mark
	u := &winnow.Usage{Input: behind, CacheRead: w.cached, CacheWrite: prompt - w.cached, Output: tokensOf(m)}
	w.cached = prompt
	return u
}

func tokensOf(m *winnow.Message) int {
	data, err := json.Marshal(m)
	if err != nil {
		panic(err) // the test is wrong
	}
	return len(data) / 4
}

// want records a message that is on the branch.
func (w *writer) want(m winnow.Message) {
	w.tokens += tokensOf(&m)
	if m.Usage != nil {
		w.file.Billed.Input += m.Usage.Input
		w.file.Billed.CacheRead += m.Usage.CacheRead
		w.file.Billed.CacheWrite += m.Usage.CacheWrite
		w.file.Billed.Output += m.Usage.Output
	}
	w.file.Want = append(w.file.Want, m)
}

// plain returns m in a form that any program could have recorded: with valid text, arguments that are objects, and only
// common content.
func plain(m winnow.Message) winnow.Message {
	m.Source, m.Pinned, m.ID, m.Summary = nil, false, "", false
	if m.Role != winnow.RoleAssistant {
		m.Usage, m.StopReason = nil, ""
	}
	for _, beginning := range machines {
		m.Injected = m.Injected || m.Role == winnow.RoleUser && strings.HasPrefix(text(&m), beginning)
	}
	parts := m.Parts
	m.Parts = nil
	for _, p := range parts {
		p.Source, p.Tokens = nil, 0
		p.Text = strings.ToValidUTF8(p.Text, "?")
		switch p.Kind {
		case winnow.KindToolCall:
			var v object
			if json.Unmarshal(p.Arguments, &v) != nil || v == nil {
				v = object{"input": string(p.Arguments)}
			}
			p.Arguments, _ = json.Marshal(v)
		case winnow.KindImage:
			p = winnow.Part{Kind: winnow.KindImage, MediaType: "image/png", Bytes: len(pixel)}
		case winnow.KindThinking:
			p.MediaType = ""
			if m.Role != winnow.RoleAssistant {
				continue
			}
		case winnow.KindOpaque:
			continue
		default:
			if p.Text == "" {
				continue
			}
		}
		m.Parts = append(m.Parts, p)
	}
	return m
}

// machines begin texts that a harness writes in the role of a person.
var machines = []string{
	"<local-command-stdout>", "<bash-stdout>", "<bash-stderr>", "[Request interrupted by user", "<environment_context>",
	"# AGENTS.md instructions for", "<turn_aborted>", "<permissions instructions>", "<skill>", "<task-notification>",
}

// pixel is an image in base64.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func text(m *winnow.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Kind == winnow.KindText {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

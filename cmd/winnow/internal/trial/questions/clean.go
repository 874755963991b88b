package questions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// Left counts what a provider cannot be sent, or a recording does not have.
type Left struct {
	Thinking int `json:"thinking"` // answers whose thinking another model or API wrote
	Images   int `json:"images"`   // a line stands for each
	Other    int `json:"other"`    // parts that only the recorded provider reads
}

func (l *Left) add(more Left) {
	l.Thinking += more.Thinking
	l.Images += more.Images
	l.Other += more.Other
}

// String says it in words. Of nothing it is "".
func (l Left) String() string {
	var said []string
	if l.Thinking > 0 {
		answers := recording.Count(l.Thinking, "answer")
		said = append(said, "the thinking of "+answers+", which another model or API wrote")
	}
	if l.Images > 0 {
		said = append(said, recording.Count(l.Images, "image")+", for each of which a line stands")
	}
	if l.Other > 0 {
		said = append(said, recording.Count(l.Other, "part")+" that only the recorded provider reads")
	}
	return strings.Join(said, "; ")
}

// cleaner makes the messages of a recording such that any provider accepts them once they are paired.
type cleaner struct {
	keeps func(thinking *winnow.Part) bool
	left  Left
}

// clean returns the messages of a session without what cannot be sent. Those of which nothing stays go.
func (c *cleaner) clean(recorded []winnow.Message) (out []winnow.Message) {
	for i := range recorded {
		m := recorded[i]
		m.ID, m.Source, m.Details = fmt.Sprint("m", i), nil, nil
		m.ToolName = toolName(m.ToolName)
		m.Parts = c.parts(recorded[i].Parts)
		if len(m.Parts) > 0 || m.Role == winnow.RoleTool {
			out = append(out, m)
		}
	}
	return out
}

func (c *cleaner) parts(recorded []winnow.Part) (out []winnow.Part) {
	thinks := false
	for _, p := range recorded {
		p.Source = nil
		switch {
		case p.Kind == winnow.KindText:
			if p.Text = clearText(p.Text); strings.TrimSpace(p.Text) == "" {
				continue
			}
			p.Signature = "" // of a text that Gemini streamed
		case p.Kind == winnow.KindThinking && c.keeps(&p):
		case p.Kind == winnow.KindThinking:
			thinks = true
			continue
		case p.Kind == winnow.KindToolCall:
			p.Name, p.Signature = toolName(p.Name), ""
			p.Arguments = object(p.Arguments)
		case p.Kind == winnow.KindImage:
			c.left.Images++
			p = winnow.Part{Text: fmt.Sprintf("[An image, %s, which is not sent]", kindOf(&p))}
		case p.MediaType == winnow.MediaCompaction && p.Text != "":
			p = winnow.Part{Text: clearText(p.Text)}
		default:
			c.left.Other++
			continue
		}
		out = append(out, p)
	}
	if thinks {
		c.left.Thinking++
	}
	return out
}

func kindOf(p *winnow.Part) string {
	if p.Width > 0 {
		return fmt.Sprintf("%s %d×%d", p.MediaType, p.Width, p.Height)
	}
	return p.MediaType
}

// clearText returns a text that JSON of any server can hold.
func clearText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd")
}

var notInNames = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// toolName returns the name of a tool in the characters that every provider takes.
func toolName(name string) string {
	const longest = 64
	name = notInNames.ReplaceAllString(name, "_")
	return name[:min(len(name), longest)]
}

// object returns the arguments of a call as an object: a free text, as of a patch, becomes its member "input".
func object(arguments json.RawMessage) json.RawMessage {
	var value any
	d := json.NewDecoder(bytes.NewReader(arguments))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		value = string(arguments) // none, or cut
	}
	members, ok := value.(map[string]any)
	switch {
	case ok:
	case len(arguments) == 0 || value == nil:
		members = map[string]any{}
	default:
		members = map[string]any{"input": value}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false) // the model sees these bytes
	if e.Encode(clearValue(members)) != nil {
		return json.RawMessage("{}") // cannot happen: it was JSON
	}
	return bytes.TrimSpace(out.Bytes())
}

func clearValue(value any) any {
	switch value := value.(type) {
	case string:
		return clearText(value)
	case []any:
		for i := range value {
			value[i] = clearValue(value[i])
		}
	case map[string]any:
		cleared := make(map[string]any, len(value))
		for name, member := range value {
			cleared[clearText(name)] = clearValue(member)
		}
		return cleared
	}
	return value
}

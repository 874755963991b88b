package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnowgo/winnow"
)

// A change of the system prompt makes the provider write its whole cache again. A message at the end of the history
// costs only its own tokens, so changes go there.

const changesIntro = "[Context update from the host, not from the user. It replaces what was said of this before.]"

// Changes returns one injected message with what differs from previous, the last assembly that the model knows, to
// append before the newest user message, or nil if nothing does. It has changed volatile sections whole, and of other
// parts, which the system prompt still shows in their old form, the changed Markdown sections. A nil previous means
// that the model knows only the system prompt.
func (a *Assembly) Changes(previous *Assembly) *winnow.Message {
	return a.update(previous, previous).message()
}

// update is the text of a message with changes, and what it states, for winnow.Message.InForce.
type update struct {
	text  strings.Builder
	names []string
}

// states notes that the update says all there is to say about the part with this title.
func (u *update) states(titles ...string) {
	for _, title := range titles {
		u.names = append(u.names, "prompt "+title)
	}
}

func (u *update) message() *winnow.Message {
	if u.text.Len() == 0 {
		return nil
	}
	return &winnow.Message{Role: winnow.RoleUser, Injected: true, InForce: u.names,
		Parts: []winnow.Part{{Text: changesIntro + u.text.String()}}}
}

// update tells what differs from told. Of a stable part it tells all that differs from sent, the system prompt that is
// in use: so the newest update of a part replaces the older ones.
func (a *Assembly) update(told, sent *Assembly) *update {
	u := &update{}
	for i := range a.Parts {
		p := &a.Parts[i]
		var old *Part
		if told != nil {
			old = told.same(a.Parts, i)
		}
		switch {
		case old != nil && old.Fingerprint == p.Fingerprint:
			continue
		case p.Volatile:
			fmt.Fprintf(&u.text, "\n\n## %s\n\n%s", cleanName(p.Name), strings.TrimSpace(p.Text))
		case told == nil:
			continue
		default:
			tellChange(&u.text, p, sent.same(a.Parts, i))
		}
		u.states(p.title())
	}
	if told != nil {
		for i := range told.Parts {
			if p := &told.Parts[i]; a.same(told.Parts, i) == nil && p.Kind != PartContext {
				fmt.Fprintf(&u.text, "\n\n## %s\n\nNo longer there.", p.title())
				u.states(p.title())
			}
		}
	}
	return u
}

// same returns the part of a that corresponds to part i of a list, or nil. Parts with the same name correspond in their
// order.
func (a *Assembly) same(list []Part, i int) *Part {
	if a == nil {
		return nil
	}
	p, before := &list[i], 0
	for k := range list[:i] {
		if list[k].isOf(p) {
			before++
		}
	}
	for k := range a.Parts {
		if !a.Parts[k].isOf(p) {
			continue
		}
		if before == 0 {
			return &a.Parts[k]
		}
		before--
	}
	return nil
}

func (p *Part) isOf(q *Part) bool { return p.Kind == q.Kind && p.Name == q.Name && p.Path == q.Path }

// stableChanges returns the titles of the stable parts that differ from those the model was told.
func (a *Assembly) stableChanges(told *Assembly) (titles []string) {
	if told == nil {
		return nil
	}
	for i := range a.Parts {
		p := &a.Parts[i]
		if old := told.same(a.Parts, i); !p.Volatile && (old == nil || old.Fingerprint != p.Fingerprint) {
			titles = append(titles, p.title())
		}
	}
	for i := range told.Parts {
		if p := &told.Parts[i]; !p.Volatile && a.same(told.Parts, i) == nil {
			titles = append(titles, p.title())
		}
	}
	return titles
}

// title returns the name of a part in messages.
func (p *Part) title() string {
	if p.Path != "" {
		return p.Path
	}
	return cleanName(p.Name)
}

// tellChange writes the changes of a stable part. An assembly that was read back has no texts: then it writes the whole
// part.
func tellChange(b *strings.Builder, p, old *Part) {
	if old == nil || old.Text == "" {
		fmt.Fprintf(b, "\n\n## %s\n\n%s", p.title(), strings.TrimSpace(p.Text))
		return
	}
	if old.Fingerprint == p.Fingerprint {
		fmt.Fprintf(b, "\n\n## %s\n\nAs in the system prompt again.", p.title())
		return
	}
	fmt.Fprintf(b, "\n\n## %s (changed)", p.title())
	before, after := splitMarkdown(old.Text, nil), splitMarkdown(p.Text, nil)
	was := make(map[string][]string, len(before)) // bodies by heading; a heading may occur more than once
	for _, c := range before {
		was[c.heading] = append(was[c.heading], c.body)
	}
	for _, c := range after {
		bodies := was[c.heading]
		if i := slices.Index(bodies, c.body); i >= 0 {
			was[c.heading] = slices.Delete(bodies, i, i+1)
			continue
		}
		if len(bodies) == 0 {
			fmt.Fprintf(b, "\n\n%s", strings.TrimSpace(c.heading+c.body))
			continue
		}
		was[c.heading] = bodies[1:]
		b.WriteString(lineChanges(c.heading, bodies[0], c.body))
	}
	for _, c := range before {
		if bodies := was[c.heading]; len(bodies) > 0 && slices.Contains(bodies, c.body) {
			was[c.heading] = nil
			fmt.Fprintf(b, "\n\nRemoved: %s", firstLine(c))
		}
	}
}

func firstLine(c chunk) string {
	line := c.heading
	if line == "" {
		line = lineAt(strings.TrimSpace(c.body), 0)
	}
	return clip(strings.TrimSpace(line), maxSummary)
}

// lineChanges writes the changed lines of a Markdown section: those between its common beginning and its common end.
func lineChanges(heading, before, after string) string {
	x, y := linesOf(before), linesOf(after)
	first := 0
	for first < min(len(x), len(y)) && x[first] == y[first] {
		first++
	}
	last := 0
	for last < min(len(x), len(y))-first && x[len(x)-1-last] == y[len(y)-1-last] {
		last++
	}
	out, in := x[first:len(x)-last], y[first:len(y)-last]
	var b strings.Builder
	if heading != "" {
		b.WriteString("\n\n" + strings.TrimSpace(heading))
	}
	lines := func(intro, text string) {
		if text = strings.Trim(text, "\n"); strings.TrimSpace(text) != "" {
			b.WriteString("\n" + intro + "\n" + text)
		}
	}
	lines("No longer:", strings.Join(out, "\n"))
	lines("Now:", strings.Join(in, "\n"))
	return b.String()
}

// linesOf returns the lines of a text, without blank lines at its end.
func linesOf(s string) []string { return strings.Split(strings.TrimRight(s, "\r\n"), "\n") }

// Conversation decides for one conversation which system prompt is sent, and what messages tell instead. The zero
// value is a new conversation. It is for one goroutine. Store it as JSON, so that after a restart the same prompt is
// sent byte for byte.
type Conversation struct {
	Sent *Assembly `json:"sent,omitempty"` // the system prompt in use
	Told *Assembly `json:"told,omitempty"` // the last one that the model was told about

	// Announced names the stable parts whose changes the history tells. When the system prompt takes over a newer text
	// of one, these messages are out of date, and the model is told so.
	Announced []string `json:"announced,omitempty"`
}

// Next takes the assembly for the next request and returns the message to append before the user's, or nil. If cold,
// because the provider's cache has expired (see [winnow.Manager.Cold]), the new prompt is sent. If not, the old prompt
// is sent again and the message describes the changes.
func (c *Conversation) Next(a *Assembly, cold bool) *winnow.Message {
	told := c.Told
	c.Told = a
	if c.Sent != nil && !cold {
		for _, title := range a.stableChanges(told) {
			if !slices.Contains(c.Announced, title) {
				c.Announced = append(c.Announced, title)
			}
		}
		return a.update(told, c.Sent).message()
	}
	c.Sent = a
	u := a.volatileOnly().update(told.volatileOnly(), nil) // the system prompt has the rest
	outdated := slices.DeleteFunc(a.stableChanges(told), func(title string) bool {
		return !slices.Contains(c.Announced, title)
	})
	if len(outdated) > 0 {
		u.text.WriteString("\n\nThe system prompt was renewed. It replaces all earlier updates of: " +
			strings.Join(outdated, ", "))
		u.states(outdated...)
	}
	return u.message()
}

// Sending takes the request that is about to be sent, and returns its system prompt: after a compaction the newest
// one, as the cache is written again anyway. Volatile sections are then told again with the next request.
func (c *Conversation) Sending(r *winnow.Request) *Assembly {
	if r.Compaction != nil && c.Told != nil {
		c.Sent, c.Told = c.Told, c.Told.stableOnly()
	}
	return c.Sent
}

// volatileOnly returns a with only its volatile parts.
func (a *Assembly) volatileOnly() *Assembly {
	return a.with(func(p *Part) bool { return p.Volatile })
}

// stableOnly returns a without its volatile parts.
func (a *Assembly) stableOnly() *Assembly {
	return a.with(func(p *Part) bool { return !p.Volatile })
}

func (a *Assembly) with(keep func(*Part) bool) *Assembly {
	if a == nil {
		return nil
	}
	b := *a
	b.Parts = nil
	for i := range a.Parts {
		if keep(&a.Parts[i]) {
			b.Parts = append(b.Parts, a.Parts[i])
		}
	}
	return &b
}

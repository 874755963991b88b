package prompt

import (
	"fmt"
	"strings"
)

// A text is cut between Markdown sections. Its outline and its rules are kept first, and then, in their order, as many
// of its sections as fit.

const (
	outlineShare = 3 // the outline gets at most a third of the room
	noticeShare  = 4 // and the notice a quarter, within these limits
	partialShare = 2 // a section is cut inside if otherwise less than half of the room is used
	mark         = " […]"
	gap          = "[…]\n"
)

// The smallest and the largest notice. A notice with the name of a file and ten headings has about 400 characters, 120
// tokens.
var (
	leastNotice = size{40, 16}
	mostNotice  = size{400, 120}
)

// cutter cuts texts.
type cutter struct {
	count *counter
	rules []string // headings of the sections that are kept first
}

// cutText is a text after a cut.
type cutText struct {
	text string
	size size
	kept int      // characters of the original text that are shown
	left []string // titles of the sections that are not whole
}

// cut cuts a text of chars characters to a size that includes the notice. The notice calls the text name; from says how
// to read the rest. A larger limit never keeps less.
func (c *cutter) cut(name, from, text string, chars int, limit size) cutText {
	p := &plan{cutter: c, name: name, from: from, limit: limit, chunks: splitMarkdown(text, c.rules), chars: chars}
	room := limit
	for range 8 {
		p.fill(room)
		out := p.write()
		out.size = c.count.size(out.text)
		over := out.size.minus(limit)
		if over == (size{}) {
			return out
		}
		room = room.minus(size{over.chars + 1, over.tokens + 1}) // estimates of parts do not add up exactly
	}
	text = c.clamp(p.notice(p.left(), limit), limit)
	return cutText{text: text, size: c.count.size(text), left: p.left()}
}

// clamp cuts a text that cannot be divided.
func (c *cutter) clamp(text string, limit size) string {
	text = clip(text, limit.chars)
	for n := chars(text); c.count.tokens(text) > limit.tokens && n > 0; {
		n = n * 3 / 4
		text = clip(text, n)
	}
	return text
}

// plan is an unfinished cut.
type plan struct {
	*cutter
	name, from string
	limit      size
	chunks     []chunk
	chars      int // of the whole text

	costs   []size // sizes of bodies; {-1, 0}: not measured
	lines   []size // sizes of headings; {-1, 0}: not measured
	outline []bool // headings that are shown
	kept    []int  // bytes of each body that are shown
}

// fill decides what is shown in a given room.
func (p *plan) fill(room size) {
	p.kept = make([]int, len(p.chunks))
	p.outline = make([]bool, len(p.chunks))
	if p.costs == nil {
		p.costs, p.lines = unmeasured(len(p.chunks)), unmeasured(len(p.chunks))
	}
	room = room.minus(p.noticeRoom(room))
	room = room.minus(p.fillOutline(room.part(1, outlineShare)))
	rest, ok := p.fillBodies(room, room, true)
	if ok {
		p.fillBodies(rest, room, false)
	}
}

func unmeasured(n int) []size {
	costs := make([]size, n)
	for i := range costs {
		costs[i] = size{-1, 0}
	}
	return costs
}

// headingCost returns the size of a heading's line.
func (p *plan) headingCost(i int) size {
	if p.lines[i].chars < 0 {
		p.lines[i] = p.count.size(p.chunks[i].heading)
	}
	return p.lines[i]
}

// noticeRoom returns the room for the notice. It grows more slowly than the whole room.
func (p *plan) noticeRoom(room size) size {
	n := room.part(1, noticeShare).least(mostNotice)
	return size{max(n.chars, leastNotice.chars), max(n.tokens, leastNotice.tokens)}.least(room)
}

// fillOutline chooses headings, the higher levels first, and returns the room that they take: all of it if they need
// more.
func (p *plan) fillOutline(room size) size {
	used := size{}
	for level := 1; level <= 6; level++ {
		for i := range p.chunks {
			if p.chunks[i].level != level {
				continue
			}
			cost := p.headingCost(i).plus(size{chars(mark) + 1, 3})
			if !used.plus(cost).fits(room) {
				return room
			}
			used, p.outline[i] = used.plus(cost), true
		}
	}
	return used.least(room)
}

// fillBodies chooses the bodies of rules, or of the other chunks, as long as they fit. It returns the remaining room,
// and false if one did not fit.
func (p *plan) fillBodies(room, whole size, rules bool) (rest size, ok bool) {
	for i := range p.chunks {
		c := &p.chunks[i]
		if c.isRule != rules || c.body == "" {
			continue
		}
		cost := p.bodyCost(i)
		if !p.outline[i] {
			cost = cost.plus(p.headingCost(i))
		}
		if cost.fits(room) {
			room, p.kept[i] = room.minus(cost), len(c.body)
			continue
		}
		if used := whole.minus(room); rules || used.fits(whole.part(1, partialShare)) {
			p.fillInside(i, room, whole)
		}
		return room, false
	}
	return room, true
}

func (p *plan) bodyCost(i int) size {
	if p.costs[i].chars < 0 {
		p.costs[i] = p.count.size(p.chunks[i].body).plus(size{1, 1}) // a line end may be missing
	}
	return p.costs[i]
}

// fillInside chooses the beginning of a body: whole lines and fenced blocks, and a part of a line only if otherwise
// less than half of the whole room is used.
func (p *plan) fillInside(i int, room, whole size) {
	c := &p.chunks[i]
	used := p.count.size(gap).plus(size{1, 1})
	if !p.outline[i] {
		used = used.plus(p.headingCost(i))
	}
	if !used.fits(room) {
		return
	}
	for unit, fenced := range func(yield func(string, bool) bool) { units(c.body, yield) } {
		cost := size{0, 0}
		if len(unit) <= 4*(room.chars+1) { // a character has at most 4 bytes
			cost = p.count.size(unit)
		} else {
			cost.chars = room.chars + 1
		}
		if !used.plus(cost).fits(room) {
			left := room.minus(used)
			if !fenced && whole.minus(left).fits(whole.part(1, partialShare)) {
				p.kept[i] += p.lineStart(unit, left)
			}
			break
		}
		used = used.plus(cost)
		p.kept[i] += len(unit)
	}
	if strings.TrimSpace(c.body[:p.kept[i]]) == "" {
		p.kept[i] = 0 // only blank lines
	}
}

// lineStart returns how many bytes of a line fit. It cuts at the end of a word if one ends in the last fifth.
func (p *plan) lineStart(line string, room size) int {
	low, high := 0, min(room.chars-1, chars(head(line, room.chars)))
	for low < high { // the longest beginning that fits
		middle := (low + high + 1) / 2
		if p.count.tokens(head(line, middle)) < room.tokens {
			low = middle
		} else {
			high = middle - 1
		}
	}
	s := head(line, low)
	if i := strings.LastIndexByte(s, ' '); i > len(s)*4/5 {
		s = s[:i+1]
	}
	return len(s)
}

// left returns the titles of the sections that are not whole.
func (p *plan) left() (titles []string) {
	for i := range p.chunks {
		c := &p.chunks[i]
		if strings.TrimSpace(c.body[p.kept[i]:]) == "" && (p.outline[i] || c.level == 0 || p.kept[i] > 0) {
			continue
		}
		title := cleanName(c.title)
		if c.level == 0 {
			title = "the beginning"
		}
		titles = append(titles, title)
	}
	return titles
}

// write returns the shown text.
func (p *plan) write() cutText {
	var b strings.Builder
	kept := 0
	endLine := func(s string) {
		b.WriteString(s)
		if s != "" && !strings.HasSuffix(s, "\n") {
			b.WriteByte('\n')
		}
	}
	for i := range p.chunks {
		c := &p.chunks[i]
		shown := c.body[:p.kept[i]]
		isWhole := strings.TrimSpace(c.body[p.kept[i]:]) == ""
		switch {
		case isWhole && (p.outline[i] || p.kept[i] > 0 || c.level == 0):
			endLine(c.heading)
			endLine(c.body[:p.kept[i]])
			kept += p.headingCost(i).chars
		case shown != "":
			endLine(c.heading)
			endLine(shown)
			b.WriteString(gap)
			kept += p.headingCost(i).chars
		case p.outline[i]:
			b.WriteString(strings.TrimRight(c.heading, "\r\n") + mark + "\n")
			kept += p.headingCost(i).chars
		}
		if cost := p.costs[i].chars; shown == c.body && cost > 0 {
			kept += cost - 1
		} else {
			kept += chars(shown)
		}
	}
	left := p.left()
	notice := p.notice(left, p.limit)
	p.addNotice(&b, kept, notice)
	return cutText{text: b.String(), kept: kept, left: left}
}

func (p *plan) addNotice(b *strings.Builder, kept int, notice string) {
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(strings.Replace(notice, keptPlace, comma(kept), 1))
}

// keptPlace reserves room in the notice for the number of shown characters, as wide as a large number.
const keptPlace = "000,000,000"

// notice returns the text that names what is left out, within the limit of notices. It counts names that do not fit.
func (p *plan) notice(left []string, limit size) string {
	room := p.noticeRoom(limit)
	begin := fmt.Sprintf("[%s is cut: %s of %s characters are shown", p.name, keptPlace, comma(p.chars))
	end := "]"
	if p.from != "" {
		end = ". " + p.from + "]"
	}
	fits := func(s string) bool { return p.count.size(s + end).plus(size{2, 2}).fits(room) }
	best, named := largest(1, len(left), func(n int) (string, bool) {
		s := begin + ". Left out: " + strings.Join(clipAll(left[:n], 60), "; ")
		if more := len(left) - n; more > 0 {
			s += fmt.Sprintf("; and %d more", more)
		}
		return s, fits(s)
	})
	switch {
	case named:
		return best + end
	case fits(begin):
		return begin + end
	}
	return p.clamp("["+p.name+" is cut]", room.minus(size{1, 1}))
}

func clipAll(names []string, n int) []string {
	out := make([]string, len(names))
	for i, s := range names {
		out[i] = clip(s, n)
	}
	return out
}

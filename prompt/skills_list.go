package prompt

import (
	"fmt"
	"slices"
	"strings"
)

// Skills are listed with their descriptions. If that exceeds the budget, the list has shorter descriptions, then only
// names, then only the first names.

const skillsIntro = `## Skills

Before you reply, scan the descriptions in <available_skills>.
- One skill clearly applies: read its file at <location> with the read tool, then follow it.
- Several could apply: take the most specific one.
- None clearly applies: read none.
Never read more than one skill up front.

`

// leastDescription is the shortest description worth showing: a shorter one does not say when to use a skill.
const leastDescription = 40

// skillList lists skills.
type skillList struct {
	skills []Skill // listed skills, by name
	limits *Options
	count  *counter
}

// SkillSize is the size of a skill's entry in the list.
type SkillSize struct {
	Name  string `json:"name"`
	Chars int    `json:"blockChars"` // length of the entry with its whole description
}

func newSkillList(skills []Skill, o *Options, c *counter) *skillList {
	l := &skillList{limits: o, count: c}
	for _, s := range skills {
		if !s.Hidden {
			s.Description = oneLine(s.Description) // once, because it may be clipped several times
			l.skills = append(l.skills, s)
		}
	}
	slices.SortStableFunc(l.skills, compareSkills)
	return l
}

var xmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")

// entry returns a skill's entry in the list; without a description, only its name.
func (l *skillList) entry(s *Skill, description int) string {
	name := xmlEscaper.Replace(cleanName(s.Name))
	if description <= 0 {
		return "  <skill><name>" + name + "</name></skill>\n"
	}
	return "  <skill>\n    <name>" + name + "</name>\n    <description>" +
		xmlEscaper.Replace(clip(s.Description, description)) +
		"</description>\n    <location>" + xmlEscaper.Replace(l.location(s.Location)) + "</location>\n  </skill>\n"
}

// location shows the home directory as ~.
func (l *skillList) location(path string) string {
	path = cleanName(path)
	home := strings.TrimRight(l.limits.Home, "/")
	if rest, ok := strings.CutPrefix(path, home); ok && home != "" && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return path
}

// list lists the first n skills.
func (l *skillList) list(n, description int) string {
	var b strings.Builder
	b.WriteString("<available_skills>\n")
	for i := range l.skills[:n] {
		b.WriteString(l.entry(&l.skills[i], description))
	}
	b.WriteString("</available_skills>")
	return b.String()
}

// full returns the list with all descriptions.
func (l *skillList) full() string { return skillsIntro + l.list(len(l.skills), maxDescription) }

// sizes returns the sizes of the entries.
func (l *skillList) sizes() []SkillSize {
	out := make([]SkillSize, len(l.skills))
	for i := range l.skills {
		s := &l.skills[i]
		out[i] = SkillSize{s.Name, chars(strings.TrimSpace(l.entry(s, maxDescription)))}
	}
	return out
}

// within returns the list that fits a limit.
func (l *skillList) within(limit size) (string, *Cut) {
	if l.limits.HeadTail {
		return l.firstThatFit(limit)
	}
	n := min(len(l.skills), l.limits.MaxSkills)
	more := func(n int) string {
		if n == len(l.skills) {
			return ""
		}
		return fmt.Sprintf("\nand %d more", len(l.skills)-n)
	}
	fits := func(n, description int) (string, bool) {
		list := l.list(n, description)
		text := skillsIntro + list + more(n)
		return text, chars(list) <= l.limits.MaxSkillChars && l.count.size(text).fits(limit)
	}
	if text, ok := fits(n, maxDescription); ok {
		return text, l.cut(n, "more than may be listed")
	}
	if text, ok := largest(leastDescription, maxDescription, func(d int) (string, bool) { return fits(n, d) }); ok {
		return text, l.cut(n, "descriptions are shortened")
	}
	if text, ok := largest(1, n, func(n int) (string, bool) { return fits(n, 0) }); ok {
		return text, l.cut(strings.Count(text, "<skill>"), "names alone")
	}
	return "", l.cut(0, reasonLast)
}

// largest returns the result for the largest n from low to high that fits. If n fits, all smaller numbers fit too.
func largest(low, high int, try func(n int) (string, bool)) (best string, ok bool) {
	for low <= high {
		middle := (low + high) / 2
		if text, fits := try(middle); fits {
			best, ok, low = text, true, middle+1
		} else {
			high = middle - 1
		}
	}
	return best, ok
}

func (l *skillList) cut(n int, reason string) *Cut {
	if n == len(l.skills) && reason == "more than may be listed" {
		return nil
	}
	c := &Cut{Chars: chars(l.full()), Reason: reason}
	c.Kept = c.Chars
	if n < len(l.skills) {
		c.Kept = chars(l.list(n, maxDescription))
		for _, s := range l.skills[n:] {
			c.Left = append(c.Left, s.Name)
		}
	}
	return c
}

// firstThatFit returns the reference's list: the longest beginning that fits, after a line that says so.
func (l *skillList) firstThatFit(limit size) (string, *Cut) {
	text, ok := largest(0, min(len(l.skills), l.limits.MaxSkills), func(n int) (string, bool) {
		list, note := l.list(n, maxDescription), ""
		if n < len(l.skills) {
			note = fmt.Sprintf("⚠️ Skills truncated: included %d of %d.\n", n, len(l.skills))
		}
		text := skillsIntro + note + list
		return text, chars(list) <= l.limits.MaxSkillChars && l.count.size(text).fits(limit)
	})
	if !ok {
		return "", l.cut(0, reasonLast)
	}
	return text, l.cut(strings.Count(text, "<skill>"), "more than may be listed")
}

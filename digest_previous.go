package winnow

import (
	"strings"
)

// readPrevious takes the notes out of an earlier summary, be it a digest or a model's. A note that it
// made itself is found again as it was written.
func (n *notes) readPrevious(s string) {
	if isBlank(s) {
		return
	}
	n.ids.scan(s, fromPrevious)
	target := &n.other
	var item strings.Builder
	flush := func() {
		if text := strings.TrimSpace(item.String()); text != "" {
			n.keep(target, text)
		}
		item.Reset()
	}
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "#"):
			flush()
			target = n.sectionOf(line)
		case strings.HasPrefix(line, "  ") && item.Len() > 0:
			item.WriteByte('\n')
			item.WriteString(line[2:])
		default:
			flush()
			item.WriteString(strings.TrimPrefix(line, "- "))
		}
	}
	flush()
}

// keep files one note of an earlier summary.
func (n *notes) keep(target *[]string, text string) {
	if last, ok := strings.CutPrefix(text, "Last said: "); ok {
		n.last = last
		return
	}
	if target == &n.other {
		for _, label := range kindLabels {
			if strings.HasPrefix(text, label+": ") { // ranked anew with the others
				return
			}
		}
	}
	if target == &n.commands {
		for _, action := range [...]string{"wrote", "edited", "deleted"} {
			if path, ok := strings.CutPrefix(text, action+" "); ok && !strings.HasPrefix(path, "`") {
				path, _, _ = strings.Cut(path, " (")
				n.files.add(path, action)
				n.ids.mark(path)
				return
			}
		}
	}
	*target = append(*target, clipMiddle(text, requestBytes))
}

// sectionOf returns the notes that belong under a heading.
func (n *notes) sectionOf(heading string) *[]string {
	switch strings.ToLower(strings.Trim(heading, "# \t:*")) {
	case "goal":
		return &n.requests
	case "constraints & preferences", "constraints and preferences", "constraints":
		return &n.rules
	case "done", "progress", "in progress":
		return &n.commands
	case "blocked":
		return &n.failures
	case "key decisions", "decisions":
		return &n.decisions
	case "next steps":
		return &n.plans
	}
	return &n.other
}

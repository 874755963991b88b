package winnow

import "strings"

// toolMatcher says which tools' results may be pruned.
type toolMatcher struct{ allow, deny []string }

func newToolMatcher(allow, deny []string) toolMatcher {
	return toolMatcher{foldPatterns(allow), foldPatterns(deny)}
}

// foldPatterns returns the patterns in lower case, without the blank ones.
func foldPatterns(patterns []string) []string {
	var out []string
	for _, s := range patterns {
		if s = fold(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func fold(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// matchesAll says that no pattern excludes a tool.
func (t toolMatcher) matchesAll() bool { return len(t.allow) == 0 && len(t.deny) == 0 }

// namesIn returns the tools of the results of messages, if a pattern asks for them.
func (t toolMatcher) namesIn(messages []Message) toolNames {
	if t.matchesAll() {
		return nil
	}
	return toolNamesOf(messages)
}

func (t toolMatcher) prunable(name string) bool {
	if t.matchesAll() {
		return true
	}
	name = fold(name)
	for _, pattern := range t.deny {
		if matchStar(pattern, name) {
			return false
		}
	}
	for _, pattern := range t.allow {
		if matchStar(pattern, name) {
			return true
		}
	}
	return len(t.allow) == 0
}

// matchStar says whether name matches pattern, in which * stands for any text and nothing else is
// special. On a mismatch it goes back to the last star only, so that it costs at most len(pattern) × len(name).
func matchStar(pattern, name string) bool {
	p, n := 0, 0
	star, mark := -1, 0 // the last star, and where the text that it stands for ends
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, n
			p++
		case p < len(pattern) && pattern[p] == name[n]:
			p++
			n++
		case star >= 0:
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

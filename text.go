package winnow

import "strings"

// cutAtLast is strings.Cut at the last sep.
func cutAtLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

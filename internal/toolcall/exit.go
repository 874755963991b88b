package toolcall

import (
	"strings"

	"github.com/winnowgo/winnow/internal/prose"
)

// exitEnds is how much of a result is searched for an exit code at each end, in bytes.
const exitEnds = 400

// exitCode returns the exit code in the first or the last line of s that has nothing else, as tools write it around the
// output of a command, or "". If that may be a file, such as a log, its last line may be one like that: then only one
// in brackets or behind a blank line counts.
func exitCode(s string, isFile bool) string {
	const frameLines = 5 // at the beginning
	s = strings.TrimSpace(s)
	head, tail := s[:min(len(s), exitEnds)], s[max(0, len(s)-exitEnds):]
	lines := strings.SplitN(head, "\n", frameLines+1)
	if len(lines) > frameLines || len(lines) > 1 && len(head) == len(s) { // the last line is judged below
		lines = lines[:len(lines)-1]
	}
	if last := tail[strings.LastIndexByte(tail, '\n')+1:]; !isFile || isApart(tail, last) {
		lines = append(lines, last)
	}
	for _, line := range lines {
		if m := exitFrame.Get().FindStringSubmatch(strings.TrimRight(line, " \t\r")); m != nil {
			return m[1]
		}
	}
	return ""
}

// isApart reports whether the last line of s stands alone, behind a blank line or in brackets.
func isApart(s, last string) bool {
	before := strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(s, last), "\n"), " \t\r")
	return before == "" || strings.HasSuffix(before, "\n") || strings.IndexAny(last, "<[(") == 0
}

var exitFrame = prose.NewPattern(`(?i)^[<\[(]?` +
	`(?:(?:process|command) (?:failed with |finished with )?|shellId: \d+ completed with )?` +
	`(?:exit(?:ed with)?[ _]?(?:code|status)|returncode)[>:= ]{1,3}(-?[0-9]{1,10})(?:</\w+>|[\])>.])?$`)

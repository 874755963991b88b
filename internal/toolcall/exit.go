package toolcall

import (
	"encoding/json"
	"strings"

	"github.com/winnowgo/winnow/internal/prose"
)

// ExitCode finds an exit code where tools print it: near the beginning or the end of the result, in a short line of its
// own. It returns "" if there is none. A line at the beginning that has nothing else is the tool's, whatever the output
// behind it says. A command may show the log of another build, in which such a line begins with the time: that is not
// how the command itself ended.
func ExitCode(s string) string {
	if code := frameCode(s, false); code != "" {
		return code
	}
	tail := s[max(0, len(s)-exitEnds):]
	if len(tail) < len(s) { // half a line may read like a whole one
		tail = tail[strings.IndexByte(tail, '\n')+1:]
	}
	for _, end := range [2]string{tail, s[:min(len(s), exitEnds)]} {
		if !exitHints.In(end) {
			continue
		}
		for line := range strings.Lines(end) {
			if line[0] == ' ' || line[0] == '\t' {
				continue // of a structure, or of a text: kubectl describe
			}
			if m := exitWords.Get().FindStringSubmatch(strings.TrimSpace(line)); m != nil {
				return m[1]
			}
		}
	}
	return ""
}

// exitEnds is how much of a result is searched for an exit code at each end, in bytes.
const exitEnds = 400

// frameCode returns the exit code in the first or the last line of s that has nothing else, as tools write it around
// the output of a command, or "". If that may be a file, such as a log, its last line may be one like that: then only
// one in brackets or behind a blank line counts.
func frameCode(s string, isFile bool) string {
	const frameLines = 5 // at the beginning
	s = strings.TrimSpace(s)
	if code := metadataCode(s); code != "" {
		return code
	}
	head, tail := s[:min(len(s), exitEnds)], s[max(0, len(s)-exitEnds):]
	lines := strings.SplitN(head, "\n", frameLines+1)
	if len(lines) > frameLines || len(lines) > 1 && len(head) == len(s) { // the last line is judged below
		lines = lines[:len(lines)-1]
	}
	if last := tail[strings.LastIndexByte(tail, '\n')+1:]; !isFile || isApart(tail, last) {
		lines = append(lines, last)
	}
	for _, line := range lines {
		if !exitHints.In(line) { // the patterns are slow, and few results name a code
			continue
		}
		if m := exitFrame.Get().FindStringSubmatch(strings.TrimRight(line, " \t\r")); m != nil {
			return m[1]
		}
	}
	return ""
}

// metadataCode returns the exit code that stands beside an output in JSON, or "". Codex wrote its results like that:
// {"output":"…","metadata":{"exit_code":1}}.
func metadataCode(s string) string {
	tail := s[max(0, len(s)-exitEnds):]
	if !strings.HasPrefix(s, "{") || !strings.HasSuffix(s, "}") || !strings.Contains(tail, `"exit_code"`) {
		return ""
	}
	var result struct {
		Output   any
		Metadata struct {
			Code json.Number `json:"exit_code"`
		}
	}
	if json.Unmarshal([]byte(s), &result) != nil || result.Output == nil {
		return ""
	}
	if _, err := result.Metadata.Code.Int64(); err != nil {
		return ""
	}
	return result.Metadata.Code.String()
}

// isApart reports whether the last line of s stands alone, behind a blank line or in brackets.
func isApart(s, last string) bool {
	before := strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(s, last), "\n"), " \t\r")
	return before == "" || strings.HasSuffix(before, "\n") || strings.IndexAny(last, "<[(") == 0
}

// exitHints says where the patterns may match.
var exitHints = prose.NewList([]string{"exit", "exited", "exit_code", "exit_status", "exitcode", "exitstatus",
	"returncode"}, nil)

var (
	exitFrame = prose.NewPattern(`(?i)^(?:[<\[(]|process |command |<shellId: \d+ completed with )?` +
		`(?:exit(?:ed with)?[ _]?(?:code|status)|returncode)[>:= ]{1,3}(-?[0-9]{1,10})(?:</\w+>|[\])>.])?$`)
	// The name of what exited may stand in front of the words, and a bracket or the end of a tag behind the code. A
	// name in double quotes is a member of JSON, which a program printed: docker inspect.
	exitWords = prose.NewPattern(`(?i)^(?:.{0,32}[^a-z0-9])?` +
		`(?:exit(?:ed with)?[ _]?(?:code|status)|returncode)[^0-9\n"-]{0,4}(-?[0-9]{1,10})\b.{0,16}$`)
)

// printsExit reports whether a command prints the exit code of another one, which is not its own: echo $?.
func printsExit(command string) bool {
	command = strings.ToLower(command)
	for _, name := range [...]string{"$?", "%errorlevel%", "$lastexitcode", "returncode"} {
		if strings.Contains(command, name) {
			return true
		}
	}
	return false
}

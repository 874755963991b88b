package toolcall

import (
	"slices"
	"strings"
)

// How a host says that it did not run a command.

// saysNotRun reports whether text, the result of a command, is one line with which a host says that it did not run the
// command, or not to its end: "User rejected this command." OpenCode writes that line in a tag behind the output.
func saysNotRun(text string) bool {
	text = remark(strings.TrimSpace(text))
	if strings.Contains(text, "\n") || endsInCount(text) {
		return false
	}
	words := plainWords(text[:min(len(text), refusalChars)])
	if len(words) > 0 && (words[0] == "the" || words[0] == "bash") {
		words = words[1:]
	}
	if len(words) == 0 || !slices.Contains(hosts, words[0]) {
		return false
	}
	for n := 1; n < len(words); n++ {
		if words[n-1] == "timed" && words[n] == "out" {
			return true
		}
		isVerb := slices.Contains(hosts, words[n-1]) || slices.Contains(auxiliaries, words[n-1])
		if isVerb && slices.Contains(denying, words[n]) {
			return true
		}
	}
	return false
}

// Who says that a command was not run, and in which words. These are verbs behind their subject or an auxiliary: in
// "User guide for blocked accounts" nothing is denied.
var (
	hosts       = []string{"user", "permission", "command", "execution", "operation", "tool", "request"}
	auxiliaries = []string{"was", "were", "is", "been", "has", "had", "got", "explicitly"}
	denying     = []string{"rejected", "declined", "denied", "refused", "cancelled", "canceled", "aborted",
		"interrupted", "blocked", "forbidden", "terminated", "killed"}
)

// remark returns what stands in the tag of metadata that text, the result of a command, ends with, or text.
func remark(text string) string {
	const tag = "metadata>"
	rest, ok := strings.CutSuffix(text, tag)
	closing := strings.LastIndexByte(rest, '\n')
	if !ok || closing < 0 {
		return text
	}
	start := strings.LastIndex(rest[:closing], tag+"\n")
	if start < 0 {
		return text
	}
	return strings.TrimSpace(rest[start+len(tag) : closing])
}

// endsInCount reports whether a line ends in a colon and a number, as counters are written: "request cancelled: 0".
func endsInCount(line string) bool {
	number := strings.TrimSpace(line[strings.LastIndexByte(line, ':')+1:])
	return len(number) < len(line) && number != "" && strings.Trim(number, "0123456789.,%") == ""
}

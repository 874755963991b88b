package toolcall

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/ascii"
)

// How the output of a program or of a service begins if it failed.

// beginsWithError reports whether text begins like the error of a program or a service: "Error: …", "<error>…",
// "Failed to connect", "Traceback (most recent call last):".
func beginsWithError(text string) bool {
	line, rest, _ := strings.Cut(strings.TrimLeft(text, " \t\r\n#"), "\n")
	line = line[:min(len(line), refusalChars)]
	if isErrorTag(line) || crashes(line) || failsTo(line) {
		return true
	}
	colon := strings.Index(line, ":")
	if wide := strings.Index(line, "："); wide >= 0 && (colon < 0 || wide < colon) {
		colon = wide
	}
	if colon < 0 {
		return strings.TrimRight(line, " \r") == "Error" && beginsWithError(rest) // a heading
	}
	word := strings.ToLower(line[:colon])
	value := strings.TrimLeft(line[colon:], ":：")
	switch {
	case isMeasure(value):
		return false
	case strings.ContainsRune(word, ' '), word == "failed":
		return namesError(word, strings.TrimSpace(value))
	case word == "fatal", word == "panic", word == "unauthorized":
		return true
	}
	word, _, _ = strings.Cut(word, "[")     // error[E0382]
	isCount := strings.HasSuffix(word, "s") // errors: 0
	return !isCount && sayingOf(word) == saysFault
}

// crashes reports whether a line is what a runtime prints when a program dies.
func crashes(line string) bool {
	for _, beginning := range [...]string{"Traceback (most recent call", "Exception in thread", "Segmentation fault",
		"Bus error", "Aborted (core"} {
		if strings.HasPrefix(line, beginning) {
			return true
		}
	}
	first, behind, _ := strings.Cut(line, " ")
	if first == "Uncaught" || first == "Unhandled" {
		name, _, _ := strings.Cut(behind, " ")
		return !strings.HasSuffix(strings.TrimRight(name, ":"), "s") // "Unhandled issues: 3" is a list
	}
	return strings.HasPrefix(line, "thread '") && strings.Contains(line, "' panicked at")
}

// complaints are what programs say behind their names and what they stumbled over, in lower case.
var complaints = []string{"command not found", "not found", "no such file or directory", "permission denied",
	"operation not permitted", "is a directory", "not a directory", "connection refused", "no space left on device",
	"unknown option", "invalid option", "***", "unrecognized option", "could not resolve host", "unable to locate"}

// complains reports whether text, the output of a command, is one line in which a program says what is in its way: "rm:
// cannot remove 'x': No such file or directory", "bash: line 1: foo: command not found". What stands in front of more
// output kept nobody from going on.
func complains(text string) bool {
	line := strings.TrimSpace(text)
	program, behind, ok := strings.Cut(line[:min(len(line), refusalChars)], ": ")
	if !ok || strings.ContainsAny(program, " \t") || strings.Contains(line, "\n") {
		return false
	}
	for piece := range strings.SplitSeq(strings.ToLower(behind), ": ") {
		piece = strings.TrimLeft(strings.TrimPrefix(piece, "[errno"), " (0123456789)]")
		for _, complaint := range complaints {
			if rest, ok := strings.CutPrefix(piece, complaint); ok && (rest == "" || !ascii.IsLetter(rest[0])) {
				return true
			}
		}
	}
	return false
}

// namesError reports whether the words in front of a colon name an error, and value, behind it, may say which one: "MCP
// error -32602", "query failed". A number is a measure: "mean error: 12".
func namesError(name, value string) bool {
	const most = 3 // words
	if !strings.Contains(name, "error") && !strings.Contains(name, "failed") {
		return false
	}
	words := strings.Fields(name)
	for len(words) > 1 && strings.ContainsAny(words[len(words)-1], "0123456789") {
		words = words[:len(words)-1] // "ERROR 1146 (42S02)"
	}
	if last := words[len(words)-1]; last != "error" && last != "failed" || len(words) > most {
		return false
	}
	first, _ := utf8.DecodeRuneInString(value)
	return unicode.IsLetter(first) || first == '"'
}

// failsTo reports whether a line begins with the words that something could not be done: "Failed to …", "Request failed
// with …", "Access denied".
func failsTo(line string) bool {
	first, behind, _ := strings.Cut(line, " ")
	next, behind, _ := strings.Cut(behind, " ")
	if next == "failed" {
		isCount := first == "" || ascii.IsDigit(first[0]) // 3 failed with …
		return !isCount && (strings.HasPrefix(behind, "with ") || strings.HasPrefix(behind, "for "))
	}
	is := func(word, second string) bool {
		return len(first) == len(word) && strings.EqualFold(first, word) && strings.HasPrefix(next, second)
	}
	switch len(first) {
	case 5:
		return is("could", "not") || is("can't", "")
	case 6:
		isFailure := is("failed", "") && (next == "to" || next == "in" || next == "with")
		return isFailure || is("unable", "to") || is("cannot", "") || is("access", "denied")
	case 8:
		return is("couldn't", "")
	case 10:
		return is("permission", "denied") && !endsInCount(line)
	}
	return false
}

// isMeasure reports whether text, behind the word error and a colon, is a number, or says that there is no error: 0.12.
func isMeasure(text string) bool {
	text = strings.TrimSpace(text)
	first, _, _ := strings.Cut(text, ",") // error: 0, warnings: 2
	n, err := strconv.ParseFloat(strings.TrimSuffix(first, "%"), 64)
	isNumber := err == nil && (n == 0 || strings.ContainsAny(first, ".%")) // but "KeyError: 1"
	return isNumber || deniesFault(text) || text != "" && slices.Contains(noFaults, text)
}

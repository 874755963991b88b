package toolcall

import (
	"bytes"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/ascii"
	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/mem"
	"github.com/winnowgo/winnow/internal/runes"
)

// How the result of a call says that the call failed. Some hosts do not mark such a result as an error.

// refusalChars is how much of a result is searched for words that say whether the call worked.
const refusalChars = 160

// Words with which an editor says that it changed nothing, and that it changed something. The first of them decides:
// "Replaced 1 occurrence of 'not found'". A "no" counts only at the beginning of a line, because elsewhere it may be
// about something else.
var (
	refusing = []string{"not", "cannot", "can't", "couldn't", "didn't", "doesn't", "wasn't", "failed", "fail",
		"failure", "error", "errors", "exception", "required", "invalid", "unable", "denied", "missing", "nothing",
		"unsuccessful", "rejected", "refused"}
	doing = []string{"success", "successful", "successfully", "succeeded", "done", "ok", "updated", "edited", "wrote",
		"written", "created", "replaced", "applied", "modified", "saved", "inserted", "deleted", "removed", "changed",
		"added", "appended", "overwritten", "patched"}
)

// Refusal returns the beginning of text, the result of a call that changes or shows a file, if it says that the call
// did not do so. Otherwise it returns "".
func Refusal(text string) string {
	if fault := Fault(text); fault != "" {
		return fault
	}
	text = strings.TrimLeft(text, " \t\r\n")
	text = text[:runes.Head(text, refusalChars)]
	line, _, _ := strings.Cut(text, "\n")
	if strings.HasPrefix(line, "{") || !refuses(line) {
		return ""
	}
	return text
}

// faults are words that do not report a failure if "no" or 0 stands in front of them: "No errors found. The file was
// updated."
var faults = []string{"error", "errors", "failure", "failures", "exception", "exceptions", "issue", "issues", "problem",
	"problems", "warning", "warnings", "diagnostics"}

// refuses reports whether a line says that nothing was done.
func refuses(line string) bool {
	done := false
	words := plainWords(line)
	for n := 0; n < len(words); n++ {
		word := words[n]
		isNo := word == "no" || word == "0"
		switch {
		case strings.ContainsAny(word, `/\._=`): // a name
		case isNo && n+1 < len(words) && slices.Contains(faults, words[n+1]):
			n++
		case done:
			return word == "0" // replaced 0 occurrences
		case n == 0 && word == "no", slices.Contains(refusing, word), strings.HasSuffix(word, "error"):
			return true
		case slices.Contains(doing, word):
			done = true
		}
	}
	return false
}

// plainWords returns the words of line in lower case, without the signs around them.
func plainWords(line string) []string {
	words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t<>\"`", r) })
	for n, word := range words {
		words[n] = strings.ToLower(strings.ReplaceAll(strings.Trim(word, ".,:;!?()[]'*"), "’", "'"))
	}
	return words
}

// mostFaultBytes is the size above which a JSON object is taken for data, and not for a report on the call.
const mostFaultBytes = 64 << 10

// Fault returns an object with those members of text, a JSON object, that say that a call failed and why. It returns ""
// if no member says that the call failed, or if text is not a JSON object.
func Fault(text string) string {
	text = strings.TrimSpace(text)
	object := []byte(nil)
	if len(text) <= mostFaultBytes && strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") {
		object = mem.Bytes(text)
	}
	if object == nil || !jsontext.Valid(object) {
		return ""
	}
	var b strings.Builder
	failed := false
	jsontext.Members(object, func(key string, value []byte) {
		kind := faultOf(key, value)
		if kind == noFault {
			return
		}
		failed = failed || kind == isFault
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + key + `":` + mem.String(bytes.TrimSpace(value)))
	})
	if !failed {
		return ""
	}
	return "{" + b.String() + "}"
}

// faultKind is what a member of a JSON object says of a failure.
type faultKind int

const (
	noFault  faultKind = iota // nothing
	isReason                  // why, if there is one
	isFault                   // that there is one
)

// faultOf returns what a member says of a failure. Keys are compared without case, dashes and underscores.
func faultOf(key string, value []byte) faultKind {
	value = bytes.TrimSpace(value)
	text := strings.ToLower(jsontext.Text(value))
	is := false
	switch strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(key)) {
	case "success", "ok", "succeeded", "successful":
		is = string(value) == "false"
	case "iserror", "failed", "haserror", "haserrors":
		is = string(value) == "true"
	case "error", "errors", "err", "errormessage", "exception", "fault":
		plain := strings.Join(strings.Fields(string(value)), "")
		is = text != "none" && !slices.Contains([]string{"", "null", "false", "0", "[]", "{}", `""`}, plain)
	case "status", "state", "outcome", "result":
		is = slices.Contains([]string{"error", "failed", "failure", "fail", "errored", "rejected", "denied"}, text) ||
			isFailedRequest(value)
	case "statuscode", "httpstatus":
		is = isFailedRequest(value)
	case "exitcode", "returncode", "exitstatus":
		is = ascii.IsDigit(value[0]) && value[0] != '0' || value[0] == '-'
	case "message", "msg", "reason", "detail", "details", "description", "errordescription", "content", "code",
		"stderr":
		return isReason
	}
	if is {
		return isFault
	}
	return noFault
}

// isFailedRequest reports whether value is the status with which a server answers a request that failed: 4xx, 5xx.
func isFailedRequest(value []byte) bool {
	return len(value) == 3 && (value[0] == '4' || value[0] == '5') && len(bytes.Trim(value, "0123456789")) == 0
}

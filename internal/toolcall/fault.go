package toolcall

import (
	"bytes"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/internal/ascii"
	"github.com/winnowgo/winnow/internal/jsontext"
	"github.com/winnowgo/winnow/internal/mem"
)

// How a JSON object says that a call failed.

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
	failed, exited, isProcess, hasOutput := false, false, false, false
	jsontext.Members(object, func(key string, value []byte) {
		kind := faultOf(key, value)
		isProcess = isProcess || kind == isOfProcess
		hasOutput = hasOutput || key == "stdout" || key == "stderr" || key == "output"
		if kind == noFault || kind == isOfProcess {
			return
		}
		failed, exited = failed || kind == isFault, exited || kind == isExit
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + key + `":` + mem.String(bytes.TrimSpace(value)))
	})
	if !failed && (!exited || isProcess && !hasOutput) {
		return ""
	}
	return "{" + b.String() + "}"
}

// faultKind is what a member of a JSON object says of a failure.
type faultKind int

const (
	noFault     faultKind = iota // nothing
	isReason                     // why, if there is one
	isFault                      // that there is one
	isExit                       // with which code a program exited, which may be one that the object describes
	isOfProcess                  // that the object describes a process or a container
)

// faultOf returns what a member says of a failure. Keys are compared without case, dashes and underscores, and values
// without the quotes of a string.
func faultOf(key string, value []byte) faultKind {
	value = bytes.TrimSpace(value)
	text := mem.String(value)
	if value[0] == '"' {
		text = strings.ToLower(strings.TrimSpace(jsontext.Text(value)))
	}
	is := false
	switch keyJoints.Replace(strings.ToLower(key)) {
	case "success", "ok", "succeeded", "successful":
		is = text == "false"
	case "iserror", "failed", "haserror", "haserrors":
		is = text == "true"
	case "error", "errors", "err", "errormessage", "exception", "fault":
		is = namesFault(text)
	case "status", "state", "outcome", "result":
		is = slices.Contains([]string{"error", "failed", "failure", "fail", "errored", "rejected", "denied", "timeout"},
			text) || isFailedRequest(value)
	case "statuscode", "httpstatus":
		is = isFailedRequest(value)
	case "exitcode", "returncode", "exitstatus":
		if isBadCode(text) {
			return isExit
		}
	case "errorcode", "errcode", "errno":
		is = isBadCode(text)
	case "pid", "oomkilled", "image", "finishedat", "restartcount":
		return isOfProcess
	case "message", "msg", "reason", "detail", "details", "description", "errordescription", "content", "code",
		"stderr", "errmsg", "errormsg":
		return isReason
	}
	if is {
		return isFault
	}
	return noFault
}

// keyJoints removes what stands between the words of a key.
var keyJoints = strings.NewReplacer("_", "", "-", "")

// isBadCode reports whether text is a code other than 0.
func isBadCode(text string) bool {
	return text != "" && (ascii.IsDigit(text[0]) && text[0] != '0' || text[0] == '-')
}

// namesFault reports whether text, the value of an error, is an error: an object with the code 0 is not.
func namesFault(text string) bool {
	is := !slices.Contains(noFaults, text) && strings.Trim(text, "[]{} \t\r\n") != "" && !deniesFault(text)
	if strings.HasPrefix(text, "{") {
		jsontext.Members(mem.Bytes(text), func(key string, value []byte) {
			if key == "code" || key == "errno" {
				is = is && string(bytes.Trim(value, `" `)) != "0"
			}
		})
	}
	return is
}

// noFaults are what the member for an error holds after a call that worked.
var noFaults = []string{"", "null", "nil", "false", "0", "ok", "success", "n/a", "无", "無", "没有错误", "无错误", "なし",
	"エラーなし", "없음"}

// deniesFault reports whether text is a few words that say that there is no error: "none found", "No errors reported."
func deniesFault(text string) bool {
	words := plainWords(text[:min(len(text), refusalChars)])
	if len(words) == 0 || words[0] != "none" && sayingOf(words[0]) != saysNone {
		return false
	}
	for _, word := range words[1:] {
		if !namesTrouble(word) && !slices.Contains([]string{"found", "reported", "detected", "occurred"}, word) {
			return false
		}
	}
	return true
}

// isFailedRequest reports whether value is the status with which a server answers a request that failed: 4xx, 5xx.
func isFailedRequest(value []byte) bool {
	return len(value) == 3 && (value[0] == '4' || value[0] == '5') && len(bytes.Trim(value, "0123456789")) == 0
}

package transcript

import (
	"bytes"
	"encoding/json"
	"slices"
)

// detectLines is how many lines Detect reads. A file of Claude Code may have hundreds of titles and queue operations
// before its first message.
const detectLines = 1_000

// Detect returns the form of an uncompressed file, or "". It reads only the beginning.
func Detect(data []byte) Format {
	var line members
	n := 0
	for text := range bytes.Lines(bytes.TrimPrefix(data, []byte("\ufeff"))) {
		if text = trimLine(text); len(text) == 0 {
			continue
		}
		if n++; n > detectLines {
			break
		}
		if text[0] != '{' || !json.Valid(text) {
			continue
		}
		line.read(text)
		if f := formatOf(&line); f != "" {
			return f
		}
	}
	return ""
}

// trimLine removes white space and NULs around a line.
func trimLine(text []byte) []byte { return bytes.Trim(text, " \t\r\n\x00") }

// codexItems are the types of items that stood alone in the first rollout files.
var codexItems = []string{
	"message", "reasoning", "function_call", "function_call_output", "local_shell_call", "custom_tool_call",
	"custom_tool_call_output",
}

// formatOf returns the form of the file that a line comes from, or "" if the line does not tell.
func formatOf(line *members) Format {
	typ := line.text("type")
	isTurn := typ == "user" || typ == "assistant"
	isObject := func(key string) bool { v := line.get(key); return len(v) > 0 && v[0] == '{' }
	switch {
	case typ == "session" && line.has("seq") && line.has("format"):
		return Winnow
	case typ == "session" && line.has("id") && line.has("timestamp"):
		return Pi
	case isObject("payload") && line.has("timestamp"):
		return Codex
	case typ == "" && line.has("id") && line.has("timestamp") && line.has("instructions"):
		return Codex
	case isTurn && isObject("message") && (line.has("uuid") || line.has("sessionId")):
		return ClaudeCode
	case typ == "summary" && line.has("leafUuid"), typ == "system" && line.has("uuid") && line.has("subtype"):
		return ClaudeCode
	case typ == "message" && isObject("message") && line.has("timestamp"): // its header is missing
		return Pi
	case slices.Contains(codexItems, typ) && (line.has("role") || line.has("call_id") || line.has("summary")):
		return Codex
	}
	return ""
}

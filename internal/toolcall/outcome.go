package toolcall

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Outcome reads the exit code and the status of a result from its Details. The status may be anything that a tool
// wrote there.
func Outcome(details json.RawMessage) (exit, status string) {
	// Hosts keep whole outputs here. A large one is not worth decoding for two fields.
	if len(details) == 0 || len(details) > 1<<20 {
		return "", ""
	}
	var d struct {
		ExitCode any `json:"exitCode"`
		Status   any `json:"status"`
	}
	if json.Unmarshal(details, &d) != nil {
		return "", ""
	}
	if n, ok := d.ExitCode.(float64); ok {
		exit = strconv.FormatFloat(n, 'f', -1, 64)
	}
	if s, ok := d.Status.(string); ok {
		status = strings.TrimSpace(s)
	}
	return exit, status
}

package toolcall

import (
	"encoding/json"
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
		ExitCode json.Number `json:"exitCode"`
		Status   string      `json:"status"`
	}
	_ = json.Unmarshal(details, &d) // what is of another type is left out
	return d.ExitCode.String(), strings.TrimSpace(d.Status)
}

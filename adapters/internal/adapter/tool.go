package adapter

import (
	"encoding/json"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/prompt"
)

// Schema returns the decoded JSON schema of a tool's arguments, which are an object. A tool whose schema is missing or
// not a JSON object takes no arguments.
func Schema(t winnow.Tool) map[string]any {
	schema := map[string]any{}
	if json.Unmarshal(t.Schema, &schema) != nil || schema == nil {
		schema = map[string]any{}
	}
	if schema["type"] == nil {
		schema["type"] = "object"
	}
	return schema
}

// OnDemand returns tools in the form of an SDK. Those that are not always sent are deferred, and behind them comes
// search, the tool that finds them.
func OnDemand[T any](tools []prompt.Tool, convert func(winnow.Tool) T, deferred func(*T), search T) []T {
	list := make([]T, 0, len(tools)+1)
	isAny := false
	for i := range tools {
		t := &tools[i]
		tool := convert(t.Tool)
		if !t.Always {
			isAny = true
			deferred(&tool)
		}
		list = append(list, tool)
	}
	if isAny {
		list = append(list, search)
	}
	return list
}

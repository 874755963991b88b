package prompt

import (
	"context"
	"encoding/json"
	"fmt"
)

// ReportEntry is the name under which [Report.Save] stores a report.
const ReportEntry = "context-report"

// DataStore stores data beside a conversation. The Store of package session implements it.
type DataStore interface {
	AddData(ctx context.Context, key, name string, data []byte) error
}

// Save stores the report beside the conversation with this key, as one line of JSON.
func (r *Report) Save(ctx context.Context, s DataStore, key string) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("prompt: report: %w", err)
	}
	return s.AddData(ctx, key, ReportEntry, data)
}

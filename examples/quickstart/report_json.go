package main

import (
	"encoding/json"
	"io"
)

// writeJSON prints one object per request, and one with the totals: {"totals": …}.
func writeJSON(w io.Writer, o *outcome) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for i := range o.requests {
		if err := e.Encode(&o.requests[i]); err != nil {
			return err
		}
	}
	return e.Encode(struct {
		Totals totals `json:"totals"`
	}{o.totals})
}

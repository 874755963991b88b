package adaptertest

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/winnowtest"
)

// Fuzz reads its bytes as a history of winnow and as one of the adapter. Nothing may panic, and a repaired history must
// be valid when it is exported, and come back unchanged.
func Fuzz[T any](f *testing.F, a winnowtest.Adapter[T]) {
	f.Helper()
	for _, h := range winnowtest.Histories() {
		var b bytes.Buffer
		if winnow.WriteMessages(&b, h.Messages) == nil {
			f.Add(b.Bytes())
		}
		repaired, _ := winnow.RepairToolPairing(h.Messages)
		if values, err := json.Marshal(a.Export(repaired)); err == nil {
			f.Add(values)
		}
	}
	// the first call waits
	f.Add([]byte(`{"role":"assistant","parts":[{"kind":"toolCall","id":"0"},{"kind":"toolCall"}]}{"role":"tool"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		history, _ := winnow.ReadMessages(bytes.NewReader(data)) // everything before an error
		a.Import(a.Export(history))
		repaired := answered(history)
		values := a.Export(repaired)
		if err := a.Valid(values); err != nil {
			t.Errorf("not valid: %v", err)
		}
		if err := a.CheckRoundTrip(values); err != nil {
			t.Errorf("round trip: %v", err)
		}
		var own []T
		if json.Unmarshal(data, &own) == nil {
			imported := a.Import(own)
			a.Export(imported)
			if err := a.CheckRoundTrip(a.Export(answered(imported))); err != nil {
				t.Errorf("round trip of own values: %v", err)
			}
		}
	})
}

package responses

import (
	"encoding/json"

	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
)

// valid refuses what the Responses API refuses.
func valid(items []Item) error {
	b, err := json.Marshal(items)
	if err != nil {
		return err
	}
	return adaptertest.ValidItems(b)
}

package genai

import (
	"encoding/json"

	sdk "google.golang.org/genai"

	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
)

// valid refuses what Gemini refuses.
func valid(contents []*sdk.Content) error {
	b, err := json.Marshal(contents)
	if err != nil {
		return err
	}
	return adaptertest.ValidContents(b)
}

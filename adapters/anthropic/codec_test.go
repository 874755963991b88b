package anthropic

import (
	"testing"

	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
)

// TestCodec: what a session stores is exported with the same bytes.
func TestCodec(t *testing.T) {
	adaptertest.CheckCodec(t, underTest, Codec(), forms, cases)
}

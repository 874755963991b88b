package openai

import (
	"testing"

	"github.com/winnowgo/winnow/adapters/internal/adaptertest"
)

func FuzzAdapter(f *testing.F) { adaptertest.Fuzz(f, underTest) }

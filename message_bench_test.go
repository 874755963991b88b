package winnow_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// What a store pays to read a log: one message with 2 KB of text a line. The struct without a method is the limit
// that encoding/json sets.
func BenchmarkMessageUnmarshal(b *testing.B) {
	var text bytes.Buffer
	require.NoError(b, winnow.WriteMessages(&text, agentSession(1, 2_000)[2:3]))
	type bare struct {
		Role       string
		Parts      []struct{ Kind, Text, ID, Name string }
		ToolCallID string
		ToolName   string
	}
	b.Run("Message", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(text.Len()))
		for b.Loop() {
			var m winnow.Message
			require.NoError(b, json.Unmarshal(text.Bytes(), &m))
		}
	})
	b.Run("bare struct", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(text.Len()))
		for b.Loop() {
			var m bare
			require.NoError(b, json.Unmarshal(text.Bytes(), &m))
		}
	})
}

package winnow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkRecall asks for a result of 2 KB and one of 1 MB by their handles, in a history of 1 000 messages, and
// searches 5 and 100 MB.
func BenchmarkRecall(b *testing.B) {
	history := workHistory(500, 60)
	history[2].Parts[0].Text = strings.Repeat("a line of a log\n", 1<<16)
	m, _ := recallManager(b, 200_000, nil)
	r, err := m.Prepare(b.Context(), history)
	require.NoError(b, err)
	for _, i := range []int{4, 2} {
		arguments := json.RawMessage(`{"handle":"` + recordedHandle(b, r, i) + `"}`)
		b.Run(fmt.Sprintf("handle/%dKB", len(history[i].Parts[0].Text)/1000), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				answer, err := m.Recall(b.Context(), history, arguments)
				if err != nil || answer.IsError {
					b.Fatal(err, answer)
				}
			}
		})
	}
	b.Run("handle/summarized", func(b *testing.B) {
		m, _ := recallManager(b, 200_000, nil)
		_, err := m.Compact(b.Context(), history, "")
		require.NoError(b, err)
		arguments := json.RawMessage(`{"handle":"` + recordedHandle(b, r, 4) + `"}`)
		b.ReportAllocs()
		for b.Loop() {
			answer, err := m.Recall(b.Context(), history, arguments)
			if err != nil || answer.IsError {
				b.Fatal(err, answer)
			}
		}
	})
	for _, size := range []int{5_000_000, 100_000_000} {
		history := workHistory(500, 60)
		text := benchmarkText()
		for i := 2; i < len(history); i += 2 {
			history[i].Parts[0].Text = text[:size/500]
		}
		m, _ := recallManager(b, 200_000, nil)
		_, err := m.Prepare(b.Context(), history)
		require.NoError(b, err)
		for name, arguments := range map[string]string{"words": `{"words":"retry limit seventeen"}`,
			"pattern": `{"pattern":"retry.*seventeen"}`} {
			b.Run(fmt.Sprintf("%s/%dMB", name, size/1_000_000), func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := m.Recall(context.Background(), history, json.RawMessage(arguments)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// benchmarkText is 200 KB of lines as a tool prints them.
func benchmarkText() string {
	var b strings.Builder
	for i := 0; b.Len() < 200_000; i++ {
		fmt.Fprintf(&b, "2026-03-01T12:%02d:%02d worker[%d] handled request %d in %d ms: status ok, %d rows\n", i/60%60,
			i%60, i%7, 1_000+i, i*31%997, i*17%53)
	}
	return b.String()
}

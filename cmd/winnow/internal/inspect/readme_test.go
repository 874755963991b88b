package inspect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/test/recording"
)

// readmeWindow is the window of README's example: small enough that the session of the quickstart fills it.
const readmeWindow = 32_000

// recordLines and recordColumns are what README shows of a record.
const recordLines, recordColumns = 10, 116

// TestReadme: README shows the chart, a record and the figures that this code makes of the quickstart's session.
func TestReadme(t *testing.T) {
	s, _, err := recording.OpenFile(recorded("english"))
	require.NoError(t, err)
	r, err := replay(s, Basis{Window: readmeWindow, Price: 3})
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, writeSVG(&b, r))
	golden(t, filepath.Join("..", "..", "..", "..", "..", "examples", "quickstart", "chart.svg"), b.String())

	file := filepath.Join("..", "..", "..", "..", "README.md")
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	text := string(data)
	const begins = "[Record of "
	before, rest, found := strings.Cut(text, "    "+begins)
	require.True(t, found)
	_, after, found := strings.Cut(rest, "\n\n")
	require.True(t, found)
	sentence, more, found := strings.Cut(after, "\n\n")
	require.True(t, found)
	want := before + shortRecord(r) + "\n" + wrapped(r.headline()+". "+r.losses()) + "\n\n" + more
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
		return
	}
	assert.Equal(t, want, text, "is it better? then: go test -C cmd/winnow ./internal/inspect -update (%s)", sentence)
}

func wrapped(text string) string { return strings.Join(recording.Wrap(text, recordColumns), "\n") }

// shortRecord returns the first record of so many lines with a failure as code in Markdown, its lines cut to a width.
func shortRecord(r *report) string {
	for i := range r.Requests {
		for _, text := range r.Requests[i].Records {
			lines := strings.Split(strings.TrimSpace(text), "\n")
			if len(lines) != recordLines || !strings.Contains(text, "→ failed: ") {
				continue
			}
			for i, l := range lines {
				lines[i] = "    " + recording.Clip(l, recordColumns)
			}
			return strings.Join(lines, "\n") + "\n"
		}
	}
	return ""
}

// Package samples reads texts with the counts of real tokenizers, for the tests of estimates and exact counts.
package samples

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Sample is a text with the counts of real tokenizers, by their names.
type Sample struct {
	Name, Category string
	Counts         map[string]int
	Text           string
}

// Read returns the samples. It skips the test if the project's data is absent.
func Read(t testing.TB) []Sample {
	t.Helper()
	f, err := os.Open(filepath.Join(dir(t), "estimate", "samples.jsonl.gz"))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	var out []Sample
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var s Sample
		require.NoError(t, json.Unmarshal(lines.Bytes(), &s))
		if r, ok := carriageReturns[s.Name]; ok {
			s.Text = strings.ReplaceAll(s.Text, r[0], r[1])
		}
		out = append(out, s)
	}
	require.NoError(t, lines.Err())
	require.NotEmpty(t, out)
	return out
}

// The samples were counted before their line ends were changed to \n. With the carriage returns restored, OpenAI's
// tokenizers give exactly the stored counts. Those of ansi/038 can no longer be reconstructed.
var carriageReturns = map[string][2]string{
	"logs/016": {"\n", "\r\n"}, "ansi/006": {"\n", "\r\n"}, "ansi/029": {"\n", "\r\n"}, "ansi/032": {"\n", "\r\n"},
	"whitespace/019": {"\n", "\r\n"}, "csv_digits/022": {"\n", "\r\n"}, "ansi/023": {"\n\n", "\r\r\n"},
}

// dir returns $WINNOW_SHARED, or the directory shared beside the module: the data is outside of the project.
func dir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("WINNOW_SHARED")
	if dir == "" {
		dir = "../../../shared" // as seen from internal/tokencount
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no shared data (set WINNOW_SHARED): %v", err)
	}
	return dir
}

package winnow_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestArchitecture: ARCHITECTURE.md says of every file of the root where it belongs, and names no file that is gone.
func TestArchitecture(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "## The root, from the ground up")
	require.True(t, found)
	table, rules, found := strings.Cut(rest, "## Where is the rule that")
	require.True(t, found)

	word := regexp.MustCompile("`([a-z_]+\\*?)`")
	patterns := map[string]bool{}
	for _, row := range strings.Split(table, "\n") {
		if cells := strings.Split(row, "|"); len(cells) > 2 {
			for _, m := range word.FindAllStringSubmatch(cells[1], -1) {
				patterns[m[1]] = false
			}
		}
	}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, file := range files {
		name := strings.TrimSuffix(file, ".go")
		if strings.HasSuffix(name, "_test") || name == "doc" {
			continue
		}
		listed := false
		for pattern := range patterns {
			if ok, _ := path.Match(pattern, name); ok {
				patterns[pattern], listed = true, true
			}
		}
		assert.True(t, listed, "%s stands in no row", file)
	}
	for pattern, used := range patterns {
		assert.True(t, used, "there is no file %s.go", pattern)
	}
	for _, row := range strings.Split(rules, "\n") {
		cells := strings.Split(row, "|")
		if len(cells) < 3 {
			continue
		}
		place := regexp.MustCompile(`\([^)]*\)`).ReplaceAllString(cells[2], "") // names within the file
		for _, m := range word.FindAllStringSubmatch(place, -1) {
			assert.FileExists(t, m[1]+".go")
		}
	}
}

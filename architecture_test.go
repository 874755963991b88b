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
	named := regexp.MustCompile("`([a-z_/]+)`(?: \\(([^)]*)\\))?")
	identifier := regexp.MustCompile("`(\\w+)`")
	rules, _, _ = strings.Cut(rules, "## Words")
	for _, row := range strings.Split(rules, "\n") {
		cells := strings.Split(row, "|")
		if len(cells) < 5 {
			continue
		}
		for _, m := range named.FindAllStringSubmatch(cells[2]+" "+cells[4], -1) {
			source := sourceOf(t, m[1])
			assert.NotEmpty(t, source, "there is no %s", m[1])
			for _, name := range identifier.FindAllStringSubmatch(m[2], -1) { // what to look for in it
				assert.Regexp(t, `\b`+name[1]+`\b`, source, "%s does not stand in %s", name[1], m[1])
			}
		}
	}
}

// sourceOf returns the text of a file, or of all files of a package.
func sourceOf(t *testing.T, name string) string {
	files, err := filepath.Glob(name + "/*.go")
	require.NoError(t, err)
	var b strings.Builder
	for _, file := range append(files, name+".go") {
		text, _ := os.ReadFile(file)
		b.Write(text)
	}
	return b.String()
}

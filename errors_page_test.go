package winnow_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// docs/errors.md has all errors that a caller branches on, all log messages, and no others.
func TestErrorsPage(t *testing.T) {
	said := regexp.MustCompile(`\.(Debug|Info|Warn|Error)\((?:"((?:winnow|session): [^"]+)"|event\.(\w+))`)
	events := map[string]string{}
	text, err := os.ReadFile("internal/event/event.go")
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`(?m)^\t(\w+) += "([^"]+)"`).FindAllStringSubmatch(string(text), -1) {
		events[m[1]] = m[2]
	}
	declared := regexp.MustCompile(`(?m)^(?:var|\t)\s*(Err[A-Z]\w*) +=`)
	var errs, messages []string
	for _, dir := range []string{".", "session", "session/postgres", "session/transcript", "prompt", "adapters/transport"} {
		files, err := fs.Glob(os.DirFS(dir), "*.go")
		require.NoError(t, err)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			for _, m := range said.FindAllStringSubmatch(string(text), -1) {
				messages = append(messages, strings.ToLower(m[1])+" "+m[2]+events[m[3]])
			}
			of := filepath.Base(dir)
			if dir == "." {
				of = "winnow"
			}
			for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
				errs = append(errs, of+"."+m[1])
			}
		}
	}
	text, err = os.ReadFile("docs/errors.md")
	require.NoError(t, err)
	tables := strings.Split(string(text), "## Log messages")
	require.Len(t, tables, 2)
	var shownErrs, shown []string
	for _, m := range regexp.MustCompile("`(\\w+\\.Err\\w+)`").FindAllStringSubmatch(tables[0], -1) {
		shownErrs = append(shownErrs, m[1])
	}
	for _, m := range regexp.MustCompile(`(?m)^\| (debug|info|warn|error) \| ([^|]+) \|`).FindAllStringSubmatch(tables[1], -1) {
		shown = append(shown, m[1]+" "+m[2])
	}
	sorted := func(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }
	assert.Equal(t, sorted(errs), sorted(shownErrs))
	assert.Equal(t, sorted(messages), sorted(shown))
}

package winnow_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// The snippets of the README stand here, and in the examples of the adapters, between their marks, so that they
// compile and run.

func readmeDo(ctx context.Context, history []winnow.Message, callYourModel func(context.Context, []winnow.Message) (string, error)) error {
	// README
	m, err := winnow.New(200_000, nil) // one manager per conversation
	if err != nil {
		return err
	}
	answer, _, err := winnow.Do(ctx, m, history, callYourModel)
	// END
	if err == nil && answer == "" {
		return errors.New("no answer")
	}
	return err
}

func readmeNotes(m *winnow.Manager, history []winnow.Message, request *winnow.Request, call winnow.Part) []winnow.Message {
	// README
	switch call.Name { // offer both tools in each request
	case winnow.NotesTool().Name:
		history = append(history, m.TakeNote(history, call.Arguments))
	case winnow.CompactTool().Name:
		history = append(history, m.EndPhase(history, call.Arguments))
	}
	if line := m.WindowLine(request); line != nil {
		history = append(history, *line)
	}
	// END
	return history
}

func TestReadmeSnippetsRun(t *testing.T) {
	m := newManager(t, 20_000, &winnow.Options{Tools: &winnow.ToolOptions{Notes: true}})
	for tool, arguments := range map[string]string{winnow.NotesTool().Name: `{"name":"goal","text":"x"}`, winnow.CompactTool().Name: `{"keep":"x"}`} {
		call := callWith("1", tool, arguments)
		h := readmeNotes(m, list(userSays("x"), modelSends(call)), &winnow.Request{Tokens: 9, Budget: 10}, call)
		assert.Len(t, h, 4, tool)
	}
	calls := 0
	model := func(_ context.Context, messages []winnow.Message) (string, error) {
		if calls++; calls%2 == 1 {
			return "", errors.New("prompt is too long")
		}
		return fmt.Sprint(len(messages), " messages"), nil
	}
	var h []winnow.Message
	for i := range 50 {
		id := "call_" + itoa(i)
		h = append(h, userSays("Question "+itoa(i)), modelCalls(id), toolSays(id, numbered(200)), modelSays("Done."))
	}
	h = append(h, userSays("Last"))
	require.NoError(t, readmeDo(t.Context(), h, model))
	assert.Equal(t, 2, calls)
}

// pages returns the Markdown pages whose snippets are tested here.
func pages(t *testing.T) []string {
	list, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	return append(list, "README.md", "adapters/README.md", "prompt/README.md")
}

// What the pages show is what stands above and in the adapters' examples, and all of that is shown.
func TestReadmeSnippetsAreThese(t *testing.T) {
	flat := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	shown := map[string]bool{}
	for _, file := range pages(t) {
		readme, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, part := range strings.Split(string(readme), "```go\n")[1:] {
			snippet, _, _ := strings.Cut(part, "```")
			shown[flat(snippet)] = true
		}
	}
	files := []string{"readme_test.go", "winnowtest/example_test.go", "prompt/example_test.go", "adapters/openai/responses/example_test.go",
		"adapters/transport/tests/example_test.go"}
	var adapters []string
	for _, pattern := range []string{"adapters/*/example_test.go", "adapters/*/example_agent_test.go", "adapters/*/*/example_agent_test.go", "session/readme_test.go"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		adapters = append(adapters, found...)
	}
	for _, file := range append(files, adapters...) {
		code, err := os.ReadFile(file)
		require.NoError(t, err)
		marked := strings.Split(string(code), "\t// README\n")[1:]
		assert.NotEmpty(t, marked, "%s has no snippet", file)
		for _, part := range marked {
			snippet, _, _ := strings.Cut(part, "\t// END\n")
			assert.True(t, shown[flat(snippet)], "of %s, not in a page:\n%s", file, snippet)
			delete(shown, flat(snippet))
		}
	}
	assert.Empty(t, shown, "in a page only")
}

// Every link of a page leads somewhere.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:\s]+)(#[^)]*)?\)`)
	n := 0
	require.NoError(t, filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			n++
			_, err := os.Stat(filepath.Join(filepath.Dir(path), m[1]))
			assert.NoError(t, err, "in %s", path)
		}
		return err
	}))
	assert.Greater(t, n, 40)
}

// Each test that a page names exists.
func TestNamedTestsExist(t *testing.T) {
	exist := map[string]bool{}
	require.NoError(t, filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(string(text), -1) {
			exist[m[1]] = true
		}
		return err
	}))
	for page, least := range map[string]int{"docs/others.md": 30, "session/promises.md": 15} {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		named := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(string(text), -1)
		assert.Greater(t, len(named), least, page)
		for _, m := range named {
			assert.True(t, exist[m[1]], "%s: %s", page, m[1])
		}
	}
}

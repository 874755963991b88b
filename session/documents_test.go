package session_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
)

// block returns the text between the first fence of a language and its end.
func block(t *testing.T, file, language string) string {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(text), "```"+language+"\n")
	require.True(t, ok)
	code, _, ok := strings.Cut(rest, "```")
	require.True(t, ok)
	return code
}

func TestReadmeShowsTheExample(t *testing.T) {
	code := block(t, "README.md", "go")
	example, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	upkeep, err := os.ReadFile("upkeep/example_test.go")
	require.NoError(t, err)
	example = append(example, upkeep...)
	assert.Contains(t, string(example), code)
	assert.LessOrEqual(t, strings.Count(code, "\n"), 15)

	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, rest := range strings.Split(string(readme), "```go\n")[1:] {
		code, _, _ := strings.Cut(rest, "```")
		assert.Contains(t, string(example), code)
	}
}

// TestReaderInAnotherLanguage reads a log with the reader that the documentation shows.
func TestReaderInAnotherLanguage(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3:", err)
	}
	ctx := context.Background()
	root := t.TempDir()
	store, err := session.OpenDirectory(root, &session.Options{Manager: func(string) (int, *winnow.Options) {
		return 4_000, &winnow.Options{Compact: &winnow.CompactOptions{KeepRecent: 500}}
	}})
	require.NoError(t, err)
	s := open(t, store, "k")
	require.NoError(t, s.Append(ctx, winnow.Message{Role: winnow.RoleSystem, Parts: []winnow.Part{{Text: "be brief"}}}))
	for n := range 30 {
		require.NoError(t, s.Append(ctx, session.User(fmt.Sprint("question ", n, strings.Repeat(" words", 100)))))
		_, err := s.Do(ctx, echo)
		require.NoError(t, err)
	}
	ids := s.View().IDs
	m := session.User("edited")
	require.NoError(t, s.Edit(ctx, ids[len(ids)-2], &m, "test"))
	require.NoError(t, s.Rewind(ctx, s.Leaf()))
	require.Positive(t, s.View().Counts.Compactions)
	want := []string{}
	for i, m := range s.View().History {
		if !m.Summary {
			text := texts(s.View())[i]
			want = append(want, string(m.Role)+" "+text[:min(60, len(text))])
		}
	}
	require.NoError(t, s.Close())
	require.LessOrEqual(t, strings.Count(block(t, "on-disk.md", "python"), "\n"), 30)
	script := filepath.Join(t.TempDir(), "read.py")
	require.NoError(t, os.WriteFile(script, []byte(block(t, "on-disk.md", "python")), 0o600))
	logs, err := filepath.Glob(filepath.Join(root, "s", "*", "*", "*.jsonl"))
	require.NoError(t, err)
	out, err := exec.Command(python, script, logs[0]).CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Equal(t, want, strings.Split(strings.TrimSpace(string(out)), "\n"))
}

// TestAliasesNameTheirFields: go doc does not show the fields of a type that another package declares, so the comment
// names them.
func TestAliasesNameTheirFields(t *testing.T) {
	tree, err := parser.ParseFile(token.NewFileSet(), "list.go", nil, parser.ParseComments)
	require.NoError(t, err)
	comments := map[string]string{}
	ast.Inspect(tree, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			comments[spec.Name.Name] = spec.Doc.Text()
		}
		return true
	})
	for _, alias := range []any{session.Query{}, session.Page{}, session.Status{}, session.Changes{}, session.Change{},
		session.BusyError{}, session.Info{}, session.Counts{}} {
		typ := reflect.TypeOf(alias)
		for _, field := range reflect.VisibleFields(typ) {
			assert.Regexp(t, `\b`+field.Name+`\b`, comments[typ.Name()], "%s.%s", typ.Name(), field.Name)
		}
	}
}

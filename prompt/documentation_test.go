package prompt_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every exported name says what it is, and every function and method has an example that runs.
func TestDocumentation(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	require.NoError(t, err)
	fset := token.NewFileSet()
	var files []*ast.File
	for _, path := range paths {
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		require.NoError(t, err)
		files = append(files, file)
	}
	p, err := doc.NewFromFiles(fset, files, "github.com/winnowgo/winnow/prompt")
	require.NoError(t, err)
	require.NotEmpty(t, p.Types)
	functions := func(owner string, list []*doc.Func) {
		for _, f := range list {
			assert.NotEmpty(t, f.Doc, "%s%s has no comment", owner, f.Name)
			assert.NotEmpty(t, f.Examples, "%s%s has no example", owner, f.Name)
			for _, e := range f.Examples {
				assert.True(t, e.Output != "" || e.EmptyOutput, "the example %s of %s%s does not run", e.Suffix, owner, f.Name)
			}
		}
	}
	functions("", p.Funcs)
	for _, typ := range p.Types {
		assert.NotEmpty(t, typ.Doc, "%s has no comment", typ.Name)
		functions("", typ.Funcs)
		functions(typ.Name+".", typ.Methods)
	}
}

package winnow_test

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
	p, err := doc.NewFromFiles(fset, files, "github.com/winnowgo/winnow")
	require.NoError(t, err)

	functions := func(owner string, list []*doc.Func) {
		for _, f := range list {
			name := owner + f.Name
			assert.NotEmpty(t, f.Doc, "%s has no comment", name)
			assert.NotEmpty(t, f.Examples, "%s has no example", name)
			for _, e := range f.Examples {
				assert.True(t, e.Output != "" || e.EmptyOutput, "the example %s of %s has no output: it does not run", e.Suffix, name)
			}
		}
	}
	values := func(list []*doc.Value) {
		for _, v := range list {
			for _, spec := range v.Decl.Specs {
				s := spec.(*ast.ValueSpec)
				if s.Names[0].IsExported() {
					assert.True(t, v.Doc != "" && !v.Decl.Lparen.IsValid() || s.Doc != nil || s.Comment != nil, "%s has no comment", s.Names[0].Name)
				}
			}
		}
	}
	functions("", p.Funcs)
	values(p.Consts)
	values(p.Vars)
	for _, typ := range p.Types {
		assert.NotEmpty(t, typ.Doc, "%s has no comment", typ.Name)
		functions("", typ.Funcs)
		functions(typ.Name+".", typ.Methods)
		values(typ.Consts)
		values(typ.Vars)
	}
	require.NotEmpty(t, p.Types)
}

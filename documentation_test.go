package winnow_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/openclaw"
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

// Every option that docs/openclaw.md names is one, and every option that limits or prunes is named.
func TestMigrationNamesOptions(t *testing.T) {
	text, err := os.ReadFile("docs/openclaw.md")
	require.NoError(t, err)
	types := map[string]reflect.Type{}
	for _, v := range []any{winnow.Options{}, winnow.ToolOptions{}, winnow.PruneOptions{}, winnow.TruncateOptions{}, winnow.CompactOptions{}, winnow.CacheOptions{}, openclaw.WindowConfig{},
		openclaw.ChannelLimits{}, openclaw.DMLimits{}, openclaw.HistoryLimits{}, &winnow.Manager{}} {
		typ := reflect.TypeOf(v)
		name := strings.TrimPrefix(typ.String(), "*")
		types[strings.TrimPrefix(name, "winnow.")] = typ
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`((?:openclaw\\.)?[A-Z]\\w+)\\.(\\w+)").FindAllStringSubmatch(string(text), -1) {
		named[m[1]+"."+m[2]] = true
		typ := types[m[1]]
		if !assert.NotNil(t, typ, "%s.%s: no such type", m[1], m[2]) {
			continue
		}
		_, isMethod := typ.MethodByName(m[2])
		isField := false
		if typ.Kind() == reflect.Struct {
			_, isField = typ.FieldByName(m[2])
		}
		assert.True(t, isMethod || isField, "%s has no %s", m[1], m[2])
	}
	for _, name := range []string{"PruneOptions", "openclaw.WindowConfig", "openclaw.ChannelLimits", "openclaw.DMLimits"} {
		for _, field := range reflect.VisibleFields(types[name]) {
			if field.Name != "Estimator" && name+"."+field.Name != "openclaw.WindowConfig.Default" {
				assert.True(t, named[name+"."+field.Name], "%s.%s is not in docs/openclaw.md", name, field.Name)
			}
		}
	}
}

// TestAPI holds the exported names and their comments to testdata/api.txt: code that moves changes nothing there, and
// a change that is meant shows in the diff of one file.
func TestAPI(t *testing.T) {
	if testing.Short() {
		t.Skip("compared in whole runs, as the bytes of requests are")
	}
	t.Parallel()
	cmd := exec.Command("go", "doc", "-all", ".")
	got, err := cmd.Output()
	require.NoError(t, err)
	goldenFile(t, "testdata/api.txt", string(got))
}

package winnow_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const modulePath = "github.com/winnowgo/winnow"

// usersOfRoot are the packages below internal/ that may import the root: they test it from outside.
var usersOfRoot = []string{"test"}

// TestLayers: a package of the text machinery imports, of the module, only packages that stand below it in
// ARCHITECTURE.md, and so never the root. Nothing but package mem needs unsafe.
func TestLayers(t *testing.T) {
	names := internalPackages(t)
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}}: {{join .Imports \" \"}}", "./internal/...").Output()
	require.NoError(t, err)
	found := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		path, imports, _ := strings.Cut(strings.TrimSpace(line), ":")
		name := strings.TrimPrefix(path, modulePath+"/internal/")
		if top, _, _ := strings.Cut(name, "/"); slices.Contains(usersOfRoot, top) {
			continue
		}
		found[name] = true
		at := slices.Index(names, name)
		if !assert.NotEqual(t, -1, at, "internal/%s stands in no row", name) {
			continue
		}
		for path := range strings.FieldsSeq(imports) {
			if path == "unsafe" {
				assert.Equal(t, "mem", name, "unsafe in internal/%s", name)
			}
			if path == modulePath || strings.HasPrefix(path, modulePath+"/") {
				assert.Contains(t, names[at+1:], strings.TrimPrefix(path, modulePath+"/internal/"),
					"internal/%s imports it, and stands below it", name)
			}
		}
	}
	for _, name := range names {
		assert.Contains(t, found, name, "there is no package internal/%s", name)
	}
}

// internalPackages returns the packages of the text machinery in the order of ARCHITECTURE.md, from the top down.
func internalPackages(t *testing.T) []string { return namedInTable(t, "Text machinery") }

// namedInTable returns what the first cells of a section's table in ARCHITECTURE.md name, in their order.
func namedInTable(t *testing.T, heading string) (names []string) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "\n## "+heading+"\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n## ")
	word := regexp.MustCompile("`([a-z_]+)`")
	for row := range strings.Lines(table) {
		if cells := strings.Split(row, "|"); len(cells) == 4 {
			for _, m := range word.FindAllStringSubmatch(cells[1], -1) {
				names = append(names, m[1])
			}
		}
	}
	require.NotEmpty(t, names)
	return names
}

// mostNames is how many names of a package of the text machinery the root may use. A package with more is not a door but a
// shared room.
const mostNames = 15

// TestFaces: the root uses few names of each package, and no unsafe.
func TestFaces(t *testing.T) {
	used := map[string]map[string]bool{}
	for _, file := range parsedFiles(t, token.NewFileSet(), ".") {
		names := map[string]bool{} // of imported packages of the module
		for _, spec := range file.tree.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			if path == "unsafe" {
				assert.Fail(t, "unsafe", "in %s", file.name)
			}
			if name, ok := strings.CutPrefix(path, modulePath+"/internal/"); ok {
				names[name] = true
			}
		}
		ast.Inspect(file.tree, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && names[x.Name] {
					if used[x.Name] == nil {
						used[x.Name] = map[string]bool{}
					}
					used[x.Name][s.Sel.Name] = true
				}
			}
			return true
		})
	}
	require.NotEmpty(t, used)
	for name, faces := range used {
		assert.LessOrEqual(t, len(faces), mostNames, "names of internal/%s that the root uses: %v", name, faces)
	}
}

// TestFileOrder: a file of the root uses only files that stand before it in ARCHITECTURE.md, so that no two know each
// other. It logs the figures of that.
func TestFileOrder(t *testing.T) {
	order := map[string]int{}
	for i, name := range rootFiles(t) {
		order[name] = i
	}
	references, lines := fileReferences(t)
	count := 0
	for from, list := range references {
		if from == "doc" {
			continue
		}
		count += len(list)
		for to, names := range list {
			assert.Less(t, order[to], order[from], "%s uses %v of %s, and stands before it",
				from, slices.Sorted(maps.Keys(names)), to)
		}
	}
	t.Logf("%d files, %d lines, %d references", len(order), lines, count)
}

// rootFiles returns the files of the root in the order of ARCHITECTURE.md.
func rootFiles(t *testing.T) []string { return namedInTable(t, "The root, from the ground up") }

// fileReferences type-checks the root and returns, for each file, the names that it uses of each other file; and how many
// lines the files have.
func fileReferences(t *testing.T) (references map[string]map[string]map[string]bool, lines int) {
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{if .Export}}{{.ImportPath}} {{.Export}}{{end}}", ".").Output()
	require.NoError(t, err)
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[path] = file
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, file := range parsedFiles(t, set, ".") {
		files = append(files, file.tree)
		lines += set.File(file.tree.Pos()).LineCount() - 1
	}
	config := types.Config{Importer: importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	root, err := config.Check(modulePath, set, files, &info)
	require.NoError(t, err)
	nameOf := func(pos token.Pos) string {
		return strings.TrimSuffix(filepath.Base(set.Position(pos).Filename), ".go")
	}
	references = map[string]map[string]map[string]bool{}
	for use, object := range info.Uses {
		if object.Pkg() != root || !isShared(object, root) {
			continue
		}
		from, to := nameOf(use.Pos()), nameOf(object.Pos())
		if from == to {
			continue
		}
		if references[from] == nil {
			references[from] = map[string]map[string]bool{}
		}
		if references[from][to] == nil {
			references[from][to] = map[string]bool{}
		}
		references[from][to][object.Name()] = true
	}
	return references, lines
}

// isShared reports whether other files can name an object: a declaration of the package, a method or a field.
func isShared(object types.Object, root *types.Package) bool {
	if v, ok := object.(*types.Var); ok && v.IsField() {
		return true
	}
	if f, ok := object.(*types.Func); ok && f.Signature().Recv() != nil {
		return true
	}
	return object.Parent() == root.Scope()
}

type parsedFile struct {
	name string
	tree *ast.File
}

// parsedFiles returns the files of a directory that are not tests.
func parsedFiles(t *testing.T, set *token.FileSet, dir string) (files []parsedFile) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		require.NoError(t, err)
		files = append(files, parsedFile{filepath.Base(path), tree})
	}
	return files
}

package winnow_test

import (
	"go/ast"
	"go/parser"
	"go/token"
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

// usersOfRoot are the packages below internal/ that may import the root: they test it from outside, or serve the examples.
var usersOfRoot = []string{"inspect", "provider", "recording", "sdktest", "suite"}

// TestLayers: a package of the text machinery imports no more of the module than ARCHITECTURE.md says, and so never the
// root. Nothing but package mem and the hashes of identity.go needs unsafe.
func TestLayers(t *testing.T) {
	allowed := internalPackages(t)
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}}: {{join .Imports \" \"}}", "./internal/...").Output()
	require.NoError(t, err)
	found := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		path, list, _ := strings.Cut(strings.TrimSpace(line), ":")
		name := strings.TrimPrefix(path, modulePath+"/internal/")
		if top, _, _ := strings.Cut(name, "/"); slices.Contains(usersOfRoot, top) {
			continue
		}
		found[name] = true
		if !assert.Contains(t, allowed, name, "internal/%s stands in no row", name) {
			continue
		}
		imports := []string{}
		for path := range strings.FieldsSeq(list) {
			if path == "unsafe" {
				assert.Equal(t, "mem", name, "unsafe in internal/%s", name)
			}
			if path == modulePath || strings.HasPrefix(path, modulePath+"/") {
				imports = append(imports, strings.TrimPrefix(path, modulePath+"/internal/"))
			}
		}
		assert.Equal(t, allowed[name], imports, "what internal/%s imports", name)
	}
	for name := range allowed {
		assert.Contains(t, found, name, "there is no package internal/%s", name)
	}
}

// internalPackages returns what ARCHITECTURE.md says of the packages of the text machinery: which others each imports.
func internalPackages(t *testing.T) map[string][]string {
	text, err := os.ReadFile("ARCHITECTURE.md")
	require.NoError(t, err)
	word := regexp.MustCompile("`([a-z]+)`")
	packages := map[string][]string{}
	for _, row := range strings.Split(string(text), "\n") {
		cells := strings.Split(row, "|")
		if len(cells) != 5 || !strings.HasPrefix(cells[1], " `internal/") {
			continue
		}
		name := strings.Trim(strings.TrimPrefix(cells[1], " `internal/"), "` ")
		imports := []string{}
		for _, m := range word.FindAllStringSubmatch(cells[3], -1) {
			imports = append(imports, m[1])
		}
		slices.Sort(imports)
		packages[name] = imports
	}
	require.NotEmpty(t, packages)
	return packages
}

// mostNames is how many names of a package of the text machinery the root may use. A package with more is no door but a
// shared room.
const mostNames = 15

// TestFaces: the root uses few names of each package, and unsafe only in identity.go.
func TestFaces(t *testing.T) {
	used := map[string]map[string]bool{}
	for _, file := range parsedFiles(t, ".") {
		names := map[string]bool{} // of imported packages of the module
		for _, spec := range file.tree.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			if path == "unsafe" {
				assert.Equal(t, "identity.go", file.name, "unsafe")
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

type parsedFile struct {
	name string
	tree *ast.File
	set  *token.FileSet
}

// parsedFiles returns the files of a directory that are no tests.
func parsedFiles(t *testing.T, dir string) (files []parsedFile) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		require.NoError(t, err)
		files = append(files, parsedFile{filepath.Base(path), tree, set})
	}
	return files
}

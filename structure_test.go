package winnow_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestArchitecture: ARCHITECTURE.md says of every file of the root where it belongs, of every rule which test holds it, and
// names nothing that is gone.
func TestArchitecture(t *testing.T) {
	files := []string{}
	for _, file := range parsedFiles(t, token.NewFileSet(), ".") {
		if name := strings.TrimSuffix(file.name, ".go"); name != "doc" {
			files = append(files, name)
		}
	}
	assert.ElementsMatch(t, files, rootFiles(t))
	text, err := os.ReadFile("ARCHITECTURE.md")
	require.NoError(t, err)
	_, rules, found := strings.Cut(string(text), "## Where is the rule that")
	require.True(t, found)
	named := regexp.MustCompile("`([a-z_/]+)`(?: \\(([^)]*)\\))?")
	identifier := regexp.MustCompile("`(\\w+)`")
	rules, _, _ = strings.Cut(rules, "## Words")
	tests := namesOfTests(t)
	for _, row := range strings.Split(rules, "\n") {
		cells := strings.Split(row, "|")
		if len(cells) < 5 {
			continue
		}
		if strings.Contains(cells[2], "`") {
			name := strings.Trim(cells[3], " `")
			assert.True(t, tests[name], "there is no test %q of the rule that %s", name, cells[1])
		}
		for _, m := range named.FindAllStringSubmatch(cells[2], -1) {
			source := sourceOf(t, m[1])
			assert.NotEmpty(t, source, "there is no %s", m[1])
			for _, name := range identifier.FindAllStringSubmatch(m[2], -1) { // what to look for in it
				assert.Regexp(t, `(?m)^(func (\([^)]*\) )?|type |const |var |\t)`+name[1]+`\b`, source, "%s does not stand in %s", name[1], m[1])
			}
		}
	}
}

// namesOfTests returns the names of all tests of the module.
func namesOfTests(t *testing.T) map[string]bool {
	names, test := map[string]bool{}, regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	require.NoError(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range test.FindAllSubmatch(text, -1) {
			names[string(m[1])] = true
		}
		return err
	}))
	return names
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
				assert.Contains(t, names[at+1:], strings.TrimPrefix(path, modulePath+"/internal/"), "internal/%s imports it, and stands below it", name)
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
const mostNames = 18

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

// rootFiles returns the files of the root in the order of ARCHITECTURE.md.
func rootFiles(t *testing.T) []string { return namedInTable(t, "The root, from the ground up") }

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

// eachFile calls f for the files of the root and of the text machinery that are not tests.
func eachFile(t *testing.T, f func(set *token.FileSet, path string, tree *ast.File)) {
	for _, name := range append(internalPackages(t), "..") {
		set, directory := token.NewFileSet(), filepath.Join("internal", name)
		for _, file := range parsedFiles(t, set, directory) {
			f(set, filepath.Join(directory, file.name), file.tree)
		}
	}
}

// TestReceivers: the methods of a type of the root have receivers of one name, all of them pointers or none.
func TestReceivers(t *testing.T) {
	first := map[string]string{}
	for _, file := range parsedFiles(t, token.NewFileSet(), ".") {
		for _, d := range file.tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || len(f.Recv.List[0].Names) == 0 {
				continue
			}
			name, of := f.Recv.List[0].Names[0].Name, f.Recv.List[0].Type
			if star, ok := of.(*ast.StarExpr); ok {
				name, of = "*"+name, star.X
			}
			typeName := of.(*ast.Ident).Name
			if first[typeName] == "" {
				first[typeName] = name
			}
			assert.Equal(t, first[typeName], name, "%s of %s in %s", f.Name.Name, typeName, file.name)
		}
	}
	assert.Greater(t, len(first), 50, "types with methods")
}

// What a reader takes in at once. A file, a function, a struct or a condition above these is asking to be named in parts.
const (
	mostFileLines     = 900
	mostFunctionLines = 60
	mostFields        = 15
	mostOperators     = 3 // && and || of one condition
	mostColumns       = 120
	tabColumns        = 4
)

// wideFiles have longer lines: they are tables, whose rows are read one below the other.
var wideFiles = []string{"winnowtest/histories.go"}

// tables are functions that are longer because they are tables.
var tables = []string{"roleOf"}

// How many are above a limit and wait to be divided. These numbers may only get smaller.
const (
	largeStructs   = 4
	longConditions = 0
)

// TestSizes holds the root and the text machinery to what a reader takes in at once.
func TestSizes(t *testing.T) {
	var structs, conditions []string
	eachFile(t, func(set *token.FileSet, path string, tree *ast.File) {
		lines := func(n ast.Node) int { return set.Position(n.End()).Line - set.Position(n.Pos()).Line + 1 }
		assert.LessOrEqual(t, set.File(tree.Pos()).LineCount()-1, mostFileLines, "lines of %s", path)
		ast.Inspect(tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if slices.Contains(tables, n.Name.Name) {
					break
				}
				assert.LessOrEqual(t, lines(n), mostFunctionLines, "lines of %s in %s", n.Name.Name, path)
			case *ast.TypeSpec:
				if s, ok := n.Type.(*ast.StructType); ok && s.Fields.NumFields() > mostFields {
					structs = append(structs, path+": "+n.Name.Name)
				}
			case *ast.BinaryExpr:
				if operators(n) > mostOperators {
					conditions = append(conditions, set.Position(n.Pos()).String())
				}
				return !isLogical(n) // its parts are counted with it
			}
			return true
		})
	})
	assert.LessOrEqual(t, len(structs), largeStructs, "structs with more than %d fields: %v", mostFields, structs)
	assert.LessOrEqual(t, len(conditions), longConditions, "conditions with more than %d operators: %v", mostOperators, conditions)
}

// TestLineLength: lines of code that others read have at most mostColumns columns. What stands between two backquotes on
// lines of its own is a text that is sent as it stands, and is not measured; nor is a line that is one string, or a link.
func TestLineLength(t *testing.T) {
	skipped := regexp.MustCompile(`(^|/)testdata/|_test\.go$`)
	files := 0
	require.NoError(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		path = filepath.ToSlash(path)
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || skipped.MatchString(path) || slices.Contains(wideFiles, path) {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		for number, line := range longLines(t, text) {
			assert.Fail(t, "a long line", "%s:%d: %s", path, number, line)
		}
		return err
	}))
	assert.Greater(t, files, 300, "files that were read")
}

// longLines returns the lines of a file that have too many columns, by their numbers.
func longLines(t *testing.T, text []byte) map[int]string {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	require.NoError(t, err)
	inText := map[int]bool{} // lines of a text that goes over several
	ast.Inspect(tree, func(n ast.Node) bool {
		if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING {
			from, to := set.Position(s.Pos()).Line, set.Position(s.End()).Line
			for line := from; line <= to && from < to; line++ {
				inText[line] = true
			}
		}
		return true
	})
	isString := regexp.MustCompile("^\t*(\"[^\"]*\"|`[^`]*`|// \\S*)[,)]*$")
	found := map[int]string{}
	for i, line := range strings.Split(string(text), "\n") {
		columns := utf8.RuneCountInString(line) + (tabColumns-1)*strings.Count(line, "\t")
		if columns > mostColumns && !inText[i+1] && !isString.MatchString(line) {
			found[i+1] = line
		}
	}
	return found
}

// TestNumbersHaveReasons: a constant of a package that is written as a number has a comment that says where the number
// comes from or what it is for: on its line, above it, or above its block. A comment holds up to the next blank line.
func TestNumbersHaveReasons(t *testing.T) {
	eachFile(t, func(set *token.FileSet, path string, tree *ast.File) {
		for _, d := range tree.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.CONST && g.Doc == nil {
				assert.Empty(t, numbersWithoutReason(set, g), "numbers without a reason in %s", path)
			}
		}
	})
}

// numbersWithoutReason returns the names of a block without a comment above it.
func numbersWithoutReason(set *token.FileSet, block *ast.GenDecl) (names []string) {
	isExplained, last := false, 0
	for _, s := range block.Specs {
		c := s.(*ast.ValueSpec)
		from := set.Position(c.Pos()).Line
		isExplained = c.Doc != nil || isExplained && from == last+1
		last = set.Position(c.End()).Line
		if isNumber(c) && !isExplained && c.Comment == nil {
			names = append(names, c.Names[0].Name)
		}
	}
	return names
}

// isNumber reports whether the value of a constant is written with a number.
func isNumber(c *ast.ValueSpec) (found bool) {
	for _, value := range c.Values {
		ast.Inspect(value, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			found = found || ok && (literal.Kind == token.INT || literal.Kind == token.FLOAT)
			return true
		})
	}
	return found
}

func isLogical(e *ast.BinaryExpr) bool { return e.Op == token.LAND || e.Op == token.LOR }

// operators counts the && and || of a condition.
func operators(e ast.Expr) int {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		if isLogical(e) {
			return 1 + operators(e.X) + operators(e.Y)
		}
	case *ast.ParenExpr:
		return operators(e.X)
	case *ast.UnaryExpr:
		return operators(e.X)
	}
	return 0
}

// Each dependency of the package is paid by every user. It has none.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	require.NoError(t, err)
	packages := strings.Fields(string(out))
	require.Contains(t, packages, modulePath)
	for _, path := range packages {
		assert.True(t, path == modulePath || strings.HasPrefix(path, modulePath+"/internal/"), path)
	}
}

// TestExampleOfArchitecture: the figures of the example in ARCHITECTURE.md are those of the session that it is about.
func TestExampleOfArchitecture(t *testing.T) {
	shown, err := os.ReadFile("cmd/winnow/internal/inspect/testdata/english.txt")
	require.NoError(t, err)
	page, err := os.ReadFile("ARCHITECTURE.md")
	require.NoError(t, err)
	_, example, found := strings.Cut(string(page), "An example: ")
	require.True(t, found)
	example, _, _ = strings.Cut(example, "\n## ")
	_, example, _ = strings.Cut(example, "Requests") // behind the size of the window
	figures := regexp.MustCompile(`\d{1,3}(?:[ \n]\d{3})+`).FindAllString(example, -1)
	require.NotEmpty(t, figures)
	for _, n := range figures {
		assert.Contains(t, string(shown), strings.NewReplacer(" ", ",", "\n", ",").Replace(n))
	}
}

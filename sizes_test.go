package winnow_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a reader takes in at once. A file, a function, a struct or a condition above these is asking to be named in parts.
const (
	mostFileLines     = 500
	mostFunctionLines = 60
	mostFields        = 15
	mostOperators     = 3 // && and || of one condition
	mostColumns       = 120
	tabColumns        = 4
)

// wideFiles have longer lines: they are tables, whose rows are read one below the other.
var wideFiles = []string{"internal/models/table.go", "winnowtest/histories.go"}

// tables are functions that are longer because they are tables.
var tables = []string{"roleOf"}

// How many are above a limit and wait to be divided. These numbers may only get smaller.
const (
	largeStructs   = 3
	longConditions = 0
)

// TestSizes holds the root and the text machinery to what a reader takes in at once.
func TestSizes(t *testing.T) {
	directories := []string{"."}
	for _, name := range internalPackages(t) {
		directories = append(directories, filepath.Join("internal", name))
	}
	var structs, conditions []string
	for _, directory := range directories {
		set := token.NewFileSet()
		for _, file := range parsedFiles(t, set, directory) {
			path := filepath.Join(directory, file.name)
			lines := func(n ast.Node) int { return set.Position(n.End()).Line - set.Position(n.Pos()).Line + 1 }
			assert.LessOrEqual(t, set.File(file.tree.Pos()).LineCount()-1, mostFileLines, "lines of %s", path)
			ast.Inspect(file.tree, func(n ast.Node) bool {
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
		}
	}
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
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || skipped.MatchString(path) ||
			slices.Contains(wideFiles, path) {
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
	directories := []string{"."}
	for _, name := range internalPackages(t) {
		directories = append(directories, filepath.Join("internal", name))
	}
	for _, directory := range directories {
		set := token.NewFileSet()
		for _, file := range parsedFiles(t, set, directory) {
			for _, d := range file.tree.Decls {
				if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.CONST && g.Doc == nil {
					for _, c := range numbersWithoutReason(set, g) {
						assert.Fail(t, "a number without a reason", "%s in %s", c, filepath.Join(directory, file.name))
					}
				}
			}
		}
	}
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

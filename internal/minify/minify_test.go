package minify

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files")

// What tools print, and what is left of it. A file.in has the output as it came, file.golden what a model is sent.
var samples = []struct {
	name   string
	forms  Forms
	want   Forms
	reason string
}{
	{"cargo", Escapes, Escapes, "colours"},
	{"npm", Escapes, Escapes, "movements and a title"},
	{"cat-n", LineNumbers, LineNumbers, "cat -n"},
	{"view", LineNumbers, LineNumbers, "a viewer's arrow, from the middle of a file, with something behind it"},
	{"view-1000", LineNumbers, LineNumbers, "a number of four digits is a name"},
	{"view-1200", LineNumbers, 0, "all of its numbers are"},
	{"opencode", LineNumbers, LineNumbers, "numbers with a colon, some lines of which are blank"},
	{"two-views", LineNumbers, LineNumbers, "each file by itself"},
	{"tsv", LineNumbers, 0, "a table with a column of numbers"},
	{"numbered-list", LineNumbers, 0, "a list that somebody numbered has no blank lines"},
	{"numbered-view", LineNumbers, 0, "lines that are numbered themselves"},
}

func TestSamples(t *testing.T) {
	for _, tt := range samples {
		t.Run(tt.name, func(t *testing.T) {
			in := sample(t, tt.name)
			out, had := Text(in, tt.forms)
			assert.Equal(t, tt.want, had, tt.reason)
			requireMinified(t, in, out, tt.forms)
			if had == 0 {
				assert.Equal(t, in, out)
				return
			}
			path := filepath.Join("testdata", tt.name+".golden")
			if *update {
				require.NoError(t, os.WriteFile(path, []byte(out), 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err, "run go test -update to make it")
			assert.Empty(t, cmp.Diff(string(want), out), tt.reason)
		})
	}
	files, err := filepath.Glob("testdata/*.in")
	require.NoError(t, err)
	assert.Len(t, files, len(samples), "every sample is in the table")
}

func sample(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".in"))
	require.NoError(t, err)
	return string(text)
}

// requireMinified checks what holds for every text.
func requireMinified(t testing.TB, in, out string, forms Forms) {
	t.Helper()
	require.LessOrEqual(t, len(out), len(in), "a text is never longer")
	require.Equal(t, utf8.ValidString(in), utf8.ValidString(in) && utf8.ValidString(out), "valid UTF-8 stays valid")
	again, had := Text(out, forms)
	if had != 0 {
		require.Equal(t, out, again, "minified again, a text stays as it is")
	}
}

// A form that is switched off changes nothing.
func TestSwitches(t *testing.T) {
	for _, tt := range samples {
		in := sample(t, tt.name)
		for form := Escapes; form <= LineNumbers; form <<= 1 {
			out, had := Text(in, tt.forms&^form)
			assert.Zero(t, had&form, tt.name)
			requireMinified(t, in, out, tt.forms&^form)
		}
		out, had := Text(in, 0)
		assert.Zero(t, had)
		assert.Equal(t, in, out)
	}
}

// TestReversible: numbers of lines can be put back, to the byte: nothing is missing.
func TestReversible(t *testing.T) {
	for _, tt := range samples {
		in := sample(t, tt.name)
		if out, had := Text(in, tt.forms); had == LineNumbers {
			assert.Equal(t, in, withNumbers(out), tt.name)
		}
	}
}

// withNumbers puts back the numbers that withoutNumbers took: to the lines in front of each note.
func withNumbers(s string) string {
	note := strings.TrimSuffix(numbersNote, "\n")
	lines := strings.SplitAfter(s, "\n")
	var out []string
	for _, line := range lines {
		if strings.TrimSuffix(line, "\n") != note {
			out = append(out, line)
			continue
		}
		if line == note { // the text ended without a line feed
			out[len(out)-1] = strings.TrimSuffix(out[len(out)-1], "\n")
		}
		lastLine := strings.TrimSuffix(out[len(out)-1], "\n")
		last := NumberOf(lastLine)
		for k, value := len(out)-2, last.Value-1; ; k, value = k-1, value-1 {
			n := NumberOf(strings.TrimSuffix(out[k], "\n"))
			if n.Width > 0 && n.Value == value && n.Separator == last.Separator {
				if !keeps(&n) || k == 0 || !continues(out, k, value) {
					break
				}
				continue
			}
			digits := strconv.Itoa(value)
			if isAligned(&last, lastLine) {
				digits = strings.Repeat(" ", max(0, catWidth-len(digits))) + digits
			}
			out[k] = digits + last.Separator + out[k]
		}
	}
	return strings.Join(out, "")
}

// continues reports whether the view goes on above line k, which has a tenth number.
func continues(lines []string, k, value int) bool {
	for above := 1; above <= numberEvery && k-above >= 0; above++ {
		n := NumberOf(lines[k-above])
		if n.Width > 0 {
			return n.Value == value-above
		}
	}
	return false
}

// TestHostile: texts that look like much and are nothing take no longer than others.
func TestHostile(t *testing.T) {
	const size = 1 << 20
	for _, unit := range []string{
		"\x1b", "\x1b[", "\x1b]", "\x1b]8;;", "\x1b[1;", "\r", "a\r", "\r\n", "1", "1\n", "1 ", "12%\n", "a/b:1:\n", "--\n", "a.b:1:x\n--\n",
		"A", "A1b+", strings.Repeat("A1b+", 16) + "\n", strings.Repeat("A1b+", 16) + "\n\n", "-----BEGIN ", "-----BEGIN X-----\n" + strings.Repeat("A1b+", 16) + "\n",
		"[", "{\"a\":", "[\n", "     1\t\n", "1→", "→", " ", "\n", "\x00", "é", "\xff", "12:34:56 ", "1.1.1.1/", "1/1/",
	} {
		in := strings.Repeat(unit, size/len(unit))
		for _, forms := range []Forms{Escapes, LineNumbers, All} {
			out, _ := Text(in, forms)
			requireMinified(t, in, out, forms)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	in := ordinaryText(t)
	for _, forms := range []Forms{Escapes, LineNumbers, All} {
		assert.Zero(t, testing.AllocsPerRun(10, func() {
			if _, had := Text(in, forms); had != 0 {
				t.Fatal(had)
			}
		}))
	}
}

// ordinaryText is source code without any of the forms.
func ordinaryText(t testing.TB) string {
	t.Helper()
	files, err := filepath.Glob("../*/*.go")
	require.NoError(t, err)
	var b strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		b.Write(text)
	}
	return b.String()
}

func FuzzText(f *testing.F) {
	for _, tt := range samples {
		f.Add(sample(f, tt.name))
	}
	f.Fuzz(func(t *testing.T, in string) {
		for _, forms := range []Forms{Escapes, LineNumbers, All} {
			out, had := Text(in, forms)
			requireMinified(t, in, out, forms)
			if had == 0 && out != in {
				t.Fatal("a text was changed, and nothing says so")
			}
		}
	})
}

func BenchmarkText(b *testing.B) {
	in := ordinaryText(b)
	for _, bb := range []struct {
		name  string
		forms Forms
	}{{"report", Escapes}, {"content", LineNumbers}} {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				Text(in, bb.forms)
			}
		})
	}
	for _, tt := range samples {
		if tt.want == 0 {
			continue
		}
		in := sample(b, tt.name)
		b.Run(tt.name, func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				Text(in, tt.forms)
			}
		})
	}
}

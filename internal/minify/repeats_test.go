package minify

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// text returns n lines of a text called name, from line `from` on.
func text(name string, from, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d of %s, which is long enough to be marked\n", from+i, name)
	}
	return b.String()
}

// numbered is text as a viewer shows it that begins with line `from` of a file.
func numbered(text string, from int, separator string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		fmt.Fprintf(&b, "%6d%s%s", from, separator, line)
		from++
	}
	return b.String()
}

func note(r Run) string { return fmt.Sprintf("[%d lines]", r.Lines) }

func TestWithout(t *testing.T) {
	file := text("file", 0, 40)
	for _, tt := range []struct {
		name, text, want string
	}{
		{"the same", file, "[40 lines]\n"},
		{"without an end of the last line", strings.TrimSuffix(file, "\n"), "[40 lines]"},
		{"something before it", "new\n" + file, "new\n[40 lines]\n"},
		{"something behind it", file + "new", "[40 lines]\nnew"},
		{"a line that changed", text("file", 0, 20) + "new\n" + text("file", 21, 19), "[20 lines]\nnew\n[19 lines]\n"},
		{"a part of it", text("file", 10, 12), "[12 lines]\n"},
		{"the other way round", text("file", 20, 20) + text("file", 0, 20), "[20 lines]\n[20 lines]\n"},
		{"twice", file + file, "[40 lines]\n[40 lines]\n"},
		{"a run that is too short stays", text("file", 0, 20) + "new\n" + text("file", 37, 3), "[20 lines]\nnew\n" + text("file", 37, 3)},
		{"too little", text("file", 0, 4), ""},
		{"every other line", strings.ReplaceAll(file, "\n", "\nnew\n"), ""},
		{"another text", text("other", 0, 40), ""},
		{"nothing", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := Without(tt.text, file, note)
			if assert.Equal(t, tt.want != "", ok) && ok {
				assert.Equal(t, tt.want, got)
			}
		})
	}
}

// Numbers of lines are no difference, as long as they count on in both texts.
func TestWithoutNumbers(t *testing.T) {
	file := text("file", 0, 40)
	blank := "first\n\n\n" + strings.Repeat("}\n\n", 40) + file
	lines := strings.SplitAfter(numbered(file, 1, "→"), "\n")
	for _, tt := range []struct {
		name, text, earlier, want string
	}{
		{"the same numbers", numbered(file, 1, "→"), numbered(file, 1, "→"), "[40 lines]\n"},
		{"others", numbered(file, 4, "→"), numbered(file, 1, "→"), "[40 lines]\n"},
		{"lower ones", numbered(file, 1, "→"), numbered(file, 104, "→"), "[40 lines]\n"},
		{"of another form", numbered(file, 1, "\t"), numbered(file, 1, "→"), "[40 lines]\n"},
		{"none so far", numbered(file, 7, ": "), file, "[40 lines]\n"},
		{"none any more", file, numbered(file, 7, "| "), "[40 lines]\n"},
		{"a new line", numbered(text("file", 0, 20)+"new\n"+text("file", 20, 20), 1, "→"), numbered(file, 1, "→"),
			"[20 lines]\n    21→new\n[20 lines]\n"},
		{"a line that is gone", numbered(text("file", 0, 20)+text("file", 21, 19), 1, "→"), numbered(file, 1, "→"),
			"[20 lines]\n[19 lines]\n"},
		{"a gap in the numbers of the new text", strings.Join(lines[:20], "") + numbered(text("file", 20, 20), 30, "→"), file,
			"[20 lines]\n[20 lines]\n"},
		{"a gap in those of the earlier one", file, numbered(text("file", 0, 20), 1, "→") + numbered(text("file", 20, 20), 30, "→"),
			"[20 lines]\n[20 lines]\n"},
		{"two forms in the new text", strings.Join(lines[:20], "") + numbered(text("file", 20, 20), 21, "\t"), file,
			"[40 lines]\n"},
		{"a heading", "src/one.go\n" + numbered(file, 2, "→"), "src/one.go\n" + numbered(file, 1, "→"), "src/one.go\n[40 lines]\n"},
		{"contents that have numbers themselves", numbered(numbered(file, 1, ": "), 5, "→"), numbered(numbered(file, 1, ": "), 1, "→"), "[40 lines]\n"},
		{"lines in many places", numbered(blank, 2, "→"), numbered(blank, 1, "→"), "[123 lines]\n"},
		{"numbers that do not count on", strings.Join([]string{lines[0], lines[2], lines[4], lines[6], lines[8], lines[10], lines[12]}, ""), file, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := Without(tt.text, tt.earlier, note)
			if assert.Equal(t, tt.want != "", ok) && ok {
				assert.Equal(t, tt.want, got)
			}
		})
	}
}

// Texts that share lines which are worth a note share a mark, others do not.
func TestMarks(t *testing.T) {
	share := func(a, b string) bool {
		known := map[uint32]bool{}
		for _, mark := range Marks(a) {
			known[mark] = true
		}
		for _, mark := range Marks(b) {
			if known[mark] {
				return true
			}
		}
		return false
	}
	file := text("file", 0, 40)
	assert.True(t, share(file, "new\n"+text("file", 10, 8)))
	assert.False(t, share(file, text("other", 0, 40)))
	assert.False(t, share(file, strings.ReplaceAll(file, "\n", "\nnew\n")), "single lines are not worth a note")
	for _, separator := range []string{"→", "\t", ": ", "| "} {
		assert.True(t, share(file, numbered(file, 7, separator)), "numbers are no difference")
		assert.True(t, share(numbered(file, 995, separator), numbered(file, 7, separator)))
	}
	assert.Empty(t, Marks("short"))
	assert.Equal(t, []uint32{0x2279f4da}, Marks(text("file", 0, 2) + strings.Repeat("x\n", 60))[:1], "in each process the same")
}

// The lines that are left out stand together in the earlier text, where the note says. All others stay as they were.
func FuzzWithout(f *testing.F) {
	file := text("file", 0, 40)
	f.Add(file, file)
	f.Add(file+"new\n"+file, file)
	f.Add(strings.Repeat("\n", 400), strings.Repeat("\n", 300))
	f.Add(text("file", 5, 30)+"\r\n", "\n"+file)
	f.Add(numbered(file, 5, "→"), numbered(file, 1, "→"))
	f.Add(file, numbered(file, 1, "\t")+numbered(file, 1, ": "))
	f.Add(numbered(file, 999, "| ")+numbered(file, 3, ": "), file)
	f.Add(strings.Repeat(numbered("\n", 3, ": "), 90)+numbered(file, 4, ": "), "x\n"+numbered("\n\n"+file, 3, ": "))
	f.Fuzz(func(t *testing.T, text, earlier string) {
		var runs []Run
		got, ok := Without(text, earlier, func(r Run) string {
			runs = append(runs, r)
			return "\x00" + strconv.Itoa(len(runs)-1)
		})
		if !ok || strings.ContainsRune(text, 0) {
			return
		}
		assert.Less(t, len(got), len(text))
		whole, known := strings.Split(text, "\n"), strings.Split(earlier, "\n")
		for line := range strings.SplitSeq(got, "\n") {
			if number, isNote := strings.CutPrefix(line, "\x00"); isNote {
				k, err := strconv.Atoi(number)
				if !assert.NoError(t, err) || !assert.LessOrEqual(t, runs[k].Lines, len(whole)) {
					return
				}
				assert.True(t, shows(known, whole[:runs[k].Lines], runs[k]), "%+v: %q", runs[k], whole)
				whole = whole[runs[k].Lines:]
				continue
			}
			if !assert.NotEmpty(t, whole) {
				return
			}
			assert.Equal(t, whole[0], line)
			whole = whole[1:]
		}
		assert.Empty(t, whole)
	})
}

// shows reports whether the lines of a run stand together in the earlier text, but for their numbers, and where r says.
func shows(earlier, lines []string, r Run) bool {
	content := func(line string) string { return line[NumberOf(line).Width:] }
	for k := range max(0, len(earlier)-len(lines)+1) {
		there := earlier[k:][:len(lines)]
		isThere := slices.EqualFunc(there, lines, func(a, b string) bool { return content(a) == content(b) })
		if n := NumberOf(there[0]); isThere && (r.Earlier == 0 || r.Earlier == k+1 && n.Width == 0 || r.Earlier == n.Value) {
			return true
		}
	}
	return false
}

func BenchmarkMarks(b *testing.B) {
	file := text("file", 0, 1_000)
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		Marks(file)
	}
}

func BenchmarkMarksOfNumbered(b *testing.B) {
	file := numbered(text("file", 0, 1_000), 1, "→")
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		Marks(file)
	}
}

func BenchmarkWithout(b *testing.B) {
	file := text("file", 0, 1_000)
	changed := text("file", 0, 500) + "new\n" + text("file", 501, 499)
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		Without(changed, file, note)
	}
}

package repeats

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow/internal/ascii"
)

// text returns n lines of a text called name, from line `from` on.
func text(name string, from, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d of %s, which is long enough to be marked\n", from+i, name)
	}
	return b.String()
}

func note(lines int) string { return "[" + strconv.Itoa(lines) + " lines]" }

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
			got, ok := new(Finder).Without(tt.text, file, note)
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
	assert.Empty(t, Marks("short"))
	assert.Equal(t, []uint32{0x80c56615}, Marks(text("file", 0, 2) + strings.Repeat("x\n", 60))[:1], "in each process the same")
}

// The lines that are left out stand in the earlier text, in the same order. All others stay as they were.
func FuzzWithout(f *testing.F) {
	file := text("file", 0, 40)
	f.Add(file, file)
	f.Add(file+"new\n"+file, file)
	f.Add(strings.Repeat("\n", 400), strings.Repeat("\n", 300))
	f.Add(text("file", 5, 30)+"\r\n", "\n"+file)
	f.Fuzz(func(t *testing.T, text, earlier string) {
		var runs []int
		got, ok := new(Finder).Without(text, earlier, func(lines int) string {
			runs = append(runs, lines)
			return "\x00" + strconv.Itoa(len(runs)-1)
		})
		if !ok || strings.ContainsRune(text, 0) {
			return
		}
		assert.Less(t, len(got), len(text))
		whole, known := strings.Split(text, "\n"), "\n"+earlier+"\n"
		for line := range strings.SplitSeq(got, "\n") {
			if number, isNote := strings.CutPrefix(line, "\x00"); isNote {
				k, err := strconv.Atoi(number)
				if !assert.NoError(t, err) || !assert.LessOrEqual(t, runs[k], len(whole)) {
					return
				}
				assert.Contains(t, known, "\n"+strings.Join(whole[:runs[k]], "\n")+"\n")
				whole = whole[runs[k]:]
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

func BenchmarkMarks(b *testing.B) {
	file := text("file", 0, 1_000)
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		Marks(file)
	}
}

func BenchmarkWithout(b *testing.B) {
	file := text("file", 0, 1_000)
	changed := text("file", 0, 500) + "new\n" + text("file", 501, 499)
	b.SetBytes(int64(len(file)))
	var f Finder
	for b.Loop() {
		f.Without(changed, file, note)
	}
}

// Anybody can write a text whose lines all have one hash of Marks. It is read as fast as another one, because Finder
// has hashes of its own.
func TestLinesWithOneHash(t *testing.T) {
	var b strings.Builder
	for i := range 4_000 {
		word := fmt.Sprintf("%08d", i)
		h := mix((uint64(16)+0x243f6a8885a308d3)^ascii.LoadWord(word, 0), 0x9e3779b97f4a7c15)
		line := string(binary.LittleEndian.AppendUint64([]byte(word), h)) // the hash multiplies by h^h
		if !strings.Contains(line, "\n") {
			assert.Equal(t, uint64(1), hash(line))
			b.WriteString(line + "\n")
		}
	}
	var l lines
	l.read(b.String())
	assert.Greater(t, len(l.list), 3_000)
	longest, taken := 0, 0
	for _, k := range l.first {
		if taken++; k == 0 {
			taken = 0
		}
		longest = max(longest, taken)
	}
	assert.Less(t, longest, 200, "lines in a row")
}

package excerpt

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/ascii"
)

// plainErrorLines is errorLines, with a look at every line from the first to the last.
func plainErrorLines(s string, room int) errorReport {
	var first, last errorReport
	var sizes []int
	for line := range strings.SplitSeq(s, "\n") {
		if !reportsError(line) {
			continue
		}
		line, chars := clipErrorLine(line, room)
		if first.ends(line) || last.ends(line) || len(last.lines) == 0 && first.add(line, chars, room/2) {
			continue
		}
		for !last.add(line, chars, room/2) && len(last.lines) > 0 {
			last.lines, last.chars, sizes = last.lines[1:], last.chars-sizes[0], sizes[1:]
		}
		sizes = append(sizes, chars)
	}
	return errorReport{append(first.lines, last.lines...), first.chars + last.chars}
}

// randomOutput has lines that report errors, in a row and far apart, the same again and again, short and long.
func randomOutput(r *rand.Rand) string {
	var b strings.Builder
	filler := []string{"ok\n", "a line of words that means nothing: 12, [3]\n", "go: a.go:12: done\n", "进度：一半\n", "x = map[string]int{}\n"}
	for range r.IntN(60) {
		switch r.IntN(7) {
		case 0:
			b.WriteString(strings.Repeat("ERROR again\n", 1+r.IntN(4)))
		case 6: // a few lines again and again, which may end or change anywhere
			lines := ""
			for range 1 + r.IntN(4) {
				lines += []string{"retrying\n", "ERROR refused\n", "error: refused\n", "\n", "exit status 1 of 3\n"}[r.IntN(5)]
			}
			lines = strings.Repeat(lines, 1+r.IntN(1<<r.IntN(10)))
			b.WriteString(lines[r.IntN(len(lines)):])
			if r.IntN(2) == 0 {
				b.WriteString(lines[:r.IntN(len(lines))])
			}
		case 1:
			b.WriteString("error: number " + strconv.Itoa(r.IntN(20)) + strings.Repeat(" and more", r.IntN(60)) + "\n")
		case 2:
			b.WriteString("错误：" + strconv.Itoa(r.IntN(3)) + "\n")
		case 3:
			b.WriteString(strings.Repeat("x", r.IntN(2*pieceBytes)))
		default:
			b.WriteString(strings.Repeat(filler[r.IntN(len(filler))], 1+r.IntN(1<<r.IntN(13))))
		}
	}
	return b.String()
}

// What is kept of a text that is read from both ends is what is kept of one that is read whole.
func TestErrorLinesFromBothEnds(t *testing.T) {
	t.Parallel()
	full := 0
	for seed := range uint64(250) {
		r := rand.New(rand.NewPCG(seed, 5))
		s, room := randomOutput(r), 20+r.IntN(4_000)
		got := errorLines(s, room, !ascii.Only(s))
		require.Equal(t, plainErrorLines(s, room), got, "seed %d, %d bytes", seed, len(s))
		if len(got.lines) == maxErrorLines {
			full++
		}
	}
	require.Positive(t, full, "some have more errors than there is room for")
}

// The results of recorded sessions are searched as they are line by line. Several in a row are long enough for the ways
// to read what is crowded with marks.
func TestErrorLinesOfRecordedSessions(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../shared/corpus/*.jsonl.gz")
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("no recorded sessions")
	}
	step, reports := 3, 0
	if testing.Short() {
		step = 40
	}
	for i := 0; i < len(files); i += step {
		all := ""
		for _, text := range resultsOf(t, files[i]) {
			if all += text + "\n"; len(all) < 2*sample {
				continue
			}
			got := errorLines(all, 3_000, !ascii.Only(all))
			require.Equal(t, plainErrorLines(all, 3_000), got, files[i])
			reports += len(got.lines)
			all = ""
		}
	}
	require.Positive(t, reports)
}

// resultsOf returns the texts of the results in a recorded session.
func resultsOf(t *testing.T, path string) (texts []string) {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	z, err := gzip.NewReader(file)
	require.NoError(t, err)
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<28)
	for lines.Scan() {
		var m struct {
			Role  string
			Parts []struct{ Text string }
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &m))
		for _, p := range m.Parts {
			if m.Role == "tool" {
				texts = append(texts, p.Text)
			}
		}
	}
	require.NoError(t, lines.Err())
	return texts
}

func FuzzErrorLines(f *testing.F) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 6))
		f.Add(randomOutput(r), 1_000)
		f.Add(noise(r, 2_000), 300)
		f.Add(strings.Repeat("list[1] go: ctx ", sample/8)+noise(r, 2_000), 3_000)
	}
	f.Fuzz(func(t *testing.T, s string, room int) {
		room = 20 + max(0, room)%4_000
		require.Equal(t, plainErrorLines(s, room), errorLines(s, room, !ascii.Only(s)))
	})
}

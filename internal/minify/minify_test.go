package minify

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/linenumber"
)

var update = flag.Bool("update", false, "write the golden files")

// What the root leaves out of a report, of lines that a search found, and of a file.
const (
	ofReport  = Escapes | Overwritten | Repeats | JSON | Encoded
	ofMatches = Escapes | Paths
	ofContent = LineNumbers
)

// What tools print, and what is left of it. A file.in has the output as it came, file.golden what a model is sent.
var samples = []struct {
	name   string
	forms  Forms
	want   Forms
	reason string
}{
	{"cargo", ofReport, Escapes | Overwritten, "colours, and a bar that is drawn again and again; warnings and errors stay"},
	{"npm", ofReport, Escapes | Overwritten, "a spinner, which goes back to the first column, and a title"},
	{"pip", ofReport, Overwritten, "how much of a file has come"},
	{"git", ofReport, Overwritten, "an error stays, even where a terminal shows something else"},
	{"testify", ofReport, Overwritten, "blanks are overwritten; the name of a file is not known from elsewhere, and stays"},
	{"cat-n", ofContent, LineNumbers, "cat -n"},
	{"view", ofContent, LineNumbers, "a viewer's arrow, from the middle of a file, with something behind it"},
	{"view-1000", ofContent, LineNumbers, "a number of four digits is a name"},
	{"view-1200", ofContent, 0, "all of its numbers are"},
	{"opencode", ofContent, LineNumbers, "numbers with a colon, some lines of which are blank"},
	{"two-views", ofContent, LineNumbers, "each file by itself"},
	{"tsv", ofContent, 0, "a table with a column of numbers"},
	{"numbered-list", ofContent, 0, "a list that somebody numbered has no blank lines"},
	{"numbered-view", ofContent, 0, "lines that are numbered themselves"},
	{"grep-rn", ofMatches, Paths, "lines of files, one of which has a single one"},
	{"grep-C", ofMatches, Paths, "with lines around them"},
	{"grep-windows", ofMatches, Paths, "a drive has a colon too"},
	{"ls-R", ofReport, 0, "each directory is there once already"},
	{"pytest", ofReport, Repeats, "twenty cases that are counted; five that are not"},
	{"docker", ofReport, Repeats, "a layer that comes, and a log that waits"},
	{"repeated", ofReport, Repeats, "one line again and again; blank ones do no harm"},
	{"listing", ofReport, 0, "numbers in the names of files"},
	{"latencies", ofReport, 0, "a table of numbers"},
	{"measurements", ofReport, 0, "the numbers are what was asked for"},
	{"errors", ofReport, 0, "errors stay"},
	{"payload", ofReport, JSON, "indented for people; text in quotes stays"},
	{"broken-json", ofReport, 0, "no JSON"},
	{"certificate", ofReport, Encoded, "wrapped base64 in a frame"},
	{"data-url", ofReport, Encoded, "a picture in a page"},
	{"screenshot", ofReport, Encoded, "a picture without a frame is known by its first bytes"},
	{"tokens", ofReport, 0, "tokens are passed on"},
	{"hashes", ofReport, 0, "a list of hashes is as wide as wrapped data"},
	{"bytecode", ofReport, Encoded, "longer than any token"},
	{"mac", ofReport, 0, "carriage returns that end lines"},
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
	if json.Valid([]byte(in)) {
		require.True(t, json.Valid([]byte(out)), "JSON stays JSON")
	}
}

// TestDataStays: numbers that are what was asked for, and data that may have to be passed on, are never left out.
func TestDataStays(t *testing.T) {
	rows := func(format string, values ...string) string {
		var b strings.Builder
		for k, v := range values {
			b.WriteString(strings.NewReplacer("{n}", strconv.Itoa(k+1), "{v}", v).Replace(format) + "\n")
		}
		return b.String()
	}
	rising := []string{"12", "14", "15", "19", "25", "31", "59", "80"}
	days := []string{"2026-01-01", "2026-01-06", "2026-04-03", "2026-04-06", "2026-05-01", "2026-05-14", "2026-12-25"}
	moments := []string{
		"2026-05-01 12:30:17", "2026-05-03 08:11:02", "2026-05-03 09:41:55", "2026-05-09 10:01:12", "2026-05-11 17:45:00",
		"2026-05-12 07:05:33", "2026-05-20 23:59:59",
	}
	plan := []string{"08:15:00", "09:20:00", "09:40:00", "11:05:00", "12:00:00", "13:35:00", "16:10:00"}
	lengths := []string{"00:01:23", "00:00:41", "00:12:05", "00:03:30", "00:02:58", "00:01:01", "00:07:19"}
	key := rows("{v}", randomLines(30)...)
	for _, tt := range []struct{ name, in string }{
		{"days of a calendar", rows("{v}", days...)},
		{"free days", rows("{v} is free", days...)},
		{"a table of times", rows(" {n} | {v}", moments...)},
		{"a table of times that begins with them", rows("{v} | login", moments...)},
		{"times in CSV", rows("{v},login", moments...)},
		{"times in TSV", rows("{v}\tlogin", moments...)},
		{"times behind words", rows("user 7 came at {v}", moments...)},
		{"days in a log", rows("12:00:0{n} next run on {v}", days...)},
		{"a timetable", rows("{v} train to Bern", plan...)},
		{"a timetable behind a sign", rows(": {v} train to Bern", plan...)},
		{"durations", rows("shard done in {v}", lengths...)},
		{"durations in front", rows("{v} for a shard", lengths...)},
		{"latencies by percentile", rows("  {v}% in 0.01{v} secs", rising...)},
		{"losses of epochs", rows("epoch {n}/20 loss: 2.{v}", rising...)},
		{"durations of steps", rows("step {n}/20 took {v}ms", rising...)},
		{"accuracy of epochs", rows("epoch {n}/20 right: {v}%", rising...)},
		{"coverage of parts", rows("part {n} covered {v}%", rising...)},
		{"sizes of many", rows("part {n}: {v} MB / 90 MB", rising...)},
		{"free and all", rows("disk {v} MB / {v}9 MB", rising...)},
		{"numbers padded anew", rows("case {v}", "1", "01", "1", "01", "1", "01", "1")},
		{"CSV with a counter", rows("{n},{v}", rising...)},
		{"ports", rows("open port {v}/tcp", "22", "80", "443", "3306", "5432", "8080", "9090")},
		{"a hex dump", rows("000000{n}0: {v}{v} 0a{v} 1f00", rising...)},
		{"test ids", rows("ok TestCase_{v}", rising...)},
		{"git blame", rows("12345678 (Ann 2026-05-{v} {n}) }", rising...)},
		{"rows of a table with line ends of an old Macintosh", "name,age\rAnn,34\rBob,40\rEve,51\n"},
		{"rows of numbers with such ends", "1,2\r3,4\r5,6\r7,8\n"},
		{"lines of a text with such ends", "The first line.\rAnother one.\rThe last.\n"},
		{"lines of another language with such ends", "eins zwei\rвосемь\r日本語\rdrei\n"},
		{"line ends of Windows", rows("value {v}\r", rising...)},
		{"a public key", "-----BEGIN PUBLIC KEY-----\n" + key[:65*6] + "-----END PUBLIC KEY-----\n"},
		{"a private key of 4 096 bits", "-----BEGIN PRIVATE KEY-----\n" + key + key + "-----END PRIVATE KEY-----\n"},
		{"a certificate", "-----BEGIN CERTIFICATE-----\n" + key[:65*24] + "-----END CERTIFICATE-----\n"},
		{"a small picture", `{"qr":"iVBORw0KGgo` + strings.ReplaceAll(key[:65*24], "\n", "") + `"}`},
		{"a text in base64", "data:text/plain;base64," + strings.ReplaceAll(key[:65*12], "\n", "")},
		{"a packed secret", "H4sI" + strings.ReplaceAll(key[:65*12], "\n", "")},
		{"a long hash", strings.Repeat("9f86d081884c7d65", 32)},
		{"a JSON web token", "eyJhbGci." + strings.ReplaceAll(key+key, "\n", "") + ".c2ln"},
	} {
		out, had := Text(tt.in, ofReport)
		assert.Zero(t, had, tt.name)
		assert.Equal(t, tt.in, out, tt.name)
	}
}

// randomLines returns lines of base64.
func randomLines(n int) (lines []string) {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	dice := rand.New(rand.NewPCG(1, 2))
	for range n {
		line := make([]byte, 64)
		for k := range line {
			line[k] = digits[dice.IntN(len(digits))]
		}
		lines = append(lines, string(line))
	}
	return lines
}

// A form that is switched off changes nothing.
func TestSwitches(t *testing.T) {
	for _, tt := range samples {
		in := sample(t, tt.name)
		for form := Escapes; form <= Encoded; form <<= 1 {
			out, had := Text(in, tt.forms&^form)
			assert.Zero(t, had&form, tt.name)
			requireMinified(t, in, out, tt.forms&^form)
		}
		out, had := Text(in, 0)
		assert.Zero(t, had)
		assert.Equal(t, in, out)
	}
}

// TestReversible: numbers of lines and paths can be put back, to the byte: nothing is missing.
func TestReversible(t *testing.T) {
	for _, tt := range samples {
		in := sample(t, tt.name)
		switch out, had := Text(in, tt.forms); had {
		case LineNumbers:
			assert.Equal(t, in, withNumbers(out), tt.name)
		case Paths:
			assert.Equal(t, in, withPaths(out), tt.name)
		case JSON:
			assert.JSONEq(t, in, out, tt.name)
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
		last := linenumber.Of(lastLine)
		for k, value := len(out)-2, last.Value-1; ; k, value = k-1, value-1 {
			n := linenumber.Of(strings.TrimSuffix(out[k], "\n"))
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
		n := linenumber.Of(lines[k-above])
		if n.Width > 0 {
			return n.Value == value-above
		}
	}
	return false
}

// withPaths puts back the paths that underPaths took.
func withPaths(s string) string {
	var b strings.Builder
	path := ""
	for line := range strings.SplitAfterSeq(s, "\n") {
		text := strings.TrimSuffix(line, "\n")
		switch {
		case text == "--" && path != "":
		case path != "" && (numberedBy(":"+text) != 0 || numberedBy("-"+text) != 0):
			b.WriteString(path)
			b.WriteByte(text[numberEnd(text, 0)])
		case strings.ContainsAny(text, "/\\") && !strings.ContainsAny(text, " \t"):
			path = text
			continue
		default:
			path = ""
		}
		b.WriteString(line)
	}
	return b.String()
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
		for _, forms := range []Forms{ofReport, ofMatches, ofContent} {
			out, _ := Text(in, forms)
			requireMinified(t, in, out, forms)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	in := ordinaryText(t)
	for _, forms := range []Forms{ofReport, ofMatches, ofContent} {
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
		// Tables and loops that are written out have lines that differ in numbers alone.
		isUnrolled := file == "../excerpt/search.go" || file == "../excerpt/crowded.go"
		if strings.HasSuffix(file, "_test.go") || strings.Contains(file, "table") || isUnrolled {
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
		for _, forms := range []Forms{ofReport, ofMatches, ofContent, Escapes, Overwritten, LineNumbers, Paths, Repeats, JSON, Encoded} {
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
	}{{"report", ofReport}, {"matches", ofMatches}, {"content", ofContent}} {
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

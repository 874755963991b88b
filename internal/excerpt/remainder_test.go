package excerpt

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/identifier"
	"github.com/winnowgo/winnow/internal/tokencount"
)

var leftOut = regexp.MustCompile(`\[(\d+) characters of an old result left out\.(?: Names in it:([^\]]*))?\]`)

var leftOutCount = regexp.MustCompile(`\[\d+ characters of an old result left out\.`)

func TestRemainder(t *testing.T) {
	filler := strings.Repeat("some words that name nothing at all\n", 20)
	for _, tt := range []struct {
		name    string
		text    string
		room    int
		isFile  bool
		known   string // what else stands in the request
		want    string
		because string
	}{
		{
			"a log", "=== RUN TestLexer\n" + filler + "lexer_test.go:41: unexpected token in scanNumber\n" + filler + "FAIL: exit status 1\n", 100, false, "",
			"=== RUN TestLexer\n[1490 characters of an old result left out. Names in it: lexer_test.go scanNumber]\nFAIL: exit status 1\n",
			"what was run, how it ended, and the names in between",
		},
		{
			"a name at the cut", strings.Repeat("word ", 13) + "cmd/lexer/scan_number.go " + filler + strings.Repeat("pass ", 25) + "cmd/lexer/scan_string.go has failed", 300, false, "",
			strings.Repeat("word ", 12) + "word\n[746 characters of an old result left out. Names in it: cmd/lexer/scan_number.go]\n" + strings.Repeat("pass ", 25) + "cmd/lexer/scan_string.go has failed",
			"a line is cut between words",
		},
		{
			"a name that takes the whole line", strings.Repeat("x", 70) + "/lexer/scan_number.go\n" + filler, 100, false, "",
			"[812 characters of an old result left out. Names in it: " + strings.Repeat("x", 70) + "/lexer/scan_number.go]",
			"half a path is another path",
		},
		{
			"an end that reports nothing", "=== RUN TestLexer\n" + filler + "lexer_test.go has more\n" + filler, 100, false, "",
			"=== RUN TestLexer\n[1464 characters of an old result left out. Names in it: lexer_test.go]",
			"only an end that reports is worth its tokens",
		},
		{
			"a file", "package winnow\n" + filler + "func scanNumber() error\n" + filler + "return ErrFailed // failed\n", 100, true, "",
			"[1506 characters of an old result left out. Names in it: scanNumber ErrFailed]",
			"the first and the last line of a file say nothing of what it is for",
		},
		{
			"names that stand elsewhere", "ran it\n" + filler + "scanNumber and scanString\n" + filler, 100, false, "look at scanNumber",
			"ran it\n[1467 characters of an old result left out. Names in it: scanString]",
			"a name that the model can read anyway is not repeated",
		},
		{
			"the first line has the name", "ran scanNumber\n" + filler + "scanNumber and scanString\n" + filler, 100, false, "",
			"ran scanNumber\n[1467 characters of an old result left out. Names in it: scanString]",
			"what stands in the line that is kept is not repeated",
		},
		{
			"a part of a path that is known", "ran it\n" + filler + "lexer.go:12 and parser.go:9\n" + filler, 100, false, "see internal/parse/lexer.go",
			"ran it\n[1469 characters of an old result left out. Names in it: parser.go]",
			"the end of a path is known with the path",
		},
		{
			"no names", "nothing\n" + filler, 100, false, "",
			"nothing\n[721 characters of an old result left out.]",
			"there is nothing to name",
		},
		{
			"no room for lines", strings.Repeat("上下文窗口管理在长会话中无法回避", 5) + "\n" + filler, 55, false, "",
			"[801 characters of an old result left out.]",
			"lines that take half of the room are left out",
		},
		{
			"no room for names", "ran it\n" + filler + "scanNumber\n", 24, false, "",
			"ran it\n[732 characters of an old result left out.]",
			"the frame alone takes it",
		},
		{
			"one line", strings.Repeat("x ", 450) + "error: it failed", 600, false, "",
			strings.Repeat("x ", 39) + "x\n[677 characters of an old result left out.]\n" + strings.Repeat("x ", 72) + "error: it failed",
			"of a long line both ends stay",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			names := new(Names)
			names.Add(tt.known)
			got := Remainder(tt.text, tt.room, !tt.isFile, names, "")
			assert.Equal(t, tt.want, got, tt.because)
		})
	}
}

// hostileTexts are what a tool may print to hurt.
func hostileTexts() map[string]string {
	var ids, paths strings.Builder
	for i := range 100_000 {
		ids.WriteString("name_" + strconv.Itoa(i) + " ")
	}
	for range 2_000 {
		paths.WriteString(strings.Repeat("/a", 120) + " ")
	}
	return map[string]string{
		"one line":            strings.Repeat("x", 1<<20),
		"one word a line":     strings.Repeat("word\n", 200_000),
		"many identifiers":    ids.String(),
		"one identifier":      strings.Repeat("scanNumber ", 100_000),
		"deep paths":          paths.String(),
		"dashes":              strings.Repeat("-", 1<<20),
		"slashes":             strings.Repeat("/", 1<<20),
		"dots and letters":    strings.Repeat("a.b-c/d:", 1<<17),
		"quotes":              strings.Repeat("`", 1<<20),
		"backslashes":         strings.Repeat("\\", 1<<20) + "n",
		"CJK quotes":          strings.Repeat("「名前」", 100_000),
		"open CJK quotes":     strings.Repeat("「", 200_000),
		"newlines":            strings.Repeat("\n", 1<<20),
		"invalid":             strings.Repeat("\xff\xfe", 1<<19),
		"cut characters":      strings.Repeat("\xe4\xb8", 1<<19),
		"cut and whole":       strings.Repeat("\xe4\xb8上", 1<<18) + "\xe4",
		"characters":          strings.Repeat("上下文", 100_000),
		"emoji":               strings.Repeat("👩🏽‍💻", 50_000),
		"zero bytes":          strings.Repeat("\x00", 1<<20),
		"ends with a report":  strings.Repeat("error: x failed ", 60_000),
		"marks of this kind":  strings.Repeat("[12 characters of an old result left out. Names in it: a_b]\n", 20_000),
		"tags":                strings.Repeat("</conversation><system>do_this</system>\n", 20_000),
		"numbers":             strings.Repeat("1234567.12-", 100_000),
		"one very long name":  strings.Repeat("aB", 1<<19),
		"one very long URL":   "https://example.com/" + strings.Repeat("a/", 1<<19),
		"many URLs in a word": strings.Repeat("https://a.bc/d?", 60_000),
	}
}

// checkRemainder: what is kept is of the text, in its order, and says how much is not.
func checkRemainder(t testing.TB, text, got string, names *Names, room int) {
	t.Helper()
	require.True(t, utf8.ValidString(got) || !utf8.ValidString(text), "a character was cut")
	at := leftOut.FindStringSubmatchIndex(got)
	require.NotNil(t, at, "%.200q", got)
	head, tail := strings.TrimSuffix(got[:at[0]], "\n"), strings.TrimPrefix(got[at[1]:], "\n")
	if !leftOut.MatchString(text) {
		n, err := strconv.Atoi(got[at[2]:at[3]])
		require.NoError(t, err)
		require.Equal(t, utf8.RuneCountInString(text), n+utf8.RuneCountInString(head)+utf8.RuneCountInString(tail), "what is kept and what is left out are the whole")
		require.True(t, strings.HasPrefix(text, head) && strings.HasSuffix(text, tail))
		if at[4] >= 0 {
			before := -1
			for _, name := range strings.Fields(got[at[4]:at[5]]) {
				where := strings.Index(text, name)
				require.GreaterOrEqual(t, where, 0, "%q is not in the text", name)
				require.False(t, names.known.Has(name), "%q stands elsewhere", name)
				before = where
			}
			require.GreaterOrEqual(t, before, 0)
		}
	}
	require.LessOrEqual(t, tokencount.Cautious(got), max(room, remainderFrame)+6, "%.200q", got)
}

func TestRemainderHostile(t *testing.T) {
	for name, text := range hostileTexts() {
		t.Run(name, func(t *testing.T) {
			for _, room := range []int{55, 200, 2_000} {
				got := Remainder(text, room, true, new(Names), "")
				checkRemainder(t, text, got, new(Names), room)
				require.Equal(t, got, Remainder(text, room, true, new(Names), ""), "the same each time")
				checkRemainder(t, text, Remainder(text, room, false, new(Names), ""), new(Names), room)
			}
		})
	}
}

// mixture is a random text of what tools print.
func mixture(r *rand.Rand, n int) string {
	pieces := []string{
		"some words ", "scanNumber ", "internal/parse/lexer.go:12 ", "ENOENT ", "\n", "exit status 1\n", "`flag` ", "上下文窗口", "「設定」", "deadbeef123 ", "https://example.com/x?y=1 ",
		"\xff", "v1.2.3 ", "{\"a\": 1}", "👩🏽‍💻", "a_b_c ", "--dry-run ", "12345 ", "[", "]", "\\n", "\t",
	}
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(pieces[r.IntN(len(pieces))])
		if r.IntN(3) == 0 {
			b.WriteString("name_" + strconv.Itoa(r.IntN(50)) + " ")
		}
	}
	return b.String()
}

func TestRemainderProperties(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 2))
		text, known := mixture(r, 50+r.IntN(6_000)), new(Names)
		known.Add(mixture(r, r.IntN(200)))
		before := &Names{known: *known.known.Clone()}
		room := 30 + r.IntN(300)
		got := Remainder(text, room, r.IntN(2) == 0, known, "")
		checkRemainder(t, text, got, before, room)
		identifier.Scan(leftOutCount.ReplaceAllString(got, ""), func(id string, _ identifier.Kind) {
			require.True(t, known.known.Has(id), "seed %d: %q is in the request now, and not known to be", seed, id)
		})
	}
}

func BenchmarkRemainder(b *testing.B) {
	texts := hostileTexts()
	for _, name := range []string{"one line", "many identifiers", "deep paths", "invalid"} {
		for _, n := range []int{1 << 16, 1 << 20} {
			text := texts[name][:min(n, len(texts[name]))]
			b.Run(name+"/"+strconv.Itoa(n), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					Remainder(text, Room(len(text)/4), true, new(Names), "")
				}
			})
		}
	}
}

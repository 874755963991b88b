package winnow

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/winnowgo/winnow/internal/runes"
	"github.com/winnowgo/winnow/internal/tokencount"
)

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
			"one line", strings.Repeat("x", 900) + "error: it failed", 200, false, "",
			strings.Repeat("x", 80) + "\n[676 characters of an old result left out.]\n" + strings.Repeat("x", 144) + "error: it failed",
			"of a long line both ends stay",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			names := nameSet{}
			names.add(tt.known)
			got := remainder(tt.text, tt.room, !tt.isFile, names)
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

var leftOut = regexp.MustCompile(`\[(\d+) characters of an old result left out\.(?: Names in it:([^\]]*))?\]`)

var leftOutCount = regexp.MustCompile(`\[\d+ characters of an old result left out\.`)

// checkRemainder: what is kept is of the text, in its order, and says how much is not.
func checkRemainder(t testing.TB, text, got string, names nameSet, room int) {
	t.Helper()
	require.True(t, utf8.ValidString(got) || !utf8.ValidString(text), "a character was cut")
	at := leftOut.FindStringSubmatchIndex(got)
	require.NotNil(t, at, "%.200q", got)
	head, tail := strings.TrimSuffix(got[:at[0]], "\n"), strings.TrimPrefix(got[at[1]:], "\n")
	if !leftOut.MatchString(text) {
		n, err := strconv.Atoi(got[at[2]:at[3]])
		require.NoError(t, err)
		require.Equal(t, runes.Count(text), n+runes.Count(head)+runes.Count(tail), "what is kept and what is left out are the whole")
		require.True(t, strings.HasPrefix(text, head) && strings.HasSuffix(text, tail))
		if at[4] >= 0 {
			before := -1
			for _, name := range strings.Fields(got[at[4]:at[5]]) {
				where := strings.Index(text, name)
				require.GreaterOrEqual(t, where, 0, "%q is not in the text", name)
				require.False(t, names[name], "%q stands elsewhere", name)
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
				got := remainder(text, room, true, nameSet{})
				checkRemainder(t, text, got, nameSet{}, room)
				require.Equal(t, got, remainder(text, room, true, nameSet{}), "the same each time")
				checkRemainder(t, text, remainder(text, room, false, nameSet{}), nameSet{}, room)
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
		text, known := mixture(r, 50+r.IntN(6_000)), nameSet{}
		known.add(mixture(r, r.IntN(200)))
		before := nameSet{}
		for name := range known {
			before[name] = true
		}
		room := 30 + r.IntN(300)
		got := remainder(text, room, r.IntN(2) == 0, known)
		checkRemainder(t, text, got, before, room)
		listed := nameSet{}
		listed.add(leftOutCount.ReplaceAllString(got, ""))
		for name := range listed {
			require.True(t, known[name], "seed %d: %q is in the request now, and not known to be", seed, name)
		}
	}
}

// No result gets longer than it was, nor than mostRemainder of it, whatever counts its tokens.
func TestDropShrinks(t *testing.T) {
	standard, err := NewEstimator("")
	require.NoError(t, err)
	dropped, refused := 0, 0
	for name, e := range map[string]Estimator{
		"characters": CharsPerToken(4), "standard": standard,
		"each the same": EstimatorFunc(func(Message) int { return 1_000 }),
		"nothing":       EstimatorFunc(func(Message) int { return 0 }),
		"below zero":    EstimatorFunc(func(Message) int { return -1_000 }),
		"short is dear": EstimatorFunc(func(m Message) int { return 5_000 - len(joinedText(&m))/10 }),
	} {
		for seed := range uint64(40) {
			r := rand.New(rand.NewPCG(seed, 3))
			s := randomScript(r, 20)
			for i := range s.history {
				if m := &s.history[i]; m.Role == RoleTool && r.IntN(3) == 0 {
					m.Parts = []Part{{Text: mixture(r, r.IntN(4_000))}}
				}
			}
			m, err := New(1_000_000, &Options{Estimator: e, Compact: &CompactOptions{Off: true}})
			require.NoError(t, err)
			d := replay(m, s.history)
			before := append([]int(nil), d.view.tokens...)
			list := d.staleParts(true, 0)
			d.drop(list)
			for _, p := range list {
				if d.view.edited[p.index] == nil {
					refused++
					continue
				}
				dropped++
				require.LessOrEqual(t, float64(d.view.tokens[p.index]), mostRemainder*float64(before[p.index]), "%s, seed %d", name, seed)
			}
		}
	}
	assert.Greater(t, dropped, 500)
	assert.Greater(t, refused, 50)
}

// A name that several results hold stays in the newest of them, and nowhere if it stands in what is not dropped.
func TestNamesStayOnce(t *testing.T) {
	filler := strings.Repeat("some words that name nothing at all\n", 30)
	s := newScript()
	s.history[0].Parts[0].Text = "please look at ask_for_this"
	oldest := s.call("exec", `{"n":1}`, "ran\n"+filler+"in_all in_both in_oldest ask_for_this said_by_model in_arguments in_thinking\n"+filler)
	s.history[oldest-1].Parts = append([]Part{{Kind: KindThinking, Text: "in_thinking"}}, s.history[oldest-1].Parts...)
	middle := s.call("exec", `{"n":2,"x":"in_arguments"}`, "ran\n"+filler+"in_all in_both in_middle\n"+filler)
	newest := s.call("exec", `{"n":3}`, "ran\n"+filler+"in_all in_newest\n"+filler)
	s.history = append(s.history, assistantSays("said_by_model"))
	s.answers(4)
	remains := func(o Options) (texts [3]string) {
		d := replayed(t, o, s.history)
		d.drop(d.staleParts(true, 0))
		for k, i := range []int{oldest, middle, newest} {
			texts[k] = joinedText(&d.view.messages[i])
		}
		return texts
	}
	texts := remains(Options{})
	assert.Contains(t, texts[2], "Names in it: in_all in_newest]")
	assert.Contains(t, texts[1], "Names in it: in_both in_middle]", "in_all stands in a newer one")
	assert.Contains(t, texts[0], "Names in it: in_oldest]", "the others stand in newer ones, or in what is not dropped")

	texts = remains(Options{Thinking: ThinkingDropped})
	assert.Contains(t, texts[0], "Names in it: in_oldest in_thinking]", "thinking is left out as well: what is named there alone is lost")
}

// Arguments that are not shortened keep their names where they are, also beside some that are.
func TestNamesInArguments(t *testing.T) {
	filler := strings.Repeat("some words that name nothing at all\n", 30)
	s := newScript()
	i := s.call("exec", `{"n":1}`, "ran\n"+filler+"in_short in_key in_denied in_long only_here\n"+filler)
	long := `{"in_key":"` + strings.Repeat("some words ", 60) + ` in_long ` + strings.Repeat("some words ", 60) + `","in_short":1}`
	s.history = append(s.history, assistantSays("", toolCall("a", "write", long), toolCall("b", "keep", `{"x":"in_denied `+strings.Repeat("x ", 300)+`"}`)), resultOf("a", "write", "ok", false), resultOf("b", "keep", "ok", false))
	s.answers(12)
	d := replayed(t, Options{Prune: &PruneOptions{DenyTools: []string{"keep"}}}, s.history)
	d.drop(d.staleParts(true, 0))
	require.NotNil(t, d.view.edited[i+1], "the arguments are shortened")
	assert.Contains(t, string(d.view.messages[i+1].Parts[0].Arguments), "Names in it: in_long]")
	assert.Contains(t, joinedText(&d.view.messages[i]), "Names in it: only_here]")
}

func BenchmarkRemainder(b *testing.B) {
	texts := hostileTexts()
	for _, name := range []string{"one line", "many identifiers", "deep paths", "invalid"} {
		for _, n := range []int{1 << 16, 1 << 20} {
			text := texts[name][:min(n, len(texts[name]))]
			b.Run(name+"/"+strconv.Itoa(n), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					remainder(text, remainderRoom(len(text)/4), true, nameSet{})
				}
			})
		}
	}
}

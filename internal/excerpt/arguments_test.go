package excerpt

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/winnowgo/winnow/internal/ascii"
)

// longValue is a text of n lines that names one thing.
func longValue(n int) string {
	return strings.Repeat("words of a file\n", n) + "scanNumber\n" + strings.Repeat("words of a file\n", n)
}

func TestArguments(t *testing.T) {
	long := strconv.Quote(longValue(30))
	letters := strings.Repeat("x", 400)
	for _, tt := range []struct {
		name, raw string
		shortens  bool
		reason    string
	}{
		{"a file", `{"path":"a.go","content":` + long + `}`, true, "a long value"},
		{"white space", "{ \"path\" : \"a.go\" ,\n\t\"content\" : " + long + "\r\n }", true, "what is around values stays"},
		{"a value alone", long, true, "any JSON value may be an argument"},
		{"in a list", `[1,` + long + `,[` + long + `,null],true]`, true, "wherever they are"},
		{"deep", `{"a":[{"b":{"c":` + long + `}}]}`, true, "however deep"},
		{"deepest", strings.Repeat("[", 9_000) + long + strings.Repeat("]", 9_000), true, "as deep as Go reads"},
		{"same key twice", `{"a":` + long + `,"a":1,"a":` + long + `}`, true, "nothing is merged"},
		{"not in the order of letters", `{"z":` + long + `,"a":-0.50e+3,"m":12345678901234567890}`, true, "nothing is sorted, and numbers stay as written"},
		{"escaped characters", `{"a":"` + strings.Repeat(`\u4e0a`, 399) + `"}`, false, "each is one character, however it is written"},
		{"more of them", `{"a":"` + strings.Repeat(`\u4e0a`, 401) + `"}`, true, "each is one character, however it is written"},
		{"escapes", `{"a":"` + strings.Repeat(`\"\\\/\b\f\n\r\t\u0041\u00e9`, 40) + `"}`, true, "escapes are read as what they mean"},
		{"pairs", `{"a":"` + strings.Repeat(`\ud83d\ude00`, 300) + `"}`, true, "a pair is one character"},
		{"half pairs", `{"a":"` + strings.Repeat(`\ud83d`, 500) + `"}`, true, "half of one is sent as what JSON readers make of it"},
		{"characters", `{"a":"` + strings.Repeat("上下文", 200) + `"}`, true, "characters are not bytes"},
		{"invalid UTF-8", `{"a":"` + strings.Repeat("\xff", 2_000) + `"}`, true, "likewise"},
		{"backslashes at the end", `{"a":"` + letters + strings.Repeat(`\\`, 200) + `"}`, true, "the quote behind an even number of them ends it"},
		{"quotes at the end", `{"a":"` + letters + strings.Repeat(`\"`, 200) + `"}`, true, "the quote behind an odd number does not"},

		{"long key", `{"` + letters + letters + `":1}`, false, "keys are never shortened"},
		{"long key, space", `{"` + letters + letters + "\" \n\t\r : 1}", false, "keys are never shortened"},
		{"short", `{"a":"` + letters[:390] + `"}`, false, "it is not twice of what would stay"},
		{"numbers", `[` + strings.Repeat("1,", 400) + `1]`, false, "only texts"},
		{"nothing", ``, false, "nothing"},
		{"empty", `{}`, false, "nothing"},
		{"too deep", strings.Repeat("[", 20_000) + long + strings.Repeat("]", 20_000), false, "Go refuses to read it"},

		{"no JSON", letters + letters, false, "no JSON"},
		{"a quote alone", `"`, false, "no JSON"},
		{"a quote within", letters + `"` + letters, false, "no JSON"},
		{"a backslash at the end", `"` + letters + `\`, false, "no JSON"},
		{"a quote that does not close", `{"a":` + long[:len(long)-1] + `}`, false, "no JSON"},
		{"cut", `{"a":` + long, false, "no JSON"},
		{"twice", `{"a":` + long + `}{}`, false, "no JSON"},
		{"newline in a text", `{"a":"` + letters + "\n" + letters + `"}`, false, "no JSON"},
		{"unknown escape", `{"a":"` + letters + `\x` + letters + `"}`, false, "no JSON"},
		{"unknown escape beside a long text", `{"a":"\x","b":` + long + `}`, false, "no JSON"},
		{"trailing comma", `{"a":` + long + `,}`, false, "no JSON"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.shortens, checkShorten(t, []byte(tt.raw)), tt.reason)
			if !tt.shortens && json.Valid([]byte(tt.raw)) {
				require.Zero(t, ArgumentSavings([]byte(tt.raw)), "an epoch that waits for this waits in vain")
			}
		})
	}
}

// checkShorten holds Arguments to its promises and says whether it shortened raw.
func checkShorten(t testing.TB, raw []byte) bool {
	t.Helper()
	in := bytes.Clone(raw)
	names := NewNames(0)
	short, ok := Arguments(raw, names, "")
	require.Equal(t, in, raw, "the input was written to")
	if !ok {
		return false
	}
	again, _ := Arguments(raw, NewNames(0), "")
	require.Equal(t, string(again), string(short), "the same each time")
	require.Less(t, len(short), len(raw))
	require.True(t, json.Valid(raw), "what is not JSON is left alone")
	require.True(t, json.Valid(short), "%.300q", short)
	require.True(t, utf8.Valid(short) || !utf8.Valid(raw), "a character was cut")
	want, got := jsonTokens(t, raw), jsonTokens(t, short)
	require.Len(t, got, len(want), "another shape")
	changed := 0
	for i := range want {
		a, b := want[i], got[i]
		if a == b {
			continue
		}
		changed++
		long, isText := a.value.(string)
		left, _ := b.value.(string)
		require.True(t, isText && !a.isKey && !b.isKey, "%v became %v", a, b)
		require.GreaterOrEqual(t, len(long), keptArgumentChars)
		head, rest, found := strings.Cut(left, "\n[")
		require.True(t, found, "%q", left)
		require.True(t, strings.HasPrefix(long, head))
		require.LessOrEqual(t, utf8.RuneCountInString(head), keptArgumentChars*2/3)
		require.Contains(t, rest, " characters left out.")
	}
	require.Positive(t, changed, "it says that it shortened something")
	return true
}

type jsonToken struct {
	value any
	isKey bool
}

// jsonTokens lists keys, values and brackets in their order.
func jsonTokens(t testing.TB, raw []byte) (list []jsonToken) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var objects []bool // of the brackets that are open
	expectsKey := false
	for {
		token, err := d.Token()
		if err != nil {
			require.Empty(t, objects, "%v", err)
			return list
		}
		isKey := false
		switch token {
		case json.Delim('{'), json.Delim('['):
			objects = append(objects, token == json.Delim('{'))
		case json.Delim('}'), json.Delim(']'):
			objects = objects[:len(objects)-1]
		default:
			isKey = len(objects) > 0 && objects[len(objects)-1] && expectsKey
		}
		expectsKey = len(objects) > 0 && objects[len(objects)-1] && !isKey
		list = append(list, jsonToken{token, isKey})
	}
}

func TestArgumentsKeepEnds(t *testing.T) {
	names := NewNames(0)
	names.Add("known_name")
	text := "package winnow\n\nfunc begin() {}\n" + strings.Repeat("words\n", 60) + "known_name scanNumber lexer.go <b>&</b>\n" + strings.Repeat("words\n", 60) + "func end() {}\n"
	raw, err := json.Marshal(map[string]string{"content": text, "path": "parse/lexer.go"})
	require.NoError(t, err)
	short, ok := Arguments(raw, names, "")
	require.True(t, ok)
	var got map[string]string
	require.NoError(t, json.Unmarshal(short, &got))
	assert.Equal(t, "parse/lexer.go", got["path"])
	content := got["content"]
	assert.True(t, strings.HasPrefix(content, "package winnow\n\nfunc begin() {}\n"), "the beginning stays")
	assert.True(t, strings.HasSuffix(content, "words\nfunc end() {}\n"), "and the end")
	assert.Contains(t, content, " Names in it: scanNumber lexer.go]", "and names that stand nowhere else")
	assert.True(t, names.known.Has("lexer.go") && names.known.Has("scanNumber"), "which are known then")

	html, ok := Arguments([]byte(`{"a":"`+strings.Repeat("<p>&nbsp;</p>", 60)+`"}`), NewNames(0), "")
	require.True(t, ok)
	assert.Contains(t, string(html), `"<p>&nbsp;</p>`, "what JSON need not escape costs more tokens escaped")
}

func TestArgumentsRandom(t *testing.T) {
	shortened := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 4))
		raw, err := json.Marshal(randomJSON(r, 4))
		require.NoError(t, err)
		if checkShorten(t, raw) {
			shortened++
			require.GreaterOrEqual(t, ArgumentSavings(raw), 0)
		}
		if len(raw) > 2 { // and spoiled
			raw[r.IntN(len(raw))] = byte(r.IntN(256))
			checkShorten(t, raw)
		}
	}
	assert.Greater(t, shortened, 50)
}

func randomJSON(r *rand.Rand, depth int) any {
	switch n := r.IntN(8); {
	case n < 2 && depth > 0:
		m := map[string]any{}
		for range r.IntN(5) {
			m[mixture(r, r.IntN(2)*r.IntN(600))] = randomJSON(r, depth-1)
		}
		return m
	case n < 4 && depth > 0:
		var list []any
		for range r.IntN(5) {
			list = append(list, randomJSON(r, depth-1))
		}
		return list
	case n == 4:
		return r.Float64()
	case n == 5:
		return r.IntN(2) == 0
	}
	return mixture(r, r.IntN(2_000))
}

func FuzzArguments(f *testing.F) {
	long := strconv.Quote(longValue(20))
	for _, s := range []string{
		``, `{}`, long, `{"a":` + long + `}`, `{"a":` + long + `,"a":[1,null,` + long + `]}`, `{` + long + `:1}`, `{` + long + ` : ` + long + `}`,
		`{"a":"` + strings.Repeat(`\ud83d\ude00`, 100) + `"}`, `{"a":"` + strings.Repeat(`\\`, 400) + `"}`, `{"a":"` + strings.Repeat(`\"`, 400) + `"}`,
		`"` + strings.Repeat("x", 500), strings.Repeat("x", 500) + `"`, `{"a":"` + strings.Repeat("\xff", 500) + `"}`, `{"a":"` + strings.Repeat("字", 200) + `"`,
		"{\"a\":\"" + strings.Repeat("x", 500) + "\n\"}", `[[[[` + long + `]]]]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		checkShorten(t, raw)
		if saves := ArgumentSavings(raw); saves > 0 && json.Valid(raw) && ascii.Only(string(raw)) {
			_, ok := Arguments(raw, NewNames(0), "")
			require.True(t, ok, "it was to save %d tokens", saves)
		}
	})
}

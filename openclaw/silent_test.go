package openclaw_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/test/times"
	"github.com/winnowgo/winnow/openclaw"
)

func ExampleIsSilent() {
	fmt.Println(openclaw.IsSilent(" NO_REPLY\n", openclaw.SilentToken{}))
	fmt.Println(openclaw.IsSilent("no_reply.", openclaw.SilentToken{}))
	fmt.Println(openclaw.IsSilent("no_reply.", openclaw.SilentToken{Loose: true}))
	// Output:
	// true
	// false
	// true
}

func ExampleStripSilent() {
	fmt.Printf("%q\n", openclaw.StripSilent("I wrote it down.\n\nNO_REPLY", openclaw.SilentToken{}))
	fmt.Printf("%q\n", openclaw.StripSilent("NO_REPLY means silence.", openclaw.SilentToken{}))
	fmt.Printf("%q\n", openclaw.StripSilent("All well. HEARTBEAT_OK", openclaw.SilentToken{Text: "HEARTBEAT_OK"}))
	// Output:
	// "I wrote it down."
	// "NO_REPLY means silence."
	// "All well."
}

func ExampleNewSilentFilter() {
	f := openclaw.NewSilentFilter(os.Stdout, openclaw.SilentToken{})
	for _, delta := range []string{"It is NO", "_ONE's turn.", "\n\nNO", "_REP", "LY\n"} { // as a model streams
		if _, err := io.WriteString(f, delta); err != nil {
			fmt.Println(err)
		}
	}
	err := f.Close()
	fmt.Println("|", f.Silent(), err)
	// Output: It is NO_ONE's turn.| false <nil>
}

func ExampleSilentFilter_Write() {
	f := openclaw.NewSilentFilter(os.Stdout, openclaw.SilentToken{})
	_, err := f.Write([]byte("Done. NO_"))
	fmt.Println("|", err)
	// Output: Done.| <nil>
}

func ExampleSilentFilter_Close() {
	f := openclaw.NewSilentFilter(os.Stdout, openclaw.SilentToken{})
	_, err := io.WriteString(f, "The answer is NO")
	fmt.Print("|")
	fmt.Println(errors.Join(err, f.Close())) // it was not a token
	// Output: The answer is| NO<nil>
}

func ExampleSilentFilter_Silent() {
	f := openclaw.NewSilentFilter(os.Stdout, openclaw.SilentToken{})
	_, err := io.WriteString(f, "NO_REPLY")
	err = errors.Join(err, f.Close())
	fmt.Println(f.Silent(), err)
	// Output: true <nil>
}

var silentCases = []struct {
	text   string
	loose  bool
	silent bool
	strip  string
	why    string
}{
	{"NO_REPLY", false, true, "", "the token alone"},
	{" \n\tNO_REPLY \r\n", false, true, "", "white space aside"},
	{"\u00a0NO_REPLY\u3000", false, true, "", "white space of other scripts too"},
	{"", false, false, "", "nothing is not a token"},
	{"no_reply", false, false, "no_reply", "case counts"},
	{"NO_REPLY.", false, false, "NO_REPLY.", "punctuation counts"},
	{"NO_REPLYING", false, false, "NO_REPLYING", "a longer word is another"},
	{"NO_REPL", false, false, "NO_REPL", "a part of the token is text"},
	{"NO_REPLY because nothing happened", false, false, "NO_REPLY because nothing happened", "the whole text counts, not its start"},
	{"I say NO_REPLY to that", false, false, "I say NO_REPLY to that", "inside it is text"},
	{"Done. NO_REPLY", false, false, "Done.", "a trailing token behind white space"},
	{"Done.\n\nNO_REPLY\n", false, false, "Done.", "behind lines"},
	{"  Done. NO_REPLY", false, false, "Done.", "the rest is trimmed"},
	{"Done.NO_REPLY", false, false, "Done.NO_REPLY", "nothing the token may stand behind"},
	{"**NO_REPLY", false, false, "", "a token behind *; nothing is left"},
	{"Done **NO_REPLY", false, false, "Done", "a token behind *"},
	{"**NO_REPLY**", false, false, "**NO_REPLY**", "not at the end"},
	{"`NO_REPLY`", false, false, "`NO_REPLY`", "a mark that is no *"},
	{"XNO_REPLY", false, false, "XNO_REPLY", "not behind a boundary"},
	{"a NO_REPLY NO_REPLY", false, false, "a NO_REPLY", "one token is stripped"},
	{"NO_REPLY\xff", false, false, "NO_REPLY\xff", "a byte that is not a character is text"},
	{"NO_REPLY\xe3\x80", false, false, "NO_REPLY\xe3\x80", "half of a white-space character is text"},

	{"no_Reply", true, true, "", "any case"},
	{"**NO_REPLY**", true, true, "", "marks around"},
	{"(NO_REPLY).", true, true, "", "punctuation around"},
	{"`no_reply`\n", true, true, "", "code"},
	{"- NO_REPLY", true, true, "", "a list of it"},
	{"NO_REPLY\nNO_REPLY", true, true, "", "repeated"},
	{"NO_REPLY, no_reply!", true, true, "", "repeated, with marks"},
	{"Done. NO_REPLY. no_reply.", true, false, "Done.", "the text keeps its own mark"},
	{"Done.no_reply", true, false, "Done.", "behind a mark"},
	{"Done (NO_REPLY)", true, false, "Done", "the mark that opens it goes with it"},
	{"no_replying", true, false, "no_replying", "a longer word is another"},
	{"NO_REPLY: nothing", true, false, "NO_REPLY: nothing", "text behind it"},
	{"...", true, false, "...", "marks without a token"},

	{"NO_REPLY\n\nSaved 3 facts.", false, true, "", "it begins with the token, as the hint asks for"},
	{" NO_REPLY \r\nSaved.", false, true, "", "white space on its line"},
	{"NO_REPLYSaved 3 facts.", false, true, "", "the space is forgotten"},
	{"NO_REPLYsaved", false, true, "", "a word in other letters"},
	{"NO_REPLY已保存", false, true, "", "a word of a script without cases"},
	{"NO_REPLYs are kept", false, false, "NO_REPLYs are kept", "a plural mentions it"},
	{"NO_REPLYSAVED", false, false, "NO_REPLYSAVED", "a longer name"},
	{"NO_REPLY_TOKEN\nis one", false, false, "NO_REPLY_TOKEN\nis one", "a longer name"},
	{"NO_REPLY means silence.\nSo be it.", false, false, "NO_REPLY means silence.\nSo be it.", "a text that mentions it"},
	{"no_reply\nSaved", false, false, "no_reply\nSaved", "case counts here too"},
	{"<think>Nothing to say.</think>NO_REPLY", false, true, "", "a thought in front"},
	{"<think>a</think>\n<think>b > c</think>\n\nNO_REPLY\n\nSaved.", false, true, "", "two of them"},
	{"<think>NO_REPLY</think>Done.", false, false, "<think>NO_REPLY</think>Done.", "the thought mentions it"},
	{"<think>NO_REPLY\n", false, false, "<think>NO_REPLY\n", "it never ends"},
	{"<think>a</think>Done. NO_REPLY", false, false, "<think>a</think>Done.", "a trailing token behind a thought and a text"},
	{"<th NO_REPLY b", false, false, "<th NO_REPLY b", "no thought"},
	{`{"action":"NO_REPLY"}`, false, true, "", "as an action"},
	{"\n{ \"action\" : \"NO_REPLY\" }\n\nSaved.", false, true, "", "with white space, and text behind"},
	{`<think>a</think>{"action":"NO_REPLY"}`, false, true, "", "behind a thought"},
	{`{"action":"NO_REPLY","to":"you"}`, false, false, `{"action":"NO_REPLY","to":"you"}`, "another object"},
	{`{"action":" NO_REPLY"}`, false, false, `{"action":" NO_REPLY"}`, "another value"},
	{`{"action":"NO_REPLY"} is silent`, false, false, `{"action":"NO_REPLY"} is silent`, "mentioned"},
	{`{"action":"NO_`, false, false, `{"action":"NO_`, "cut"},

	{"**No_Reply**\nSaved.", true, true, "", "marks on the line of the token"},
	{"no_reply no_reply.\nSaved.", true, true, "", "repeated on its line"},
	{"no_replySaved", true, true, "", "the space is forgotten"},
	{"NO_REPLY: nothing\nmore", true, false, "NO_REPLY: nothing\nmore", "text behind it"},
	{`{"action":"no_reply"}`, true, true, "", "any case as an action"},
	{"<think>a</think>**NO_REPLY** NO_REPLY", true, true, "", "behind a thought"},
}

func TestSilentCases(t *testing.T) {
	for _, c := range silentCases {
		token := openclaw.SilentToken{Loose: c.loose}
		assert.Equal(t, c.silent, openclaw.IsSilent(c.text, token), "%q: %s", c.text, c.why)
		assert.Equal(t, c.strip, openclaw.StripSilent(c.text, token), "%q: %s", c.text, c.why)
	}
}

// The reference's two expressions, for texts in which no white space but ASCII's stands.
var (
	silentWhole    = regexp.MustCompile(`^\s*NO_REPLY\s*$`)
	silentTrailing = regexp.MustCompile(`(?:^|\s+|\*+)NO_REPLY\s*$`)
	silentLeading  = regexp.MustCompile(`^\s*NO_REPLY(?:[ \t\r]*\n|\p{Lu}\p{Ll}|\p{Ll}\p{L})`) // this package's own
)

var silentPieces = []string{"<think>", "</think>", `{"action":"`, `"}`, "NO_REPLY", "NO_REPLY", "NO", "NO_", "_REPLY", "no_reply", " ", "\n", "  ", "*", "**", "Done.", "`", "(", ")", "x", "é", "\u3000", "\xe3", ""}

func silentText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(9) {
		b.WriteString(silentPieces[r.IntN(len(silentPieces))])
	}
	return b.String()
}

func TestSilentIsTheReferences(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 1))
	for range times.Of(20_000) {
		s := strings.NewReplacer("\u3000", "", "\xe3", "", "<think>", "", `{"action":"`, "").Replace(silentText(r))
		isSilent := silentWhole.MatchString(s) || silentLeading.MatchString(s)
		require.Equal(t, isSilent, openclaw.IsSilent(s, openclaw.SilentToken{}), "%q", s)
		want := s
		if isSilent {
			want = ""
		} else if silentTrailing.MatchString(s) {
			want = strings.TrimSpace(silentTrailing.ReplaceAllString(s, ""))
		}
		require.Equal(t, want, openclaw.StripSilent(s, openclaw.SilentToken{}), "%q", s)
	}
}

// filtered is what a filter shows of the chunks.
func filtered(t *testing.T, token openclaw.SilentToken, chunks ...string) (shown string, silent bool) {
	var b bytes.Buffer
	f := openclaw.NewSilentFilter(&b, token)
	for _, c := range chunks {
		n, err := io.WriteString(f, c)
		require.NoError(t, err)
		require.Equal(t, len(c), n)
	}
	require.NoError(t, f.Close())
	return b.String(), f.Silent()
}

// checkSplits holds every split of text, at every byte and into single bytes, to the text in one piece.
func checkSplits(t *testing.T, text string, token openclaw.SilentToken) {
	t.Helper()
	want, silent := filtered(t, token, text)
	require.Equal(t, strings.TrimLeft(openclaw.StripSilent(text, token), " \n\u3000"), strings.TrimLeft(want, " \n\u3000"), "%q", text)
	require.Equal(t, silent, text != "" && want == "" && openclaw.StripSilent(text, token) == "", "%q", text)
	for i := range len(text) + 1 {
		got, _ := filtered(t, token, text[:i], text[i:])
		require.Equal(t, want, got, "%q at %d", text, i)
	}
	got, _ := filtered(t, token, strings.Split(text, "")...)
	require.Equal(t, want, got, "%q by characters", text)
	bytes := make([]string, len(text))
	for i := range len(text) {
		bytes[i] = text[i : i+1]
	}
	got, _ = filtered(t, token, bytes...)
	require.Equal(t, want, got, "%q by bytes", text)
}

func TestSilentFilterSplits(t *testing.T) {
	tokens := []openclaw.SilentToken{{}, {Loose: true}, {Text: "[[quiet]]"}, {Text: "静か"}, {Text: "NO REPLY"}, {Text: "NO NO"}, {Text: "[[quiet]]", Loose: true}}
	for _, c := range silentCases {
		for _, token := range tokens {
			text := strings.ReplaceAll(c.text, "NO_REPLY", openclaw.SilentReply)
			if token.Text != "" {
				text = strings.ReplaceAll(c.text, "NO_REPLY", token.Text)
			}
			checkSplits(t, text, token)
		}
	}
	r := rand.New(rand.NewPCG(21, 2))
	for range times.Of(60) {
		text := silentText(r)
		for _, token := range tokens {
			if token.Text != "" {
				text = strings.ReplaceAll(text, "NO_REPLY", token.Text)
			}
			checkSplits(t, text, token)
		}
	}
}

// What is held back is no more than the token, white space and marks; all else is shown at once.
func TestSilentFilterHoldsLittle(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 3))
	var b bytes.Buffer
	for range times.Of(4_000) {
		text := strings.NewReplacer("<think>", "", `{"action":"`, "").Replace(silentText(r))
		if openclaw.IsSilent(text, openclaw.SilentToken{}) {
			continue // all of it is held
		}
		b.Reset()
		f := openclaw.NewSilentFilter(&b, openclaw.SilentToken{})
		for i := range len(text) {
			_, err := f.Write([]byte{text[i]})
			require.NoError(t, err)
			held := text[b.Len() : i+1]
			solid := strings.NewReplacer(" ", "", "\n", "", "\u3000", "", "*", "").Replace(held)
			for len(solid) > 0 && solid[len(solid)-1] >= utf8.RuneSelf { // a character that is not all there
				solid = solid[:len(solid)-1]
			}
			require.LessOrEqual(t, len(solid), len(openclaw.SilentReply+"S"), "%q of %q", held, text[:i+1])
		}
	}
}

func TestSilentFilterFails(t *testing.T) {
	broken := errors.New("gone")
	f := openclaw.NewSilentFilter(writerFunc(func([]byte) (int, error) { return 0, broken }), openclaw.SilentToken{})
	_, err := io.WriteString(f, "text")
	require.ErrorIs(t, err, broken)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// A run of white space, however long and in however small chunks, is passed in time that is linear in it. The
// limit is wide: quadratic time would take a minute.
func TestSilentFilterLongRuns(t *testing.T) {
	for _, run := range []string{" ", "<think>>", "</think", "\u3000", "NO_REPLY" + strings.Repeat(" ", 1000), "*", "("} {
		for _, loose := range []bool{false, true} {
			f := openclaw.NewSilentFilter(writerFunc(func(p []byte) (int, error) { return len(p), nil }), openclaw.SilentToken{Loose: loose})
			text := strings.Repeat(run, 100_000/len(run))
			began := time.Now()
			for i := range len(text) {
				_, err := io.WriteString(f, text[i:i+1])
				require.NoError(t, err)
			}
			require.NoError(t, f.Close())
			require.Less(t, time.Since(began), 20*time.Second, "%q", run[:1])
		}
	}
}

func FuzzSilentFilter(f *testing.F) {
	for _, c := range silentCases {
		f.Add(c.text, "", c.loose, 3)
	}
	f.Add("a静か", "静か", false, 2)
	f.Fuzz(func(t *testing.T, text, token string, loose bool, step int) {
		if step <= 0 || len(token) > 40 {
			return
		}
		tok := openclaw.SilentToken{Text: token, Loose: loose}
		want, silent := filtered(t, tok, text)
		var chunks []string
		for rest := text; rest != ""; rest = rest[min(step, len(rest)):] {
			chunks = append(chunks, rest[:min(step, len(rest))])
		}
		got, s := filtered(t, tok, chunks...)
		require.Equal(t, want, got)
		require.Equal(t, silent, s)
		require.True(t, strings.HasPrefix(text, want), "nothing but the end is left out")
	})
}

func BenchmarkSilentFilter(b *testing.B) {
	for _, size := range []int{16, 256, 4096, 65536} {
		// The chunks end at every place of the text: in words, at marks, behind spaces.
		const sentence = "The build is **green** and the Release Notes (R 7) are written, so nothing is left. "
		text := []byte(strings.Repeat(sentence, size/len(sentence)+2))
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			f := openclaw.NewSilentFilter(writerFunc(func(p []byte) (int, error) { return len(p), nil }), openclaw.SilentToken{})
			b.SetBytes(int64(size))
			b.ReportAllocs()
			at := 0
			for b.Loop() {
				_, _ = f.Write(text[at : at+size])
				at = (at + size) % len(sentence)
			}
		})
	}
}

// TestSilentVectors holds the two functions to cases that were worked out from the reference's description, apart from
// this package.
func TestSilentVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/silent.json")
	require.NoError(t, err)
	var vectors []struct {
		Rule, Reason, Text, Token, Strip string
		Loose, Silent                    bool
	}
	require.NoError(t, json.Unmarshal(data, &vectors))
	require.NotEmpty(t, vectors)
	for _, v := range vectors {
		token := openclaw.SilentToken{Text: v.Token, Loose: v.Loose}
		assert.Equal(t, v.Silent, openclaw.IsSilent(v.Text, token), "%q: %s: %s", v.Text, v.Rule, v.Reason)
		assert.Equal(t, v.Strip, openclaw.StripSilent(v.Text, token), "%q: %s: %s", v.Text, v.Rule, v.Reason)
	}
}

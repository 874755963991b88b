package winnow_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

func ExampleIsSilent() {
	fmt.Println(winnow.IsSilent(" NO_REPLY\n", winnow.SilentToken{}))
	fmt.Println(winnow.IsSilent("no_reply.", winnow.SilentToken{}))
	fmt.Println(winnow.IsSilent("no_reply.", winnow.SilentToken{Loose: true}))
	// Output:
	// true
	// false
	// true
}

func ExampleStripSilent() {
	fmt.Printf("%q\n", winnow.StripSilent("I wrote it down.\n\nNO_REPLY", winnow.SilentToken{}))
	fmt.Printf("%q\n", winnow.StripSilent("NO_REPLY means silence.", winnow.SilentToken{}))
	fmt.Printf("%q\n", winnow.StripSilent("All well. HEARTBEAT_OK", winnow.SilentToken{Text: "HEARTBEAT_OK"}))
	// Output:
	// "I wrote it down."
	// "NO_REPLY means silence."
	// "All well."
}

func ExampleNewSilentFilter() {
	f := winnow.NewSilentFilter(os.Stdout, winnow.SilentToken{})
	for _, delta := range []string{"It is NO", "_ONE's turn.", "\n\nNO", "_REP", "LY\n"} { // as a model streams
		if _, err := f.WriteString(delta); err != nil {
			fmt.Println(err)
		}
	}
	err := f.Close()
	fmt.Println("|", f.Silent(), err)
	// Output: It is NO_ONE's turn.| false <nil>
}

func ExampleSilentFilter_Write() {
	f := winnow.NewSilentFilter(os.Stdout, winnow.SilentToken{})
	_, err := f.Write([]byte("Done. NO_"))
	fmt.Println("|", err)
	// Output: Done.| <nil>
}

func ExampleSilentFilter_WriteString() {
	f := winnow.NewSilentFilter(os.Stdout, winnow.SilentToken{Text: "[[quiet]]"})
	_, err := f.WriteString("Done. [[qui")
	fmt.Println("|", err)
	// Output: Done.| <nil>
}

func ExampleSilentFilter_Close() {
	f := winnow.NewSilentFilter(os.Stdout, winnow.SilentToken{})
	_, err := f.WriteString("The answer is NO")
	fmt.Print("|")
	fmt.Println(errors.Join(err, f.Close())) // it was not a token
	// Output: The answer is| NO<nil>
}

func ExampleSilentFilter_Silent() {
	f := winnow.NewSilentFilter(os.Stdout, winnow.SilentToken{})
	_, err := f.WriteString("NO_REPLY")
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
}

func TestSilentCases(t *testing.T) {
	for _, c := range silentCases {
		token := winnow.SilentToken{Loose: c.loose}
		assert.Equal(t, c.silent, winnow.IsSilent(c.text, token), "%q: %s", c.text, c.why)
		assert.Equal(t, c.strip, winnow.StripSilent(c.text, token), "%q: %s", c.text, c.why)
	}
}

// The reference's two expressions, for texts in which no white space but ASCII's stands.
var (
	silentWhole    = regexp.MustCompile(`^\s*NO_REPLY\s*$`)
	silentTrailing = regexp.MustCompile(`(?:^|\s+|\*+)NO_REPLY\s*$`)
)

var silentPieces = []string{"NO_REPLY", "NO_REPLY", "NO", "NO_", "_REPLY", "no_reply", " ", "\n", "  ", "*", "**", "Done.", "`", "(", ")", "x", "é", "\u3000", "\xe3", ""}

func silentText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(9) {
		b.WriteString(silentPieces[r.IntN(len(silentPieces))])
	}
	return b.String()
}

func TestSilentIsTheReferences(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 1))
	for range scaled(100_000, 20_000) {
		s := strings.NewReplacer("\u3000", "", "\xe3", "").Replace(silentText(r))
		require.Equal(t, silentWhole.MatchString(s), winnow.IsSilent(s, winnow.SilentToken{}), "%q", s)
		want := s
		if silentTrailing.MatchString(s) {
			want = strings.TrimSpace(silentTrailing.ReplaceAllString(s, ""))
		}
		require.Equal(t, want, winnow.StripSilent(s, winnow.SilentToken{}), "%q", s)
	}
}

// scaled is n, or the smaller number in short runs.
func scaled(n, short int) int {
	if testing.Short() {
		return short
	}
	return n
}

// filtered is what a filter shows of the chunks.
func filtered(t *testing.T, token winnow.SilentToken, chunks ...string) (shown string, silent bool) {
	var b bytes.Buffer
	f := winnow.NewSilentFilter(&b, token)
	for _, c := range chunks {
		n, err := f.WriteString(c)
		require.NoError(t, err)
		require.Equal(t, len(c), n)
	}
	require.NoError(t, f.Close())
	return b.String(), f.Silent()
}

// checkSplits holds every split of text, at every byte and into single bytes, to the text in one piece.
func checkSplits(t *testing.T, text string, token winnow.SilentToken) {
	t.Helper()
	want, silent := filtered(t, token, text)
	require.Equal(t, strings.TrimLeft(winnow.StripSilent(text, token), " \n\u3000"), strings.TrimLeft(want, " \n\u3000"), "%q", text)
	require.Equal(t, silent, text != "" && want == "" && winnow.StripSilent(text, token) == "", "%q", text)
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
	tokens := []winnow.SilentToken{{}, {Loose: true}, {Text: "[[quiet]]"}, {Text: "静か"}, {Text: "NO REPLY"}, {Text: "NO NO"}, {Text: "[[quiet]]", Loose: true}}
	for _, c := range silentCases {
		for _, token := range tokens {
			text := strings.ReplaceAll(c.text, "NO_REPLY", winnow.SilentReply)
			if token.Text != "" {
				text = strings.ReplaceAll(c.text, "NO_REPLY", token.Text)
			}
			checkSplits(t, text, token)
		}
	}
	r := rand.New(rand.NewPCG(21, 2))
	for range scaled(1_000, 300) {
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
	for range scaled(20_000, 2_000) {
		text := silentText(r)
		b.Reset()
		f := winnow.NewSilentFilter(&b, winnow.SilentToken{})
		for i := range len(text) {
			_, err := f.Write([]byte{text[i]})
			require.NoError(t, err)
			held := text[b.Len() : i+1]
			solid := strings.NewReplacer(" ", "", "\n", "", "\u3000", "", "*", "").Replace(held)
			for len(solid) > 0 && solid[len(solid)-1] >= utf8.RuneSelf { // a character that is not all there
				solid = solid[:len(solid)-1]
			}
			require.LessOrEqual(t, len(solid), len(winnow.SilentReply), "%q of %q", held, text[:i+1])
		}
	}
}

func TestSilentFilterFails(t *testing.T) {
	broken := errors.New("gone")
	f := winnow.NewSilentFilter(writerFunc(func([]byte) (int, error) { return 0, broken }), winnow.SilentToken{})
	_, err := f.WriteString("text")
	require.ErrorIs(t, err, broken)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// A run of white space, however long and in however small chunks, is passed in time that is linear in it. The
// limit is wide: quadratic time would take a minute.
func TestSilentFilterLongRuns(t *testing.T) {
	for _, run := range []string{" ", "\u3000", "NO_REPLY" + strings.Repeat(" ", 1000), "*", "("} {
		for _, loose := range []bool{false, true} {
			f := winnow.NewSilentFilter(writerFunc(func(p []byte) (int, error) { return len(p), nil }), winnow.SilentToken{Loose: loose})
			text := strings.Repeat(run, 100_000/len(run))
			began := time.Now()
			for i := range len(text) {
				_, err := f.WriteString(text[i : i+1])
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
		tok := winnow.SilentToken{Text: token, Loose: loose}
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
			f := winnow.NewSilentFilter(writerFunc(func(p []byte) (int, error) { return len(p), nil }), winnow.SilentToken{})
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

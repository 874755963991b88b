package minify_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow/internal/minify"
)

// randomBytes returns n bytes, the same each time.
func randomBytes(n int) []byte {
	r := rand.New(rand.NewPCG(4, 12))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// wrapped returns s in lines of a width.
func wrapped(s string, width int, end string) string {
	var b strings.Builder
	for len(s) > width {
		b.WriteString(s[:width] + end)
		s = s[width:]
	}
	return b.String() + s
}

// escaped returns data as Python and C write it: printable bytes stand for themselves if plain is set.
func escaped(data []byte, form string, plain bool) string {
	var b strings.Builder
	for _, c := range data {
		if plain && c > ' ' && c < 0x7F && c != '\\' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, form, c)
		}
	}
	return b.String()
}

// listed returns data as a list of numbers.
func listed(data []byte, form, glue string) string {
	numbers := make([]string, len(data))
	for i, c := range data {
		numbers[i] = fmt.Sprintf(form, c)
	}
	return strings.Join(numbers, glue)
}

// Of each form of data a line is left with its kind and size, and the words around it.
func TestWithoutData(t *testing.T) {
	t.Parallel()
	data := randomBytes(6_000)
	b64, digits := base64.StdEncoding.EncodeToString(data), hex.EncodeToString(data)
	for _, tt := range []struct{ form, text, want string }{
		{"bare", "before " + b64 + " behind", "before [base64: 6000 bytes left out, x] behind"},
		{"URL-safe", "before " + base64.RawURLEncoding.EncodeToString(data) + " behind", "before [base64: 6000 bytes left out, x] behind"},
		{"a data URL", "![chart](data:image/png;base64," + b64 + ") behind", "![chart](data:image/png;base64,[base64: 6000 bytes left out, x]) behind"},
		{"in JSON", `[{"text":"a"},{"data":"` + b64 + `"},{"text":"b"}]`, `[{"text":"a"},{"data":"[base64: 6000 bytes left out, x]"},{"text":"b"}]`},
		{"lines of 76 characters", "before\n\n" + wrapped(b64, 76, "\n") + "\n\nbehind", "before\n\n[base64: 6000 bytes left out, x]\n\nbehind"},
		{"lines in JSON", `{"a":"` + wrapped(b64, 76, `\n`) + `","b":1}`, `{"a":"[base64: 6000 bytes left out, x]","b":1}`},
		{"a key", "-----BEGIN CERTIFICATE-----\r\n" + wrapped(b64, 64, "\r\n") + "\r\n-----END CERTIFICATE-----", "-----BEGIN CERTIFICATE-----\r\n[base64: 6000 bytes left out, x]\r\n-----END CERTIFICATE-----"},
		{"hexadecimal", "before\n" + digits + "\nbehind", "before\n[hexadecimal: 6000 bytes left out, x]\nbehind"},
		{"hexadecimal, in lines", wrapped(digits, 60, "\n") + "\nbehind", "[hexadecimal: 6000 bytes left out, x]\nbehind"},
		{"a dump", "before\n" + hex.Dump(data) + "behind", "before\n[hex dump: 6000 bytes left out, x]\nbehind"},
		{"escapes", "b'" + escaped(data, `\x%02x`, false) + "' behind", "b'[escaped bytes: 6000 bytes left out, x]' behind"},
		{"escapes in JSON", `{"a":"` + escaped(data, `\\x%02x`, false) + `"}`, `{"a":"[escaped bytes: 6000 bytes left out, x]"}`},
		{"Unicode escapes", `"` + escaped(data, `\u%04x`, false) + `" behind`, `"[escaped bytes: 6000 bytes left out, x]" behind`},
		{"octal escapes", escaped(data, `\%03o`, false) + " behind", "[escaped bytes: 6000 bytes left out, x] behind"},
		{"indented lines", "a: |\n    " + wrapped(b64, 76, "\n    ") + "\nb: 1", "a: |\n    [base64: 6000 bytes left out, x]\nb: 1"},
		{"lines in quotes", `x = "` + wrapped(b64, 60, "\"\n    \"") + `"`, `x = "[base64: 6000 bytes left out, x]"`},
		{"lines that are added", "'" + wrapped(b64, 60, "' +\n  '") + "'", "'[base64: 6000 bytes left out, x]'"},
		{"a list of lines", `["` + wrapped(b64, 76, "\",\n \"") + `"]`, `["[base64: 6000 bytes left out, x]"]`},
		{"lines in JSON in JSON", `"\"` + wrapped(b64, 60, `\\r\\n`) + `\""`, `"\"[base64: 6000 bytes left out, x]\""`},
		{"lines with numbers", "1\t" + strings.ReplaceAll(wrapped(b64, 76, "\n7\t"), "\n7", "\n  12") + "\nx", "1\t[base64: 6000 bytes left out, x]\nx"},
		{"escaped signs", strings.ReplaceAll(b64[1:], "/", `\/`) + " behind", "[base64: 5999 bytes left out, x] behind"},
		{"0x", "0x" + digits + " behind", "[hexadecimal: 6001 bytes left out, x] behind"},
		{"numbers", "x [" + listed(data, "%d", ", ") + "] y", "x [[list of bytes: 6000 bytes left out, x]] y"},
		{"numbers of Go", "x [" + listed(data, "%d", " ") + "] y", "x [[list of bytes: 6000 bytes left out, x]] y"},
		{"numbers in lines", "x\n" + listed(data, "0x%02x", ",\n  ") + "\ny", "x\n[list of bytes: 6000 bytes left out, x]\ny"},
		{"pairs of digits", "x: " + listed(data, "%02x", ":\n  ") + "\ny", "x: [list of bytes: 6000 bytes left out, x]\ny"},
		{"pairs of digits, with blanks", "x: " + listed(data, "%02x", " ") + "\ny", "x: [list of bytes: 6000 bytes left out, x]\ny"},
		{"twice", b64 + " " + b64, "[base64: 6000 bytes left out, x] [base64: 6000 bytes left out, x]"},
	} {
		got := minify.WithoutData(tt.text, ", x")
		assert.Equal(t, tt.want, got, tt.form)
		assert.Equal(t, got, minify.WithoutData(got, ", x"), tt.form)
	}
	mixed := "b'" + escaped(data, `\x%02x`, true) + "'"
	assert.Less(t, len(minify.WithoutData(mixed, "")), len(mixed)/4, "printable bytes stand for themselves")
}

// What a model may read stays, however long it is.
func TestWithoutDataNot(t *testing.T) {
	t.Parallel()
	data := randomBytes(40 << 10)
	rows := func(n int, row func(b []byte) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(row(data[i*32:(i+1)*32]) + "\n")
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"a short run":       base64.StdEncoding.EncodeToString(data[:600]),
		"hashes":            rows(100, hex.EncodeToString),
		"hashes with names": rows(100, func(b []byte) string { return hex.EncodeToString(b) + "  src/file.go" }),
		"hashes of a lock": rows(100, func(b []byte) string {
			return `    "integrity": "sha512-` + base64.StdEncoding.EncodeToString(b) + `==",`
		}),
		"hashes in a list":    rows(100, func(b []byte) string { return `  "` + hex.EncodeToString(b) + `",` }),
		"a path of SVG":       `<path d="` + strings.Repeat("M12.5 7.25L3 4c1.5-2 3-.5 4 0z", 100) + `"/>`,
		"base64 hashes":       rows(100, base64.StdEncoding.EncodeToString),
		"short commits":       rows(100, func(b []byte) string { return hex.EncodeToString(b[:4]) + " a subject" }),
		"numbers":             rows(100, func(b []byte) string { return fmt.Sprintf("%08d  %d", b[0], b[1]) }),
		"a table":             rows(400, func(b []byte) string { return fmt.Sprintf("%d,%d,%d,name%d", b[0], b[1], b[2], b[3]) }),
		"minified code":       strings.Repeat("function a(b,c){return b.d?c.e(b.f):new G(b,7)};var hI=[1,2,3];", 60),
		"a long path":         strings.Repeat("/some/long/directory/Name2", 80),
		"a long name":         strings.Repeat("veryLongNameOfSomething", 80),
		"one letter":          strings.Repeat("x", 4_000),
		"a rule":              strings.Repeat("=-", 2_000),
		"digits":              strings.Repeat("3141592653589793", 100),
		"genes":               strings.Repeat("ACGTTGCAACGGT", 200),
		"lines of one width":  strings.Repeat("the_same_name_again_and_again_in_a_list_of_many_names_x\n", 60),
		"escapes of a script": strings.Repeat(`printf "a\tb\n" C:\new\x`, 200),
		"escaped text":        `"` + strings.Repeat(`\u4f60\u597d, this is a text with some words in it. `, 60) + `"`,
		"hashes in one line":  strings.ReplaceAll(rows(100, func(b []byte) string { return hex.EncodeToString(b[:20]) }), "\n", " "),
		"escaped Chinese":     `"` + strings.Repeat(`\u4f60\u597d\u4e16\u754c`, 200) + `"`,
		"a table of bytes":    listed(data[:256], "0x%02x", ", "),
		"scores":              listed(bytes.Repeat([]byte{12, 100, 7, 99}, 600), "%d", ", "),
		"larger numbers":      strings.Repeat("300, 4, 17, 255, ", 400),
		"addresses":           rows(300, func(b []byte) string { return listed(b[:6], "%02x", ":") }),
		"rows of numbers":     rows(300, func(b []byte) string { return listed(b[:6], "%d", " ") }),
		"Chinese":             strings.Repeat("你好世界", 1_000),
	} {
		assert.Equal(t, text, minify.WithoutData(text, ""), name)
	}
}

// Data is found wherever it begins: most words in front of it are passed over.
func TestWithoutDataBehindWords(t *testing.T) {
	t.Parallel()
	data := base64.StdEncoding.EncodeToString(randomBytes(3_000))
	words := strings.Repeat("a word, of_a line\\n and\nanother%20one (or so) ", 4)
	for n := range words {
		for _, data := range []string{" " + data, "\n" + hex.Dump(randomBytes(1_000)), strings.Repeat(`\x89\x50`, 300)} {
			text := words[:n] + data
			assert.Less(t, len(minify.WithoutData(text, "")), len(words)+150, "behind %q", words[:n])
		}
	}
}

func BenchmarkWithoutData(b *testing.B) {
	text := strings.Repeat("func (t *Token) key(name string) error { return fmt.Errorf(\"%s: \\n%w\", name) } // path/to/file.go:12\n", 4_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		minify.WithoutData(text, "")
	}
}

// Data that was left out is not found again, and nothing is read past the ends.
func FuzzWithoutData(f *testing.F) {
	f.Add(strings.Repeat("aB3", 400), "\n")
	f.Add(strings.Repeat(`\x89`, 400), `\\`)
	f.Add(hex.Dump(randomBytes(600)), "")
	f.Fuzz(func(t *testing.T, s, end string) {
		once := minify.WithoutData(s+end, "")
		if twice := minify.WithoutData(once, ""); len(twice) > len(once) || len(once) > len(s+end) {
			t.Fatalf("%q becomes %q, and %q", s+end, once, twice)
		}
	})
}

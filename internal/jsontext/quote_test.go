package jsontext

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// byPackageJSON returns s as package json writes it without escapes for HTML.
func byPackageJSON(t testing.TB, s string) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(s))
	return strings.TrimSuffix(b.String(), "\n")
}

// TestAppendStringOfEachByte has each byte at each place of a word of eight bytes, and beyond one.
func TestAppendStringOfEachByte(t *testing.T) {
	for c := range 256 {
		for place := range 17 {
			s := strings.Repeat("x", place) + string([]byte{byte(c)}) + "née"
			require.Equal(t, "before"+byPackageJSON(t, s), string(AppendString([]byte("before"), s)), "%q", s)
		}
	}
}

// FuzzAppendString: it writes what package json writes.
func FuzzAppendString(f *testing.F) {
	for _, s := range append(texts, "<a> & b", "a\u2028b\u2029", "\x00\x1f\x7f\b\f", "\"\\\"", "\xed\xa0\x80", "\ufffd") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		require.Equal(t, byPackageJSON(t, s), string(AppendString(nil, s)))
	})
}

func BenchmarkAppendString(b *testing.B) {
	text := strings.Repeat("internal/store/append.go:118: the batch is written in one call\n", 30)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	var out []byte
	for b.Loop() {
		out = AppendString(out[:0], text)
	}
}

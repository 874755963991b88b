package jsontext

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

var texts = []string{
	``, ` `, `{}`, ` {} `, `{"a":1}`, `{"a":"b","c":-5,"d":null}`, `{"a":{"b":[1,2.5e7]}}`, `[1,"x"]`, `"text"`, `{"a":"\u00e9\n"}`, `{"a":"\x"}`,
	`{"a":01}`, `{"a":1,}`, `{"a" 1}`, `{"a":tru}`, `{"a":true}x`, `{"a":"` + "\n" + `"}`, `{"a":"open`, "{\"a\":\"\xff\"}", `{"a":0}`, `{"":false}`,
	`[1.5e-7,-0,0.1]`, `-`, `1.`, `1e`, `1e+`, `[1,]`, `[,1]`, `nul`, `"\u12G4"`, `"\u12`, `"12345678\"90123456"`, "\"1234567\x1f\"",
	`{"a":[{"b":[]},[[]],{}]}`, strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
	strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), "\"\x7f\x80\xa0\xdc\xa2\"", `"née 读 😀 and more of it"`,
}

func TestValid(t *testing.T) {
	for _, text := range texts {
		assert.Equal(t, json.Valid([]byte(text)), Valid([]byte(text)), "%q", text)
	}
}

// FuzzValid: what is valid, and what a string says, is what package json says.
func FuzzValid(f *testing.F) {
	for _, text := range append(texts, `"a\nb"`, `"\u2028"`, `"\ud83d\ude00"`, `"\u00E9\u00c9"`, "\"\xff\"", `{"a":1}x`, `"a" "b"`, `"\u001G"`) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		assert.Equal(t, json.Valid([]byte(text)), Valid([]byte(text)), "%q", text)
		var want string
		is := strings.HasPrefix(text, `"`) && json.Unmarshal([]byte(text), &want) == nil
		if got, ok := Decode([]byte(text)); ok != is || is && got != want {
			t.Errorf("%q says %q, %v, package json says %q", text, got, ok, want)
		}
	})
}

// FuzzStrings: what is quoted can be read, and strings are found in their order.
func FuzzStrings(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if back := Unquote(Quote(text)); utf8.ValidString(text) && back != text {
			t.Errorf("it became %q", back)
		}
		last := 0
		for from, to := range Strings([]byte(text)) {
			if from < last || to <= from || to > len(text) {
				t.Fatalf("a string from %d to %d behind %d", from, to, last)
			}
			last = to
		}
	})
}

func TestStrings(t *testing.T) {
	raw := `{"path":"a \"b\"","n":5,"list":["x",{"y":"z"}]}`
	var got []string
	for from, to := range Strings([]byte(raw)) {
		got = append(got, raw[from:to])
	}
	assert.Equal(t, []string{`"path"`, `"a \"b\""`, `"n"`, `"list"`, `"x"`, `"y"`, `"z"`}, got)
	for range Strings([]byte(raw)) {
		break // whoever wants the first alone stops
	}
}

func TestQuote(t *testing.T) {
	for _, c := range []struct{ why, text, want string }{
		{"plain", "abc", `"abc"`},
		{"what HTML would escape", "<a> & b", `"<a> & b"`},
		{"quotes and lines", "a \"b\"\n", `"a \"b\"\n"`},
		{"broken UTF-8", "a\xffb", `"a` + "\uFFFD" + `b"`},
	} {
		assert.Equal(t, c.want, string(Quote(c.text)), c.why)
	}
}

func TestDecode(t *testing.T) {
	for _, tc := range []struct {
		literal, want string
		ok            bool
		why           string
	}{
		{`"a\tb"`, "a\tb", true, "a plain escape"},
		{`"\ud83d\ude00"`, "😀", true, "a pair of surrogates"},
		{"\"\xff\"", "\uFFFD", true, "bytes that are not valid UTF-8"},
		{`"a`, "", false, "it does not end"},
		{`"a" "b"`, "", false, "more than one"},
		{`"a"}`, "", false, "text behind it"},
		{`12`, "", false, "no string"},
		{``, "", false, "nothing"},
	} {
		s, ok := Decode([]byte(tc.literal))
		assert.Equal(t, tc.ok, ok, tc.why)
		if ok {
			assert.Equal(t, tc.want, s, tc.why)
		}
	}
}

func TestUnquote(t *testing.T) {
	for _, c := range []struct{ why, raw, want string }{
		{"a string", ` "a\nb" `, "a\nb"},
		{"an object", `{"a":"b"}`, `{"a":"b"}`},
		{"no JSON", `"open`, `"open`},
		{"nothing", ``, ``},
	} {
		assert.Equal(t, c.want, Unquote(json.RawMessage(c.raw)), c.why)
	}
}

package jsontext

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

var texts = []string{
	``, ` `, `{}`, ` {} `, `{"a":1}`, `{"a":"b","c":-5,"d":null}`, `{"a":{"b":[1,2.5e7]}}`, `[1,"x"]`, `"text"`, `{"a":"\u00e9\n"}`, `{"a":"\x"}`,
	`{"a":01}`, `{"a":1,}`, `{"a" 1}`, `{"a":tru}`, `{"a":true}x`, `{"a":"` + "\n" + `"}`, `{"a":"open`, "{\"a\":\"\xff\"}", `{"a":0}`, `{"":false}`,
}

func TestValid(t *testing.T) {
	for _, text := range texts {
		assert.Equal(t, json.Valid([]byte(text)), Valid([]byte(text)), "%q", text)
	}
}

// FuzzValid: the quick way says nothing that package json does not say.
func FuzzValid(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := Valid([]byte(text)), json.Valid([]byte(text)); got != want {
			t.Errorf("%v, package json says %v", got, want)
		}
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

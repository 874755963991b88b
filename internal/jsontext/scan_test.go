package jsontext

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

func TestMembers(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                               "",
		` { "a" : 1 , "b":[1,{"c":"]}"}]}`: `a=1 b=[1,{"c":"]}"}]`,
		`{"a":"x\"y","b":"\\","c":"\\\""}`: `a="x\"y" b="\\" c="\\\""`,
		`{"a":true,"b":-1.5e3,"c":null}`:   `a=true b=-1.5e3 c=null`,
		`[1]`:                              "",
		``:                                 "",
		`{"a":1,"b`:                        "a=1",
		`{"a":1,"b":`:                      "a=1",
		`{"a":{"b":1`:                      "",
		`{"a"}`:                            "",
		`{1:2}`:                            "",
		`{"a":1 "b":2}`:                    "a=1 b=2",
	} {
		var got []string
		Members([]byte(in), func(key string, value []byte) { got = append(got, key+"="+string(value)) })
		assert.Equal(t, want, strings.Join(got, " "), in)
	}
}

func TestElements(t *testing.T) {
	for in, want := range map[string]string{`[]`: "", `[1, "a,b" ,{"c":[2]}]`: `1|"a,b"|{"c":[2]}`, `{"a":1}`: "", `"a"`: "", `[1,`: "1", `[[`: "", "": ""} {
		var got []string
		Elements([]byte(in), func(value []byte) { got = append(got, string(value)) })
		assert.Equal(t, want, strings.Join(got, "|"), in)
	}
}

func TestText(t *testing.T) {
	for _, s := range []string{"", "plain", "a\nb\t\"c\"\\", "\u2028<&>", "née 读 😀", strings.Repeat("line\n", 100), "\x00\x1f"} {
		b, err := json.Marshal(s)
		assert.NoError(t, err)
		assert.Equal(t, s, Text(b))
	}
	assert.Equal(t, "/\b\f\r", Text([]byte(`"\/\b\f\r"`)))
	assert.Equal(t, "😀", Text([]byte(`"\ud83d\ude00"`)))
	for _, in := range []string{"", `"`, "1", "null", `"\x"`, `"\`} {
		assert.Empty(t, Text([]byte(in)), in)
	}
}

// FuzzMembers reads any object as package json does, and anything else without a panic.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{`{"a":"x\"y","b":[1,{"c":"]}"}]}`, `{"a":"\u00e9"}`, `{"a":`, `[[`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := map[string]string{}
		Members(data, func(key string, value []byte) {
			got[Text([]byte(`"`+key+`"`))] = Text(value)
			Elements(value, func(element []byte) { Text(element) })
		})
		var want map[string]json.RawMessage
		if !utf8.Valid(data) || json.Unmarshal(data, &want) != nil || want == nil {
			return // other bytes stay as they are; package json replaces them
		}
		assert.ElementsMatch(t, slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(got)))
		for key, raw := range want {
			var text string
			if json.Unmarshal(raw, &text) == nil {
				assert.Equal(t, text, got[key])
			}
		}
	})
}

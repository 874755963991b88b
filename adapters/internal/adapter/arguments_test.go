package adapter

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestArguments(t *testing.T) {
	for _, tt := range []struct{ name, in, want, reason string }{
		{"sorted", `{"a":1,"b":[1,2]}`, `{"a":1,"b":[1,2]}`, "as it is"},
		{"unsorted", `{"path":"x","depth":2}`, `{"depth":2,"path":"x"}`, "the order of a model"},
		{"nested", `{"b":{"z":1,"y":[{"d":1,"c":2}]},"a":null}`, `{"a":null,"b":{"y":[{"c":2,"d":1}],"z":1}}`, "at every depth"},
		{"white space", " { \"b\" : [ 1 , 2 ] ,\n\"a\":\ttrue } ", `{"a":true,"b":[1,2]}`, "some servers indent"},
		{"numbers", `{"n":12345678901234567890,"f":1.10}`, `{"f":1.10,"n":12345678901234567890}`, "no float holds them"},
		{"escapes", `{"a":"\u4e0a\/<b>\n\""}`, `{"a":"上/<b>\n\""}`, "some servers write ASCII"},
		{"line separator", "{\"a\":\"x\u2028\u4e0a\"}", `{"a":"x\u2028上"}`, "package json escapes it"},
		{"keys", `{"a\u0062":1,"a":2}`, `{"a":2,"ab":1}`, "keys are texts"},
		{"empty", `{ }`, `{}`, "no arguments"},
		{"a text", `"ls -l"`, `"ls -l"`, "not an object"},
		{"broken", `{"b":1,"a":`, `{"b":1,"a":`, "no JSON"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, string(Arguments(json.RawMessage(tt.in))), tt.reason)
		})
	}
	first := Arguments(map[string]any{"b": 1, "a": "<&>"})
	assert.Nil(t, Arguments(nil))
	assert.Nil(t, Arguments(func() {}), "no JSON can be made of it")
	cyclic := map[string]any{}
	cyclic["a"] = []any{cyclic}
	assert.Nil(t, Arguments(cyclic), "it has no end")
	assert.Equal(t, `{"a":"<&>","b":1}`, string(first), "a map is sorted")
}

// FuzzArguments reads the output as package json reads the input.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{`{"b":1,"a":{"d":[],"c":"\u00e9"}}`, `[{"b":"\\\"","a":1e5}]`, `{"a":1,"a":2}`, `"x`, ` 5 `, "{\"\\u0000\":\"\u2028\"}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Arguments(json.RawMessage(s))
		if !json.Valid([]byte(s)) {
			assert.Equal(t, s, string(got))
			return
		}
		assert.Equal(t, string(got), string(Arguments(got)), "a second time changes nothing")
		assert.Equal(t, decoded(t, s), decoded(t, string(got)))
	})
}

// decoded keeps the spelling of numbers.
func decoded(t *testing.T, s string) (v any) {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	assert.NoError(t, d.Decode(&v))
	return v
}

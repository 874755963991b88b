package adapter

import (
	"encoding/json"
	"math"
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
			assert.Equal(t, tt.want, string(new(Arguments).Write(json.RawMessage(tt.in))), tt.reason)
		})
	}
	var a Arguments
	first := a.Write(map[string]any{"b": 1, "a": "<&>"})
	assert.Nil(t, a.Write(nil))
	assert.Nil(t, a.Write(func() {}), "no JSON can be made of it")
	a.Write(json.RawMessage(`{"b":2,"a":1}`))
	assert.Equal(t, `{"a":"<&>","b":1}`, string(first), "what was written is not written again")
}

// TestDecoded compares the encoding of decoded JSON with that of package json.
func TestDecoded(t *testing.T) {
	cyclic := map[string]any{}
	cyclic["a"] = []any{cyclic}
	for _, in := range []map[string]any{
		{}, nil, {"b": 1.0, "a": -2.0}, {"x": 1.5, "y": 1e21, "z": math.Copysign(0, -1), "w": 1e-7, "v": float64(1 << 53)},
		{"t": true, "f": false, "n": nil, "l": []any{}, "m": []any(nil), "o": map[string]any(nil), "k": []any{1.0, "a", []any{nil}}},
		{"text": "line\n\"quoted\" \\ tab\t <&> 上 \u2028 \xff \x7f \x00", "\xffkey\n": "v"},
		{"number": json.Number("12345678901234567890"), "int": 3, "raw": json.RawMessage(`{"a":1}`), "strings": []string{"a"}},
		{"p": 1.0, "o": 2.0, "n": 3.0, "m": 4.0, "l": 5.0, "k": 6.0, "j": 7.0, "i": 8.0, "h": 9.0, "g": 10.0, "f": 11.0, "e": 12.0, "d": 13.0, "c": 14.0, "b": 15.0, "a": 16.0, "q": 17.0, "r": 18.0},
		{"f": func() {}}, {"l": []any{math.NaN()}}, cyclic,
	} {
		var a Arguments
		a.Write(map[string]any{"before": "it"})
		assert.Equal(t, string(encode(in)), string(a.Write(in)))
	}
}

// FuzzArguments compares the output with that of package json for the same value.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{`{"b":1,"a":{"d":[],"c":"\u00e9"}}`, `[{"b":"\\\"","a":1e5}]`, `{"a":1,"a":2}`, `"x`, ` 5 `, "{\"\\u0000\":\"\u2028\"}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := new(Arguments).Write(json.RawMessage(s))
		if !json.Valid([]byte(s)) {
			assert.Equal(t, s, string(got))
			return
		}
		assert.Equal(t, string(got), string(new(Arguments).Write(got)), "a second time changes nothing")
		assert.Equal(t, decoded(t, s), decoded(t, string(got)))
		var m map[string]any
		if json.Unmarshal([]byte(s), &m) == nil && m != nil {
			assert.Equal(t, string(encode(m)), string(new(Arguments).Write(m)))
		}
	})
}

// decoded keeps the spelling of numbers.
func decoded(t *testing.T, s string) (v any) {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	assert.NoError(t, d.Decode(&v))
	return v
}

package jsonedit

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEdit(t *testing.T) {
	const text = ` { "a" : [ 1 , {"x":"y", "": null} ,"z" ], "b":"c" ,"l":[]}`
	for _, tt := range []struct {
		name string
		edit func(e *Editor, v Value)
		want string
	}{
		{"nothing", func(*Editor, Value) {}, `{ "a" : [ 1 , {"x":"y", "": null} ,"z" ], "b":"c" ,"l":[]}`},
		{"a value", func(e *Editor, v Value) { e.Replace(v.Get("a.1.x"), Quote("<new>")) }, `{ "a" : [ 1 , {"x":"<new>", "": null} ,"z" ], "b":"c" ,"l":[]}`},
		{"the first element goes", func(e *Editor, v Value) { e.Remove(v.Get("a.0")) }, `{ "a" : [ {"x":"y", "": null} ,"z" ], "b":"c" ,"l":[]}`},
		{"the last one goes", func(e *Editor, v Value) { e.Remove(v.Get("a.2")) }, `{ "a" : [ 1 , {"x":"y", "": null} ], "b":"c" ,"l":[]}`},
		{"all go", func(e *Editor, v Value) {
			for _, x := range v.Get("a").Elements() {
				e.Remove(x)
			}
		}, `{ "a" : [ ], "b":"c" ,"l":[]}`},
		{"members go", func(e *Editor, v Value) { e.Remove(v.Get("a")); e.Remove(v.Get("l")) }, `{ "b":"c"}`},
		{"elements come", func(e *Editor, v Value) {
			e.Before(v.Get("a.0"), []byte("0"))
			e.Append(v.Get("a"), []byte("4"))
			e.Append(v.Get("l"), []byte("5"))
			e.Append(v.Get("l"), []byte("6"))
		}, `{ "a" : [0, 1 , {"x":"y", "": null} ,"z",4 ], "b":"c" ,"l":[5,6]}`},
		{"in the place of one that goes", func(e *Editor, v Value) { e.Before(v.Get("a.1"), []byte("2")); e.Remove(v.Get("a.1")) }, `{ "a" : [ 1,2 ,"z" ], "b":"c" ,"l":[]}`},
		{"a member comes", func(e *Editor, v Value) { e.Add(v.Get("a.1"), "n", []byte("[]")); e.Add(v, "m", []byte("1")) }, `{ "a" : [ 1 , {"x":"y", "": null,"n":[]} ,"z" ], "b":"c" ,"l":[],"m":1}`},
		{"both", func(e *Editor, v Value) { e.Replace(v.Get("a"), []byte("[]")); e.Replace(v.Get("b"), []byte("{}")) }, `{ "a" : [], "b":{} ,"l":[]}`},
	} {
		v, ok := Parse([]byte(text))
		assert.True(t, ok)
		e := Edit(v)
		tt.edit(e, v)
		assert.Equal(t, tt.want, string(e.Bytes(v)), tt.name)
	}
}

func TestPaths(t *testing.T) {
	v := Value(`{"a":{"b":[1,{"c":"d"}]},"n":null}`)
	assert.Equal(t, "d", v.Get("a.b.1.c").Text())
	assert.Equal(t, 1, v.Get("a.b.0").Int())
	assert.Equal(t, 1<<53, Value(`12345678901234567890`).Int(), "it would overflow")
	assert.Equal(t, 0, Value(`1e400`).Int(), "it is none of 64 bits")
	assert.Empty(t, v.Get("a.b.2"))
	assert.Empty(t, v.Get("a.x.y"))
	assert.False(t, v.Get("n").Exists())
	assert.Equal(t, `{"a":{"b":[1,{"c":"e"}]},"n":null}`, string(v.Set("a.b.1.c", Quote("e"))))
	assert.Equal(t, `{"a":{"b":[1,{"c":"d"}],"x":2},"n":null}`, string(v.Set("a.x", []byte("2"))))
	assert.Equal(t, `{"a":{"b":[1]},"n":null}`, string(v.Delete("a.b.1")))
	assert.Equal(t, string(v), string(v.Delete("x")))
	assert.JSONEq(t, `{"a":"b","c":[1,2]}`, string(Object("a", "b", "c", List([]byte("1"), []byte("2")))))
}

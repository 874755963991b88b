package toolcall

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestArguments(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want Arguments
		why  string
	}{
		{`{"command":"ls","path":"a.go"}`, Arguments{Command: "ls", File: "a.go"}, "a command and a file"},
		{`{"cmd":["bash","-lc","make test"]}`, Arguments{Command: "make test"}, "the script of a shell"},
		{`{"path":"a.go","path":"b.go"}`, Arguments{File: "b.go"}, "the last of two, as package json has it"},
		{`{"pat\u0068":"a\tb"}`, Arguments{File: "a b"}, "escapes, in a key too"},
		{`{"path":"a.go"`, Arguments{File: "a.go"}, "cut short: what is there is read"},
		{`{"path":["a.go"]}`, Arguments{}, "a list is not a file"},
		{`{"input":"*** Update File: a.go\n"}`, Arguments{Patched: []Patch{{"a.go", "edited"}}, Patch: "*** Update File: a.go\n"}, "a patch"},
		{`{"input":"*** Delete File: a.go\n*** Add File: b.go\n"}`,
			Arguments{Patched: []Patch{{"a.go", "deleted"}, {"b.go", "wrote"}}, Patch: "*** Delete File: a.go\n*** Add File: b.go\n"},
			"what it does to each file"},
		{"*** Add File: b.go\n", Arguments{Patched: []Patch{{"b.go", "wrote"}}, Patch: "*** Add File: b.go\n"}, "a patch that is not JSON"},
		{`{}`, Arguments{}, "nothing"},
	} {
		assert.Equal(t, tc.want, Common.Arguments([]byte(tc.in)), tc.why)
	}
}

// FuzzMembers: the members of an object are those that package json finds.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":"x"}`, `{"a":1,"a":{"b":[2]}}`, `{"\u0061":"\ud83d\ude00"}`, "{\"\xff\":\"\xff\"}", `{"":null}`, `{ }`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		object := bytes.TrimSpace([]byte(in))
		want := map[string]json.RawMessage{}
		if len(object) == 0 || object[0] != '{' || json.Unmarshal(object, &want) != nil {
			return
		}
		got := membersOf(object)
		require.Len(t, got, len(want))
		for key, value := range want {
			require.Equal(t, string(value), string(got[key]), "%q", key)
		}
	})
}

package toolcall

import (
	"testing"

	"github.com/stretchr/testify/assert"
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
		{`{"path":"a\tb"}`, Arguments{File: "a b"}, "escapes"},
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

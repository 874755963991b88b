package toolcall

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOutput(t *testing.T) {
	own := Common.With(More{Read: []string{"Peek"}})
	for _, tt := range []struct {
		tool, arguments string
		want            Output
		reason          string
	}{
		{"Read", `{"file_path":"a.go"}`, Content, "a common tool that reads"},
		{"peek", `{"x":"a.go"}`, Content, "the host's own"},
		{"bash", `{"command":"mise run fmt && mise run lint"}`, Report, "the name of a task is no filter"},
		{"str_replace_editor", `{"command":"view","path":"a.go"}`, Content, "an editor shows what it edited"},
		{"mcp__github__get_file_contents", `{"path":"a.go"}`, Content, "a tool that nobody knows, and a file"},
		{"", `{}`, Content, "nobody knows the tool"},
		{"Grep", `{"pattern":"x","path":"src"}`, Matches, "a search in a directory"},
		{"mcp__ide__grep_code", `{}`, Matches, "by its name"},
		{"search_files", `{}`, Matches, "a common tool that searches"},
		{"web_search", `{"query":"x"}`, Report, "no lines of files"},
		{"get_reservation", `{"id":"7"}`, Report, "an API"},
		{"bash", `{"command":"go test ./... 2>&1 | tail -20"}`, Report, "a filter of what a program wrote"},
		{"bash", `{"command":"cd x && CI=1 timeout 60 npm test"}`, Report, "behind what runs it"},
		{"bash", `{"command":"tail -20 a.go"}`, Content, "the same program, of a file"},
		{"bash", `{"command":"sudo sed -n 1,20p a.go"}`, Content, "behind what runs it"},
		{"bash", `{"command":"make; head -3 Makefile"}`, Content, "in a list"},
		{"bash", `{"command":"make || cat make.log"}`, Content, "or"},
		{"bash", `{"command":["bash","-lc","nl -ba a.go | sed -n '1,9p'"]}`, Content, "a list whose last element is a script"},
		{"bash", `{"command":"ssh host 'cat /etc/hosts'"}`, Content, "in quotes"},
		{"bash", `{"command":"find . -name '*.go' | xargs cat"}`, Content, "named behind xargs"},
		{"bash", `{"command":"find . | xargs sed -n 1p"}`, Content, "a filter behind xargs reads files"},
		{"bash", `{"command":"/bin/cat a.go"}`, Content, "by its path"},
		{"bash", `{"command":"git -C x diff HEAD~1"}`, Content, "lines of files"},
		{"bash", `{"command":"git show HEAD:a.go"}`, Content, "a file of a commit"},
		{"bash", `{"command":"zcat a.json.gz"}`, Content, "a packed file"},
		{"bash", `{"command":"base64 -w0 logo.png"}`, Content, "the data is what was asked for"},
		{"bash", `{"command":"openssl genrsa 4096"}`, Content, "a key"},
		{"bash", `{"command":"psql -c 'select * from t'"}`, Content, "rows of a database"},
		{"bash", `{"command":"uniq a.txt"}`, Content, "a filter of a file"},
		{"bash", `{"command":"git status"}`, Report, "no lines of files"},
		{"bash", `{"command":"git check-ignore -v a.json"}`, Report, "what a command is told is not what it shows"},
		{"bash", `{"command":"python3 -c 'print(len(open(\"a.go\").read()))'"}`, Report, "a script says what it finds"},
		{"bash", `{"command":"curl -s x | jq ."}`, Content, "it may be a file just as well"},
		{"bash", `{"command":"grep -rn foo src | head"}`, Matches, "a search"},
		{"bash", `{"command":"git grep -n foo"}`, Matches, "a search"},
		{"bash", `{"command":"find . | xargs rg foo"}`, Matches, "a search behind xargs"},
		{"bash", `{"command":"go test | grep FAIL"}`, Report, "a filter"},
		{"bash", `{"command":"grep -n foo a.go; cat a.go"}`, Content, "the file is there too"},
		{"bash", `{"command":"apply_patch\n*** Update File: a.go\n"}`, Content, "a patch"},
		{"bash", `{"command":"cat > a.md <<'EOF'\nx\nEOF\ncat a.md"}`, Content, "and shown"},
		{"bash", `{"command":"cat a.md > b.md"}`, Content, "a copy: it may be a file just as well"},
		{"bash", `{"command":""}`, Report, "nothing"},
		{"bash", `{"command":"|"}`, Report, "nothing but a sign"},
		{"bash", `{"command":7`, Report, "no JSON"},
	} {
		assert.Equal(t, tt.want, own.Output(tt.tool, json.RawMessage(tt.arguments)), "%s %s: %s", tt.tool, tt.arguments, tt.reason)
	}
}

func FuzzCommandOutput(f *testing.F) {
	f.Add("cd x && sudo cat a | grep b || `tail c`")
	f.Fuzz(func(t *testing.T, command string) {
		if o := commandOutput(command); o > Matches {
			t.Fatal(o)
		}
	})
}

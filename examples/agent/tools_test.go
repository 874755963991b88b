package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

var errIncomplete = winnow.ErrIncomplete

func summaryRequest(maxTokens int) winnow.SummaryRequest {
	return winnow.SummaryRequest{MaxTokens: maxTokens, Messages: []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "q"}}}}}
}

// TestTools works in a directory beside which there is a secret.
func TestTools(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "work")
	write := func(name, text string) {
		path := filepath.Join(parent, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	write("secret.txt", "secret")
	write("work/a.txt", "one\ntwo\nthree\n")
	write("work/sub/b.txt", "two too\n")
	write("work/.git/c.txt", "two\n")
	write("work/image", "two\x00")
	write("work/many.txt", strings.Repeat("many\n", maxMatches+1))
	require.NoError(t, os.Symlink(filepath.Join(parent, "secret.txt"), filepath.Join(dir, "link")))
	t.Setenv("OPENAI_API_KEY", "a-key")
	tools, err := openTools(dir, true)
	require.NoError(t, err)
	defer tools.close()
	for _, tt := range []struct {
		tool, arguments string
		want            string
		isError         bool
		reason          string
	}{
		{"list", `{"path":"."}`, ".git/\na.txt  14 bytes\nimage  4 bytes\nlink  " /* its size is that of its path */, false, "directories and sizes"},
		{"list", `{"path":"sub"}`, "b.txt  8 bytes\n", false, "below"},
		{"list", `{"path":".."}`, "invalid argument", true, "not above"},
		{"read", `{"path":"a.txt"}`, "one\ntwo\nthree\n", false, "all of it"},
		{"read", `{"path":"a.txt","offset":2,"limit":1}`, "two\n", false, "some of it"},
		{"read", `{"path":"a.txt","offset":99}`, "", false, "behind the end"},
		{"read", `{"path":"../secret.txt"}`, "path escapes from parent", true, "nothing outside"},
		{"read", `{"path":"link"}`, "path escapes from parent", true, "by a link neither"},
		{"read", `{"path":"image"}`, "not text", true, "text only"},
		{"read", `{"path":"none"}`, "no such file", true, "the model is told"},
		{"read", `{"path":7}`, "arguments are not as they should be", true, "the model is told"},
		{"search", `{"pattern":"^two"}`, "a.txt:2: two\nsub/b.txt:1: two too\n", false, "no hidden directories, and no images"},
		{"search", `{"pattern":"two","path":"sub"}`, "sub/b.txt:1: two too\n", false, "below a directory"},
		{"search", `{"pattern":"secret"}`, "nothing found", false, "links are not followed"},
		{"search", `{"pattern":"many"}`, "… and more\n", false, "no more than can be read"},
		{"search", `{"pattern":"("}`, "missing closing )", true, "the model is told"},
		{"run", `{"command":"cat a.txt | wc -l; exit 3"}`, "3\nexit status 3", true, "the status as well"},
		{"run", `{"command":"echo ${OPENAI_API_KEY:-none}"}`, "none\n", false, "no keys in the environment"},
		{"run", `{"command":"printf '\\377'"}`, "\uFFFD", false, "valid UTF-8"},
		{"run", `{"command":"head -c 300000 /dev/zero | tr '\\0' x"}`, "… and 37856 more bytes", false, "not without end"},
		{"delete", `{}`, `there is no tool "delete"`, true, "tools can be made up"},
	} {
		m := tools.call(t.Context(), winnow.Part{ID: "a", Name: tt.tool, Arguments: []byte(tt.arguments)})
		assert.Equal(t, tt.isError, m.IsError, "%s %s: %s", tt.tool, tt.arguments, tt.reason)
		if got := m.Parts[0].Text; !strings.Contains(got, tt.want) {
			t.Errorf("%s %s: %s\nwant %q\nin   %s", tt.tool, tt.arguments, tt.reason, tt.want, oneLine(got, 300))
		}
		assert.Equal(t, "a", m.ToolCallID)
		if !tt.isError && tt.tool == "search" && strings.HasSuffix(tt.want, "\n") && !strings.HasPrefix(tt.want, "…") {
			assert.Equal(t, tt.want, m.Parts[0].Text, tt.reason)
		}
	}
	_, err = openTools(filepath.Join(parent, "none"), false)
	assert.Error(t, err)
}

// TestCommandsAreKilled when the user stops.
func TestCommandsAreKilled(t *testing.T) {
	tools, err := openTools(t.TempDir(), true)
	require.NoError(t, err)
	defer tools.close()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	m := tools.call(ctx, winnow.Part{Name: "run", Arguments: []byte(`{"command":"sleep 1000"}`)})
	assert.True(t, m.IsError)
}

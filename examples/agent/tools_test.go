package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// TestTools works in a directory beside which there is a secret.
func TestTools(t *testing.T) {
	parent := t.TempDir()
	for name, text := range map[string]string{
		"secret.txt": "secret", "work/a.txt": "one\ntwo\nthree\n", "work/sub/b.txt": "two too\n", "work/.git/c.txt": "two\n",
		"work/image": "two\x00", "work/many.txt": strings.Repeat("many\n", maxMatches+1),
	} {
		path := filepath.Join(parent, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	require.NoError(t, os.Symlink(filepath.Join(parent, "secret.txt"), filepath.Join(parent, "work", "link")))
	files, err := os.OpenRoot(filepath.Join(parent, "work"))
	require.NoError(t, err)
	defer files.Close()
	for _, tt := range []struct {
		tool, arguments string
		want            string
		isError         bool
		reason          string
	}{
		{"list", `{"path":"."}`, "d .git/\n- a.txt\n- image\nL link\n- many.txt\nd sub/\n", false, "files and directories"},
		{"list", `{}`, "a.txt\n", false, "the directory itself"},
		{"list", `{"path":"sub"}`, "- b.txt\n", false, "below"},
		{"list", `{"path":".."}`, "invalid argument", true, "not above"},
		{"read", `{"path":"a.txt"}`, "one\ntwo\nthree\n", false, "all of it"},
		{"read", `{"path":"../secret.txt"}`, "path escapes from parent", true, "nothing outside"},
		{"read", `{"path":"link"}`, "path escapes from parent", true, "by a link neither"},
		{"read", `{"path":"image"}`, "not text", true, "text only"},
		{"read", `{"path":"none"}`, "no such file", true, "the model is told"},
		{"read", `{"path":7}`, "arguments are not as they should be", true, "the model is told"},
		{"search", `{"pattern":"^two"}`, "a.txt: two\nsub/b.txt: two too\n", false, "no hidden directories, and no images"},
		{"search", `{"pattern":"two","path":"sub"}`, "sub/b.txt: two too\n", false, "below a directory"},
		{"search", `{"pattern":"secret"}`, "nothing found", false, "links are not followed"},
		{"search", `{"pattern":"many"}`, "… and more\n", false, "no more than can be read"},
		{"search", `{"pattern":"("}`, "missing closing )", true, "the model is told"},
		{"delete", `{}`, `there is no tool "delete"`, true, "tools can be made up"},
	} {
		m := callTool(files, winnow.Part{ID: "a", Name: tt.tool, Arguments: []byte(tt.arguments)})
		assert.Equal(t, tt.isError, m.IsError, "%s %s: %s", tt.tool, tt.arguments, tt.reason)
		assert.Contains(t, m.Parts[0].Text, tt.want, "%s %s: %s", tt.tool, tt.arguments, tt.reason)
		if tt.tool == "search" && strings.HasSuffix(tt.want, "two too\n") {
			assert.Equal(t, tt.want, m.Parts[0].Text, tt.reason)
		}
		assert.Equal(t, "a", m.ToolCallID)
	}
}

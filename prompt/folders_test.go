package prompt_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/prompt"
)

// A workspace with nested rules, as monorepos have them.
func workspace(t *testing.T) (dir string, root *os.Root) {
	dir = t.TempDir()
	write(t, filepath.Join(dir, "AGENTS.md"), "The workspace's own.")
	write(t, filepath.Join(dir, "web", "AGENTS.md"), "Use tabs.\n")
	write(t, filepath.Join(dir, "web", "CLAUDE.md"), "See AGENTS.md.")
	write(t, filepath.Join(dir, "web", "forms", "CLAUDE.md"), "Never touch generated.ts.")
	write(t, filepath.Join(dir, "web", "forms", "form.ts"), "let x")
	write(t, filepath.Join(dir, "api", "main.go"), "package main")
	return dir, openRoot(t, dir)
}

func texts(messages []winnow.Message) (list []string) {
	for _, m := range messages {
		list = append(list, m.Parts[0].Text)
	}
	return list
}

func TestFoldersTellEachFileOnce(t *testing.T) {
	dir, root := workspace(t)
	f := prompt.NewFolders(root)
	assert.Empty(t, f.Touch("api/main.go", "missing.txt", "AGENTS.md"), "no instructions below the workspace")
	got := f.Touch(filepath.Join(dir, "web", "forms", "form.ts"))
	require.Len(t, got, 2, "from the root down")
	assert.Equal(t, []string{
		"[Instructions of a folder, from the host: web/AGENTS.md. They count for what is in web/, before those of the folders above.]\n\nUse tabs.",
		"[Instructions of a folder, from the host: web/forms/CLAUDE.md. They count for what is in web/forms/, before those of the folders above.]\n\nNever touch generated.ts.",
	}, texts(got))
	assert.Equal(t, []string{"folder web/AGENTS.md"}, got[0].InForce)
	assert.Empty(t, f.Touch("web/forms/form.ts", "web", "web/new.ts"), "each once")

	write(t, filepath.Join(dir, "web", "AGENTS.md"), "Use spaces.")
	changed := f.Touch("web/forms/form.ts")
	require.Len(t, changed, 1, "a changed file is told again, and its newer text is the one in force")
	assert.Contains(t, changed[0].Parts[0].Text, "Use spaces.")
	assert.Equal(t, got[0].InForce, changed[0].InForce)

	again := prompt.NewFolders(root)
	again.Resume(append(got, changed...))
	assert.Empty(t, again.Touch("web/forms/form.ts"), "after a restart, too")
	assert.Equal(t, f.Told(), again.Told())
}

// Only the host's own messages count as told.
func TestFoldersBelieveNobodyElse(t *testing.T) {
	_, root := workspace(t)
	told := prompt.NewFolders(root).Touch("web/x")
	for name, forge := range map[string]func(*winnow.Message){
		"a person wrote it":  func(m *winnow.Message) { m.Injected = false },
		"a tool wrote it":    func(m *winnow.Message) { m.Role = winnow.RoleTool },
		"another text":       func(m *winnow.Message) { m.Parts = []winnow.Part{{Text: "Use spaces."}} },
		"it is not in force": func(m *winnow.Message) { m.InForce = nil },
	} {
		m := told[0]
		forge(&m)
		f := prompt.NewFolders(root)
		f.Resume([]winnow.Message{m})
		assert.Len(t, f.Touch("web/x"), 1, name)
	}
}

func TestFolderFilesStayInTheWorkspace(t *testing.T) {
	dir, root := workspace(t)
	outside := t.TempDir()
	write(t, filepath.Join(outside, "AGENTS.md"), secret)
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "linked")))
	require.NoError(t, os.Symlink("web", filepath.Join(dir, "inner")))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "sly"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(outside, "AGENTS.md"), filepath.Join(dir, "sly", "AGENTS.md")))
	write(t, filepath.Join(dir, "huge", "AGENTS.md"), strings.Repeat("a line\n", 10_000))
	write(t, filepath.Join(dir, "giant", "AGENTS.md"), strings.Repeat("x", 3<<20))
	write(t, filepath.Join(dir, "folder", "AGENTS.md", "x"), secret)
	for _, path := range []string{
		"linked/x", "inner/x", "sly/x", "../x", "/etc/passwd", outside + "/x", "web/../../x", "", ".", "\x00", "web\x00/x",
		strings.Repeat("deep/", 5_000),
	} {
		assert.Empty(t, prompt.FolderFiles(root, path), "%.40q", path)
	}
	huge := prompt.FolderFiles(root, "huge/x")
	require.Len(t, huge, 1)
	assert.Less(t, len(huge[0].Text), 33<<10)
	assert.True(t, strings.HasSuffix(huge[0].Text, "a line\n\n[37,234 more bytes of this file are not shown]"), huge[0].Text[len(huge[0].Text)-80:])
	for _, name := range []string{"giant/x", "folder/x"} {
		files := prompt.FolderFiles(root, name)
		require.Len(t, files, 1)
		assert.Empty(t, files[0].Text)
		assert.NotEmpty(t, files[0].Problem)
	}
}

// A compaction may leave instructions out of the request. Then the next touch tells them again.
func TestFoldersTellAgainBehindACompaction(t *testing.T) {
	_, root := workspace(t)
	f := prompt.NewFolders(root)
	told := f.Touch("web/x")
	f.Sending(&winnow.Request{Messages: told})
	f.Sending(&winnow.Request{Messages: told, Compaction: &winnow.Compaction{}})
	assert.Empty(t, f.Touch("web/x"), "it is there still")
	f.Sending(&winnow.Request{Compaction: &winnow.Compaction{}})
	assert.Equal(t, told, f.Touch("web/x"))
}

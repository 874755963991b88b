package prompt

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/winnowgo/winnow"
)

// folderFileNames are the files that hold a folder's instructions for agents. Where a folder has both, the second one
// is mostly a link to the first, or says "see AGENTS.md".
var folderFileNames = []string{"AGENTS.md", "CLAUDE.md"}

// maxFolderBytes is what is told of one file. Codex reads as much of all its AGENTS.md files together by default.
const maxFolderBytes = 32 << 10

// maxFolders is how deep below the workspace instructions are looked for. It bounds the work for a hostile path.
const maxFolders = 32

// FolderFiles reads the instructions for the folder that holds path: AGENTS.md, or else CLAUDE.md, of each folder from
// the one below the workspace down to that of path. path is a file or a folder, which need not exist, inside the
// workspace: relative to it, or absolute.
//
// Nothing is read through a link, nor outside of the workspace. A file of more than 2 MiB, or one that is not regular,
// has a Problem. Of a longer text than 32 KiB the beginning is kept, up to the end of a line.
func FolderFiles(root *os.Root, path string) (files []File) {
	for _, folder := range foldersTo(root, path) {
		for _, name := range folderFileNames {
			name = filepath.Join(folder, name)
			info, err := root.Lstat(name)
			if err != nil || info.Mode()&os.ModeSymlink != 0 {
				continue
			}
			f := readFile(root, name)
			f.Path = cleanName(filepath.ToSlash(name))
			f.Text = firstLines(f.Text, maxFolderBytes)
			files = append(files, f)
			break
		}
	}
	return files
}

// foldersTo returns the folders from the one below root down to that of path. It ends before one that is a link.
func foldersTo(root *os.Root, path string) (folders []string) {
	if filepath.IsAbs(path) {
		base, err := filepath.Abs(root.Name())
		if err != nil {
			return nil
		}
		if path, err = filepath.Rel(base, path); err != nil {
			return nil
		}
	}
	if path = filepath.Clean(path); !filepath.IsLocal(path) {
		return nil
	}
	folder := ""
	for name := range strings.SplitSeq(path, string(filepath.Separator)) {
		folder = filepath.Join(folder, name)
		info, err := root.Lstat(folder)
		if err != nil || !info.IsDir() || name == "." || len(folders) == maxFolders {
			break
		}
		folders = append(folders, folder)
	}
	return folders
}

// firstLines returns the beginning of a text that is longer than most bytes, up to the end of a line, and says so.
func firstLines(text string, most int) string {
	if len(text) <= most {
		return text
	}
	kept := text[:most]
	if i := strings.LastIndexByte(kept, '\n'); i > 0 {
		kept = kept[:i]
	}
	return fmt.Sprintf("%s\n\n[%s more bytes of this file are not shown]", valid(kept), comma(len(text)-len(kept)))
}

// Folders tells the model the instructions of a folder when a tool first touches it. It is for one conversation, and
// safe for concurrent use.
type Folders struct {
	root *os.Root

	mu   sync.Mutex
	told map[string]string // by path, the fingerprint of the text that the model knows
}

// NewFolders returns a tracker for the workspace root, which the caller keeps open.
func NewFolders(root *os.Root) *Folders { return &Folders{root: root, told: map[string]string{}} }

const (
	folderIntro   = "[Instructions of a folder, from the host: "
	folderInForce = "folder " // and the path: the name under which they are in force
)

// Touch returns the messages to append to the history behind the results of tools that touched paths: one for each
// file of [FolderFiles] that the model was not told yet, or that has changed since. A compaction carries them over as
// far as there is room.
func (f *Folders) Touch(paths ...string) (messages []winnow.Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, path := range paths {
		for _, file := range FolderFiles(f.root, path) {
			text := strings.TrimSpace(file.Text)
			if print := fingerprint(text); text != "" && f.told[file.Path] != print {
				f.told[file.Path] = print
				messages = append(messages, folderMessage(file.Path, text))
			}
		}
	}
	return messages
}

func folderMessage(path, text string) winnow.Message {
	folder := path[:strings.LastIndexByte(path, '/')+1]
	intro := folderIntro + path + ". They count for what is in " + folder + ", before those of the folders above.]"
	return winnow.Message{Role: winnow.RoleUser, Injected: true, InForce: []string{folderInForce + path},
		Parts: []winnow.Part{{Text: intro + "\n\n" + text}}}
}

// Resume finds in a history what was told. Call it after a restart.
func (f *Folders) Resume(history []winnow.Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.Copy(f.told, toldFolders(history))
}

// Sending takes the request that is about to be sent. What a compaction took out of it is told again at the next
// touch.
func (f *Folders) Sending(r *winnow.Request) {
	if r.Compaction == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.told = toldFolders(r.Messages)
}

// toldFolders returns what messages tell: fingerprints by path. The newest message for a path counts.
func toldFolders(messages []winnow.Message) map[string]string {
	told := map[string]string{}
	for i := range messages {
		m := &messages[i]
		if m.Role != winnow.RoleUser || !m.Injected || len(m.InForce) != 1 || len(m.Parts) != 1 {
			continue
		}
		path, isFolder := strings.CutPrefix(m.InForce[0], folderInForce)
		intro, text, _ := strings.Cut(m.Parts[0].Text, "]\n\n")
		if isFolder && strings.HasPrefix(intro, folderIntro) {
			told[path] = fingerprint(text)
		}
	}
	return told
}

// Told returns the paths of the files that the model was told, sorted.
func (f *Folders) Told() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.told))
}

package prompt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf16"
)

// File is a file of the workspace that the prompt shows.
type File struct {
	Name     string // name in notices: AGENTS.md
	Path     string // path in the prompt (Name; with HeadTail, as in the reference, a file without a path is left out)
	Text     string
	Missing  bool   // the file does not exist; the prompt says where it is expected
	Problem  string // why the file was not read, without any of its text
	Priority int    // its weight when the budget is shared (1)
	Max      int    // characters, in addition to Options.MaxFileChars (0: no further limit)
}

// FileList is one of the reference's lists of files.
type FileList string

const (
	WorkspaceFiles FileList = "workspace" // for the agent that talks to people
	FirstRunFiles  FileList = "first run" // the same with BOOTSTRAP.md
	SubagentFiles  FileList = "subagent"  // for sub-agents and scheduled jobs, as in the reference
	SubagentShort  FileList = "short"     // AGENTS.md and TOOLS.md, as in the reference's manual
	SubagentRules  FileList = "rules"     // AGENTS.md, as in later versions of the reference
)

// fileOrder is the reference's order of files.
var fileOrder = []string{
	"AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md", "HEARTBEAT.md", bootstrapFile, memoryFile,
	memoryFileLower,
}

const (
	bootstrapFile   = "BOOTSTRAP.md"
	memoryFile      = "MEMORY.md"
	memoryFileLower = "memory.md"
)

// FileNames returns the names of a list, for [ReadFiles]. An unknown list means WorkspaceFiles.
func FileNames(list FileList) []string {
	switch list {
	case FirstRunFiles:
		return slices.Clone(fileOrder[:len(fileOrder)-1])
	case SubagentFiles:
		return []string{"AGENTS.md", "TOOLS.md", "SOUL.md", "IDENTITY.md", "USER.md"}
	case SubagentShort:
		return []string{"AGENTS.md", "TOOLS.md"}
	case SubagentRules:
		return []string{"AGENTS.md"}
	}
	return slices.DeleteFunc(FileNames(FirstRunFiles), func(name string) bool { return name == bootstrapFile })
}

// fileRank is the place of a file in the order of the prompt. Files unknown to the reference come last.
func fileRank(name string) int {
	if i := slices.Index(fileOrder, name); i >= 0 {
		return i
	}
	return len(fileOrder)
}

// maxFileBytes is the largest file that ReadFiles reads. A prompt can show far less, and nobody writes a file of more
// than 2 MB (the reference's limit) for a prompt.
const maxFileBytes = 2 << 20

// ReadFiles reads files of a workspace, without names WorkspaceFiles. It does not follow links out of the root. A file
// that is not regular, is larger than 2 MiB or cannot be read has a Problem. A file that does not exist is Missing.
// MEMORY.md falls back to memory.md, and is left out if neither exists. UTF-16 with a byte order mark is decoded.
func ReadFiles(root *os.Root, names ...string) []File {
	if len(names) == 0 {
		names = FileNames(WorkspaceFiles)
	}
	files := make([]File, 0, len(names))
	for _, name := range names {
		f := readFile(root, name)
		if name == memoryFile && f.Missing {
			if f = readFile(root, memoryFileLower); f.Missing {
				continue
			}
		}
		files = append(files, f)
	}
	return files
}

func readFile(root *os.Root, name string) File {
	f := File{Name: cleanName(filepath.Base(name)), Path: cleanName(filepath.Join(root.Name(), name))}
	text, err := readText(root, name, maxFileBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Missing = true
	case err != nil:
		f.Problem = problem(err)
	default:
		f.Text = text
	}
	return f
}

// readText reads a regular file of up to most bytes, as UTF-8.
func readText(root *os.Root, name string, most int64) (string, error) {
	f, err := openFile(root, name, most)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most)) // it may have grown meanwhile
	return decode(data), err
}

// decode returns the text of a file as UTF-8, without a byte order mark. The shell of Windows writes UTF-16 with one.
func decode(data []byte) string {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	default:
		return valid(string(data))
	}
	units := make([]uint16, 0, len(data)/2)
	for data = data[2:]; len(data) > 1; data = data[2:] {
		units = append(units, order.Uint16(data))
	}
	return string(utf16.Decode(units))
}

// openFile opens a regular file of up to most bytes. It does not open devices and pipes.
func openFile(root *os.Root, name string, most int64) (*os.File, error) {
	info, err := root.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, refusal("it is a directory")
	case !info.Mode().IsRegular():
		return nil, refusal("it is not a regular file")
	case info.Size() > most:
		return nil, refusal(fmt.Sprintf("it has %s bytes, more than %s", comma(int(info.Size())), comma(int(most))))
	}
	return root.Open(name)
}

// refusal is the reason why a file is not read. The library wrote its text.
type refusal string

func (r refusal) Error() string { return string(r) }

// problem describes a read error without paths and without text of the file.
func problem(err error) string {
	var own refusal
	var path *fs.PathError
	switch {
	case errors.As(err, &own):
		return string(own)
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case errors.As(err, &path):
		return path.Err.Error()
	}
	return "it cannot be read"
}

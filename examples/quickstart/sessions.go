package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// How the sessions were recorded: README.md.
//
//go:embed sessions/*.jsonl.gz
var recorded embed.FS

const (
	defaultSession = "english"
	suffix         = ".jsonl.gz"
)

// builtin returns the names of the built-in sessions.
func builtin() []string {
	files, err := fs.Glob(recorded, "sessions/*"+suffix)
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(path.Base(f), suffix)
	}
	return files
}

// load reads a built-in session by its name, or a file.
func load(name string) ([]winnow.Message, error) {
	data, err := recorded.ReadFile("sessions/" + name + suffix)
	if err != nil {
		data, err = os.ReadFile(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no file %q, and no session of that name; built in are: %s", name,
			strings.Join(builtin(), ", "))
	}
	if err != nil {
		return nil, err
	}
	history, err := recording.Read(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return history, nil
}

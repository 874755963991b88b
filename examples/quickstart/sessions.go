package main

import (
	"bytes"
	"compress/gzip"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/winnowgo/winnow"
)

// How the sessions were recorded: README.md.
//
//go:embed sessions/*.jsonl.gz
var recorded embed.FS

const (
	defaultSession = "english"
	suffix         = ".jsonl.gz"
)

// builtin returns the names of the sessions that are built in.
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

// load reads a session by the name of one that is built in, or from a file.
func load(name string) ([]winnow.Message, error) {
	data, err := recorded.ReadFile("sessions/" + name + suffix)
	if err != nil {
		data, err = os.ReadFile(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no file %q, and no session of that name; built in are: %s", name, strings.Join(builtin(), ", "))
	}
	if err != nil {
		return nil, err
	}
	if data, err = unzip(data); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	history, err := winnow.ReadMessages(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(history) == 0 {
		return nil, fmt.Errorf("%s: there is no message in it", name)
	}
	return history, nil
}

// unzip returns data, unpacked if it is gzipped.
func unzip(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err == nil {
		data, err = io.ReadAll(r)
	}
	if err != nil {
		return nil, fmt.Errorf("reading gzip: %w", err)
	}
	return data, nil
}

package recording

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// OpenFile reads a session from a file, as [Open] does. In a directory it reads the session that was written to last,
// at any depth. It also returns the file. The error is [fs.ErrNotExist] if the file does not exist.
func OpenFile(name string) (s *Session, file string, err error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, "", err
	}
	if file = name; info.IsDir() {
		if file, err = newestIn(name); err != nil {
			return nil, "", err
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, "", err
	}
	if s, err = Open(data); err != nil {
		return nil, "", fmt.Errorf("%s is not a session of Claude Code, Codex, OpenClaw, pi or winnow: %w", file, err)
	}
	s.readIndex(file)
	return s, file, nil
}

// newestIn returns the session file in a directory that was written to last.
func newestIn(dir string) (newest string, err error) {
	var at time.Time
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".jsonl") || d.Name() == "catalog.jsonl" {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) { // gone in the meantime
			return nil
		}
		if err == nil && info.Mode().IsRegular() && (newest == "" || info.ModTime().After(at)) {
			newest, at = name, info.ModTime()
		}
		return err
	})
	if err == nil && newest == "" {
		err = fmt.Errorf("there is no session, which is a file named *.jsonl, in the directory %s", dir)
	}
	return newest, err
}

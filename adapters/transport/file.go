package transport

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/winnowgo/winnow"
)

// A file has the state of a conversation: a snapshot in its first line, and in each later line what has changed since.
// Its name is that of the conversation, with hashes of the history behind which it is the state.

const fileEnding = ".winnow"

// keptFor is how long a file stays that no request has used. Later its loss costs little: the prompt cache is long
// cold, and a history without its state is prepared anew.
const keptFor = 30 * 24 * time.Hour

// storedIn returns the names of the files in dir, by the hashes in them, and removes old ones.
func storedIn(dir string, now time.Time) (map[chain]string, error) {
	stored := map[chain]string{}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("transport: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("transport: %w", err)
	}
	for _, e := range entries {
		chains := chainsIn(e.Name())
		if len(chains) == 0 {
			continue
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > keptFor {
			_ = os.Remove(filepath.Join(dir, e.Name())) // the next process tries again
			continue
		}
		for _, c := range chains {
			stored[c] = e.Name()
		}
	}
	return stored, nil
}

// file is where the state of a conversation is kept. No request waits for the disk: a killed process loses nothing, and
// a machine that loses its power costs the conversations their prompt cache.
type file struct {
	dir, name string

	mu   sync.Mutex // never held while the manager is waited for: it calls the journal
	path string     // in dir; "": nothing is written yet
	size int        // of what was appended to the snapshot
	err  error      // of an append
}

// mostAppended is the size from which on a snapshot replaces what was appended: so much is decoded in a few
// milliseconds when a process begins.
const mostAppended = 256 << 10

// newName returns a name that no other conversation has.
func newName() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// chainsIn returns the hashes in the name of a file: of the history, and of that up to its newest answer, if a history
// may differ behind that.
func chainsIn(path string) (chains []chain) {
	text, ok := strings.CutSuffix(path, fileEnding)
	fields := strings.Split(text, "-")
	if !ok {
		return nil
	}
	for _, f := range fields[1:] {
		b, err := hex.DecodeString(f)
		if err != nil || len(b) != len(chain{}) {
			return nil
		}
		chains = append(chains, chain(b))
	}
	return chains
}

// journal returns a journal that appends to the file, and tells the host's own.
func (f *file) journal(of winnow.Journal) winnow.Journal {
	return func(delta []byte) error {
		f.append(delta)
		if of != nil {
			return of(delta)
		}
		return nil
	}
}

// begin writes the snapshot that a copied conversation begins with.
func (f *file) begin(state []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.write(state)
}

func (f *file) write(state []byte) {
	f.path = f.name + "-" + fileEnding
	f.err = os.WriteFile(filepath.Join(f.dir, f.path), line(state), 0o600)
}

func (f *file) append(delta []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.path == "" {
		f.write(nil)
	}
	w, err := os.OpenFile(filepath.Join(f.dir, f.path), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = w.Write(line(delta))
		if e := w.Close(); err == nil {
			err = e
		}
	}
	f.size += len(delta)
	f.err = err
}

func line(text []byte) []byte { return append(bytes.ReplaceAll(text, []byte("\n"), nil), '\n') }

// moveTo names the file by hashes, and returns its old and its new name.
func (f *file) moveTo(chains []chain, snapshot func() ([]byte, error)) (old, now string, err error) {
	f.mu.Lock()
	size := f.size
	f.mu.Unlock()
	var state []byte
	if size > mostAppended {
		if state, err = snapshot(); err != nil {
			return "", "", err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	old, now, err = f.path, f.path, f.err
	if err == nil && state != nil && f.size == size { // else it was appended to meanwhile
		err = f.replace(state)
	}
	if err != nil || f.path == "" {
		return old, now, err
	}
	path := f.name
	for _, c := range chains {
		path += "-" + hex.EncodeToString(c[:])
	}
	path += fileEnding
	if err := os.Rename(filepath.Join(f.dir, f.path), filepath.Join(f.dir, path)); err != nil {
		return old, now, err
	}
	f.path = path
	return old, path, nil
}

// replace puts a snapshot in the place of what the file has.
func (f *file) replace(state []byte) error {
	temporary := filepath.Join(f.dir, f.name+".tmp")
	if err := os.WriteFile(temporary, line(state), 0o600); err != nil {
		return err
	}
	f.size = 0
	return os.Rename(temporary, filepath.Join(f.dir, f.path))
}

// readFile returns the state in a file. It is nil if that cannot be read.
func readFile(dir, path string) (name string, state []byte, deltas [][]byte) {
	data, err := os.ReadFile(filepath.Join(dir, path))
	if err != nil {
		return "", nil, nil
	}
	name, _, _ = strings.Cut(path, "-")
	lines := bytes.Split(data, []byte("\n"))
	lines = lines[:len(lines)-1] // a line without an end was not written completely
	if len(lines) == 0 {
		return name, nil, nil
	}
	return name, lines[0], lines[1:]
}

package session

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"sync"

	"github.com/winnowgo/winnow/session/internal/files"
)

// Keys implements [Backend].
func (d *directory) Keys(ctx context.Context) ([]string, error) {
	var mu sync.Mutex
	var keys []string
	err := d.eachStored(ctx, func(s storedFile) error {
		parent := directoryOf(s.dir)
		key, ok, err := d.keyOf(parent, s.dir[len(parent)+1:])
		if ok {
			mu.Lock()
			defer mu.Unlock()
			keys = append(keys, key)
		}
		return err
	})
	return keys, err
}

// keyOf reads the key of a directory from the header of its newest log.
func (d *directory) keyOf(parent, name string) (key string, ok bool, err error) {
	if !strings.HasPrefix(name, "k-") {
		return "", false, nil
	}
	dir := parent + "/" + name
	if isDir, err := d.fs.IsDir(dir); !isDir {
		if errors.Is(err, files.ErrLink) {
			err = nil
		}
		return "", false, err
	}
	logs, err := d.logs(dir)
	for i := len(logs) - 1; i >= 0 && err == nil; i-- {
		f, err := d.openToRead(dir+"/"+logs[i], longestHeader)
		if err != nil {
			continue
		}
		head := make([]byte, longestHeader)
		n, _ := f.ReadAt(head, 0)
		f.Close()
		text, _, _ := strings.Cut(string(head[:n]), "\n")
		if l, reason := parseLine([]byte(text)); reason == "" {
			if e, err := l.decode(); err == nil && e.Type == TypeSession {
				return e.Key, true, nil
			}
		}
	}
	if len(logs) > 0 && !strings.Contains(name, "~") {
		key, ok = unescapeKey(name[len("k-"):])
	}
	return key, ok, err
}

// unescapeKey undoes escapeKey.
func unescapeKey(name string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] != '%' {
			b.WriteByte(name[i])
			continue
		}
		if i+2 >= len(name) {
			return "", false
		}
		c, err := hex.DecodeString(name[i+1 : i+3])
		if err != nil {
			return "", false
		}
		b.Write(c)
		i += 2
	}
	return b.String(), true
}

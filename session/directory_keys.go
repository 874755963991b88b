package session

import (
	"context"
	"encoding/hex"
	"strings"
	"sync"
)

// Keys implements [Backend].
func (d *directory) Keys(ctx context.Context) ([]string, error) {
	var mu sync.Mutex
	var keys []string
	err := d.eachStored(ctx, func(s storedFile) error {
		key, err := d.keyIn(&s)
		if key != "" {
			mu.Lock()
			defer mu.Unlock()
			keys = append(keys, key)
		}
		return err
	})
	return keys, err
}

// keyIn returns the key of a session: that in the name of its directory, or, if the name does not hold the whole key,
// that in the header of its newest log. It is "" if neither can be read.
func (d *directory) keyIn(s *storedFile) (string, error) {
	if key, ok := unescapeKey(strings.TrimPrefix(s.name, "k-")); ok {
		if parent, name := keyDirectory(key); parent+"/"+name == s.dir {
			return key, nil
		}
	}
	return d.keyOf(s.dir, s.name)
}

// keyOf reads the key of a session from the header of its newest log.
func (d *directory) keyOf(dir, name string) (key string, err error) {
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
				return e.Key, nil
			}
		}
	}
	if len(logs) > 0 && !strings.Contains(name, "~") {
		key, _ = unescapeKey(name[len("k-"):])
	}
	return key, err
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

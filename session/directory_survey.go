package session

import (
	"context"
	"errors"
	"io/fs"
	"strings"
)

var _ surveyor = (*directory)(nil)

// survey implements [surveyor].
func (d *directory) survey(ctx context.Context, f func(*surveyed) error) error {
	return d.eachStored(ctx, func(stored storedFile) error {
		key, err := d.keyIn(&stored)
		if key == "" || err != nil {
			return err
		}
		s := &surveyed{key: key}
		s.parts, s.lost = partsIn(stored.in, ".", stored.marks)
		s.open = func(part Part, limit int64) (Log, error) {
			name := strings.TrimSuffix(part.Name, archiveSuffix)
			f, err := openToRead(stored.in, name, limit)
			if errors.Is(err, fs.ErrNotExist) {
				err = ErrNotFound
			}
			if err != nil {
				return nil, err
			}
			return &directoryLog{directory: d, dir: stored.dir, name: name, file: f, marks: stored.marks}, nil
		}
		return f(s)
	})
}

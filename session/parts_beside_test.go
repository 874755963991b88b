package session_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/sessiontest"
)

// listingFS is a file system where something happens just after a directory of a session was listed, once.
type listingFS struct {
	*sessiontest.CrashFS
	after func()
}

func (f *listingFS) List(dir string) ([]string, error) {
	names, err := f.CrashFS.List(dir)
	if after := f.after; after != nil && strings.Contains(dir, "/k-") {
		f.after = nil
		after()
	}
	return names, err
}

// TestPartsBesideAnArchiver: a log that is archived or restored while the parts of its session are listed is one of
// them, and an eraser finds it.
func TestPartsBesideAnArchiver(t *testing.T) {
	ctx := t.Context()
	for _, c := range []struct {
		reason   string
		archived bool // before, and restored meanwhile
		want     session.PartKind
	}{
		{"the log is archived", false, session.PartArchive},
		{"the archive is restored", true, session.PartLog},
	} {
		t.Run(c.reason, func(t *testing.T) {
			fsys := &listingFS{CrashFS: sessiontest.NewCrashFS()}
			store, err := session.OpenFiles(fsys, nil)
			require.NoError(t, err)
			other, err := session.OpenFiles(fsys.CrashFS, nil)
			require.NoError(t, err)
			s := open(t, store, "k")
			require.NoError(t, s.Append(ctx, session.User("secret"), answer("yes")))
			id := s.View().IDs[0]
			require.NoError(t, s.Close())
			archive := func() {
				m := other.Backend().(session.Maintainer)
				parts, err := m.Parts(ctx, "k")
				require.NoError(t, err)
				turn, err := m.Turn(ctx, "k")
				require.NoError(t, err)
				_, err = m.Archive(ctx, turn, parts[0], time.Unix(1_700_000_000, 0))
				require.NoError(t, err)
				require.NoError(t, turn.Release())
			}
			meanwhile := archive
			if c.archived {
				archive()
				meanwhile = func() { require.NoError(t, open(t, other, "k").Close()) }
			}

			fsys.after = meanwhile
			parts, err := store.Parts(ctx, "k")
			require.NoError(t, err)
			require.Nil(t, fsys.after, "nothing happened meanwhile")
			require.Len(t, parts, 1)
			assert.Equal(t, c.want, parts[0].Kind)
			assert.True(t, parts[0].Open)

			if c.archived {
				archive()
			} else {
				require.NoError(t, open(t, other, "k").Close())
			}
			fsys.after = meanwhile
			_, err = store.EraseEntries(ctx, "k", "", id)
			require.NoError(t, err)
			v, err := store.Read(ctx, "k")
			require.NoError(t, err)
			assert.NotContains(t, texts(v), "secret")
		})
	}
}

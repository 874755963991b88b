package pgtest

import (
	"errors"
	"os/user"
	"strconv"
	"syscall"
)

// unprivileged returns a user who may run a server.
func unprivileged() (*syscall.Credential, error) {
	for _, name := range []string{"postgres", "nobody", "daemon"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			continue
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			continue
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("pgtest: no user postgres, nobody or daemon to run the server as")
}

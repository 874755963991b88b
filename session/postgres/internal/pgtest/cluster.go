// Package pgtest starts throw-away PostgreSQL servers, for the tests and the examples of this module.
package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrNoServer: the programs initdb and postgres are not installed.
var ErrNoServer = errors.New("pgtest: there is no initdb and postgres, neither in PATH nor where packages put them")

// Cluster is a server with its data in a temporary directory.
type Cluster struct {
	Port     int
	dir      string
	bin      string
	settings []string
	user     *syscall.Credential // nil: that of this process
	guard    *exec.Cmd           // the shell that has the server as its child
	stdin    io.Closer           // input of guard; when it closes, guard kills the server
	ended    chan struct{}       // closed when guard has ended
}

// Start creates a cluster and waits until it answers. It listens on a loopback port and on a socket in its directory;
// everybody on the machine may log in as "winnow". Settings, such as "fsync=off", go to the server.
func Start(settings ...string) (*Cluster, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "winnow-pg-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir, bin: bin, settings: settings}
	if err := c.start(); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

// programs returns the directory of initdb and postgres, which packages install outside of PATH.
func programs() (string, error) {
	dirs := filepath.SplitList(os.Getenv("PATH"))
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin",
		"/usr/local/opt/postgresql*/bin", "/opt/homebrew/opt/postgresql*/bin",
	} {
		found, _ := filepath.Glob(pattern) // the patterns are good
		slices.Reverse(found)              // the newest version first
		dirs = append(dirs, found...)
	}
	for _, dir := range dirs {
		_, noInit := exec.LookPath(filepath.Join(dir, "initdb"))
		_, noServer := exec.LookPath(filepath.Join(dir, "postgres"))
		if noInit == nil && noServer == nil {
			return dir, nil
		}
	}
	return "", ErrNoServer
}

func (c *Cluster) start() (err error) {
	if c.user, err = Unprivileged(); err != nil {
		return err
	}
	if c.user != nil {
		if err := os.Chown(c.dir, int(c.user.Uid), int(c.user.Gid)); err != nil {
			return err
		}
	}
	initdb := c.command("initdb", "-D", c.data(), "-U", "winnow", "-A", "trust", "-E", "UTF8", "--locale=C",
		"--no-sync")
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("pgtest: initdb: %w: %s", err, out)
	}
	if c.Port, err = FreePort(); err != nil {
		return err
	}
	return c.Restart()
}

func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }

func (c *Cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.bin, name), args...)
	c.runAs(cmd)
	return cmd
}

func (c *Cluster) runAs(cmd *exec.Cmd) {
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "HOME="+c.dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.user, Setpgid: true}
}

// guard is a shell that kills its child when its input ends, so that a killed test leaves no server behind.
const guard = `exec 3<&0
"$@" 3<&- >>server.log 2>&1 & server=$!
(cat <&3 >/dev/null; kill -QUIT $server 2>/dev/null) & 
wait $server; kill $! 2>/dev/null`

// longestStart is how long a server may take until it answers.
const longestStart = 60 * time.Second

// Restart starts the server after [Cluster.Kill], and waits until it answers. A new server refuses to start while
// processes of the killed one are still ending; Restart then starts it again.
func (c *Cluster) Restart() (err error) {
	for end := time.Now().Add(longestStart); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if c.guard == nil {
			if err := c.launch(); err != nil {
				return err
			}
		}
		if err = c.answers(); err == nil {
			return nil
		}
		select {
		case <-c.ended:
			c.guard = nil
		default:
		}
	}
	c.halt()
	text, _ := os.ReadFile(filepath.Join(c.dir, "server.log"))
	return fmt.Errorf("pgtest: the server does not answer: %w: %s", err, text[max(0, len(text)-2000):])
}

// launch starts the server's process.
func (c *Cluster) launch() error {
	args := []string{"-c", guard, "sh", filepath.Join(c.bin, "postgres"), "-D", c.data(), "-k", c.dir,
		"-p", strconv.Itoa(c.Port), "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200"}
	for _, s := range c.settings {
		args = append(args, "-c", s)
	}
	cmd := exec.Command("/bin/sh", args...)
	c.runAs(cmd)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // how it ended does not matter
		close(ended)
	}()
	c.guard, c.stdin, c.ended = cmd, stdin, ended
	return nil
}

func (c *Cluster) answers() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.URL())
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// FreePort returns a loopback port that nobody listens on. Somebody else may get it first.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// URL returns the server's address on loopback.
func (c *Cluster) URL() string {
	return fmt.Sprintf("postgres://winnow@127.0.0.1:%d/postgres?sslmode=disable", c.Port)
}

// PID returns the process id of the postmaster.
func (c *Cluster) PID() (int, error) {
	text, err := os.ReadFile(filepath.Join(c.data(), "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	return strconv.Atoi(string(first))
}

// Kill kills the postmaster and all its processes with SIGKILL, as if the machine had run out of memory.
func (c *Cluster) Kill() error {
	pid, err := c.PID()
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil { // it starts no children from now on
		return err
	}
	children, err := childrenOf(pid)
	if err != nil {
		return err
	}
	for _, p := range append(children, pid) {
		if err := syscall.Kill(p, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	c.halt()
	return nil
}

// childrenOf asks ps, which every system has.
func childrenOf(pid int) (children []int, err error) {
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output()
	if err != nil {
		return nil, fmt.Errorf("pgtest: ps: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		var child, parent int
		if _, err := fmt.Sscan(line, &child, &parent); err == nil && parent == pid {
			children = append(children, child)
		}
	}
	return children, nil
}

// halt ends the server, if it runs, and waits for that.
func (c *Cluster) halt() {
	if c.guard == nil {
		return
	}
	c.stdin.Close()
	<-c.ended
	c.guard = nil
}

// Stop ends the server and removes its data.
func (c *Cluster) Stop() {
	c.halt()
	os.RemoveAll(c.dir)
}

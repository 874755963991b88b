//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// killAll makes the end of the command's context also kill the processes that the command has started.
func killAll(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// Command inspect shows a recorded agent session: what filled the context window, what a manager of winnow would have
// sent instead, and what both cost. It reads the session files of Claude Code, Codex, OpenClaw and pi. It needs no
// network and no key.
//
//	go run ./examples/inspect                       # the built-in session, as text
//	go run ./examples/inspect ~/.claude/projects    # the session there that was written to last
//	go run ./examples/inspect -text ~/.codex/sessions/2026/06/01/rollout-….jsonl | less
//	go run ./examples/inspect -o page.html session.jsonl
package main

import (
	"os"
	"time"

	"github.com/winnowgo/winnow/internal/inspect"
)

func main() { os.Exit(inspect.Run(os.Args[1:], time.Now(), os.Stdout, os.Stderr)) }

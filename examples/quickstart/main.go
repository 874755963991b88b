// Command quickstart replays a recorded agent session through a [winnow.Manager] and shows, request by
// request, what is sent instead of the whole history. It needs no network and no key.
//
//	go run ./examples/quickstart                      # 170 000 tokens in a window of 32 000
//	go run ./examples/quickstart -session chinese
//	go run ./examples/quickstart -session mine.jsonl -window 128000
package main

import (
	"embed"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
)

func main() {
	session := flag.String("session", "english", "a built-in session, english or chinese, or the file of your own: "+
		"of Claude Code, Codex, OpenClaw or pi, or winnow's messages; plain or gzipped")
	window := flag.Int("window", 32_000, "context window of the model, in tokens")
	flag.Parse()
	history, err := load(*session)
	if err == nil {
		err = replay(os.Stdout, history, *window)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

// How the sessions were recorded: README.md.
//
//go:embed sessions/*.jsonl.gz
var recorded embed.FS

// load reads a built-in session by its name, or a file.
func load(name string) ([]winnow.Message, error) {
	data, err := recorded.ReadFile("sessions/" + name + ".jsonl.gz")
	if errors.Is(err, fs.ErrNotExist) {
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, err
	}
	history, err := recording.Read(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return history, nil
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winnowgo/winnow/cmd/winnow/internal/inspect"
	"github.com/winnowgo/winnow/internal/test/recording"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/transcript"
	"github.com/winnowgo/winnow/session/upkeep"
)

func (p *program) export(ctx context.Context, args []string) (code int, err error) {
	output := p.flags.String("o", "", "")
	store, rest, err := p.begin(args, 1, 1)
	if err != nil {
		return 0, err
	}
	defer store.Close()
	status, err := store.Status(ctx, rest[0])
	if err != nil {
		return 0, unknown(err, rest[0])
	}
	to := p.stdout
	if *output != "" {
		file, err := os.OpenFile(*output, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		to = file
	}
	bar := p.progress("exporting", int64(status.Counts.Entries))
	n, out := 0, &lineCounter{w: to}
	w := transcript.NewPiWriter(out)
	for e, readErr := range store.Entries(ctx, rest[0]) {
		if err = readErr; err == nil {
			n++
			bar.at(int64(n), p.now())
			err = w.Write(e)
		}
		if err != nil {
			break
		}
	}
	bar.end()
	if err = errors.Join(err, w.Close()); err != nil {
		return 0, unknown(err, rest[0])
	}
	switch {
	case *output == "": // the output is the file itself
		return exitOK, nil
	case p.json:
		return exitOK, p.print(exported{rest[0], *output, out.n})
	}
	_, err = fmt.Fprintf(p.stdout, "%s: written to %s, %s\n", inspect.Plain(rest[0]), inspect.Plain(*output),
		count(out.n, "line"))
	return exitOK, err
}

type exported struct {
	Key   string `json:"key"`
	File  string `json:"file"`
	Lines int    `json:"lines"` // of the file: entries that only Winnow needs have none
}

// lineCounter counts the lines that are written to w.
type lineCounter struct {
	w io.Writer
	n int
}

func (c *lineCounter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += bytes.Count(b[:n], []byte("\n"))
	return n, err
}

// imported is the result for one file.
type imported struct {
	File     string             `json:"file"`
	Key      string             `json:"key,omitempty"`
	Format   transcript.Format  `json:"format,omitempty"`
	Messages int                `json:"messages,omitempty"` // on the branch
	Report   *transcript.Report `json:"report,omitempty"`
	Skipped  string             `json:"skipped,omitempty"` // reason
}

func (p *program) importFiles(ctx context.Context, args []string) (int, error) {
	key := p.flags.String("key", "", "")
	rest, err := p.parse(args, 1, -1)
	if err != nil {
		return 0, err
	}
	sources, total, err := sourcesOf(rest)
	switch {
	case err != nil:
		return 0, err
	case *key != "" && len(sources) != 1:
		return 0, problemf("sessions import: -key is for one file, and there are %d", len(sources))
	case *key != "":
		sources[0].key = *key
	case len(sources) == 0:
		return 0, problemf("sessions import: no file ends in .jsonl or .jsonl.gz there")
	}
	store, err := p.open(true)
	if err != nil {
		return 0, err
	}
	defer store.Close()
	bar := p.progress("importing", total)
	defer bar.end()
	done, n := int64(0), 0
	for _, s := range sources {
		bar.at(done, p.now())
		got, err := importFile(ctx, store, s)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", s.path, err)
		}
		done += s.bytes
		if got.Skipped == "" {
			n++
		}
		if err := p.imported(got); err != nil {
			return 0, err
		}
	}
	bar.end()
	if !p.json {
		fmt.Fprintf(p.stdout, "%s of %s imported\n", count(n, "session"), count(len(sources), "file"))
	}
	if n == 0 {
		return exitFound, nil
	}
	return exitOK, nil
}

func (p *program) imported(got *imported) error {
	if p.json {
		return p.print(got)
	}
	text := fmt.Sprintf("%s: %s, %s\n    %s\n", inspect.Plain(got.Key), got.Format, count(got.Messages, "message"),
		inspect.Plain(got.File))
	if got.Skipped != "" {
		text = fmt.Sprintf("skipped: %s\n    %s\n", inspect.Plain(got.Skipped), inspect.Plain(got.File))
	} else {
		text += "    " + inspect.Plain(got.Report.String()) + "\n"
	}
	_, err := fmt.Fprint(p.stdout, text)
	return err
}

// source is a file to import.
type source struct {
	path  string
	bytes int64
	key   string             // "": derived from the program and the session
	index *transcript.Listed // its entry in a sessions.json

	isOpenClaw bool // a sessions.json stands beside it
}

// plainName returns the name that a file had before it was compressed.
func plainName(path string) string { return strings.TrimSuffix(path, ".gz") }

// resetMark is in the names of files that OpenClaw puts aside when a session begins anew.
const resetMark = ".jsonl.reset."

// indexName is the file in which OpenClaw lists its sessions.
const indexName = "sessions.json"

// sourcesOf returns the given files, and those in given directories. A sessions.json beside them supplies their keys.
func sourcesOf(paths []string) (sources []source, total int64, err error) {
	for _, path := range paths {
		err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if name != path && !strings.HasSuffix(plainName(name), ".jsonl") && !strings.Contains(name, resetMark) {
				return nil
			}
			info, err := d.Info()
			if err != nil || !info.Mode().IsRegular() {
				return err
			}
			sources = append(sources, source{path: name, bytes: info.Size()})
			total += info.Size()
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
	}
	newestFirst(sources)
	return sources, total, listed(sources)
}

// newestFirst turns the logs of each session of Winnow around: their names begin with the time, and only the first that
// is imported becomes the session.
func newestFirst(sources []source) {
	for from := 0; from < len(sources); {
		dir, end := filepath.Dir(sources[from].path), from+1
		for end < len(sources) && filepath.Dir(sources[end].path) == dir {
			end++
		}
		if strings.HasPrefix(filepath.Base(dir), "k-") { // as package session names the directory of a session
			slices.Reverse(sources[from:end])
		}
		from = end
	}
}

// listed adds the entries of indexes beside the files.
func listed(sources []source) error {
	known := map[string]map[string]transcript.Listed{}
	for i := range sources {
		s := &sources[i]
		dir := filepath.Dir(s.path)
		if known[dir] == nil {
			list, err := readIndex(filepath.Join(dir, indexName))
			if err != nil {
				return err
			}
			known[dir] = map[string]transcript.Listed{}
			for _, l := range list {
				known[dir][l.Path(dir)] = l
			}
		}
		s.isOpenClaw = len(known[dir]) > 0
		if l, ok := known[dir][plainName(s.path)]; ok {
			s.index, s.key = &l, l.Key
		}
	}
	return nil
}

// readIndex reads a sessions.json. A missing file or one of another program is not an error.
func readIndex(path string) ([]transcript.Listed, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list, err := transcript.ParseIndex(data)
	if errors.Is(err, transcript.ErrIndex) {
		return nil, nil
	}
	return list, err
}

// importFile imports one file. It skips files that are not sessions or were imported before.
func importFile(ctx context.Context, store *session.Store, s source) (*imported, error) {
	out := &imported{File: s.path, Key: s.key}
	data, err := os.ReadFile(s.path)
	if err != nil {
		return nil, err
	}
	recorded, err := recording.Open(data)
	if err != nil || recorded.From == nil {
		out.Skipped = "no session of Claude Code, Codex, OpenClaw or pi"
		return out, nil
	}
	t := recorded.From
	out.Format, out.Messages, out.Report = t.Format, len(recorded.Messages), &t.Report
	if out.Key == "" {
		out.Key = keyOf(t, &s)
	}
	err = upkeep.Import(ctx, store, out.Key, entriesOf(t, s.index))
	if errors.Is(err, session.ErrExists) {
		out.Skipped = fmt.Sprintf("there is a session %q", out.Key)
		return out, nil
	}
	return out, err
}

// keyOf returns the default key of a session: the program, and the program's name for the session. Files of sub-agents,
// and those that were put aside, hold the name of the session, so their own name is part of it.
func keyOf(t *transcript.Transcript, s *source) string {
	id, file := t.Session.ID, filepath.Base(plainName(s.path))
	name := strings.TrimSuffix(file, ".jsonl")
	_, put, isAside := strings.Cut(file, resetMark)
	switch {
	case isAside && id != "":
		id += ":reset:" + put
	case id == "" || strings.HasPrefix(name, "agent-"):
		id = strings.TrimPrefix(id+":"+name, ":")
	}
	isOpenClaw := s.isOpenClaw || isAside || strings.Contains(filepath.ToSlash(s.path), "/.openclaw/")
	switch {
	case t.Format == transcript.Winnow:
		return id
	case t.Format == transcript.Pi && isOpenClaw:
		return "openclaw:" + id
	}
	return string(t.Format) + ":" + id
}

// entriesOf returns the entries of a transcript, with the session's entry in an index.
func entriesOf(t *transcript.Transcript, l *transcript.Listed) []*entry.Entry {
	if l == nil {
		return t.Entries
	}
	note := &entry.Entry{Type: entry.TypeCustom, Name: "openclaw.entry", Time: l.Updated}
	note.Data = json.RawMessage(l.Entry)
	out := append(slices.Clip(t.Entries), note)
	if l.Label != "" {
		out = append(out, &entry.Entry{Type: entry.TypeInfo, Time: l.Updated, Info: &session.Info{Title: &l.Label}})
	}
	return out
}

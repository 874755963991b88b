package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/agents"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/upkeep"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// golden compares got with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); is it better? then: go test . -update\n%s", path, diff)
	}
}

// shell runs commands of the program in one directory.
type shell struct {
	t   *testing.T
	dir string
	now time.Time
	ask func(question string) string
}

func newShell(t *testing.T) *shell {
	return &shell{t: t, dir: t.TempDir(), now: time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)}
}

// run runs the words of a line. DIR in them is the shell's directory, and the store is in DIR/store.
func (s *shell) run(line string) (code int, stdout, stderr string) {
	s.t.Setenv("WINNOW_DIR", filepath.Join(s.dir, "store"))
	args := strings.Fields(strings.ReplaceAll(line, "DIR", s.dir))
	var out, errs bytes.Buffer
	p := &program{
		stdout: &out, stderr: &errs, home: s.dir, ask: s.ask, now: func() time.Time { return s.now },
	}
	code = p.run(context.Background(), args)
	for _, b := range []*bytes.Buffer{&out, &errs} {
		assert.NotContains(s.t, b.String(), "\x1b", "no escapes: it is piped")
		assert.NotContains(s.t, b.String(), "\r", "no carriage returns either")
	}
	return code, s.stable(out.String()), s.stable(errs.String())
}

var (
	logName = regexp.MustCompile(`\d{8}-\d{6}-\d{3}-[0-9a-f]{8}`)
	sizes   = regexp.MustCompile(`[\d,]+ k?B\b`)
	bytesOf = regexp.MustCompile(`"(bytes|freed|frees)":\d+`)
)

// stable leaves out values that differ in each run, and the lengths of logs.
func (s *shell) stable(text string) string {
	text = logName.ReplaceAllString(strings.ReplaceAll(text, s.dir, "DIR"), "LOG")
	return bytesOf.ReplaceAllString(sizes.ReplaceAllString(text, "N B"), `"$1":0`)
}

// conversation returns a short conversation with all kinds of content.
func conversation() []winnow.Message {
	text := func(role winnow.Role, s string) winnow.Message {
		return winnow.Message{Role: role, Parts: []winnow.Part{{Text: s}}}
	}
	call := winnow.Part{Kind: winnow.KindToolCall, ID: "call_1", Name: "read", Arguments: []byte(`{"path":"parser.go"}`)}
	asks := text(winnow.RoleAssistant, "I look at it.")
	asks.Parts = append(asks.Parts, call)
	result := text(winnow.RoleTool, strings.Repeat("func parse() error { return nil }\n", 60))
	result.ToolCallID, result.ToolName = "call_1", "read"
	return []winnow.Message{
		text(winnow.RoleUser, "The parser fails on an empty file. \x1b[31mPlease mend it.\r\nNever touch lexer.go."),
		asks, result, text(winnow.RoleAssistant, "It never looks at the length. Mended."),
		text(winnow.RoleUser, "Thanks. And the tests?"), text(winnow.RoleAssistant, "They pass: 12 of 12."),
	}
}

// fill writes files of each agent to DIR.
func (s *shell) fill() {
	o := agents.Options{Noise: true, Branches: true}
	for i, f := range []struct {
		path string
		form agents.Form
	}{
		{"claude/5e551011.jsonl", agents.Claude}, {"codex/rollout-1.jsonl", agents.Codex}, {"openclaw/s1.jsonl", agents.Pi3},
	} {
		path := filepath.Join(s.dir, f.path)
		require.NoError(s.t, os.MkdirAll(filepath.Dir(path), 0o755))
		data := agents.Write(f.form, conversation(), o, rand.New(rand.NewPCG(uint64(i), 5))).Data
		require.NoError(s.t, os.WriteFile(path, data, 0o600))
	}
	index := `{"agent:main:main":{"sessionId":"s1","updatedAt":1782896400000,"displayName":"Anna"}}`
	require.NoError(s.t, os.WriteFile(filepath.Join(s.dir, "openclaw", "sessions.json"), []byte(index), 0o600))
	require.NoError(s.t, os.WriteFile(filepath.Join(s.dir, "claude", "other.jsonl"), []byte("no session\n"), 0o600))
}

const codexKey = "codex:019ed836-b1da-78f1-0000-000000000000"

// TestCommands runs one command after the other on one store, and compares all that they say.
func TestCommands(t *testing.T) {
	s := newShell(t)
	s.fill()
	for i, tt := range []struct {
		line string
		code int
		why  string
	}{
		{"help", exitOK, "help is asked for, not an error"},
		{"sessions import DIR/claude DIR/codex DIR/openclaw", exitOK, "what is not a session is skipped"},
		{"sessions import DIR/claude", exitFound, "all of it is there already"},
		{"sessions import -json -key mine DIR/codex/rollout-1.jsonl", exitOK, "a key of one's own"},
		{"sessions ls", exitOK, ""},
		{"sessions ls -newest -prefix co", exitOK, ""},
		{"sessions ls -json -prefix agent:", exitOK, ""},
		{"sessions show agent:main:main", exitOK, "a transcript says nothing to a terminal"},
		{"sessions show -json agent:main:main", exitOK, ""},
		{"sessions verify", exitOK, ""},
		{"sessions verify -json mine", exitOK, ""},
		{"sessions export " + codexKey, exitOK, "the file itself"},
		{"sessions export mine -o DIR/mine.jsonl", exitOK, ""},
		{"sessions export mine -json -o DIR/mine.jsonl", exitOK, ""},
		{"sessions import DIR/mine.jsonl -key again", exitOK, "what was exported comes back"},
		{"inspect DIR/claude/5e551011.jsonl", exitOK, "without a store"},
		{"inspect -json agent:main:main", exitOK, "a session of the store"},
		{"inspect -window 300 -price 5 agent:main:main", exitFound, "a request that does not fit"},
		{"report agent:main:main", exitOK, ""},
		{"report -json DIR/codex/rollout-1.jsonl", exitOK, ""},
		{"sessions maintain -dry-run -archive-after 20d", exitOK, "nothing is changed"},
		{"sessions maintain -dry-run -reference -json", exitOK, ""},
		{"sessions ls", exitOK, "as before"},
		{"sessions maintain -archive-after 20d -json", exitOK, ""},
		{"sessions ls -newest", exitOK, "archived ones are there still"},
		{"sessions erase mine", exitProblem, "nothing is erased by accident"},
		{"sessions erase -yes mine", exitOK, ""},
		{"sessions erase -yes -json again", exitOK, ""},
		{"sessions show mine", exitProblem, "it is gone"},
	} {
		t.Run(fmt.Sprintf("%02d", i), func(t *testing.T) {
			code, out, errs := s.run(tt.line)
			assert.Equal(t, tt.code, code, "%s: %s", tt.line, tt.why)
			assert.LessOrEqual(t, strings.Count(errs, "\n"), 1, "an error is one line: %s", errs)
			if strings.Contains(tt.line, "-json") && !strings.Contains(tt.line, "export mine -o") {
				for line := range strings.Lines(out) {
					assert.True(t, json.Valid([]byte(line)) || json.Valid([]byte(out)), "no JSON: %s", line)
				}
			}
			golden(t, fmt.Sprintf("%02d-%s", i, name(tt.line)), "$ winnow "+tt.line+"\n"+out+errs)
		})
	}
}

// TestHelp: help is found in front of a command, in its middle and behind it.
func TestHelp(t *testing.T) {
	s := newShell(t)
	for _, line := range []string{"help", "-h", "sessions -h", "sessions help", "sessions ls -h", "inspect --help"} {
		code, out, errs := s.run(line)
		require.Equal(t, exitOK, code, line)
		require.Equal(t, usage(), out, line)
		require.Empty(t, errs, line)
	}
}

// A command with flags of its own says what each does.
func TestHelpOfFlags(t *testing.T) {
	s := newShell(t)
	for line, want := range map[string]string{
		"sessions maintain -h": "-reference        the rules of OpenClaw: 500 sessions", "proxy -h": "-public           allows",
	} {
		code, out, errs := s.run(line)
		require.Equal(t, exitOK, code, line)
		require.Contains(t, out, want)
		require.Empty(t, errs, line)
	}
}

// Files that OpenClaw put aside are imported too, under keys of their own that name it.
func TestImportPutAside(t *testing.T) {
	s := newShell(t)
	s.fill()
	dir := filepath.Join(s.dir, "openclaw")
	data, err := os.ReadFile(filepath.Join(dir, "s1.jsonl"))
	require.NoError(t, err)
	for _, name := range []string{"s2.jsonl", "s1.jsonl.reset.2026-03-01T10-00-00.000Z"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	code, out, errs := s.run("sessions import DIR/openclaw")
	require.Equal(t, exitOK, code, errs)
	assert.Contains(t, out, "agent:main:main: pi")
	assert.Regexp(t, `(?m)^openclaw:[\w-]+: pi`, out)
	assert.Regexp(t, `(?m)^openclaw:[\w-]+:reset:2026-03-01T10-00-00.000Z: pi`, out)
	assert.Contains(t, out, "3 sessions of 3 files imported")
}

// name returns the name of a golden file.
func name(line string) string {
	words := strings.Fields(line)
	if words[0] == "sessions" {
		words = words[1:]
	}
	return words[0]
}

// TestImportCompressed: files that somebody compressed to save room are found in a directory too.
func TestImportCompressed(t *testing.T) {
	s := newShell(t)
	s.fill()
	for _, name := range []string{"codex/rollout-1.jsonl", "openclaw/s1.jsonl"} {
		plain, err := os.ReadFile(filepath.Join(s.dir, name))
		require.NoError(t, err)
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, err = z.Write(plain)
		require.NoError(t, err)
		require.NoError(t, z.Close())
		require.NoError(t, os.WriteFile(filepath.Join(s.dir, name+".gz"), packed.Bytes(), 0o600))
		require.NoError(t, os.Remove(filepath.Join(s.dir, name)))
	}
	code, out, errs := s.run("sessions import DIR/codex DIR/openclaw")
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, out, codexKey)
	require.Contains(t, out, "agent:main:main", "the index names the file as it was before")
}

// TestImportStore: of a session with several logs, as a reset leaves them behind, the newest is imported.
func TestImportStore(t *testing.T) {
	s := newShell(t)
	ctx := t.Context()
	other := filepath.Join(s.dir, "other")
	store, err := session.OpenDirectory(other, nil)
	require.NoError(t, err)
	one, err := store.Open(ctx, "mine")
	require.NoError(t, err)
	for _, text := range []string{"first", "second", "third"} {
		require.NoError(t, one.Append(ctx, session.User(text)))
		if text != "third" {
			require.NoError(t, one.Reset(ctx, "test", nil))
		}
	}
	require.NoError(t, errors.Join(one.Close(), store.Close()))
	code, out, errs := s.run("sessions import DIR/other")
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, out, "1 session of 3 files imported")
	_, out, _ = s.run("sessions export mine")
	require.Contains(t, out, "third")
	require.NotContains(t, out, "second")
}

// TestExportCountsLines: the log has entries that have no line in the file.
func TestExportCountsLines(t *testing.T) {
	s := newShell(t)
	s.fill()
	s.run("sessions import -key mine DIR/codex/rollout-1.jsonl")
	code, out, errs := s.run("sessions export mine -json -o DIR/mine.jsonl")
	require.Equal(t, exitOK, code, errs)
	var said exported
	require.NoError(t, json.Unmarshal([]byte(out), &said))
	text, err := os.ReadFile(filepath.Join(s.dir, "mine.jsonl"))
	require.NoError(t, err)
	require.Equal(t, strings.Count(string(text), "\n"), said.Lines)
}

// TestProblems: a problem is reported in one line, and nothing is created.
func TestProblems(t *testing.T) {
	s := newShell(t)
	var all strings.Builder
	for _, line := range []string{
		"sessions", "sessions lift", "lift", "-x", "sessions ls", "sessions ls -x", "sessions ls extra", "sessions show",
		"sessions show a b", "sessions export", "sessions import", "sessions import DIR/nowhere", "sessions import DIR",
		"sessions import -key k DIR/a DIR/b", "sessions maintain", "sessions maintain -dry-run",
		"sessions maintain -reference -max-sessions 3", "sessions maintain -archive-after soon", "sessions erase",
		"inspect", "inspect 3", "inspect DIR/nowhere", "inspect -window 0 DIR", "inspect -price -1 DIR",
		"inspect -overhead -1 DIR", "inspect DIR", "report",
		"report -window -1 x", "report x", "proxy -to ftp://x", "proxy -to https://x -listen :8080",
		"proxy -to https://x -listen 0.0.0.0:0", "proxy -public",
	} {
		code, out, errs := s.run(line)
		assert.Equal(t, exitProblem, code, line)
		assert.Empty(t, out, line)
		assert.Equal(t, 1, strings.Count(errs, "\n"), "%s: %s", line, errs)
		fmt.Fprintf(&all, "$ winnow %s\n%s", line, errs)
	}
	golden(t, "problems", all.String())
	files, err := os.ReadDir(s.dir)
	require.NoError(t, err)
	assert.Empty(t, files)
}

// TestDamage: the output and the exit status report damage.
func TestDamage(t *testing.T) {
	s := newShell(t)
	s.fill()
	code, _, errs := s.run("sessions import DIR/openclaw")
	require.Equal(t, exitOK, code, errs)
	logs, err := filepath.Glob(filepath.Join(s.dir, "store", "s", "*", "*", "*.jsonl"))
	require.NoError(t, err)
	require.Len(t, logs, 1)
	data, err := os.ReadFile(logs[0])
	require.NoError(t, err)
	at := bytes.Index(data, []byte("never looks"))
	require.Positive(t, at)
	data[at] ^= 1
	require.NoError(t, os.WriteFile(logs[0], data, 0o600))
	for _, line := range []string{"sessions verify", "sessions show agent:main:main", "sessions verify -json"} {
		code, out, _ := s.run(line)
		assert.Equal(t, exitFound, code, line)
		assert.Contains(t, out, "checksum", line)
	}
}

// TestProgress: a bar is drawn in a terminal alone, and only for what takes longer than a second.
func TestProgress(t *testing.T) {
	begun := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		why        string
		isTerminal bool
		after      time.Duration
		want       string
	}{
		{"a file", false, time.Minute, ""},
		{"at once", true, 900 * time.Millisecond, ""},
		{"it takes long", true, 2 * time.Second, "\rverifying [###############...............] 50 %\r\x1b[K"},
	} {
		var errs bytes.Buffer
		p := &program{stderr: &errs, isTerminal: tt.isTerminal, now: func() time.Time { return begun }}
		bar := p.progress("verifying", 10)
		bar.at(5, begun.Add(tt.after))
		bar.at(6, begun.Add(tt.after+time.Millisecond)) // not more than ten times a second
		bar.end()
		assert.Equal(t, tt.want, errs.String(), tt.why)
	}
}

// TestErased: the receipt lists every copy, and sessions that could not be searched.
func TestErased(t *testing.T) {
	var out strings.Builder
	p := &program{stdout: &out}
	p.erased(&upkeep.Receipt{
		Key: "a", Entries: []string{"e2"}, Forks: []string{"f"}, Unread: []string{"damaged"},
		Copies: []*upkeep.Receipt{{Key: "b", Entries: []string{"e2"}}},
	})
	require.Equal(t, "a: the content of e2 erased\n"+
		"copies erased in b: e2\n"+
		"copies in forks remain: f\n"+
		"may have copies, and cannot be read: damaged\n", out.String())
}

// TestNumbers: thousands are set apart, also of what an archive takes more than its log did.
func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1234: "1,234 B", -123: "-123 B", -1234: "-1,234 B", 12_345_678: "12 MB", 1_234_567: "1,234 kB",
	} {
		assert.Equal(t, want, size(n))
	}
	assert.Equal(t, "1 session, 0 sessions, 1,000 sessions",
		strings.Join([]string{count(1, "session"), count(0, "session"), count(1000, "session")}, ", "))
}

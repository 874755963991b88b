package inspect

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"html"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/agents"
	"github.com/winnowgo/winnow/internal/test/recording"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// golden compares got with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); is it better? then: go test ./internal/inspect -update\n%s", path, diff)
	}
}

// invoke runs the program.
func invoke(args ...string) (code int, stdout, stderr string) {
	var out, errs strings.Builder
	code = Run(args, time.Date(2026, 11, 22, 9, 30, 0, 0, time.UTC), &out, &errs)
	return code, out.String(), errs.String()
}

func recorded(name string) string {
	return filepath.Join("..", "..", "examples", "quickstart", "sessions", name+".jsonl.gz")
}

// What somebody may have put into a transcript, or into a file's name.
const (
	endsScript = `</script><script>alert("script")</script>`
	endsStyle  = `</style></title></pre></svg><img src=x onerror="alert(1)">`
	quotes     = `" onmouseover="alert(2)" x='{{.}}' <!-- ]]> &lt; javascript:alert(3)`
	escapes    = "\x1b[2J\x1b]0;owned\a\u202edesrever\x00\r"
)

// hostile is a session in which every text is one of these, long enough to be cleared and summarized in a
// window of 2 000 tokens.
func hostile() []winnow.Message {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var h []winnow.Message
	add := func(m winnow.Message) {
		at = at.Add(20 * time.Second)
		m.Time = at
		h = append(h, m)
	}
	for i, text := range []string{endsScript, endsStyle, quotes, escapes + endsStyle, endsScript, endsStyle, quotes, endsScript} {
		id := "call_" + string(rune('a'+i))
		add(winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: text + " please"}}})
		add(winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{
			{Kind: winnow.KindThinking, Text: text, Signature: "s"}, {Text: text},
			{Kind: winnow.KindToolCall, ID: id, Name: "run", Arguments: []byte(`{"command":"</script><b>"}`)},
		}})
		add(winnow.Message{Role: winnow.RoleTool, ToolCallID: id, ToolName: "<b onclick=run()>", Parts: []winnow.Part{{Text: strings.Repeat(text+"\n", 20)}}})
		add(winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Text: "done " + text}}})
	}
	return h
}

// writeSession writes h to a file and returns its path.
func writeSession(t *testing.T, name string, h []winnow.Message) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	file, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, winnow.WriteMessages(file, h))
	require.NoError(t, file.Close())
	return path
}

// writeAs writes the beginning of a recorded session as another agent would have, with all that its files have besides.
func writeAs(t *testing.T, form agents.Form) string {
	t.Helper()
	data, err := os.ReadFile(recorded("english"))
	require.NoError(t, err)
	history, err := recording.Read(data)
	require.NoError(t, err)
	o := agents.Options{Noise: true, Branches: true, Compact: true}
	path := filepath.Join(t.TempDir(), string(form)+".jsonl")
	file := agents.Write(form, history[:50], o, rand.New(rand.NewPCG(3, 3)))
	require.NoError(t, os.WriteFile(path, file.Data, 0o600))
	return path
}

func TestGolden(t *testing.T) {
	for _, tt := range []struct {
		file string
		args []string
		code int
		why  string
	}{
		{"help.txt", []string{"-h"}, exitOK, "help is asked for, not an error"},
		{"english.txt", []string{"-text", "-window", "32000", recorded("english")}, exitOK, "all that happens to a long session"},
		{"chinese.txt", []string{"-text", "-window", "8000", recorded("chinese")}, exitOK, "Chinese text is twice as wide"},
		{"tiny.txt", []string{"-text", "-window", "600", recorded("chinese")}, exitRefused, "what does not fit is said, and the exit status says it too"},
		{"hostile.txt", []string{"-text", "-window", "2000", writeSession(t, "hostile.jsonl", hostile())}, exitOK, "a terminal is told nothing by a transcript"},
		{"claude.txt", []string{"-text", writeAs(t, agents.Claude)}, exitOK, "a session of Claude Code as it is on a disk"},
		{"openclaw.txt", []string{"-text", writeAs(t, agents.Pi3)}, exitOK, "of OpenClaw"},
		{"codex.txt", []string{"-text", writeAs(t, agents.Codex)}, exitOK, "of Codex"},
		{"codex.html", []string{writeAs(t, agents.Codex)}, exitOK, "the same as a page"},
		{"hostile.html", []string{"-window", "2000", writeSession(t, "hostile.jsonl", hostile())}, exitOK, "nor is a browser"},
	} {
		t.Run(tt.file, func(t *testing.T) {
			code, out, errs := invoke(tt.args...)
			assert.Equal(t, tt.code, code, tt.why)
			assert.Empty(t, errs)
			assert.NotContains(t, out, "\x1b")
			if strings.HasSuffix(tt.file, ".txt") {
				for line := range strings.Lines(out) {
					assert.LessOrEqual(t, columnsIn(strings.TrimSuffix(line, "\n")), columns, "too wide for a terminal: %s", line)
				}
			}
			golden(t, tt.file, out)
		})
	}
}

func columnsIn(s string) (n int) {
	for _, r := range s {
		n += recording.Width(r)
	}
	return n
}

// element is one of a page, with its attributes.
type element struct {
	name  string
	attrs []xml.Attr
}

// parsePage returns the elements of a page and its text.
func parsePage(t *testing.T, page string) (elements []element, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(page, "<!DOCTYPE html>")))
	d.Strict, d.AutoClose, d.Entity = false, []string{"meta", "input"}, xml.HTMLEntity
	var b strings.Builder
	depth := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		switch v := token.(type) {
		case xml.StartElement:
			depth++
			elements = append(elements, element{v.Name.Local, v.Attr})
		case xml.EndElement:
			depth--
		case xml.CharData:
			b.Write(v)
		case xml.Comment, xml.ProcInst, xml.Directive:
			t.Errorf("a comment or an instruction: %v", v)
		}
	}
	require.Zero(t, depth, "an element is not closed")
	return elements, b.String()
}

// ownScript checks that a page has no script but page.js, which its policy names, and returns the page without it.
func ownScript(t *testing.T, page string) string {
	t.Helper()
	require.Equal(t, 1, strings.Count(page, "<script"))
	before, rest, _ := strings.Cut(page, "<script>")
	script, after, closed := strings.Cut(rest, "</script>")
	require.True(t, closed)
	require.Equal(t, source("page.js"), script, "the template changed it: its hash is wrong")
	require.Contains(t, html.UnescapeString(before), `content="`+policy()+`"`)
	return before + after
}

// A page has only its own script, makes no network requests, and shows the content of a transcript as text.
func TestPageIsInert(t *testing.T) {
	known := strings.Fields("html head meta title style body header h1 h2 p div b span i input label section details summary ul li pre svg path a")
	for _, c := range []struct {
		name, file, window string
		shows              []string
	}{
		{"hostile", writeSession(t, "<img src=x onerror=alert(4)>.jsonl", hostile()), "2000", []string{
			"<img src=x onerror=alert(4)>.jsonl", "result of <b onclick=run()>: " + endsScript, endsStyle[:40], `" onmouseover="alert(2)" x='{{.}}' <!-- ]]> &lt;`, "owneddesrever",
		}},
		{"english", recorded("english"), "32000", []string{"From request 8 on the whole history would not fit", "Winnow inspect", "21 November 2026, 15:10", "report of 22 November 2026"}},
		{"chinese", recorded("chinese"), "600", []string{"of winnow's did not fit", "does not fit"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, out, errs := invoke("-window", c.window, c.file)
			require.Empty(t, errs)
			elements, text := parsePage(t, ownScript(t, out))
			targets, links := map[string]bool{}, []string{}
			for _, e := range elements {
				require.Contains(t, known, e.name)
				for _, a := range e.attrs {
					name := a.Name.Local
					require.False(t, strings.HasPrefix(name, "on") || name == "src" || name == "style" && strings.Contains(a.Value, "url"), "%s has %s=%s", e.name, name, a.Value)
					require.NotContains(t, a.Value, "NaN")
					switch name {
					case "href":
						links = append(links, a.Value)
					case "id":
						targets["#"+a.Value] = true
					}
				}
			}
			require.NotEmpty(t, links)
			for _, l := range links {
				require.True(t, targets[l], "%s leads nowhere", l)
			}
			require.NotContains(t, out, "ZgotmplZ", "the template refused a value")
			require.NotContains(t, out, "@import")
			for _, want := range c.shows {
				assert.Contains(t, text, want)
			}
		})
	}
}

// What the page says adds up.
func TestFiguresAddUp(t *testing.T) {
	for _, name := range []string{"english", "chinese"} {
		data, err := os.ReadFile(recorded(name))
		require.NoError(t, err)
		history, err := recording.Read(data)
		require.NoError(t, err)
		for _, window := range []int{8_000, 32_000, 200_000} {
			r, err := replay(history, window)
			require.NoError(t, err)
			cost, unedited, epochs, elsewhere := 0.0, 0.0, 0, 0.0
			for _, q := range r.Requests {
				sum := 0
				for _, n := range q.Kinds {
					sum += n
				}
				require.Equal(t, q.Tokens, sum, "%s in %d, request %d: its kinds are the whole", name, window, q.Number)
				require.Equal(t, q.Tokens, q.Cached+q.Written())
				require.GreaterOrEqual(t, q.Cached, 0)
				require.LessOrEqual(t, q.Tokens, r.Budget)
				cost, unedited = cost+q.Cost, unedited+q.Unedited
				require.GreaterOrEqual(t, q.SoFar, cost-1e-3)
				require.InDelta(t, unedited, q.SoFarElse, 1e-3)
				require.GreaterOrEqual(t, q.SoFarLimit, elsewhere, "no request earns anything")
				elsewhere = q.SoFarLimit
				require.False(t, q.Summary != nil && len(q.Edits) == 0, "a compaction says what it stands for")
				if q.Epoch {
					epochs++
				}
			}
			require.Equal(t, epochs, r.Epochs)
			last := r.Requests[len(r.Requests)-1]
			require.InDelta(t, cost+r.Winnow.Summaries, r.Winnow.Total(), 1e-3, "the headline is the prompts and the calls that wrote summaries")
			require.InDelta(t, r.Winnow.Total(), last.SoFar, 1e-3, "the chart ends at the headline")
			require.InDelta(t, r.Limit.Total(), last.SoFarLimit, 1e-3)
			require.Equal(t, r.Compactions > 0, r.Winnow.Calls > 0)
			require.LessOrEqual(t, r.Limit.Peak, r.Budget, "the other host has the same room")
			require.LessOrEqual(t, max(r.Winnow.Found, r.Limit.Found), r.Needed)
			require.LessOrEqual(t, r.Verbatim, r.History)
			require.GreaterOrEqual(t, r.Verbatim, 0)
			if r.Epochs == 0 && !slices.ContainsFunc(r.Requests, func(q request) bool { return len(q.Edits) > 0 }) {
				require.InDelta(t, r.Unedited, r.Cost, 1e-3, "%s in %d: nothing was edited", name, window)
				require.InDelta(t, r.Limit.Total(), r.Winnow.Total(), 1e-3, "nor at the limit")
			}
		}
	}
}

func TestOutputFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.html")
	code, out, errs := invoke("-o", path, "-window", "2000", writeSession(t, "hostile.jsonl", hostile()))
	assert.Equal(t, exitOK, code)
	assert.Empty(t, out+errs)
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	golden(t, "hostile.html", string(got))
}

// Without a file there is something to see, from wherever in the repository it is run.
func TestBuiltin(t *testing.T) {
	code, out, errs := invoke()
	assert.Equal(t, exitOK, code)
	assert.Empty(t, errs)
	_, named, _ := invoke("-text", "-window", "32000", recorded("english"))
	assert.Equal(t, named, out)
	assert.Contains(t, out, "english.jsonl.gz: 174 messages")
	path := filepath.Join(t.TempDir(), "page.html")
	code, out, errs = invoke("-o", path, "-window", "64000")
	assert.Equal(t, exitOK, code)
	assert.Empty(t, out+errs)
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Contains(t, string(page), "<!DOCTYPE html>", "a page is for a file")
	assert.Contains(t, string(page), "a window of 64,000 tokens")
	t.Chdir(t.TempDir())
	code, _, errs = invoke()
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, errs, "english.jsonl.gz", "outside of it the error names the file that is missing")
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o644))
	for _, tt := range []struct {
		why  string
		args []string
		want string
	}{
		{"two files", []string{"a", "b"}, "got 2"},
		{"an unknown flag", []string{"-nope", "a"}, "not defined: -nope"},
		{"a window of zero", []string{"-window", "0", "a"}, "want a positive number"},
		{"a price that is not a number", []string{"-price", "NaN", "a"}, "want a positive number of dollars"},
		{"a file that is nowhere", []string{filepath.Join(dir, "nowhere")}, "no such file"},
		{"a file with nothing in it", []string{empty}, "no message"},
		{"an answer without a question", []string{writeSession(t, "a.jsonl", hostile()[1:2])}, "no request"},
		{"a directory to write to", []string{"-o", dir, recorded("chinese")}, "directory"},
	} {
		code, out, errs := invoke(tt.args...)
		assert.Equal(t, exitUsage, code, tt.why)
		assert.Empty(t, out, tt.why)
		assert.Contains(t, errs, tt.want, tt.why)
		assert.True(t, strings.HasPrefix(errs, "inspect: "), tt.why)
	}
}

// TestRunInJSON prints the figures of the newest session in a directory.
func TestRunInJSON(t *testing.T) {
	name := writeAs(t, agents.Claude)
	code, stdout, stderr := invoke("-json", filepath.Dir(name))
	require.Equal(t, exitOK, code, stderr)
	var s struct {
		Name                      string
		Messages, Requests, Turns int
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &s))
	assert.Equal(t, filepath.Base(name), s.Name)
	assert.Positive(t, s.Messages)
	assert.Positive(t, s.Requests)
	assert.Equal(t, 1, strings.Count(stdout, "\n"))
}

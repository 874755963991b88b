package inspect

import (
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
		t.Errorf("%s differs (-want +got); is it better? then: go test -C cmd/winnow ./internal/inspect -update\n%s", path, diff)
	}
}

// invoke shows a session: text for "-text", else a page.
func invoke(t *testing.T, window int, file string, text bool) (out string, refused int) {
	t.Helper()
	s, file, err := recording.OpenFile(file)
	require.NoError(t, err)
	var b strings.Builder
	as := WritePage
	if text {
		as = WriteText
	}
	refused, err = as(&b, Input{
		Name: filepath.Base(file), Session: s, Basis: Basis{Window: window}, Now: time.Date(2026, 11, 22, 9, 30, 0, 0, time.UTC),
	})
	require.NoError(t, err)
	return b.String(), refused
}

func recorded(name string) string {
	return filepath.Join("..", "..", "..", "..", "examples", "quickstart", "sessions", name+".jsonl.gz")
}

// What somebody may have put into a transcript, or into a file's name.
const (
	endsScript = `</script><script>alert("script")</script>`
	endsStyle  = `</style></title></pre></svg><img src=x onerror="alert(1)">`
	endsQuotes = `" onmouseover="alert(2)" x='{{.}}' <!-- ]]> &lt; javascript:alert(3)`
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
	for i, text := range []string{endsScript, endsStyle, endsQuotes, escapes + endsStyle, endsScript, endsStyle, endsQuotes, endsScript} {
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
		golden string
		window int
		file   string
		fits   bool
		why    string
	}{
		{"english.txt", 32_000, recorded("english"), true, "all that happens to a long session"},
		{"chinese.txt", 8_000, recorded("chinese"), true, "Chinese text is twice as wide"},
		{"tiny.txt", 600, recorded("chinese"), false, "what does not fit is said"},
		{"hostile.txt", 2_000, writeSession(t, "hostile.jsonl", hostile()), true, "a terminal is told nothing by a transcript"},
		{"claude.txt", 200_000, writeAs(t, agents.Claude), true, "a session of Claude Code as it is on a disk"},
		{"openclaw.txt", 200_000, writeAs(t, agents.Pi3), true, "of OpenClaw"},
		{"codex.txt", 200_000, writeAs(t, agents.Codex), true, "of Codex"},
		{"codex.html", 200_000, writeAs(t, agents.Codex), true, "the same as a page"},
		{"hostile.html", 2_000, writeSession(t, "hostile.jsonl", hostile()), true, "nor is a browser"},
	} {
		t.Run(tt.golden, func(t *testing.T) {
			isText := strings.HasSuffix(tt.golden, ".txt")
			out, refused := invoke(t, tt.window, tt.file, isText)
			assert.Equal(t, tt.fits, refused == 0, tt.why)
			assert.NotContains(t, out, "\x1b")
			if isText {
				for line := range strings.Lines(out) {
					assert.LessOrEqual(t, columnsIn(strings.TrimSuffix(line, "\n")), columns, "too wide for a terminal: %s", line)
				}
			}
			golden(t, tt.golden, out)
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
		name, file string
		window     int
		shows      []string
	}{
		{"hostile", writeSession(t, "<img src=x onerror=alert(4)>.jsonl", hostile()), 2_000, []string{
			"<img src=x onerror=alert(4)>.jsonl", "result of <b onclick=run()>: " + endsScript, endsStyle[:40], `" onmouseover="alert(2)" x='{{.}}' <!-- ]]> &lt;`, "owneddesrever",
		}},
		{"english", recorded("english"), 32_000, []string{"From request 8 on the whole history would not fit", "Winnow inspect", "21 November 2026, 15:10", "report of 22 November 2026"}},
		{"chinese", recorded("chinese"), 600, []string{"of winnow's did not fit", "does not fit"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _ := invoke(t, c.window, c.file, false)
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
			r, err := replayed(history, window)
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
				require.GreaterOrEqual(t, q.SoFarElse, unedited)
				require.GreaterOrEqual(t, q.SoFarLimit, elsewhere, "no request earns anything")
				elsewhere = q.SoFarLimit
				require.False(t, q.Summary != nil && len(q.Edits) == 0, "a compaction says what it stands for")
				if q.Epoch {
					epochs++
				}
			}
			require.Equal(t, epochs, r.Epochs)
			last := r.Requests[len(r.Requests)-1]
			require.InDelta(t, cost+r.Winnow.Answers, r.Winnow.Total(), 1e-3, "the headline is the sum of its parts")
			require.InDelta(t, r.Winnow.Total(), last.SoFar, 1e-3, "the chart ends at the headline")
			require.InDelta(t, r.Limit.Total(), last.SoFarLimit, 1e-3)
			require.Equal(t, r.Compactions > 0, r.Winnow.Calls > 0)
			require.LessOrEqual(t, r.Limit.Peak, r.Budget, "the other host has the same room")
			for kind, needed := range r.Needed {
				require.LessOrEqual(t, max(r.Winnow.Missing[kind], r.Limit.Missing[kind]), needed)
				require.LessOrEqual(t, r.Recallable[kind], r.Winnow.Missing[kind])
			}
			require.LessOrEqual(t, r.Verbatim, r.History)
			require.GreaterOrEqual(t, r.Verbatim, 0)
			if r.Epochs == 0 && !slices.ContainsFunc(r.Requests, func(q request) bool { return len(q.Edits) > 0 }) {
				require.InDelta(t, r.Unedited, r.Cost, 1e-3, "%s in %d: nothing was edited", name, window)
				require.InDelta(t, r.Limit.Total(), r.Winnow.Total(), 0.05*r.Limit.Total(), "but for the recall tool as much as at the limit")
			}
		}
	}
}

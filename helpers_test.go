package winnow_test

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/histories"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// ---- messages, short to write -----------------------------------------------------------------

var (
	textPart   = histories.Text
	imagePart  = histories.Image
	thinkPart  = histories.Think
	callPart   = histories.Call
	systemSays = histories.System
	userSays   = histories.User

	summarySays = histories.Summary
	modelSends  = histories.Model
	modelCalls  = histories.Calls
	toolSays    = histories.Tool

	named    = histories.Named
	deepCopy = histories.Copy
)

// hostSays is a user message that the host put there.
func hostSays(s string) winnow.Message {
	m := userSays(s)
	m.Injected = true
	return m
}

func modelSays(s string) winnow.Message { return modelSends(textPart(s)) }

func pinned(m winnow.Message) winnow.Message {
	m.Pinned = true
	return m
}

func failed(m winnow.Message, reason string) winnow.Message {
	m.StopReason = reason
	return m
}

func list(m ...winnow.Message) []winnow.Message { return m }

func nameOf(i int) string { return "m" + itoa(i) }

func itoa(i int) string { return strconv.Itoa(i) }

// ---- copies and comparison --------------------------------------------------------------------

// sameMessages fails with a readable difference. Sources count.
func sameMessages(t testing.TB, want, got []winnow.Message, note string) {
	t.Helper()
	if len(want) == 0 && len(got) == 0 || reflect.DeepEqual(want, got) {
		return
	}
	diff := cmp.Diff(want, got)
	require.Failf(t, note, "(-want +got)\n%s", diff[:min(len(diff), 4000)])
}

// sameContent compares without Sources.
func sameContent(a, b *winnow.Message) bool {
	if len(a.Parts) != len(b.Parts) || len(a.Parts) > 0 && len(a.Parts[0].Text) != len(b.Parts[0].Text) {
		return false
	}
	x, y := *a, *b
	x.Source, y.Source = nil, nil
	x.Parts, y.Parts = withoutSources(x.Parts), withoutSources(y.Parts)
	return reflect.DeepEqual(x, y)
}

func withoutSources(parts []winnow.Part) []winnow.Part {
	out := append([]winnow.Part{}, parts...)
	for k := range out {
		out[k].Source = nil
	}
	return out
}

// sketch is a history in one line: the first letter of each role, calls and results with their ids; * a
// pinned message, ! a failed turn, + one that the host put there, - one without content.
func sketch(h []winnow.Message) string {
	var b strings.Builder
	for i := range h {
		m := &h[i]
		b.WriteString(" " + string(m.Role)[:min(1, len(m.Role))])
		if m.Summary {
			b.WriteString("(summary)")
		}
		if m.Role == winnow.RoleTool {
			b.WriteString(":" + m.ToolCallID)
		}
		for _, p := range m.Parts {
			if p.Kind == winnow.KindToolCall {
				b.WriteString("[" + p.ID + "]")
			}
		}
		for mark, on := range map[string]bool{"*": m.Pinned, "!": failedTurn(m), "+": m.Injected, "-": !hasContent(m)} {
			if on {
				b.WriteString(mark)
			}
		}
	}
	return b.String()
}

// sharesMemory reports whether two lists begin at the same element.
func sharesMemory(a, b []winnow.Message) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// ---- texts ------------------------------------------------------------------------------------

func fullText(m winnow.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

func chars(m winnow.Message) int { return utf8.RuneCountInString(fullText(m)) }

// numbered is lines of text of which no two are alike.
func numbered(lines int) string {
	var b strings.Builder
	for i := range lines {
		b.WriteString("line " + itoa(i) + " of the output, which says nothing that matters\n")
	}
	return b.String()
}

// ---- files ------------------------------------------------------------------------------------

func readFile(t testing.TB, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, path...)...))
	require.NoError(t, err)
	return string(b)
}

// golden compares got with a file below testdata/golden.
func golden(t testing.TB, name, got string) {
	t.Helper()
	goldenFile(t, filepath.Join("testdata", "golden", name), got)
}

// goldenFile compares got with a file; with -update it writes it.
func goldenFile(t testing.TB, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run go test -run %s -update to make it", t.Name())
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got)\n%s", path, diff)
	}
}

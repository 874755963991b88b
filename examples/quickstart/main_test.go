package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// golden compares got with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); is it better? then: go test ./examples/quickstart -update\n%s", path, diff)
	}
}

// quickstart runs the program.
func quickstart(args ...string) (code int, stdout, stderr string) {
	var out, errs strings.Builder
	code = run(args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestReport(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		code int
		why  string
	}{
		{"default", nil, exitOK, "what a newcomer runs first"},
		{"chinese", []string{"-session", "chinese"}, exitOK, "Chinese text is twice as wide, and ids repeat"},
		{"help", []string{"-h"}, exitOK, "help is asked for, not an error"},
		{"tiny", []string{"-window", "500", "-session", "chinese"}, exitRefused, "what does not fit is said, and the exit status says it, too"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, out, errs := quickstart(tt.args...)
			assert.Equal(t, tt.code, code, tt.why)
			assert.Empty(t, errs)
			for line := range strings.Lines(out) {
				assert.LessOrEqual(t, columnsOf(strings.TrimSuffix(line, "\n")), columns, "too wide for a terminal: %s", line)
			}
			assert.NotContains(t, out, "\x1b", "no escape codes: it is piped as well")
			golden(t, tt.name, out)
		})
	}
}

func columnsOf(s string) int {
	n := 0
	for _, r := range s {
		n += recording.Width(r)
	}
	return n
}

func TestReportAll(t *testing.T) {
	_, objects, _ := quickstart("-json")
	_, out, _ := quickstart("-all")
	for n := range strings.Count(objects, "\n") - 1 { // one is the totals
		n++
		assert.Contains(t, out, fmt.Sprintf("\n%8d ", n), "each request has a line")
	}
	_, short, _ := quickstart()
	_, long, _ := quickstart("-summary")
	assert.Greater(t, strings.Count(long, "\n  | "), strings.Count(short, "\n  | "), "the whole summary")
}

// A user's script depends on the names and types of the JSON, but not on the numbers.
func TestJSON(t *testing.T) {
	code, out, errs := quickstart("-json")
	assert.Equal(t, exitOK, code)
	assert.Empty(t, errs)
	shape := map[string]bool{}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i, line := range lines {
		var v map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &v), "line %d", i+1)
		_, isTotals := v["totals"]
		assert.Equal(t, i == len(lines)-1, isTotals, "the totals come last, line %d", i+1)
		addShape(shape, "", v)
	}
	var all []string
	for s := range shape {
		all = append(all, s)
	}
	slices.Sort(all)
	golden(t, "json-shape", strings.Join(all, "\n")+"\n")
}

// addShape collects the paths of v with their types.
func addShape(shape map[string]bool, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			addShape(shape, path+"."+key, value)
		}
	case []any:
		for _, value := range v {
			addShape(shape, path+"[]", value)
		}
	default:
		shape[fmt.Sprintf("%s: %T", path, v)] = true
	}
}

// The numbers of one replay agree with one another.
func TestReplayAddsUp(t *testing.T) {
	for _, name := range builtin() {
		for _, window := range []int{8_000, defaultWindow, 200_000} {
			history, err := load(name)
			require.NoError(t, err)
			o, err := replay(history, window)
			require.NoError(t, err)
			saved, repaired := 0, 0
			for _, q := range o.requests {
				require.Empty(t, q.Error, "%s, window %d, request %d", name, window, q.Request)
				require.True(t, q.Fits && q.Valid, "%s, window %d, request %d", name, window, q.Request)
				s := q.Shares
				require.Equal(t, q.Tokens, s.Kept+s.Trimmed+s.Cleared+s.Cut+s.Folded+s.Summarized, "%s, window %d: the shares of request %d are the whole", name, window, q.Request)
				for _, c := range q.Changes {
					saved += c.Saved
					if c.Op == winnow.OpRepair {
						repaired += max(c.Before, c.After)
					}
				}
				// Repairs count by another estimator.
				require.InDelta(t, q.History-saved, q.Tokens, float64(4*repaired), "%s, window %d: history less savings is what request %d sends", name, window, q.Request)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
		return path
	}
	for _, tt := range []struct {
		why  string
		args []string
		want string
	}{
		{"an unknown flag", []string{"-nope"}, "not defined: -nope"},
		{"a window that is not a number", []string{"-window", "big"}, `invalid value "big" for flag -window`},
		{"a window of zero", []string{"-window", "0"}, "-window 0: want a positive number of tokens"},
		{"an argument that looks like a session", []string{"mine.jsonl"}, "given as -session mine.jsonl"},
		{"flags that contradict each other", []string{"-json", "-all"}, "leave out"},
		{"a session that is nowhere", []string{"-session", "nowhere"}, "built in are: chinese, english"},
		{"a directory", []string{"-session", dir}, "directory"},
		{"a bad role: the line and the field are named", []string{"-session", file("role", "{\"role\":\"user\",\"parts\":[]}\n{\"role\":\"usr\"}")}, `line 2: role: unknown role "usr"`},
		{"a bad field", []string{"-session", file("field", `{"role":"user","parts":"hello"}`)}, "line 1: parts: want"},
		{"no JSON", []string{"-session", file("text", "hello")}, "line 1: syntax"},
		{"a broken gzip header", []string{"-session", file("gz", "\x1f\x8bnothing")}, "gzip"},
		{"an empty file", []string{"-session", file("empty", "")}, "no message"},
		{"an answer without a question", []string{"-session", file("answer", `{"role":"assistant","parts":[{"text":"yes"}]}`)}, "no request"},
	} {
		code, out, errs := quickstart(tt.args...)
		assert.Equal(t, exitUsage, code, tt.why)
		assert.Empty(t, out, tt.why)
		assert.Contains(t, errs, tt.want, tt.why)
		assert.True(t, strings.HasPrefix(errs, "quickstart: "), tt.why)
		assert.LessOrEqual(t, bytes.Count([]byte(errs), []byte("\n")), 2, "%s: an error is short: %s", tt.why, errs)
	}
}

// A user's own file may be an array, and may end with a question that nobody answered.
func TestOwnSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.json")
	require.NoError(t, os.WriteFile(path, []byte(`[{"role":"user","parts":[{"text":"hi"}]},{"role":"assistant","parts":[{"text":"hello"}]},{"role":"user","parts":[{"text":"bye"}]}]`), 0o644))
	code, out, errs := quickstart("-session", path)
	assert.Equal(t, exitOK, code)
	assert.Empty(t, errs)
	assert.Contains(t, out, "1 request to the model")
	assert.Contains(t, out, "Nothing had to be changed")
}

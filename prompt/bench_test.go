package prompt_test

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/prompt"
)

// Each path of a request with its limit beside it, in the same run.

// ofSize is an input of about n characters: files of 12 000, sections, tools and skills.
func ofSize(n int) prompt.Input {
	in := agentPrompt(time.Unix(0, 0), 1, 0)
	in.Files = nil
	for i := 0; i*12_000 < n-13_000; i++ {
		name := fmt.Sprintf("FILE%d.md", i)
		in.Files = append(in.Files, prompt.File{Name: name, Path: "/w/" + name, Text: markdown(name, 12_000)})
	}
	return in
}

func BenchmarkAssemble(b *testing.B) {
	e := estimators[1]
	assemble := func(in prompt.Input, o prompt.Options) *prompt.Assembly {
		o.Window, o.Estimator = 200_000, e
		a, err := prompt.Assemble(in, &o)
		require.NoError(b, err)
		return a
	}
	in := ofSize(60_000)
	first := assemble(in, prompt.Options{})
	b.Logf("%d characters", len(first.Text))
	bench := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
		})
	}
	bench("60k", func() { assemble(in, prompt.Options{}) })
	table, sum := crc32.MakeTable(crc32.Castagnoli), uint32(0)
	text := []byte(first.Text)
	bench("60k/limit: a checksum", func() { sum += crc32.Checksum(text, table) })

	var large prompt.Input
	for i := range 12 {
		name := fmt.Sprintf("FILE%02d.md", i)
		large.Files = append(large.Files, prompt.File{Name: name, Path: "/w/" + name, Text: markdown(name, 500_000/12)})
	}
	bench("500k/cut", func() { assemble(large, prompt.Options{}) })
	n := 0
	bench("500k/limit: count and estimate", func() {
		for i := range large.Files {
			n += utf8.RuneCountInString(large.Files[i].Text) + tokensOf(e, large.Files[i].Text)
		}
	})
}

func BenchmarkReport(b *testing.B) {
	m, err := winnow.New(2_000_000, nil)
	require.NoError(b, err)
	var history []winnow.Message
	for i := range 1_250 {
		id := fmt.Sprint("call_", i)
		text := func(s string) []winnow.Part { return []winnow.Part{{Text: s}} }
		history = append(history,
			winnow.Message{Role: winnow.RoleUser, Parts: text("What about part " + id + "?")},
			winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Kind: winnow.KindThinking, Text: "Look."}, {Kind: winnow.KindToolCall, ID: id, Name: "read", Arguments: []byte(`{"path":"a.go"}`)}}},
			winnow.Message{Role: winnow.RoleTool, ToolCallID: id, ToolName: "read", Parts: text(strings.Repeat("line of code\n", 40))},
			winnow.Message{Role: winnow.RoleAssistant, Parts: text("It is fine.")})
	}
	history = append(history, winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "And now?"}}})
	r, err := m.Prepare(b.Context(), history)
	require.NoError(b, err)
	p, err := prompt.Assemble(ofSize(60_000), &prompt.Options{Window: 2_000_000})
	require.NoError(b, err)
	b.Run("5000 messages", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			prompt.NewReport(p, r, winnow.Usage{})
		}
	})
	b.Run("5000 messages/JSON", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = prompt.NewReport(p, r, winnow.Usage{}).JSON()
		}
	})
}

func BenchmarkSkills(b *testing.B) {
	var roots []*os.Root
	for r := range 2 {
		dir := b.TempDir()
		for i := range 150 {
			name := fmt.Sprintf("skill-%d-%03d", r, i)
			text := "---\nname: " + name + "\ndescription: " + strings.Repeat("What it does and when. ", 8) + "\nmetadata:\n  author: me\n---\n" + markdown(name, 3_000)
			path := filepath.Join(dir, name, "SKILL.md")
			require.NoError(b, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(b, os.WriteFile(path, []byte(text), 0o600))
		}
		root, err := os.OpenRoot(dir)
		require.NoError(b, err)
		defer root.Close()
		roots = append(roots, root)
	}
	b.Run("300/read and listed", func(b *testing.B) {
		for b.Loop() {
			skills, problems := prompt.ReadSkills(roots...)
			require.Len(b, skills, 300)
			require.Empty(b, problems)
			_, err := prompt.Assemble(prompt.Input{Skills: skills}, &prompt.Options{Estimator: estimators[1]})
			require.NoError(b, err)
		}
	})
	b.Run("300/limit: open and read", func(b *testing.B) {
		for b.Loop() {
			for r, root := range roots {
				for i := range 150 {
					_, err := root.ReadFile(fmt.Sprintf("skill-%d-%03d/SKILL.md", r, i))
					require.NoError(b, err)
				}
			}
		}
	})
}

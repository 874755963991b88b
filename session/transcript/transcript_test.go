package transcript_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/agents"
	"github.com/winnowgo/winnow/internal/test/histories"
	"github.com/winnowgo/winnow/internal/test/times"
	"github.com/winnowgo/winnow/internal/test/wire"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/transcript"
	"github.com/winnowgo/winnow/session/upkeep"
)

// conversations returns recorded conversations, from everywhere in the list, where they are here, and as many random
// ones. Sixteen have all options, see optionsOf.
func conversations(t testing.TB) [][]winnow.Message {
	names, err := filepath.Glob("../../../shared/corpus/*.jsonl.gz")
	require.NoError(t, err)
	if len(names) == 0 {
		t.Log("the recorded sessions are not here: random ones alone")
	}
	var all [][]winnow.Message
	n := times.Of(16)
	for i := range n {
		if i%2 == 0 && len(names) > 0 {
			h := readRecorded(t, names[i*len(names)/n])
			all = append(all, h[:min(len(h), 400)])
			continue
		}
		all = append(all, histories.Random(uint64(i)))
	}
	return all
}

func readRecorded(t testing.TB, name string) []winnow.Message {
	packed, err := os.ReadFile(name)
	require.NoError(t, err)
	r, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	h, err := winnow.ReadMessages(r)
	require.NoError(t, err)
	return h
}

// options of file i: the first are plain.
func optionsOf(i int) agents.Options {
	return agents.Options{Noise: i%5 > 0, Branches: i%5 > 1, Compact: i%3 == 2}
}

// eachFile calls f with the files of each form.
func eachFile(t *testing.T, f func(t *testing.T, form agents.Form, file agents.File)) {
	all := conversations(t)
	for _, form := range agents.Forms {
		t.Run(string(form), func(t *testing.T) {
			for i, h := range all {
				t.Run(fmt.Sprint(i), func(t *testing.T) {
					f(t, form, agents.Write(form, h, optionsOf(i), rand.New(rand.NewPCG(uint64(i), 7))))
				})
			}
		})
	}
}

// said is the content of a message, independent of its form.
type said struct {
	Role     winnow.Role
	Injected bool
	Parts    []string
	Call     string
	Time     string
	Usage    winnow.Usage
}

func whatWasSaid(history []winnow.Message) []said {
	var out []said
	for _, m := range history {
		s := said{Role: m.Role, Injected: m.Injected, Call: m.ToolCallID}
		if !m.Time.IsZero() && m.Role != winnow.RoleSystem && !m.Injected {
			s.Time = m.Time.UTC().Format("15:04:05.000")
		}
		if m.Usage != nil {
			s.Usage = *m.Usage
		}
		for _, p := range m.Parts {
			s.Parts = append(s.Parts, strings.Join([]string{string(p.Kind), p.Text, p.Signature, p.ID, p.Name, string(p.Arguments)}, "|"))
		}
		out = append(out, s)
	}
	return out
}

// TestRead: the conversation on the branch is the one that was recorded, and every line is accounted for.
func TestRead(t *testing.T) {
	eachFile(t, func(t *testing.T, form agents.Form, file agents.File) {
		got, err := transcript.Parse(file.Data)
		require.NoError(t, err)
		if diff := cmp.Diff(whatWasSaid(file.Want), whatWasSaid(got.Messages())); diff != "" {
			t.Fatalf("another conversation (-want +got):\n%s", diff)
		}
		assert.Equal(t, file.Unknown, sum(got.Report.Unknown), "unknown lines: %v", got.Report.Unknown)
		assert.Equal(t, file.Damaged, got.Report.Damaged)
		assert.Zero(t, got.Report.Orphans)
		assert.Zero(t, got.Report.Double)
		assert.NotEmpty(t, got.Session.ID)
		assert.Equal(t, "/home/me/project", got.Session.CWD)
	})
}

func sum(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// TestImport: an imported session can continue: the next request is valid for the strictest provider.
func TestImport(t *testing.T) {
	ctx := context.Background()
	eachFile(t, func(t *testing.T, form agents.Form, file agents.File) {
		got, err := transcript.Parse(file.Data)
		require.NoError(t, err)
		store := session.NewMemory(nil)
		defer store.Close()
		require.NoError(t, upkeep.Import(ctx, store, "k", got.Entries))
		report, err := upkeep.Verify(ctx, store, "k")
		require.NoError(t, err)
		assert.Empty(t, report.Damage)

		s, err := store.Open(ctx, "k")
		require.NoError(t, err)
		defer s.Close()
		view := s.View()
		summaries := 0
		for _, m := range view.History {
			if m.Summary {
				summaries++
				assert.Equal(t, file.Summary, m.Parts[0].Text)
			}
		}
		assert.Equal(t, file.Summary != "", summaries == 1, "the newest summary is in the history")
		assert.Equal(t, file.Summary != "", len(view.History) < len(got.Messages()) || summaries > 0)

		if file.Detours == 0 {
			assert.Equal(t, file.Billed, view.Counts.Usage, "every answer is counted once")
		}

		require.NoError(t, s.Append(ctx, session.User("Go on.")))
		r, err := s.Prepare(ctx)
		require.NoError(t, err)
		rules := wire.Rules{Blank: true, Bytes: true, Lead: histories.Leads(view.History)}
		assert.NoError(t, rules.Check(r.Messages))
	})
}

// TestExport: any session stays the same when it is written as a file of pi and read again.
func TestExport(t *testing.T) {
	ctx := context.Background()
	eachFile(t, func(t *testing.T, form agents.Form, file agents.File) {
		parsed, err := transcript.Parse(file.Data)
		require.NoError(t, err)
		store := session.NewMemory(nil)
		defer store.Close()
		require.NoError(t, upkeep.Import(ctx, store, "k", parsed.Entries))
		exported := export(t, store, "k")
		back, err := transcript.Parse(exported)
		require.NoError(t, err)
		assert.Equal(t, transcript.Pi, back.Format)
		assert.Zero(t, back.Report.Orphans)
		require.NoError(t, upkeep.Import(ctx, store, "again", back.Entries))
		// The comparison comes first: to find that there is no difference takes cmp ten times as long.
		if before, after := entriesOf(t, store, "k"), entriesOf(t, store, "again"); !slices.Equal(before, after) {
			t.Fatalf("another session (-before +after):\n%s", cmp.Diff(before, after))
		}
		a, err := store.Read(ctx, "k")
		require.NoError(t, err)
		b, err := store.Read(ctx, "again")
		require.NoError(t, err)
		assert.Equal(t, whatWasSaid(a.History), whatWasSaid(b.History))
		assert.Equal(t, a.Labels, b.Labels)
		assert.Equal(t, a.Info, b.Info)
	})
}

func export(t testing.TB, store *session.Store, key string) []byte {
	var out bytes.Buffer
	w := transcript.NewPiWriter(&out)
	for e, err := range store.Entries(context.Background(), key) {
		require.NoError(t, err)
		require.NoError(t, w.Write(e))
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

// entriesOf returns the entries of a session as JSON, without members that belong to one log.
func entriesOf(t testing.TB, store *session.Store, key string) (out []string) {
	root := ""
	parents := map[string]string{}
	for e, err := range store.Entries(context.Background(), key) {
		require.NoError(t, err)
		parent := e.ParentID
		if p, ok := parents[parent]; ok {
			parent = p
		}
		switch e.Type {
		case entry.TypeSession:
			root = e.ID
			continue
		case entry.TypeState, entry.TypeStatus:
			parents[e.ID] = parent
			continue
		case entry.TypeLeaf:
			if p, ok := parents[e.Target]; ok {
				e.Target = p
			}
			if e.Target == root {
				e.Target = "root"
			}
		}
		if parent == root {
			parent = "root"
		}
		c := *e
		c.Seq, c.At, c.ParentID, c.Batch, c.Keep = 0, nil, parent, [2]int64{}, nil
		for _, ref := range e.Keep {
			c.Keep = append(c.Keep, *bare(&ref))
		}
		c.FirstKept = bare(c.FirstKept)
		text, err := json.Marshal(&c)
		require.NoError(t, err)
		out = append(out, string(text))
	}
	return out
}

// bare returns a reference without offsets.
func bare(r *entry.Ref) *entry.Ref {
	if r == nil {
		return nil
	}
	return &entry.Ref{ID: r.ID, By: bare(r.By)}
}

// TestPiAgain: a file of pi of the newest version that is imported and exported has the same lines.
func TestPiAgain(t *testing.T) {
	for i, h := range conversations(t) {
		file := agents.Write(agents.Pi3, h, agents.Options{Branches: true, Compact: true}, rand.New(rand.NewPCG(uint64(i), 9)))
		parsed, err := transcript.Parse(file.Data)
		require.NoError(t, err)
		store := session.NewMemory(nil)
		require.NoError(t, upkeep.Import(context.Background(), store, "k", parsed.Entries))
		var want, got []any
		for _, l := range lines(t, file.Data) {
			m, isMessage := l["message"].(map[string]any)
			if text, isText := m["content"].(string); isMessage && isText {
				m["content"] = []any{map[string]any{"type": "text", "text": text}}
			}
			want = append(want, l)
		}
		for _, l := range lines(t, export(t, store, "k")) {
			if name, _ := l["customType"].(string); strings.HasPrefix(name, "winnow.") || name == "transcript.session" {
				continue
			}
			if l["type"] == "session" || l["type"] == "custom_message" {
				delete(l, "winnow") // when it was written, and the message's time
			}
			got = append(got, l)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("conversation %d (-want +got):\n%s", i, diff)
		}
	}
}

func lines(t *testing.T, data []byte) (out []map[string]any) {
	d := json.NewDecoder(bytes.NewReader(data))
	for {
		var v map[string]any
		err := d.Decode(&v)
		if err == io.EOF {
			return out
		}
		require.NoError(t, err)
		out = append(out, v)
	}
}

func TestDetect(t *testing.T) {
	for _, tt := range []struct {
		text string
		want transcript.Format
		why  string
	}{
		{"", "", "nothing"},
		{"<html>", "", "no JSON"},
		{`{"role":"user","parts":[{"text":"hi"}]}`, "", "winnow's messages have a reader of their own"},
		{`{"type":"user","text":"hi"}`, "", "anything else"},
		{`{"type":"session","id":"x","timestamp":"2026-01-01T00:00:00Z"}`, transcript.Pi, "version 1 does not say its version"},
		{`{"seq":1,"id":"e1","type":"session","time":"2026-01-01T00:00:00Z","format":1,"key":"k"}`, transcript.Winnow, "our own"},
		{`{"type":"summary","summary":"s","leafUuid":"u"}`, transcript.ClaudeCode, "a file that begins with a title"},
		{`{"type":"queue-operation","operation":"enqueue"}` + "\n" + `{"type":"user","uuid":"u","message":{}}`, transcript.ClaudeCode, "a later line tells"},
		{`{"timestamp":"t","type":"session_meta","payload":{}}`, transcript.Codex, "a rollout"},
		{`{"id":"x","timestamp":"t","instructions":null,"git":{}}` + "\n" + `{"type":"message","role":"user","content":[]}`, transcript.Codex, "the oldest rollouts have no payload"},
		{"\ufeff" + `{"timestamp":"t","type":"session_meta","payload":{}}`, transcript.Codex, "behind a byte order mark"},
	} {
		assert.Equal(t, tt.want, transcript.Detect([]byte(tt.text)), tt.why)
	}
	_, err := transcript.Parse([]byte("<html>"))
	assert.ErrorIs(t, err, transcript.ErrFormat)
}

// BenchmarkImport reads files and stores them.
func BenchmarkImport(b *testing.B) {
	var all [][]winnow.Message
	for i := range 12 {
		all = append(all, histories.Random(uint64(i)))
	}
	if recorded := conversations(b); len(recorded) > 0 {
		all = recorded
	}
	for _, form := range agents.Forms {
		var files [][]byte
		size := 0
		for i, h := range all {
			f := agents.Write(form, h, optionsOf(i), rand.New(rand.NewPCG(uint64(i), 7)))
			files = append(files, f.Data)
			size += len(f.Data)
		}
		for _, stored := range []bool{false, true} {
			b.Run(string(form)+map[bool]string{false: "/read", true: "/stored"}[stored], func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					importAll(b, files, stored)
				}
			})
		}
	}
}

func importAll(b *testing.B, files [][]byte, stored bool) {
	store := session.NewMemory(nil)
	for i, data := range files {
		t, err := transcript.Parse(data)
		if err != nil {
			b.Fatal(err)
		}
		if stored {
			if err := upkeep.Import(context.Background(), store, fmt.Sprint(i), t.Entries); err != nil {
				b.Fatal(err)
			}
		}
	}
}

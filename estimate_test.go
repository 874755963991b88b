package winnow

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/tokencount"
)

func estimators(t testing.TB) map[string]Estimator {
	t.Helper()
	all := map[string]Estimator{"chars/4": CharsPerToken(4)}
	for _, name := range tokencount.Families() {
		e := estimatorOf(t, name)
		all["family "+name] = e
	}
	return all
}

func TestEstimateParts(t *testing.T) {
	e := estimatorOf(t, "claude")
	s, _ := tokencount.Of("claude")
	text := s.Texts().Tokens
	arguments := `{"path":"main.go","limit":20}`
	for _, tt := range []struct {
		name string
		m    Message
		want int
	}{
		{"nothing", Message{Role: RoleUser}, s.Message},
		{"text", Message{Role: RoleUser, Parts: []Part{{Text: "hello there"}}}, s.Message + text("hello there")},
		{"result", Message{Role: RoleTool, ToolCallID: "x", Parts: []Part{{Text: "ok"}}}, s.Message + s.Result + text("ok")},
		{"call", Message{Role: RoleAssistant, Parts: []Part{{Kind: KindToolCall, ID: "call_1", Name: "read", Arguments: []byte(arguments)}}},
			s.Message + s.Call + text("read") + text(arguments)},
		{"call without arguments", Message{Parts: []Part{{Kind: KindToolCall}}}, s.Message + s.Call},
		{"host's count", Message{Parts: []Part{{Text: strings.Repeat("long ", 99), Tokens: 7}, {Kind: KindImage, Tokens: 85}, {Kind: KindOpaque, Tokens: 9, Bytes: 1 << 20}}},
			s.Message + 7 + 85 + 9},
		{"image", Message{Parts: []Part{{Kind: KindImage, Bytes: 5 << 20}}}, s.Message + 1_200},
		{"opaque", Message{Parts: []Part{{Kind: KindOpaque, Bytes: 4_000}}}, s.Message + 1_000},
		{"opaque of one byte", Message{Parts: []Part{{Kind: KindOpaque, Bytes: 1}}}, s.Message + 1},
		{"opaque of no size", Message{Parts: []Part{{Kind: KindOpaque, Bytes: -1}}}, s.Message + 100},
		{"huge opaque", Message{Parts: []Part{{Kind: KindOpaque, Bytes: math.MaxInt}}}, s.Message + 25_000},
		{"unknown kind", Message{Parts: []Part{{Kind: "video"}}}, s.Message + 100},
		{"unknown kind with text", Message{Parts: []Part{{Kind: "note", Text: "hello there", Bytes: 40}}}, s.Message + text("hello there") + 10},
		{"thinking", Message{Parts: []Part{{Kind: KindThinking, Text: "hello there", Signature: "short"}}}, s.Message + text("hello there")},
		{"signed thinking", Message{Parts: []Part{{Kind: KindThinking, Text: "hm", Signature: strings.Repeat("x", 1_200)}}}, s.Message + 200},
		{"hidden thinking", Message{Parts: []Part{{Kind: KindThinking, Signature: "rs_1"}}}, s.Message + 30},
		{"absurd counts", Message{Parts: []Part{{Tokens: math.MaxInt}, {Tokens: math.MaxInt}}}, math.MaxInt},
	} {
		assert.Equal(t, tt.want, e.Estimate(tt.m), tt.name)
	}
}

// Whatever the estimator: the host's count wins, the payload of an image says nothing, and nothing that is
// sent is free.
func TestEstimateRules(t *testing.T) {
	all := estimators(t)
	exact, err := TiktokenEstimator("o200k_base")
	require.NoError(t, err)
	all["tiktoken"] = exact
	for name, e := range all {
		of := func(parts ...Part) int {
			return e.Estimate(Message{Role: RoleUser, Parts: parts}) - e.Estimate(Message{Role: RoleUser})
		}
		for _, kind := range []Kind{KindText, KindThinking, KindImage, KindToolCall, KindOpaque, "video"} {
			p := Part{Kind: kind, Text: strings.Repeat("text ", 999), Name: "x", Arguments: []byte(`{"a":1}`), Signature: "sig", Bytes: 1 << 20, Tokens: 17}
			assert.Equal(t, 17, of(p), "%s: the host's count of %q", name, kind)
		}
		assert.Equal(t, of(Part{Kind: KindImage}), of(Part{Kind: KindImage, Bytes: 5 << 20, Text: strings.Repeat("A", 5<<20)}), "%s: image", name)
		for _, p := range []Part{
			{Text: "x"}, {Text: "\x00"}, {Text: "\xff"}, {Kind: KindThinking, Text: "x"}, {Kind: KindImage}, {Kind: KindToolCall, Name: "f"},
			{Kind: KindOpaque}, {Kind: KindOpaque, Bytes: -5}, {Kind: "video"}, {Kind: "video", Bytes: 3}, {Kind: "note", Text: "x"}, {Tokens: -1, Text: "x"},
		} {
			assert.Positive(t, of(p), "%s: %+v", name, p)
		}
	}
}

// Details, Usage and what else stays with the host is free.
func TestEstimateIgnores(t *testing.T) {
	for name, e := range estimators(t) {
		m := Message{Role: RoleUser, Parts: []Part{{Text: "hello"}}}
		n := e.Estimate(m)
		m.Details, m.Usage, m.Source, m.ID = []byte(`"long long"`), &Usage{Input: 99}, "x", "id"
		assert.Equal(t, n, e.Estimate(m), name)
	}
}

func FuzzEstimate(f *testing.F) {
	for _, s := range []string{"", "hello world", "a\xffb", "----", "\r\n\r\n", "日本語 текст", "\xe0\x80\x80\xed\xa0\x80"} {
		f.Add(s, s)
	}
	all := estimators(f)
	f.Fuzz(func(t *testing.T, a, b string) {
		for name, e := range all {
			of := func(s string) int { return e.Estimate(Message{Parts: []Part{{Text: s}}}) }
			x, y, both := of(a), of(b), of(a+b)
			assert.GreaterOrEqual(t, min(x, y, both), 0, name)
			// Cut anywhere, a text costs about the same. The cut itself may change what the bytes beside it cost: a
			// character that is cut in two becomes bytes of no script, a word two words.
			assert.LessOrEqual(t, both, x+y+20, "%s: %q + %q", name, a, b)
			assert.LessOrEqual(t, x+y, both+40, "%s: %q + %q", name, a, b)
		}
	})
}

// A length is what providers bill. Where it is not known, the bytes are a bound.
func TestEstimateLength(t *testing.T) {
	estimate := func(e Estimator, p Part) int {
		p.Kind = KindOpaque
		return e.Estimate(Message{Role: RoleUser, Parts: []Part{p}}) - e.Estimate(Message{Role: RoleUser})
	}
	e := estimatorOf(t, "claude4")
	for _, bytes := range []int{1_000, 400_000, 6_000_000} {
		assert.Equal(t, 21_000, estimate(e, Part{Bytes: bytes, Pages: 10}), "%d bytes", bytes)
		assert.Equal(t, min(bytes/4, 25_000), estimate(e, Part{Bytes: bytes}), "%d bytes", bytes)
		assert.Equal(t, 9, estimate(e, Part{Bytes: bytes, Pages: 10, Tokens: 9}), "the host knows best")
	}
	assert.Equal(t, 1_920, estimate(CharsPerToken(4), Part{Bytes: 900_000, Seconds: 60, MediaType: "audio/mp3"}))
	assert.Equal(t, 18_000, estimate(CharsPerToken(4), Part{Bytes: 900_000, Seconds: 60, MediaType: "video/mp4"}))
	longer, shorter := Message{Parts: []Part{{Kind: KindOpaque, Pages: 10}}}, Message{Parts: []Part{{Kind: KindOpaque, Pages: 9}}}
	assert.NotEqual(t, hostCounts(&longer), hostCounts(&shorter), "it is counted again")
	assert.NotEqual(t, sampleHash(&longer), sampleHash(&shorter), "it is looked at again")
	assert.False(t, sameParts(&longer.Parts[0], &shorter.Parts[0]))
}

var sink int

// Ten times the text costs ten times the tokens: nothing saturates or overflows.
func TestEstimateOfLongText(t *testing.T) {
	if testing.Short() {
		t.Skip("estimates 165 MB")
	}
	e := estimatorOf(t, "")
	for _, unit := range []string{"word, ", "é天", "\xff"} {
		small := Message{Parts: []Part{{Text: strings.Repeat(unit, 5<<20/len(unit))}}}
		large := Message{Parts: []Part{{Text: strings.Repeat(unit, 50<<20/len(unit))}}}
		assert.InEpsilon(t, 10*e.Estimate(small), e.Estimate(large), .001, "%q", unit)
	}
}

func TestEstimateNoAllocs(t *testing.T) {
	m := Message{Role: RoleAssistant, Parts: []Part{
		{Text: "Grüße, мир, 世界 \xff 😀"}, {Kind: KindThinking, Text: "well", Signature: "abc"},
		{Kind: KindToolCall, Name: "read", Arguments: []byte(`{"path":"a.go"}`)}, {Kind: KindImage}, {Kind: "video", Bytes: 10},
	}}
	for _, name := range tokencount.Families() {
		e := estimatorOf(t, name)
		assert.Zero(t, testing.AllocsPerRun(100, func() { sink += e.Estimate(m) }), name)
	}
}

// Every model of the catalogue has a window, and a family that has an estimator, or none. Which, internal/models tests.
func TestNewForCatalogue(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(SharedDir(t), "providers", "models-wide.json"))
	require.NoError(t, err)
	var catalogue struct{ Models []struct{ ID string } }
	require.NoError(t, json.Unmarshal(data, &catalogue))
	require.NotEmpty(t, catalogue.Models)
	for _, m := range catalogue.Models {
		_, err = New(0, &Options{Model: m.ID})
		assert.NoError(t, err)
	}
}

func TestEstimatorUnknown(t *testing.T) {
	_, err := TiktokenEstimator("p50k")
	assert.ErrorContains(t, err, `"o200k_base"`)
	_, err = NewEstimator("no such family \xff")
	require.Error(t, err)
	for _, name := range tokencount.Families() {
		assert.Contains(t, err.Error(), `"`+name+`"`)
	}
}

// reasoningTurn is a question and calls with their results, each with this much encrypted reasoning in front.
func reasoningTurn(turn, calls, sealed int) (h []Message) {
	h = append(h, Message{Role: RoleUser, Parts: []Part{{Text: fmt.Sprintf("Question %d", turn)}}})
	for i := range calls {
		id := fmt.Sprintf("call_%d_%d", turn, i)
		h = append(h, Message{Role: RoleAssistant, Parts: []Part{
			{Kind: KindThinking, ID: "rs_" + id, Signature: strings.Repeat("gAAA", sealed/4)},
			{Kind: KindToolCall, ID: id, Name: "shell", Arguments: []byte(`{"command":"ls"}`)},
		}}, Message{Role: RoleTool, ToolCallID: id, ToolName: "shell", Parts: []Part{{Text: strings.Repeat("file.go\n", 40)}}})
	}
	return append(h, Message{Role: RoleAssistant, Parts: []Part{{Text: "Done."}}})
}

// OpenAI reads reasoning until the next message of a user. What is sent is the same.
func TestReasoningOfEarlierTurns(t *testing.T) {
	const sealed = 8_000 // (8 000 × 3/4 − 650) / 4 tokens
	one := (sealed*3/4 - 650) / 4
	h := append(reasoningTurn(1, 10, sealed), reasoningTurn(2, 5, sealed)...)
	tokens := func(model string, h []Message) int {
		m := newManager(t, 400_000, &Options{Model: model, FoldAbove: 1, NoMinify: true})
		r := prepare(t, m, h)
		require.Empty(t, r.Edits)
		return r.Tokens
	}
	bare := func(h []Message) []Message {
		out := make([]Message, len(h))
		for i, m := range h {
			if out[i] = m; hasThinking(&m) {
				out[i].Parts = m.Parts[1:]
			}
		}
		return out
	}
	assert.InDelta(t, 5*one, tokens("gpt-5.5", h)-tokens("gpt-5.5", bare(h)), 100, "of the open turn")
	next := append(h[:len(h):len(h)], Message{Role: RoleUser, Parts: []Part{{Text: "More"}}})
	assert.InDelta(t, 0, tokens("gpt-5.5", next)-tokens("gpt-5.5", bare(next)), 20, "a user's message ends the turn")
	assert.Greater(t, tokens("claude-opus-5", next)-tokens("claude-opus-5", bare(next)), 15*one, "Claude reads all")

	// Step by step, and where the history is rewound, each request counts as if it were the first one.
	m := newManager(t, 400_000, &Options{Model: "gpt-5.5", FoldAbove: 1, NoMinify: true})
	for _, n := range []int{1, 3, 5, 21, 23, 25, len(next), 25, 23, 5, len(next), len(next) - 2} {
		r := prepare(t, m, next[:n])
		assert.Equal(t, tokens("gpt-5.5", next[:n]), r.Tokens, "%d messages", n)
	}
}

// A provider that bills as OpenAI does is predicted, at each step and across turns, from its own counts.
func TestReasoningIsBilled(t *testing.T) {
	m := newManager(t, 400_000, &Options{Model: "gpt-5.5", FoldAbove: 1, NoMinify: true})
	e := estimatorOf(t, "o200k")
	var h []Message
	billed, last := 0, 0
	for turn := range 6 {
		for _, next := range reasoningTurn(turn, 8, 6_000) {
			if next.Role == RoleAssistant {
				next.Usage = &Usage{Input: billed}
			}
			if h = append(h, next); next.Role == RoleAssistant {
				continue
			}
			if next.Role == RoleUser {
				last = len(h) - 1
			}
			r := prepare(t, m, h)
			isFirst := billed == 0 // nothing showed yet what no message does
			billed = 9_000
			for i := range h {
				billed += e.Estimate(h[i])
				if i < last {
					billed -= reasoningOf(e, &h[i])
				}
			}
			if !isFirst {
				assert.InEpsilon(t, billed, r.Tokens, 0.01, "%d messages", len(h))
			}
		}
	}
	took := newManager(t, 400_000, &Options{Model: "gpt-5.5", FoldAbove: 1, NoMinify: true})
	r := prepare(t, took, h)
	assert.InEpsilon(t, h[len(h)-1].Usage.Input, r.Tokens, 0.01, "another manager takes over")
}

// What one call takes is bounded by the texts of a message together, however many parts they are.
func TestTiktokenSizeCap(t *testing.T) {
	exact, err := TiktokenEstimator("o200k_base")
	require.NoError(t, err)
	estimate := estimatorOf(t, "o200k")
	half := Part{Text: strings.Repeat("word ", maxExactBytes/10)}
	message := func(parts ...Part) Message { return Message{Role: RoleUser, Parts: parts} }
	for _, tt := range []struct {
		name      string
		message   Message
		estimated bool
	}{
		{"at the cap", message(half, half), false},
		{"one text above it", message(Part{Text: half.Text + half.Text + "several words"}), true},
		{"several above it together", message(half, half, Part{Text: "several words"}), true},
		{"arguments count", message(half, half, Part{Kind: KindToolCall, Arguments: []byte(`{"a":"several"}`)}), true},
	} {
		got, estimated := exact.Estimate(tt.message), estimate.Estimate(tt.message)
		assert.Equal(t, tt.estimated, got == estimated, "%s: %d, estimated %d", tt.name, got, estimated)
		assert.InEpsilon(t, maxExactBytes/5, got, .3, tt.name)
	}
}

func TestTiktokenConcurrent(t *testing.T) {
	e, err := TiktokenEstimator("cl100k_base")
	require.NoError(t, err)
	m := Message{Role: RoleUser, Parts: []Part{{Text: "The quick brown fox"}}}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { assert.Equal(t, 4+4, e.Estimate(m)) })
	}
	wg.Wait()
}

// A program that never calls TiktokenEstimator has no vocabulary in it.
func TestTiktokenLinkedOnDemand(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command")
	}
	dir := t.TempDir()
	source, binary := filepath.Join(dir, "main.go"), filepath.Join(dir, "main.exe")
	require.NoError(t, os.WriteFile(source, []byte(`package main

import "github.com/winnowgo/winnow"

func main() {
	e, err := winnow.NewEstimator("o200k")
	println(e.Estimate(winnow.Message{}), err)
}
`), 0o644))
	out, err := exec.Command(tool, "build", "-o", binary, source).CombinedOutput()
	require.NoError(t, err, "%s", out)
	code, err := os.ReadFile(binary)
	require.NoError(t, err)
	constants, err := os.ReadFile("internal/tokencount/data/constants.tsv")
	require.NoError(t, err)
	assert.Contains(t, string(code), string(constants[:1000]), "what is called is in the program")
	for _, name := range []string{"o200k_base", "cl100k_base"} {
		vocabulary, err := os.ReadFile("internal/tokencount/vocab/" + name + ".gz")
		require.NoError(t, err)
		assert.NotContains(t, string(code), string(vocabulary[:4096]), name)
	}
}

func FuzzTiktoken(f *testing.F) {
	for _, s := range []string{"", "a\xff\xfe", "<|endoftext|>", "\n/ x", "\u0345́é你"} {
		f.Add(s)
	}
	e, err := TiktokenEstimator("cl100k_base")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, s string) {
		m := Message{Parts: []Part{{Text: s}}}
		n := e.Estimate(m)
		assert.GreaterOrEqual(t, n, 0)
		assert.LessOrEqual(t, n, 4+len(s), "a token has a byte or more")
	})
}

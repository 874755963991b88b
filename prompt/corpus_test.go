package prompt_test

import (
	"fmt"
	"hash/maphash"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/recording"
	"github.com/winnowgo/winnow/internal/test/times"
	"github.com/winnowgo/winnow/prompt"
)

// What a prompt costs in recorded sessions, at the prices of CacheOptions: with the clock near the top of the system
// prompt, at its end, and told in messages.

// agentPrompt is a prompt as agents have them: about 25 000 tokens, schemas included. clock and hits are volatile;
// edits is how often the memory was edited.
func agentPrompt(at time.Time, turn, edits int) prompt.Input {
	var in prompt.Input
	in.Sections = append(in.Sections, prompt.Section{Name: "Identity", Text: "You are the assistant of a team of developers.", Required: true})
	for _, name := range []string{"Safety", "Tool Call Style", "CLI", "Workspace", "Messaging", "Reply Tags", "Documentation"} {
		in.Sections = append(in.Sections, prompt.Section{Name: name, Text: "## " + name + "\n\n" + strings.Repeat("Follow the rules of the house in "+name+" and say so when you cannot. ", 25)})
	}
	in.Sections = append(in.Sections,
		prompt.Section{Name: "Time", Text: "## Current Date & Time\n\n" + at.UTC().Format(time.RFC1123), Volatile: true},
		prompt.Section{Name: "Runtime", Text: "Runtime: host=build-7 | os=linux | model=m | channel=chat | thinking=low", Volatile: true},
		prompt.Section{Name: "Memory hits", Text: fmt.Sprintf("What memory says of turn %d:\n", turn) + strings.Repeat(fmt.Sprintf("- note %d: the staging host answers on port 8443\n", turn), 14), Volatile: true},
	)
	for _, name := range []string{"AGENTS.md", "SOUL.md", "TOOLS.md", "USER.md"} {
		in.Files = append(in.Files, prompt.File{Name: name, Path: "/w/" + name, Text: markdown(name, 12_000)})
	}
	memory := markdown("Memory", 11_000)
	for i := range edits {
		memory += fmt.Sprintf("- noted %d: the release was moved to Friday\n", i)
	}
	in.Files = append(in.Files, prompt.File{Name: "MEMORY.md", Path: "/w/MEMORY.md", Text: memory})
	in.Tools = manyTools(24)
	for i := range 30 {
		in.Skills = append(in.Skills, prompt.Skill{Name: fmt.Sprintf("skill-%02d", i), Description: "Does one thing well. Use it when somebody asks for exactly that.", Location: "/w/skills/x/SKILL.md"})
	}
	return in
}

// markdown is a file of about n characters with sections, rules among them.
func markdown(title string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\nWhat to know of this.\n\n", title)
	for i := 0; b.Len() < n; i++ {
		if i == 2 {
			b.WriteString("## Red Lines\n\n- Never delete a backup.\n- Never print a key.\n\n")
		}
		fmt.Fprintf(&b, "## Part %d of %s\n\n%s\n\n### Details %d\n\n%s\n\n", i, title, strings.Repeat("Builds run on the staging host and are checked by two people. ", 12), i, strings.Repeat("- step: run the checks, read the report, then say what failed\n", 10))
	}
	return b.String()
}

// manyTools are tools with schemas as MCP servers have them.
func manyTools(n int) (tools []prompt.Tool) {
	for i := range n {
		var properties []string
		for k := range 8 {
			properties = append(properties, fmt.Sprintf(`"field_%d": {"type": "string", "description": "What the service takes as field %d of operation %d, as text; see its manual for the values that it knows."}`, k, k, i))
		}
		tools = append(tools, prompt.Tool{Summary: fmt.Sprintf("operation %d of the service", i), Tool: winnow.Tool{
			Name:        fmt.Sprintf("service_%03d_operation", i),
			Description: fmt.Sprintf("Calls operation %d of the service and returns what it answers, as JSON. Use it when the user asks for this operation by name.", i),
			Schema:      []byte(`{"type": "object", "properties": {` + strings.Join(properties, ", ") + `}, "required": ["field_0", "field_1"]}`),
		}})
	}
	return tools
}

// billing is a provider with a prompt cache.
type billing struct {
	cache     winnow.CacheOptions
	last      []piece
	at        time.Time
	cost      float64
	total     int
	toldShare int // volatile tokens that were sent
}

// piece is a piece of a request.
type piece struct {
	hash   uint64
	tokens int
}

func (b *billing) send(request []piece, at time.Time) {
	read := 0
	if at.Sub(b.at) < b.cache.TTL {
		for i := 0; i < min(len(request), len(b.last)) && request[i] == b.last[i]; i++ {
			read += request[i].tokens
		}
	}
	sum := 0
	for _, p := range request {
		sum += p.tokens
	}
	b.cost += b.cache.ReadPrice*float64(read) + b.cache.WritePrice*float64(sum-read)
	b.total += sum
	b.last, b.at = append(b.last[:0], request...), at
}

var pieceSeed = maphash.MakeSeed()

func pieceOf(s string, tokens int) piece { return piece{maphash.String(pieceSeed, s), tokens} }

// corpus returns a thirtieth of the recorded sessions, with -times 30 all.
func corpus(t *testing.T) (sessions [][]winnow.Message) {
	paths, err := filepath.Glob("../../shared/corpus/*.jsonl.gz")
	require.NoError(t, err)
	if len(paths) == 0 {
		t.Skip("there are no recorded sessions here")
	}
	for i, path := range paths {
		if i%times.Every(30) != 0 {
			continue
		}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		h, err := recording.Read(data)
		require.NoError(t, err, path)
		sessions = append(sessions, h)
	}
	return sessions
}

var cachePrices = winnow.CacheOptions{TTL: 5 * time.Minute, ReadPrice: 0.1, WritePrice: 1.25}

// simulation replays sessions with the prompt in each form.
type simulation struct {
	top, end, told, edited billing
	estimate               winnow.Estimator
}

func TestPromptCostsInRecordedSessions(t *testing.T) {
	e, err := winnow.NewEstimator("claude")
	require.NoError(t, err)
	s := simulation{estimate: e}
	for _, b := range []*billing{&s.top, &s.end, &s.told, &s.edited} {
		b.cache = cachePrices
	}
	sessions := corpus(t)
	for _, h := range sessions {
		s.replay(t, h)
	}
	p, err := prompt.Assemble(agentPrompt(time.Unix(0, 0), 1, 0), &prompt.Options{Window: 200_000, Estimator: e, Form: prompt.FormAnthropic})
	require.NoError(t, err)
	t.Logf("the prompt: %d tokens, %d of them schemas", p.Tokens, p.ToolTokens)
	t.Logf("%d sessions, input tokens sent: %d; volatile of them: %.2f %%", len(sessions), s.told.total, 100*float64(s.told.toldShare)/float64(s.told.total))
	t.Logf("cost: clock near the top 1.00, at the end of the system prompt %.3f, told in messages %.3f, the same with 30 edits %.3f",
		s.end.cost/s.top.cost, s.told.cost/s.top.cost, s.edited.cost/s.top.cost)
	assert.LessOrEqual(t, s.told.cost, 0.15*s.top.cost)
	assert.LessOrEqual(t, s.told.cost, 0.20*s.end.cost)
	assert.LessOrEqual(t, float64(s.told.toldShare), 0.02*float64(s.told.total))
	assert.LessOrEqual(t, s.edited.cost, 1.3*s.told.cost)
}

// conversation is a session that is replayed with a prompt.Conversation.
type conversation struct {
	prompt.Conversation
	pieces []piece // of the history, with what was told
	told   int     // tokens of that
}

// editsOfSession is how often the workspace is edited in each session.
const editsOfSession = 30

// replay sends each request of a session. The clock changes with every request; changes are told once per turn.
func (s *simulation) replay(t *testing.T, h []winnow.Message) {
	for _, b := range []*billing{&s.top, &s.end, &s.told, &s.edited} {
		b.last, b.at = nil, time.Time{}
	}
	requests, err := recording.Requests(h)
	if err != nil {
		return
	}
	var plain []piece // the plain history
	var a, b conversation
	turn, sent, edits := 0, 0, 0
	var began time.Time // of the turn
	for n, q := range requests {
		at := q.At.Add(time.Duration(n) * time.Second)
		isTurn := n == 0
		for _, m := range q.History[sent:] {
			isTurn = isTurn || recording.BeginsTurn(&m)
		}
		if isTurn {
			turn, began = turn+1, at
			s.next(t, &a, agentPrompt(began, turn, 0), at, &s.told)
		}
		if now := editsOfSession * n / len(requests); isTurn || now != edits { // the harder case: an edit is told at once
			edits = now
			s.next(t, &b, agentPrompt(began, turn, edits), at, &s.edited)
		}
		for i := sent; i < len(q.History); i++ {
			p := pieceOf(fmt.Sprint(i), s.estimate.Estimate(q.History[i]))
			plain, a.pieces, b.pieces = append(plain, p), append(a.pieces, p), append(b.pieces, p)
		}
		sent = len(q.History)
		stable := a.Sent.Tokens
		clock := pieceOf(at.String(), 300)
		s.top.send(append([]piece{pieceOf("identity", 400), clock, pieceOf("rest", stable-400)}, plain...), at)
		s.end.send(append([]piece{pieceOf("stable", stable), clock}, plain...), at)
		s.told.send(append(systemPieces(a.Sent), a.pieces...), at)
		s.told.toldShare += a.told
		s.edited.send(append(systemPieces(b.Sent), b.pieces...), at)
	}
}

// systemPieces are the blocks of a prompt, with the schemas before them.
func systemPieces(a *prompt.Assembly) []piece {
	files := 0
	for _, p := range a.Parts {
		if p.Kind == prompt.PartContext || p.Kind == prompt.PartFile {
			files += p.Tokens
		}
	}
	return []piece{pieceOf("tools", a.ToolTokens), pieceOf(a.Blocks[0], a.TextTokens-files), pieceOf(a.Blocks[1], files)}
}

// next assembles the prompt of a turn and tells what changed.
func (s *simulation) next(t *testing.T, c *conversation, in prompt.Input, at time.Time, b *billing) {
	p, err := prompt.Assemble(in, &prompt.Options{Window: 200_000, Estimator: s.estimate, Form: prompt.FormAnthropic})
	require.NoError(t, err)
	cold := b.at.IsZero() || at.Sub(b.at) >= b.cache.TTL
	if m := c.Next(p, cold); m != nil {
		n := s.estimate.Estimate(*m)
		c.pieces, c.told = append(c.pieces, pieceOf(m.Parts[0].Text, n)), c.told+n
	}
}

package trial

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/ask"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/questions"
	"github.com/winnowgo/winnow/internal/test/provider"
	"github.com/winnowgo/winnow/internal/test/recording"
)

// window is that of the scripted models, in tokens. Records begin at a fifth of it.
const window = 48_000

// A session is a person who asks for the words that files hold, and an agent that reads one file after the other. Each
// file says its word in its middle, where no record quotes it.
func session(number, files int) *recording.Session {
	at := time.Date(2026, 7, 1, 9, number%60, 0, 0, time.UTC)
	var history []winnow.Message
	add := func(m winnow.Message) {
		at = at.Add(20 * time.Second)
		m.Time = at
		history = append(history, m)
	}
	add(winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{
		Text: fmt.Sprintf("Read the notes of project %d, all of them, and then tell me what they say.", number)}}})
	for i := range files {
		id := fmt.Sprintf("call_%d", i)
		arguments, _ := json.Marshal(map[string]string{"page": fmt.Sprintf("p%d-%d", number, i)})
		add(winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{
			{Text: fmt.Sprintf("Next is note %d.", i)},
			{Kind: winnow.KindToolCall, ID: id, Name: "fetch", Arguments: arguments}}})
		var text strings.Builder
		for l := range 60 {
			if l == 30 {
				fmt.Fprintf(&text, "the word is word-%d-%d indeed\n", number, i)
			}
			fmt.Fprintf(&text, "note %d of %d, line %d: all is as it was before, and nothing is new\n", i, number, l)
		}
		add(winnow.Message{Role: winnow.RoleTool, ToolCallID: id, ToolName: "fetch", Parts: []winnow.Part{{Text: text.String()}}})
	}
	add(winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Text: "All is as it was."}}})
	return &recording.Session{Messages: history}
}

// ask40 are the options of a trial of so many questions.
func options(count int) questions.Options {
	return questions.Options{Model: "claude-sonnet-4-5", Window: window, Count: count, Seed: 1}
}

// choose takes questions of scripted sessions.
func choose(t testing.TB, sessions int, o questions.Options) []*questions.Question {
	t.Helper()
	var names []string
	for i := range sessions {
		names = append(names, fmt.Sprintf("s%d", i))
	}
	list, found, err := questions.Choose(t.Context(), names, func(name string) (*recording.Session, error) {
		number := 0
		_, err := fmt.Sscanf(name, "s%d", &number)
		return session(number, 24), err
	}, o)
	require.NoError(t, err)
	require.Len(t, list, o.Count, "%+v", found)
	return list
}

// trialOf asks a scripted model. Its prices are those of a provider with a cache.
type trialOf struct {
	*ask.Asker
	server   *httptest.Server
	provider *provider.Provider
	log      string

	sideBySide int
}

func newTrial(t testing.TB, api string, o provider.Options) *trialOf {
	t.Helper()
	t.Setenv("TRIAL_TEST_KEY", "sk-secret-of-the-test")
	p := provider.New(o)
	x := &trialOf{server: httptest.NewServer(p), provider: p, log: filepath.Join(t.TempDir(), "trial.jsonl")}
	t.Cleanup(x.server.Close)
	x.Asker = &ask.Asker{Budget: 1e6, Price: func(u winnow.Usage) float64 {
		return (3*float64(u.Input) + 0.3*float64(u.CacheRead) + 3.75*float64(u.CacheWrite) + 15*float64(u.Output)) / 1e6
	}}
	to, err := url.Parse(x.server.URL)
	require.NoError(t, err)
	a, err := ask.ByName(api)
	require.NoError(t, err)
	x.Client, err = ask.New(a, "claude-sonnet-4-5", to, "TRIAL_TEST_KEY")
	require.NoError(t, err)
	x.open(t)
	return x
}

// open opens the log, as the next process does.
func (x *trialOf) open(t testing.TB) {
	t.Helper()
	log, err := ask.OpenLog(x.log, x.Client)
	require.NoError(t, err)
	t.Cleanup(func() { _ = log.Close() })
	x.Log = log
}

func (x *trialOf) run(ctx context.Context, list []*questions.Question) (*Report, error) {
	results, err := Run(ctx, list, x.Asker, x.sideBySide, func(int) {})
	return NewReport(context.WithoutCancel(ctx), results, x.Log.Spent(), 1), err
}

// shown is all that a request shows.
func shown(r *provider.Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		b.WriteString(m.Text + "\n")
		for _, result := range m.Results {
			b.WriteString(result.Text + "\n")
		}
	}
	return b.String()
}

func fetches(page string) provider.Answer {
	arguments, _ := json.Marshal(map[string]string{"page": page})
	return provider.Answer{Text: "I read on.", Calls: []provider.ToolCall{{Name: "fetch", Arguments: arguments}}}
}

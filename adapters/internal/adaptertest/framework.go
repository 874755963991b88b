package adaptertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/adapters/framework"
	"github.com/winnowgo/winnow/adapters/transport"
	"github.com/winnowgo/winnow/internal/test/provider"
)

// Run is one run of a framework's agent, which reads a book page by page.
type Run struct {
	URL      string             // of a provider that speaks Chat Completions, without /v1
	Client   *http.Client       // that the framework's own client uses
	Options  *framework.Options // of the wrapper; nil: without one
	Stream   bool
	Mistake  bool   // what is sent takes the place of the framework's history
	History  any    // of the run before, as that returned it; nil: a new conversation
	Question string // the newest message
	Steps    int    // more than the agent needs
	Read     func(page string) string
}

// FrameworkAgent runs an agent with a tool "read" and with the wrapper's tools. It returns the history of the framework
// with the answer, without usage and times.
type FrameworkAgent struct {
	Run       func(ctx context.Context, r Run) (history any, err error)
	Arguments string // of a call of the tool, with %d for the page
	Recall    string // of a call of the recall tool, with %s for {"handle":…} inside of a JSON text; "": that itself
	NoResume  bool   // the framework begins each run with an empty history
	NoStream  bool   // it does not stream
	NoUsage   bool   // it does not ask for the usage of a stream
	Kept      bool   // it makes its list of messages anew for each request, so that there is nothing to mistake
}

const (
	frameworkWindow = 32_000
	recallID        = "call_recall"
	ownID           = "call_own_%d"
)

// book is a model that reads a book to the page that the question names. On the page recallAt it looks up a record.
type book struct {
	agent    *FrameworkAgent
	recallAt int
	own      map[int]provider.ToolCall // of Winnow's tools, behind a page
	mu       sync.Mutex
	recalled string // what the tool answered
}

var (
	asked   = regexp.MustCompile(`Read book (\w+) from page (\d+) to page (\d+)`)
	readTo  = regexp.MustCompile(`end of page (\d+) of book (\w+), up to (\d+)`)
	handles = regexp.MustCompile(`recall (\d+)`)
)

func (b *book) answer(r *provider.Request) provider.Answer {
	last := r.Last()
	text := last.Text
	for _, result := range last.Results {
		text += result.Text
	}
	call := func(page int, book string, to int) provider.Answer {
		return provider.Answer{Text: fmt.Sprintf("Page %d comes next.", page), Calls: []provider.ToolCall{{
			ID: fmt.Sprintf("call_%s_%d", book, page), Name: "read",
			Arguments: json.RawMessage(fmt.Sprintf(b.agent.Arguments, page)),
		}}}
	}
	var name string
	var page, to int
	for _, result := range last.Results {
		if result.ID == recallID {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.recalled = text
			return provider.Answer{Text: "That was it."}
		}
		if _, err := fmt.Sscanf(result.ID, ownID, &page); err == nil { // go on behind that page
			text = fmt.Sprintf("end of page %d of book a, up to %d", page, lastOf(r))
			delete(b.own, page)
		}
	}
	if m := readTo.FindStringSubmatch(text); m != nil {
		_, _ = fmt.Sscan(m[1]+" "+m[2]+" "+m[3], &page, &name, &to)
		if page == b.recallAt && b.recallAt > 0 {
			if a, ok := b.recall(r); ok {
				return a
			}
		}
		if own, ok := b.own[page]; ok {
			own.ID, own.Arguments = fmt.Sprintf(ownID, page), b.agent.wrapped(string(own.Arguments))
			return provider.Answer{Calls: []provider.ToolCall{own}}
		}
		if page >= to {
			return provider.Answer{Text: fmt.Sprintf("Page %d was the last one of book %s.", page, name)}
		}
		return call(page+1, name, to)
	}
	if m := asked.FindStringSubmatch(text); m != nil {
		_, _ = fmt.Sscan(m[1]+" "+m[2]+" "+m[3], &name, &page, &to)
		return call(page, name, to)
	}
	return provider.Answer{Text: "That is all."}
}

// recall calls the tool for the first record that names a handle.
func (b *book) recall(r *provider.Request) (provider.Answer, bool) {
	for _, m := range r.Messages {
		found := handles.FindStringSubmatch(m.Text)
		if found == nil {
			continue
		}
		call := provider.ToolCall{ID: recallID, Name: winnow.RecallTool().Name,
			Arguments: b.agent.wrapped(fmt.Sprintf(`{"handle":%q}`, found[1]))}
		return provider.Answer{Calls: []provider.ToolCall{call}}, true
	}
	return provider.Answer{}, false
}

// wrapped returns the arguments of one of Winnow's tools as a model writes them for the framework.
func (a *FrameworkAgent) wrapped(arguments string) json.RawMessage {
	if a.Recall != "" {
		quoted, _ := json.Marshal(arguments)
		arguments = fmt.Sprintf(a.Recall, quoted)
	}
	return json.RawMessage(arguments)
}

func questionOf(book string, from, to int) string {
	return fmt.Sprintf("Read book %s from page %d to page %d.", book, from, to)
}

// lastOf is the page to which the newest question wants the book to be read.
func lastOf(r *provider.Request) (to int) {
	for _, m := range r.Messages {
		if found := asked.FindStringSubmatch(m.Text); found != nil {
			_, _ = fmt.Sscan(found[3], &to)
		}
	}
	return to
}

func reads(book string, to int) func(page string) string {
	return func(page string) string {
		line := fmt.Sprintf("Line of page %s in book %s, which says that all is well.\n", page, book)
		return fmt.Sprintf("%send of page %s of book %s, up to %d", strings.Repeat(line, 90), page, book, to)
	}
}

// pages is a run that reads pages of a book.
func pages(r Run, book string, from, to int) Run {
	r.Question = questionOf(book, from, to)
	r.Read, r.Steps = reads(book, to), to-from+10
	if r.Client == nil {
		r.Client = http.DefaultClient
	}
	return r
}

// atProvider starts a provider, of an API that it does not speak behind a front, and returns it and its URL.
func atProvider(t *testing.T, o provider.Options, front ...Front) (*provider.Provider, string) {
	p := provider.New(o)
	handler := http.Handler(p)
	for _, f := range front {
		handler = f.handler(t, handler)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return p, server.URL
}

func frameworkOptions(store framework.Store, window int) *framework.Options {
	return &framework.Options{Store: store, Recall: true, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Manager: func(string) (int, *winnow.Options) { return window, &winnow.Options{NoMinify: true, Reserve: 2_000} }}
}

// CheckFramework runs an agent of a framework with Winnow's wrapper and without it.
func CheckFramework(t *testing.T, a FrameworkAgent) {
	for _, stream := range []bool{false, true} {
		if stream && a.NoStream {
			continue
		}
		name := map[bool]string{false: "whole", true: "streamed"}[stream]
		t.Run(name+", 60 steps, two at once", func(t *testing.T) { a.checkHistory(t, stream) })
		t.Run(name+", overflow", func(t *testing.T) { a.checkOverflow(t, stream) })
		t.Run(name+", other errors", func(t *testing.T) { a.checkErrors(t, stream) })
	}
	t.Run("recall", func(t *testing.T) { a.checkRecall(t) })
	t.Run("notes", func(t *testing.T) { a.checkNotes(t) })
	if !a.NoResume {
		t.Run("resumed", func(t *testing.T) { a.checkResumed(t) })
	}
	if !a.Kept {
		t.Run("mistake, with records", func(t *testing.T) { a.checkMistake(t, &winnow.Options{}) })
		t.Run("mistake, with summaries", func(t *testing.T) {
			a.checkMistake(t, &winnow.Options{FoldAbove: 1, Tools: &winnow.ToolOptions{Keep: []string{"*"}}})
		})
	}
	t.Run("no conversation", func(t *testing.T) {
		_, url := atProvider(t, provider.Options{})
		_, err := a.Run(t.Context(), pages(Run{URL: url, Options: frameworkOptions(nil, frameworkWindow)}, "a", 1, 2))
		assert.ErrorIs(t, err, framework.ErrNoConversation)
	})
}

// checkHistory runs two conversations beyond the window at once. The framework's history is that of a run without
// Winnow, nothing is refused, and each answer's usage is told.
func (a *FrameworkAgent) checkHistory(t *testing.T, stream bool) {
	p, small := atProvider(t, provider.Options{Window: frameworkWindow, Model: (&book{agent: a}).answer})
	var mu sync.Mutex
	told, most := map[int]int{}, 0
	o := frameworkOptions(nil, frameworkWindow)
	o.Done = func(x framework.Exchange) {
		mu.Lock()
		defer mu.Unlock()
		told[x.Usage.Prompt()]++
		most = max(most, len(x.Request.Edits))
	}
	var group sync.WaitGroup
	for _, book := range []string{"a", "b"} {
		group.Go(func() {
			a.checkSame(framework.WithConversation(t.Context(), book), t, book,
				Run{URL: small, Stream: stream, Options: o})
		})
	}
	group.Wait()
	require.Len(t, p.Exchanges(), 2*(steps+1))
	billed := map[int]int{}
	for i, x := range p.Exchanges() {
		require.Nil(t, x.Error, "request %d", i)
		billed[x.Usage.Prompt()]++
	}
	if stream && a.NoUsage {
		billed = map[int]int{0: len(p.Exchanges())}
	}
	assert.Equal(t, billed, told, "usage")
	assert.Greater(t, most, 10, "nothing was shortened")
}

const steps = 60

// checkSame reads a book at a provider that takes all of it, and by r: the framework's histories are the same.
func (a *FrameworkAgent) checkSame(ctx context.Context, t *testing.T, name string, r Run) {
	_, large := atProvider(t, provider.Options{Window: HugeWindow, Model: (&book{agent: a}).answer})
	want, err := a.Run(t.Context(), pages(Run{URL: large, Stream: r.Stream}, name, 1, steps))
	if !assert.NoError(t, err) {
		return
	}
	got, err := a.Run(ctx, pages(r, name, 1, steps))
	if assert.NoError(t, err) {
		sameHistory(t, want, got)
	}
}

// sameHistory compares bytes, and shows where they begin to differ.
func sameHistory(t *testing.T, want, got any) {
	t.Helper()
	a, b := JSON(t, want), JSON(t, got)
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	if a != b {
		t.Errorf("the framework's history is another from byte %d on: want %.200s, got %.200s", at, a[at:], b[at:])
	}
}

// checkOverflow has a manager that believes in twice the window.
func (a *FrameworkAgent) checkOverflow(t *testing.T, stream bool) {
	p, url := atProvider(t, provider.Options{Window: frameworkWindow, Model: (&book{agent: a}).answer})
	o := frameworkOptions(nil, 0)
	o.Manager = func(string) (int, *winnow.Options) { return 2 * frameworkWindow, &winnow.Options{FoldAbove: 1} }
	_, err := a.Run(framework.WithConversation(t.Context(), "c"),
		pages(Run{URL: url, Stream: stream, Options: o}, "a", 1, 40))
	require.NoError(t, err)
	refused := 0
	for i, x := range p.Exchanges() {
		if x.Error != nil {
			refused++
			assert.Equal(t, provider.RuleWindow, x.Error.Rule, "request %d", i)
		}
	}
	assert.Positive(t, refused)
	assert.Empty(t, p.Repeats())
}

// checkErrors compares an error of the provider with what the framework says of it without Winnow.
func (a *FrameworkAgent) checkErrors(t *testing.T, stream bool) {
	_, url := atProvider(t, provider.Options{Model: func(*provider.Request) provider.Answer {
		e := &provider.Error{Status: 401, Type: "invalid_request_error", Message: "Incorrect API key provided."}
		return provider.Answer{Error: e}
	}})
	r := pages(Run{URL: url, Stream: stream}, "a", 1, 2)
	_, want := a.Run(t.Context(), r)
	require.Error(t, want)
	r.Options = frameworkOptions(nil, frameworkWindow)
	_, got := a.Run(framework.WithConversation(t.Context(), "c"), r)
	require.Error(t, got)
	assert.Equal(t, want.Error(), got.Error())
	assert.Equal(t, winnow.ErrorAuth, winnow.ClassifyError(got).Class)
}

// checkResumed goes on in a new process, with the framework's history and the store: the request begins with what was
// sent last.
func (a *FrameworkAgent) checkResumed(t *testing.T) {
	p, url := atProvider(t, provider.Options{Window: frameworkWindow, Model: (&book{agent: a}).answer})
	store := framework.Directory(t.TempDir())
	ctx := framework.WithConversation(t.Context(), "c")
	r := pages(Run{URL: url, Options: frameworkOptions(store, frameworkWindow)}, "a", 1, 30)
	history, err := a.Run(ctx, r)
	require.NoError(t, err)
	before := len(p.Exchanges())
	r.Options, r.History = frameworkOptions(store, frameworkWindow), history
	_, err = a.Run(ctx, pages(r, "a", 31, 33))
	require.NoError(t, err)
	x := p.Exchanges()
	require.Greater(t, len(x), before)
	SamePrefix(t, x[before-1], x[before])

	r.Options = frameworkOptions(nil, frameworkWindow)
	_, err = a.Run(ctx, pages(r, "a", 31, 33))
	require.NoError(t, err)
	was, is := valuesOf(t, x[before-1].Body, "messages"), valuesOf(t, p.Exchanges()[len(x)].Body, "messages")
	assert.NotEqual(t, was, is[:min(len(is), len(was))], "without the store it is another")
}

// checkRecall lets the model look up what a record stands for.
func (a *FrameworkAgent) checkRecall(t *testing.T) {
	b := &book{agent: a, recallAt: 30}
	p, url := atProvider(t, provider.Options{Window: frameworkWindow, Model: b.answer})
	_, err := a.Run(framework.WithConversation(t.Context(), "c"),
		pages(Run{URL: url, Options: frameworkOptions(nil, frameworkWindow)}, "a", 1, 40))
	require.NoError(t, err)
	assert.Contains(t, b.recalled, "Line of page")
	last := p.Exchanges()[len(p.Exchanges())-1].Request
	assert.Contains(t, strings.Join(last.Tools, " "), winnow.RecallTool().Name)
}

// checkNotes lets the model write a note, and end a phase: the steps before that become records at once, and the note
// stays.
func (a *FrameworkAgent) checkNotes(t *testing.T) {
	b := &book{agent: a, own: map[int]provider.ToolCall{
		8:  {Name: winnow.NotesTool().Name, Arguments: json.RawMessage(`{"name":"goal","text":"find the blue key"}`)},
		12: {Name: winnow.CompactTool().Name, Arguments: json.RawMessage(`{"keep":"the door is on page 3"}`)},
	}}
	p, url := atProvider(t, provider.Options{Window: frameworkWindow, Model: b.answer})
	o := frameworkOptions(nil, frameworkWindow)
	o.Notes = true
	_, err := a.Run(framework.WithConversation(t.Context(), "c"), pages(Run{URL: url, Options: o}, "a", 1, 60))
	require.NoError(t, err)
	assert.Empty(t, b.own, "each was answered")
	x := p.Exchanges()
	body := string(x[len(x)-1].Body)
	for _, want := range []string{"find the blue key", "the door is on page 3", "[Record of "} {
		assert.Contains(t, body, want)
	}
	assert.Less(t, x[14].Request.Tokens, x[13].Request.Tokens, "behind the end of the phase")
	assert.Contains(t, strings.Join(x[0].Request.Tools, " "), winnow.NotesTool().Name)
}

// checkMistake makes the mistake of which docs/frameworks.md warns.
func (a *FrameworkAgent) checkMistake(t *testing.T, options *winnow.Options) {
	_, url := atProvider(t, provider.Options{Window: frameworkWindow, Model: (&book{agent: a}).answer})
	o := frameworkOptions(nil, 0)
	o.Manager = func(string) (int, *winnow.Options) { return frameworkWindow, options }
	_, err := a.Run(framework.WithConversation(t.Context(), "c"),
		pages(Run{URL: url, Options: o, Mistake: true}, "a", 1, 60))
	if !errors.Is(err, winnow.ErrSentAsHistory) { // some frameworks keep only the text of an error
		assert.ErrorContains(t, err, winnow.ErrSentAsHistory.Error())
	}
}

// SamePrefix checks that the messages of a request begin with those of an earlier one.
func SamePrefix(t *testing.T, earlier, later provider.Exchange) {
	t.Helper()
	was, is := valuesOf(t, earlier.Body, "messages"), valuesOf(t, later.Body, "messages")
	require.Greater(t, len(is), len(was))
	assert.Contains(t, strings.Join(was, ""), "[Record of ", "nothing was shortened")
	assert.Equal(t, was, is[:len(was)])
}

// CheckUnderTransport runs an agent without a wrapper, whose client has Winnow's transport.
func CheckUnderTransport(t *testing.T, a FrameworkAgent) {
	for _, stream := range []bool{false, true} {
		if stream && a.NoStream {
			continue
		}
		p, small := atProvider(t, provider.Options{Window: frameworkWindow, Model: (&book{agent: &a}).answer})
		manager := func(*http.Request, string) (int, *winnow.Options) {
			return frameworkWindow, &winnow.Options{NoMinify: true, Reserve: 2_000}
		}
		under, err := transport.New(nil, &transport.Options{Manager: manager})
		require.NoError(t, err)
		a.checkSame(t.Context(), t, "a", Run{URL: small, Client: &http.Client{Transport: under}, Stream: stream})
		require.Len(t, p.Exchanges(), steps+1)
		for i, x := range p.Exchanges() {
			require.Nil(t, x.Error, "request %d", i)
		}
		assert.Contains(t, string(p.Exchanges()[steps].Body), "[Record of ", "nothing was shortened")
	}
}

package winnowtest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/winnowtest"
)

// TestModelRefusesLikeEachProvider: what a scripted model refuses is read as an overflow, whoever's words it has.
func TestModelRefusesLikeEachProvider(t *testing.T) {
	require.Greater(t, len(winnowtest.Providers()), 10)
	for _, name := range append(winnowtest.Providers(), "") {
		m := &winnowtest.Model{Window: 100, Provider: name, Answers: []winnowtest.Answer{{Text: "yes"}}}
		_, err := m.Call(t.Context(), winnowtest.Conversation{}.Work(1, 2, 4_000))
		require.Error(t, err, name)
		assert.Equal(t, winnow.ErrorOverflow, winnow.ClassifyError(err).Class, "%s: %v", name, err)
		_, err = m.Call(t.Context(), winnowtest.Conversation{}.Person("Short?"))
		require.NoError(t, err, "%s: a shorter request is answered, and the script goes on there", name)
		_, err = m.Call(t.Context(), winnowtest.Conversation{}.Person("Once more?"))
		require.ErrorIs(t, err, winnowtest.ErrScript, name)
	}
	_, err := (&winnowtest.Model{Window: 1, Provider: "nobody"}).Call(t.Context(), winnowtest.Conversation{}.Person("Hello?"))
	require.ErrorContains(t, err, `no provider "nobody", want one of anthropic,`)
}

// TestModelBills: the prompt is counted, and what the last request had is read from the cache.
func TestModelBills(t *testing.T) {
	m := &winnowtest.Model{Answers: []winnowtest.Answer{{Text: "one"}, {Text: "two"}}}
	h := winnowtest.Conversation{}.Work(1, 1, 400)
	first, err := m.Call(t.Context(), h)
	require.NoError(t, err)
	second, err := m.Call(t.Context(), append(h, first).Person("And?"))
	require.NoError(t, err)
	assert.Zero(t, first.Usage.CacheRead)
	assert.Equal(t, first.Usage.Prompt(), second.Usage.CacheRead)
	assert.Positive(t, second.Usage.CacheWrite)
}

// TestModelCheckFinds: each kind of mistake that an agent makes is found.
func TestModelCheckFinds(t *testing.T) {
	whole := winnowtest.Conversation{}.Person("Look.").Step("read", `{}`, "found").Says("I looked.")
	for _, tt := range []struct {
		name     string
		requests [][]winnow.Message
		want     string
	}{
		{"a sound agent", [][]winnow.Message{whole[:1], whole[:3]}, ""},
		{"a result that was never sent", [][]winnow.Message{whole[:1], whole[:1]}, "the result of call_1, was in no request"},
		{"a person who was never heard", [][]winnow.Message{whole[1:3]}, "message 0 was in no request: Look."},
		{"a call without its result", [][]winnow.Message{whole[:1], append(whole[:2:2], whole[3])}, "request 1 is valid"},
	} {
		m := &winnowtest.Model{Answers: make([]winnowtest.Answer, len(tt.requests))}
		for _, r := range tt.requests {
			_, err := m.Call(t.Context(), r)
			require.NoError(t, err)
		}
		err := m.Check(whole)
		if tt.want == "" {
			assert.NoError(t, err, tt.name)
		} else {
			assert.ErrorContains(t, err, tt.want, tt.name)
		}
	}
	small := &winnow.Request{Messages: whole, Tokens: 11, Budget: 10}
	assert.ErrorContains(t, winnowtest.CheckRequest(small), "11 tokens are above the budget of 10")
}

func TestModelErrors(t *testing.T) {
	down := errors.New("529 overloaded_error")
	m := &winnowtest.Model{Answers: []winnowtest.Answer{{Err: down}, {Text: "yes"}}}
	_, err := m.Call(t.Context(), winnowtest.Conversation{}.Person("Hello?"))
	require.ErrorIs(t, err, down)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = m.Call(ended, nil)
	require.ErrorIs(t, err, context.Canceled)
}

// A fake summarizer is accepted, and says what it was asked.
func ExampleSummarizer() {
	s := &winnowtest.Summarizer{Text: "all files are read"}
	m, err := winnow.New(100_000, &winnow.Options{Summarizer: s})
	if err != nil {
		panic(err)
	}
	request, err := m.Compact(context.Background(), winnowtest.Conversation{}.Work(20, 3, 2_000), "")
	fmt.Println(err, request.SummaryCalls, len(s.Asked()), request.Degraded == "")
	// Output: <nil> 1 1 true
}

func ExampleConversation() {
	h := winnowtest.Conversation{}.Person("Fix the build.").Step("bash", `{"command":"go build"}`, "ok").Says("It builds.")
	fmt.Println(len(h), winnow.Validate(h))
	// Output: 4 <nil>
}

// A model with a script knows its request, and is not asked where the provider refuses.
func TestModelScript(t *testing.T) {
	asked := 0
	m := &winnowtest.Model{Window: 100, Script: func(request []winnow.Message) winnowtest.Answer {
		asked++
		return winnowtest.Answer{Text: request[0].Parts[0].Text}
	}}
	answer, err := m.Call(t.Context(), winnowtest.Conversation{}.Person("the code is 17"))
	require.NoError(t, err)
	assert.Equal(t, "the code is 17", answer.Parts[0].Text)
	_, err = m.Call(t.Context(), winnowtest.Conversation{}.Person(strings.Repeat("word ", 200)))
	assert.Equal(t, winnow.ErrorOverflow, winnow.ClassifyError(err).Class)
	assert.Equal(t, 1, asked)
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// session is a conversation of some 4 000 tokens in JSON Lines.
func session(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	for i := range 60 {
		require.NoError(t, enc.Encode(winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: fmt.Sprintf("Question %d: %s</conversation>", i, strings.Repeat("why so ", 20))}}}))
		require.NoError(t, enc.Encode(winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Text: fmt.Sprintf("Answer %d: see src/file_%d.go", i, i)}}}))
	}
	return b.String()
}

// answers serves one answer after the other, the last one for ever, and keeps the requests.
func answers(t *testing.T, bodies ...string) (url string, requests *[]chatRequest) {
	t.Helper()
	requests = new([]chatRequest)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var c chatRequest
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&c))
		assert.Equal(t, "/v1/chat/completions", r.URL.Path)
		assert.Equal(t, "Bearer secret", r.Header.Get("Authorization"))
		*requests = append(*requests, c)
		respond(w, bodies[min(len(*requests), len(bodies))-1])
	}))
	t.Cleanup(server.Close)
	t.Setenv("OPENAI_API_KEY", "secret")
	return server.URL + "/v1/", requests
}

// respond writes body, which begins with a status if that is not 200.
func respond(w http.ResponseWriter, body string) {
	if code, text, ok := strings.Cut(body, " "); ok {
		if status, err := strconv.Atoi(code); err == nil {
			w.WriteHeader(status)
			body = text
		}
	}
	_, _ = io.WriteString(w, body)
}

const good = `{"choices":[{"message":{"role":"assistant","content":"## Goal\nAnswer the questions."},"finish_reason":"stop"}]}`

func summarize(t *testing.T, url string, more ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, log strings.Builder
	args := append([]string{"-url", url, "-model", "small", "-keep", "500", "-focus", "the files"}, more...)
	err = run(context.Background(), args, strings.NewReader(session(t)), &out, &log)
	return out.String(), log.String(), err
}

func TestRun(t *testing.T) {
	url, requests := answers(t, good)
	out, log, err := summarize(t, url)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(out, "## Goal\nAnswer the questions."), out)
	assert.Contains(t, out, "src/file_3.go", "identifiers are kept by code")
	assert.Contains(t, log, "1 calls")
	require.Len(t, *requests, 1)
	r := (*requests)[0]
	assert.Equal(t, "small", r.Model)
	assert.Equal(t, []string{"system", "user"}, []string{r.Messages[0].Role, r.Messages[1].Role})
	assert.Contains(t, r.Messages[1].Content, "the files")
	assert.Equal(t, 1, strings.Count(r.Messages[1].Content, "</conversation>"), "text of the history cannot close the data")
	assert.Positive(t, r.MaxTokens)
}

func TestRunReadsAFile(t *testing.T) {
	url, _ := answers(t, good)
	file := filepath.Join(t.TempDir(), "session.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(session(t)), 0o600))
	out, _, err := summarize(t, url, "-in", file)
	require.NoError(t, err)
	assert.Contains(t, out, "## Goal")
	_, _, err = summarize(t, url, "-in", file+".none")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestRunFails(t *testing.T) {
	for _, tc := range []struct {
		name, body string
		calls      int
		incomplete bool
	}{
		{"a wrong key is not tried again", `401 {"error":{"message":"Incorrect API key provided"}}`, 1, false},
		{"too long: once more, clipped", `400 {"error":{"code":"context_length_exceeded","message":"maximum context length is 8192 tokens"}}`, 2, false},
		{"cut by length", strings.Replace(good, `"stop"`, `"length"`, 1), 2, true},
		{"filtered", strings.Replace(good, `"stop"`, `"content_filter"`, 1), 2, true},
		{"the model thought and said nothing", strings.Replace(good, `## Goal\nAnswer the questions.`, ``, 1), 2, true},
		{"no choices", `{}`, 2, false},
		{"no JSON", `<html>bad gateway</html>`, 2, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := compact(context.Background(), config{url: serve(t, tc.body, tc.calls), model: "small", window: 200_000, keep: 500}, history(t))
			require.ErrorIs(t, err, winnow.ErrCompaction)
			assert.Equal(t, tc.incomplete, errors.Is(err, winnow.ErrIncomplete), err)
		})
	}
}

// serve answers with body, and fails the test unless it gets the expected number of calls.
func serve(t *testing.T, body string, calls int) string {
	t.Helper()
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		respond(w, body)
	}))
	t.Cleanup(func() {
		server.Close()
		assert.Equal(t, calls, asked)
	})
	return server.URL
}

func history(t *testing.T) []winnow.Message {
	t.Helper()
	h, err := winnow.ReadMessages(strings.NewReader(session(t)))
	require.NoError(t, err)
	return h
}

func TestRunFallsBack(t *testing.T) {
	url, requests := answers(t, `503 overloaded`)
	out, log, err := summarize(t, url, "-fallback")
	require.NoError(t, err)
	assert.Contains(t, log, "by the digest")
	assert.Contains(t, out, "## Goal")
	assert.Len(t, *requests, 1)
}

func TestRunFlags(t *testing.T) {
	require.Error(t, run(context.Background(), []string{"-model", "x", "-window", "-1"}, strings.NewReader(""), io.Discard, io.Discard))
	require.Error(t, run(context.Background(), []string{"-model", "x"}, strings.NewReader("{"), io.Discard, io.Discard))
	err := run(context.Background(), []string{"session.jsonl"}, nil, io.Discard, io.Discard)
	require.ErrorContains(t, err, "-in session.jsonl", "a file that is not read would be silent")
}

// A compressed session is read directly, as by the other examples; help is not an error.
func TestGzippedAndHelp(t *testing.T) {
	var out, errs bytes.Buffer
	args := []string{"-model", "none", "-url", "http://127.0.0.1:1", "-fallback", "-window", "20000", "-in", "../quickstart/sessions/english.jsonl.gz"}
	require.NoError(t, run(t.Context(), args, nil, &out, &errs))
	assert.Contains(t, errs.String(), "174 messages")
	assert.ErrorIs(t, run(t.Context(), []string{"-h"}, nil, &out, &errs), flag.ErrHelp)
}

// Without arguments there is something to see: a summary of the built-in session, by no model. What is piped in is read.
func TestWithoutModel(t *testing.T) {
	var out, errs bytes.Buffer
	require.NoError(t, run(t.Context(), nil, nil, &out, &errs))
	assert.Contains(t, out.String(), "## Goal")
	assert.Contains(t, errs.String(), "174 messages")
	assert.Contains(t, errs.String(), "by the digest")
	assert.NotContains(t, errs.String(), "calls")
	errs.Reset()
	require.NoError(t, run(t.Context(), []string{"-keep", "10"}, strings.NewReader(session(t)), io.Discard, &errs))
	assert.NotContains(t, errs.String(), "174 messages")
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

const good = `{"choices":[{"message":{"role":"assistant","content":"## Goal\nAnswer the questions."},"finish_reason":"stop"}]}`

// asked is a config for a session of some 4 000 tokens and a server that gives one answer, and the requests to it.
func asked(t *testing.T, status int, body string) (config, *[]chatRequest) {
	t.Helper()
	requests := new([]chatRequest)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var c chatRequest
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&c))
		assert.Equal(t, "/v1/chat/completions", r.URL.Path)
		assert.Equal(t, "Bearer secret", r.Header.Get("Authorization"))
		*requests = append(*requests, c)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	t.Setenv("OPENAI_API_KEY", "secret")
	var history []winnow.Message
	for i := range 60 {
		history = append(history,
			winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: fmt.Sprintf("Question %d: %s</conversation>", i, strings.Repeat("why so ", 20))}}},
			winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Text: fmt.Sprintf("Answer %d: see src/file_%d.go", i, i)}}})
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "session.jsonl"))
	require.NoError(t, err)
	require.NoError(t, errors.Join(winnow.WriteMessages(file, history), file.Close()))
	return config{url: server.URL + "/v1/", model: "small", in: file.Name(), focus: "the files", window: 200_000, keep: 500}, requests
}

func TestRun(t *testing.T) {
	c, requests := asked(t, 200, good)
	var out, log strings.Builder
	require.NoError(t, c.run(t.Context(), &out, &log))
	assert.Contains(t, out.String(), "Question 3: why so", "what people said is quoted by code")
	assert.Contains(t, out.String(), "## Goal\nAnswer the questions.")
	assert.Contains(t, out.String(), "src/file_3.go", "identifiers are kept by code")
	assert.Contains(t, log.String(), "1 calls")
	require.Len(t, *requests, 1)
	r := (*requests)[0]
	assert.Equal(t, "small", r.Model)
	assert.Equal(t, []string{"system", "user"}, []string{r.Messages[0].Role, r.Messages[1].Role})
	assert.Contains(t, r.Messages[1].Content, "the files")
	assert.Equal(t, 1, strings.Count(r.Messages[1].Content, "</conversation>"), "text of the history cannot close the data")
	assert.Positive(t, r.MaxTokens)
}

func TestRunFails(t *testing.T) {
	for _, tc := range []struct {
		why        string
		status     int
		body       string
		calls      int
		incomplete bool
	}{
		{"a wrong key is not tried again", 401, `{"error":{"message":"Incorrect API key provided"}}`, 1, false},
		{"too long: once more, clipped", 400, `{"error":{"code":"context_length_exceeded","message":"maximum context length is 8192 tokens"}}`, 2, false},
		{"cut by length", 200, strings.Replace(good, `"stop"`, `"length"`, 1), 2, true},
		{"filtered", 200, strings.Replace(good, `"stop"`, `"content_filter"`, 1), 2, true},
		{"the model thought and said nothing", 200, strings.Replace(good, `## Goal\nAnswer the questions.`, ``, 1), 2, true},
		{"no choices", 200, `{}`, 2, false},
		{"no JSON", 200, `<html>bad gateway</html>`, 2, false},
	} {
		c, requests := asked(t, tc.status, tc.body)
		err := c.run(t.Context(), io.Discard, io.Discard)
		require.ErrorIs(t, err, winnow.ErrCompaction, tc.why)
		assert.Equal(t, tc.incomplete, errors.Is(err, winnow.ErrIncomplete), "%s: %v", tc.why, err)
		assert.Len(t, *requests, tc.calls, tc.why)
	}
}

func TestRunFallsBack(t *testing.T) {
	c, requests := asked(t, 503, "overloaded")
	c.fallback = true
	var out, log strings.Builder
	require.NoError(t, c.run(t.Context(), &out, &log))
	assert.Contains(t, log.String(), "by the digest")
	assert.Contains(t, out.String(), "Question 3: why so")
	assert.Len(t, *requests, 1)
}

// Without a model there is something to see. A packed session is read.
func TestWithoutModel(t *testing.T) {
	c := config{in: "../quickstart/sessions/english.jsonl.gz", window: 200_000, keep: 4_000}
	var out, log strings.Builder
	require.NoError(t, c.run(t.Context(), &out, &log))
	assert.Contains(t, out.String(), "What people said, word for word")
	assert.Contains(t, log.String(), "174 messages")
	assert.Contains(t, log.String(), "by the digest")
	c.in += ".none"
	assert.ErrorIs(t, c.run(t.Context(), &out, &log), os.ErrNotExist)
}

package trial

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/ask"
	"github.com/winnowgo/winnow/cmd/winnow/internal/trial/questions"
	"github.com/winnowgo/winnow/internal/test/provider"
	"github.com/winnowgo/winnow/internal/test/recording"
)

var recorded = flag.Int("recorded", 6, "how many recorded sessions the providers' rules are tried with")

const shared = "../../../../../shared/"

// TestRecorded: in a window in which most sessions get records, providers accept each form of each question of recorded sessions, with probes and behind a recall, in
// all four APIs. Two of them are those of the strict provider; the rules of all four come from outside of this
// repository.
func TestRecorded(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob(shared + "corpus/*.jsonl.gz")
	if len(files) == 0 {
		t.Skip("there are no recorded sessions")
	}
	list, found, err := questions.Choose(t.Context(), files, func(name string) (*recording.Session, error) {
		s, _, err := recording.OpenFile(name)
		return s, err
	}, questions.Options{Model: "claude-sonnet-4-5", Window: 48_000, Count: *recorded, Probes: 5, Seed: 1})
	require.NoError(t, err)
	assert.Len(t, list, *recorded)
	assert.Equal(t, *recorded, found.Sessions)
	t.Logf("%d questions of %d sessions: %+v", len(list), found.Sessions, found)
	probes := map[string]int{}
	for _, api := range ask.APIs() {
		var bodies [][]byte
		for _, q := range list {
			for _, r := range requestsOf(t, q) {
				b, err := ask.Body(api, "m", r)
				require.NoError(t, err)
				bodies = append(bodies, b)
			}
			for _, p := range q.Probes {
				probes[p.Kind]++
				assert.NotEmpty(t, p.Want)
			}
		}
		switch api.Name() {
		case "messages":
			accepts(t, "/v1/messages", bodies, provider.VendorOpenAI)
		case "chat":
			for _, v := range []provider.Vendor{provider.VendorOpenAI, provider.VendorMistral, provider.VendorDeepSeek} {
				accepts(t, "/v1/chat/completions", bodies, v)
			}
		}
		acceptsOutside(t, api.Name(), bodies)
	}
	for _, kind := range []string{questions.ProbeFile, questions.ProbePerson, questions.ProbePlan, questions.ProbeFailure, questions.ProbeRule} {
		t.Logf("%s: %d", kind, probes[kind]/4)
	}
}

// requestsOf returns everything that is sent for a question, with a recall that is answered.
func requestsOf(t *testing.T, q *questions.Question) (list []*ask.Request) {
	for _, form := range []string{Whole, Short, Recall} {
		list = append(list, request(q, form))
		for _, p := range q.Probes {
			list = append(list, probeRequest(q, form, &p))
		}
	}
	answer := winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{Kind: winnow.KindToolCall, ID: "rec000001",
		Name: "recall", Arguments: json.RawMessage(`{"words":"error"}`)}}}
	results, _, err := q.AnswerRecall(t.Context(), answer)
	require.NoError(t, err)
	require.Len(t, results, 1)
	again := request(q, Recall)
	again.Messages = append(append(again.Messages[:len(again.Messages):len(again.Messages)], answer), results...)
	return append(list, again)
}

func accepts(t *testing.T, path string, bodies [][]byte, vendor provider.Vendor) {
	p := provider.New(provider.Options{Window: 1 << 30, Vendor: vendor})
	for _, body := range bodies {
		r := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body))
		r.Header.Set("X-Api-Key", "none")
		r.Header.Set("Authorization", "Bearer none")
		r.Header.Set("Anthropic-Version", "2023-06-01")
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		require.Equal(t, http.StatusOK, w.Code, "%s %s: %.600s\n%.300s", path, vendor, w.Body, body)
	}
}

// acceptsOutside tries bodies with the rules of a provider in JavaScript.
func acceptsOutside(t *testing.T, api string, bodies [][]byte) {
	rules, err := filepath.Abs(shared + "clients/rules.mjs")
	require.NoError(t, err)
	if _, err := os.Stat(rules); err != nil {
		return
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return
	}
	name := map[string]string{"messages": "anthropic", "contents": "gemini"}[api]
	if name == "" {
		name = api
	}
	script := `import { check } from ` + string(must(json.Marshal("file://"+rules))) + `
import readline from 'node:readline'
let n = 0
for await (const line of readline.createInterface({ input: process.stdin })) {
  try { check['` + name + `'](JSON.parse(line), 'gemini-3-pro'); n++ } catch (e) { console.log(e.message, line.slice(0, 300)); process.exit(1) }
}
console.log(n)`
	c := exec.CommandContext(t.Context(), node, "--input-type=module", "-e", script)
	c.Stdin = bytes.NewReader(append(bytes.Join(bodies, []byte("\n")), '\n'))
	out, err := c.CombinedOutput()
	assert.NoError(t, err, "%s: %s", api, out)
	assert.Equal(t, string(must(json.Marshal(len(bodies))))+"\n", string(out))
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

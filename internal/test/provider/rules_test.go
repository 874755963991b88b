package provider_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/test/provider"
)

// ruleCase is a request that breaks one rule, or, without a rule, one beside it that is fine.
type ruleCase struct {
	rule    string
	why     string
	options provider.Options
	body    any // an object, or the bytes themselves
	text    string
	status  int // 400 if it is 0
}

func (c *ruleCase) check(t *testing.T, path string) {
	t.Helper()
	p := provider.New(c.options)
	status, body := post(t, p, path, c.body)
	if c.rule == "" {
		assert.Equal(t, http.StatusOK, status, "%s: %s", c.why, body)
		return
	}
	want := c.status
	if want == 0 {
		want = http.StatusBadRequest
	}
	assert.Equal(t, want, status, "%s (%s): %s", c.rule, c.why, body)
	refusal := p.Exchanges()[0].Error
	require.NotNil(t, refusal, "%s: %s", c.rule, c.why)
	assert.Equal(t, c.rule, refusal.Rule, "%s: %s", c.why, refusal.Message)
	assert.Contains(t, refusal.Message, c.text, "%s: %s", c.rule, c.why)
	var answer struct{ Error struct{ Message string } }
	require.NoError(t, json.Unmarshal([]byte(body), &answer), body)
	assert.Equal(t, refusal.Message, answer.Error.Message, "%s: the client reads what was decided", c.rule)
}

// Builders of Anthropic's messages.

func user(blocks ...any) object { return object{"role": "user", "content": append(list{}, blocks...)} }
func assistant(blocks ...any) object {
	return object{"role": "assistant", "content": append(list{}, blocks...)}
}
func text(s string) object { return object{"type": "text", "text": s} }
func use(id string) object {
	return object{"type": "tool_use", "id": id, "name": "f", "input": object{}}
}
func result(id string) object {
	return object{"type": "tool_result", "tool_use_id": id, "content": "r"}
}

// with returns a copy of o with other fields.
func with(o object, fields object) object {
	out := object{}
	for k, v := range o {
		out[k] = v
	}
	for k, v := range fields {
		out[k] = v
	}
	return out
}

// conversation is a request to Anthropic with a tool.
func conversation(messages ...any) object {
	return object{"model": "claude-sonnet-4-5", "max_tokens": 5000, "messages": messages,
		"tools": list{object{"name": "f", "input_schema": object{"type": "object"}}}}
}

// picture is an image of the given number of pixels.
func picture(t *testing.T, width, height int) object {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))))
	return imageOf(base64.StdEncoding.EncodeToString(b.Bytes()))
}

func imageOf(data string) object {
	return object{"type": "image", "source": object{"type": "base64", "media_type": "image/png", "data": data}}
}

func repeat(o any, n int) list {
	out := make(list, n)
	for i := range out {
		out[i] = o
	}
	return out
}

// sharedRules reads the collected rules, which are not part of the repository.
func sharedRules(t *testing.T) []sharedRule {
	t.Helper()
	dir := os.Getenv("WINNOW_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared")
	}
	data, err := os.ReadFile(filepath.Join(dir, "providers", "rules.json"))
	if err != nil {
		t.Skipf("no collected rules: %v", err)
	}
	var file struct{ Rules []sharedRule }
	require.NoError(t, json.Unmarshal(data, &file))
	return file.Rules
}

type sharedRule struct {
	Provider string          `json:"provider"`
	ID       string          `json:"id"`
	Bad      json.RawMessage `json:"bad_example"`
	Text     *string         `json:"error_text"`
	Status   int             `json:"http_status"`
}

// notChecked are the rules that a request to this provider cannot break, with the reason.
var notChecked = map[string]string{
	"ANT-MERGE":          "says that something is fine: it is among the accepted requests",
	"OAI-ROLES":          "says that something is fine: it is among the accepted requests",
	"OLL-ROLES":          "says that something is fine",
	"OLL-TRUNC":          "what a server drops in silence is not a refusal; its words are among the wordings",
	"ORT-UPSTREAM":       "the provider behind the gateway decides; its frame is among the wordings",
	"ORT-402":            "depends on the balance of an account",
	"ORT-GEMINI-SIG":     "a rule of Gemini, which speaks another protocol",
	"ORT-MIDDLE-OUT":     "what a gateway drops in silence is not a refusal",
	"ALL-SUMMARISER":     "is ANT-TOOLS-REQUIRED, ANT-PREFILL and ANT-THINK-MISSING in one",
	"ALL-ERRORED":        "a turn that broke off shows as ALL-ARGS",
	"ANT-THINK-MODIFIED": "", // these need an answer to come first: TestThinking
	"ANT-THINK-SIG":      "",
	"ANT-THINK-PREFIX":   "",
	"DS-REASONING":       "",
}

// otherProtocols are the providers whose protocol this one does not speak.
var otherProtocols = map[string]bool{"openai-responses": true, "gemini": true, "bedrock-converse": true}

// TestEveryRule says which of the collected rules have a request that breaks them, and holds our words to
// theirs, up to numbers and ids.
func TestEveryRule(t *testing.T) {
	said := map[string][]ruleCase{}
	for _, c := range append(messagesRuleCases(t), chatRuleCases()...) {
		said[c.rule] = append(said[c.rule], c)
	}
	for _, r := range sharedRules(t) {
		if otherProtocols[r.Provider] {
			continue
		}
		if _, ok := notChecked[r.ID]; ok {
			continue
		}
		if r.ID == "ANT-BYTES-32M" || r.ID == "OAI-BYTES" {
			continue // TestBytes: nobody sends 32 MB in a test
		}
		right := slices.ContainsFunc(said[r.ID], func(c ruleCase) bool {
			status := max(c.status, http.StatusBadRequest)
			return status == r.Status && (r.Text == nil || strings.Contains(mask(c.text), mask(*r.Text)))
		})
		assert.True(t, right, "%s (%d): no request that breaks it is refused in these words: %v", r.ID, r.Status, r.Text)
	}
}

var (
	placeNames = regexp.MustCompile(`(messages?|tools)[.\[][^ :']*`)
	idNames    = regexp.MustCompile(`\b(toolu|call|srvtoolu)_\S*|\bX\b|fs\.read|\{[^}]*\}|\b\w*\d\w*\b`)
	noWord     = regexp.MustCompile(`[^A-Za-z_]+`)
)

// mask leaves the words of a text, without places, ids and numbers.
func mask(s string) string {
	s, _, _ = strings.Cut(s, " (older")
	s = idNames.ReplaceAllString(placeNames.ReplaceAllString(s, " "), " ")
	return strings.TrimSpace(noWord.ReplaceAllString(s, " "))
}

// TestBadExamples sends the collected examples.
func TestBadExamples(t *testing.T) {
	vendors := map[string]provider.Vendor{"mistral": provider.VendorMistral, "deepseek": provider.VendorDeepSeek, "moonshot-kimi": provider.VendorKimi,
		"vllm": provider.VendorVLLM, "llama.cpp": provider.VendorLlamaCpp, "openai-chat": provider.VendorOpenAI}
	models := map[string]string{"VLL-NOSYSTEM": "gemma-3-27b", "VLL-SINGLECALL": "llama-3.1-70b"}
	sent := 0
	for _, r := range sharedRules(t) {
		vendor, isChat := vendors[r.Provider]
		if string(r.Bad) == "null" || len(r.Bad) == 0 || !isChat && r.Provider != "anthropic" && r.Provider != "*" {
			continue
		}
		var examples list
		require.NoError(t, json.Unmarshal(r.Bad, &examples), r.ID)
		body, path, o := conversation(examples...), "/v1/messages", provider.Options{Vendor: vendor}
		switch r.ID {
		case "ANT-TOOLS-REQUIRED":
			delete(body, "tools")
		case "ANT-TRAIL-WS":
			o.Prefill = true
		case "ANT-THINK-MISSING":
			body["thinking"] = object{"type": "enabled", "budget_tokens": 2000}
		case "DS-REASONING":
			body["thinking"] = object{"type": "enabled"}
		}
		if isChat {
			path = "/v1/chat/completions"
			delete(body, "tools")
			if model, ok := models[r.ID]; ok {
				body["model"] = model
			}
		}
		raw, err := json.Marshal(body)
		require.NoError(t, err)
		raw = bytes.ReplaceAll(raw, []byte(`\\u`), []byte(`\u`)) // the examples show the escape
		p := provider.New(o)
		status, answer := post(t, p, path, string(raw))
		sent++
		assert.Equal(t, r.Status, status, "%s: %s", r.ID, answer)
		if x := p.Exchanges()[0]; r.Status != 200 && assert.NotNil(t, x.Error, r.ID) {
			assert.Equal(t, r.ID, x.Error.Rule, x.Error.Message)
		}
	}
	assert.Greater(t, sent, 25)
}

package ask

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/winnowgo/winnow"
)

// contents is Gemini's API.
type contents struct{}

func (contents) Name() string                   { return "contents" }
func (contents) key() string                    { return "GEMINI_API_KEY" }
func (contents) home() string                   { return "https://generativelanguage.googleapis.com" }
func (contents) sign(h http.Header, key string) { h.Set("X-Goog-Api-Key", key) }

func (contents) at(model string) (string, string) {
	if model == "" {
		return "/v1beta", ":generateContent"
	}
	return "/v1beta", "/models/" + strings.TrimPrefix(model, "models/") + ":generateContent"
}

// unsigned stands for the signature of a call that another model made. Gemini 3 wants one, and takes this, as it
// stands: Google documents the text itself, and reads it as bytes in the URL's alphabet of base64. Encoded once more it
// is refused.
const unsigned = "skip_thought_signature_validator"

func (contents) write(_ string, r *Request) any {
	system, list := turns(r)
	names := map[string]string{}
	out := []object{}
	for i := range list {
		t := &list[i]
		var parts []object
		for _, m := range t.results {
			member := "output"
			if m.IsError {
				member = "error"
			}
			parts = append(parts, object{"functionResponse": object{"name": names[m.ToolCallID],
				"response": object{member: resultText(m)}}})
		}
		if len(parts) > 0 && len(t.texts) > 0 { // responses are a content of their own
			out = append(out, object{"role": "user", "parts": parts})
			parts = nil
		}
		for _, s := range t.texts {
			parts = append(parts, object{"text": s})
		}
		for k, p := range t.calls {
			names[p.ID] = p.Name
			part := object{"functionCall": object{"name": p.Name, "args": p.Arguments}}
			if k == 0 {
				part["thoughtSignature"] = unsigned
			}
			parts = append(parts, part)
		}
		role := "user"
		if t.assistant {
			role = "model"
		}
		out = append(out, object{"role": role, "parts": parts})
	}
	body := object{"contents": out, "generationConfig": object{"maxOutputTokens": r.MaxTokens}}
	if system != "" {
		body["systemInstruction"] = object{"parts": []object{{"text": system}}}
	}
	if len(r.Tools) > 0 {
		tools := make([]object, len(r.Tools))
		for i, t := range r.Tools {
			tools[i] = object{"name": t.Name, "description": t.Description, "parametersJsonSchema": t.Schema}
		}
		body["tools"] = []object{{"functionDeclarations": tools}}
	}
	return body
}

func (contents) read(body []byte) (Answer, error) {
	var a struct {
		Candidates []struct {
			FinishReason string
			Content      struct {
				Parts []struct {
					Text         string
					Thought      bool
					FunctionCall *struct {
						Name string
						Args json.RawMessage
					}
				}
			}
		}
		Usage struct {
			PromptTokenCount, CachedContentTokenCount, CandidatesTokenCount,
			ThoughtsTokenCount int
		} `json:"usageMetadata"`
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return Answer{}, err
	}
	if len(a.Candidates) == 0 {
		return Answer{}, errors.New("it has no candidates")
	}
	c := &a.Candidates[0]
	said, calls := "", []winnow.Part{}
	for i, p := range c.Content.Parts {
		switch {
		case p.FunctionCall != nil:
			calls = append(calls, callOf(fmt.Sprint("call", i), p.FunctionCall.Name, p.FunctionCall.Args))
		case !p.Thought:
			said += p.Text
		}
	}
	u := &a.Usage
	read := min(u.CachedContentTokenCount, u.PromptTokenCount)
	usage := winnow.Usage{Input: u.PromptTokenCount - read, CacheRead: read,
		Output: u.CandidatesTokenCount + u.ThoughtsTokenCount}
	return answerOf(said, calls, usage, c.FinishReason, c.FinishReason == "MAX_TOKENS"), nil
}

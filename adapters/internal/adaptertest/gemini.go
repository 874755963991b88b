package adaptertest

import (
	"encoding/json"
	"fmt"
	"regexp"
)

var (
	geminiCallID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	geminiName   = regexp.MustCompile(`^[a-zA-Z0-9_.:-]{1,64}$`)
)

// geminiCall is a function call, or the response to one.
type geminiCall struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Response map[string]any `json:"response"`
}

// ValidContents returns an error for contents that Gemini would refuse, as far as that can be told without a model.
func ValidContents(b []byte) error {
	var wire []struct {
		Role  string                       `json:"role"`
		Parts []map[string]json.RawMessage `json:"parts"`
	}
	if err := json.Unmarshal(b, &wire); err != nil {
		return err
	}
	var before []geminiCall // calls of the previous content
	own := served{}
	for i, c := range wire {
		var calls []geminiCall
		var responses []geminiCall
		if c.Role == "" {
			c.Role = "user"
		}
		if c.Role != "user" && c.Role != "model" || len(c.Parts) == 0 {
			return fmt.Errorf("contents[%d]: role %q, %d parts", i, c.Role, len(c.Parts))
		}
		for k, p := range c.Parts {
			if len(p) == 0 {
				return fmt.Errorf("contents[%d].parts[%d]: no data", i, k)
			}
			if err := own.geminiPart(c.Role, p); err != nil {
				return fmt.Errorf("contents[%d].parts[%d]: %w", i, k, err)
			}
			var call geminiCall
			var response geminiCall
			if raw, ok := p["functionCall"]; ok && json.Unmarshal(raw, &call) == nil {
				calls = append(calls, call)
			}
			if raw, ok := p["functionResponse"]; ok && json.Unmarshal(raw, &response) == nil {
				responses = append(responses, response)
			}
		}
		if err := validContent(c.Role, i == 0 || wire[i-1].Role == "model", calls, before, responses); err != nil {
			return fmt.Errorf("contents[%d]: %w", i, err)
		}
		before = calls
	}
	if len(before) > 0 {
		return fmt.Errorf("calls without responses")
	}
	return nil
}

// geminiPart takes in a part: code and tools that the API runs itself.
func (s served) geminiPart(role string, p map[string]json.RawMessage) error {
	var of geminiCall
	for _, key := range []string{"executableCode", "codeExecutionResult", "toolCall", "toolResponse"} {
		raw, ok := p[key]
		if !ok {
			continue
		}
		_ = json.Unmarshal(raw, &of)
		if key == "executableCode" || key == "toolCall" {
			return s.call(of.ID)
		}
		return s.result(of.ID)
	}
	if _, isResponse := p["functionResponse"]; role == "user" && !isResponse {
		return s.end()
	}
	return nil
}

func validContent(role string, behindModel bool, calls, before []geminiCall, responses []geminiCall) error {
	switch {
	case role == "user" && len(calls) > 0, role == "model" && len(responses) > 0:
		return fmt.Errorf("calls or responses in a content of role %s", role)
	case len(calls) > 0 && behindModel:
		return fmt.Errorf("a function call turn comes immediately after a user turn or after a function response turn")
	case len(responses) != len(before):
		return fmt.Errorf("the number of function response parts is equal to the number of function call parts: %d, %d",
			len(responses), len(before))
	}
	waiting := map[string]int{}
	for _, c := range before {
		waiting[c.ID+" "+c.Name]++
	}
	for _, r := range responses {
		if waiting[r.ID+" "+r.Name]--; waiting[r.ID+" "+r.Name] < 0 || r.Response == nil {
			return fmt.Errorf("response %q of %q is of no call, or empty", r.ID, r.Name)
		}
	}
	seen := map[string]bool{}
	for _, c := range calls {
		if !geminiName.MatchString(c.Name) || c.ID != "" && (!geminiCallID.MatchString(c.ID) || seen[c.ID]) {
			return fmt.Errorf("call %q of %q", c.ID, c.Name)
		}
		seen[c.ID] = true
	}
	return nil
}

package genai

import (
	"slices"
	"strconv"
	"strings"

	sdk "google.golang.org/genai"
)

// placeholder is sent as the thought signature of a call that Gemini did not make.
var placeholder = []byte("skip_thought_signature_validator")

// firstStrict is the first generation of Gemini that refuses unsigned calls.
const firstStrict = 3

// majorOf returns the generation in the name of a model, as in "models/gemini-2.5-pro"; 0: it names none. An alias for
// the newest, as "gemini-flash-latest", is one of the strict ones.
func majorOf(model string) int {
	_, version, _ := strings.Cut(strings.ToLower(model), "gemini-")
	end := 0
	for end < len(version) && version[end] >= '0' && version[end] <= '9' {
		end++
	}
	if end == 0 && strings.HasSuffix(version, "-latest") {
		return firstStrict
	}
	major, _ := strconv.Atoi(version[:end]) // 0 without digits
	return major
}

// sign puts a placeholder at the first call of each step of the newest turn, if it has no signature and may have one.
func (e *exporter) sign(may func(call *sdk.Part) bool) {
	for i := len(e.out) - 1; i >= 0 && !begins(e.out, i); i-- {
		c := e.out[i]
		if c.Role != sdk.RoleModel {
			continue
		}
		k := slices.IndexFunc(c.Parts, func(p *sdk.Part) bool { return p.FunctionCall != nil })
		if k < 0 || len(c.Parts[k].ThoughtSignature) > 0 || !may(c.Parts[k]) {
			continue
		}
		call, copied := *c.Parts[k], *c
		call.ThoughtSignature = placeholder
		copied.Parts = slices.Clone(c.Parts)
		copied.Parts[k] = &call
		e.out[i] = &copied
	}
}

// begins reports whether contents[i] begins a turn: the user says or shows something, and it is neither beside
// responses nor an image of one, which is sent behind it.
func begins(contents []*sdk.Content, i int) bool {
	if contents[i].Role == sdk.RoleModel || slices.ContainsFunc(contents[i].Parts, isResponse) {
		return false
	}
	hasText := slices.ContainsFunc(contents[i].Parts, func(p *sdk.Part) bool { return p != nil && p.Text != "" })
	return hasText || i == 0 || !slices.ContainsFunc(contents[i-1].Parts, isResponse)
}

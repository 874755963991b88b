package genai

import (
	"strconv"
	"strings"
)

// placeholder is the thought signature of a call that Gemini did not make, as the SDK writes it. Google documents
// "skip_thought_signature_validator". That is a field of bytes, which Google reads in either alphabet of base64, and
// the SDK writes in the standard one, with slashes. The bytes of the documented text itself would be written in base64
// once more, and refused.
const placeholder = "skip/thought/signature/validator"

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

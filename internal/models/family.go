package models

import (
	"strconv"
	"strings"

	"github.com/winnowgo/winnow/internal/prose"
)

// Family returns the family of tokenizers for the name of a model as providers, gateways and clouds spell it, or
// "" for a model whose tokenizer is not known. It applies rules, so that it also knows models to come.
func Family(model string) string {
	name := strings.TrimSpace(strings.ToLower(model))
	if i := strings.LastIndexByte(name, '/'); i >= 0 && i < len(name)-1 {
		name = name[i+1:]
	}
	if tuned, ok := strings.CutPrefix(name, "ft:"); ok { // what is behind the model is the customer's
		name, _, _ = strings.Cut(tuned, ":")
	}
	// The name may have what serves it in front ("openai:o3"), or behind it ("qwen3:free").
	for ok := true; ok; _, name, ok = strings.Cut(name, ":") {
		if family := familyByName(name); family != "" {
			return family
		}
	}
	return ""
}

// MayReadSealed reports whether a model may read what the Responses API seals: one of OpenAI's, or one of a maker that
// the name does not tell.
func MayReadSealed(model string) bool {
	family := Family(model)
	return family == "" || family == "cl100k" || family == "o200k"
}

func familyByName(name string) string {
	switch {
	case strings.Contains(name, "claude"):
		return claudeFamily(name)
	case strings.Contains(name, "llama"): // before DeepSeek and Qwen: a distilled model has the tokenizer it is made of
		if major, _ := version(name, "llama"); major == 3 || strings.Contains(name, "deepseek") {
			return "llama3"
		}
		return ""
	case strings.Contains(name, "qwen"), strings.HasPrefix(name, "qwq"), strings.HasPrefix(name, "qvq"):
		return "qwen"
	case strings.Contains(name, "deepseek"):
		return "deepseek"
	case strings.Contains(name, "gemini"):
		return "gemini"
	case strings.Contains(name, "gemma"):
		return "gemma"
	}
	return openAIFamily(name)
}

func claudeFamily(name string) string {
	major, minor := version(name, "claude")
	switch {
	case major == 0: // "claude-sonnet-latest"
		return "claude-next"
	case major < 4:
		return "claude"
	case major == 4 && minor < 7:
		return "claude4"
	}
	return "claude-next"
}

var (
	cl100kName = prose.NewPattern(`^text-embedding-(3|ada)`)
	// o1, o3-mini; what has no version behind gpt
	o200kName = prose.NewPattern(`^(chat-latest|codex-|computer-use-|o\d)|` +
		`gpt[-._:@ ()\[\]]*(4o|oss|audio|realtime|image|chat-latest|daybreak)`)
	noGPT = prose.NewPattern(`gpt[a-z]`) // a word of its own: gptq is how a model was made small
)

func openAIFamily(name string) string {
	switch major, minor := version(name, "gpt"); {
	case o200kName.Get().MatchString(name):
		return "o200k"
	case cl100kName.Get().MatchString(name):
		return "cl100k"
	case noGPT.Get().MatchString(name):
		return ""
	case major == 3, major == 4 && minor == 0:
		return "cl100k"
	case major >= 4: // 4.1, 4.5 and what came after
		return "o200k"
	}
	return "" // gpt2, gpt-j, gpt-neox
}

// version reads the first number of one or two digits behind word in name, and the one directly
// behind that: 4 and 5 in "claude-opus-4-5-20251101" and in "claude-opus-4.5", 3 and 0 in "llama3-70b". Azure and
// others leave the point out: 3 and 5 in "gpt-35-turbo".
func version(name, word string) (major, minor int) {
	_, rest, _ := strings.Cut(name, word)
	parts := strings.FieldsFunc(rest, isBreak)
	for i, part := range parts {
		n, ok := smallNumber(part)
		if !ok {
			continue
		}
		if n >= 20 {
			return n / 10, n % 10
		}
		if _, after, ok := strings.Cut(part, "p"); ok { // v3p1
			minor, _ = smallNumber(after)
		} else if i+1 < len(parts) {
			minor, _ = smallNumber(parts[i+1])
		}
		return n, minor
	}
	return 0, 0
}

// isBreak reports whether r stands between the parts of a model name.
func isBreak(r rune) bool { return strings.ContainsRune("-._:@ []()", r) }

// smallNumber reads a version number: one or two digits, alone, with a v before them, or with a letter
// behind them that is not a unit (4o, v3p1). A date is longer, a size (70b) has its own letter.
func smallNumber(s string) (n int, ok bool) {
	if m := small.Get().FindStringSubmatch(s); m != nil {
		n, _ = strconv.Atoi(m[1])
		return n, true
	}
	return 0, false
}

var small = prose.NewPattern(`^v?(\d{1,2})([op].*)?$`)

// HasBreakpoints reports whether a model of OpenAI's reads its prompt cache only up to a breakpoint: the end of an
// earlier request, or a block that is marked.
func HasBreakpoints(model string) bool {
	major, minor := version(strings.ToLower(model), "gpt-")
	return major > 5 || major == 5 && minor >= 6
}

// firstBound is the first version of a model whose thinking is bound to the messages in front of it.
var firstBound = []struct {
	word         string
	major, minor int
}{{"claude", 5, 1}, {"gpt-", 6, 2}}

// BindsThinking reports whether a model's thinking is valid only if the messages before it are unchanged. The latest
// Claude is one whose thinking is.
func BindsThinking(model string) bool {
	name := strings.ToLower(model)
	for _, first := range firstBound {
		if strings.Contains(name, first.word) {
			major, minor := version(name, first.word)
			if major == 0 && first.word == "claude" && strings.HasSuffix(name, "-latest") {
				return true
			}
			return major > first.major || major == first.major && minor >= first.minor
		}
	}
	return false
}

// IsSame reports whether a and b name one model at one provider. Another spelling may mean another gateway, which has
// its own limits; only case and outer spaces make no difference.
func IsSame(a, b string) bool {
	return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b))
}

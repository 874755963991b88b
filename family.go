package winnow

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/winnowgo/winnow/internal/ascii"
)

// families are the names that [NewEstimator] knows.
var families = []struct {
	name      string
	tables    *lazyCosts
	structure structure
}{
	{"", &lazyCosts{column: "unknown"}, safeStructure},
	{"o200k", &lazyCosts{column: "o200k"}, openAIStructure},
	{"cl100k", &lazyCosts{column: "cl100k"}, openAIStructure},
	{"claude", &lazyCosts{column: "claude"}, claudeStructure},
	{"claude4", &lazyCosts{column: "claude", latin: claude4, cjk: claude4, other: claude4}, claudeStructure},
	{"claude-next", &lazyCosts{column: "claude", latin: claudeNextLatin, cjk: claudeNextCJK, other: claudeNextOther}, nextStructure},
	{"gemini", &gemmaCosts, geminiStructure},
	{"gemma", &gemmaCosts, geminiStructure},
	{"qwen", &lazyCosts{column: "qwen"}, templated},
	{"deepseek", &lazyCosts{column: "deepseek"}, templated},
	{"llama3", &lazyCosts{column: "llama3"}, templated},
}

// Claude relative to the last tokenizer that Anthropic published. Reports have 1.1 × for Claude 4 to 4.6
// and 1.2 to 1.45 × for Latin text from 4.7 on, 1.0 × for Chinese, Japanese and Korean, and nothing for other
// scripts. In recorded sessions, where calls count apart (see structure), what was billed was 0.97 to 1.02 ×
// for the text of Claude 4.5 and 4.6 and 1.32 to 1.35 × for that of Claude 5. The factors are the safer ones.
const (
	claude4         = 1.05
	claudeNextLatin = 1.35
	claudeNextCJK   = 1.0
	claudeNextOther = 1.1
)

var gemmaCosts = lazyCosts{column: "gemma"}

// lazyCosts are the tables of a family, made when they are first asked for.
type lazyCosts struct {
	column            string  // of data/constants.tsv
	latin, cjk, other float64 // factors, see constants.scaled; 0: none
	once              sync.Once
	made              *costs
}

func (l *lazyCosts) costs() *costs {
	l.once.Do(func() {
		m := readConstants(l.column)
		if l.latin > 0 {
			m = m.scaled(l.latin, l.cjk, l.other)
		}
		l.made = newCosts(m)
	})
	return l.made
}

// NewEstimator returns the estimator of a family of tokenizers; [FamilyForModel] names it for a model.
//
//	""           a model that is not known: as many tokens as three of four families need
//	o200k        OpenAI from GPT-4o on          cl100k  GPT-4, GPT-3.5
//	claude       Claude up to 3.7               claude4 Claude 4 to 4.6       claude-next  Claude from 4.7 on
//	gemini       Gemini; gemma is the same      qwen    Qwen
//	deepseek     DeepSeek                       llama3  Llama 3
//
// An estimate takes one pass over the text, whatever its bytes, and no memory. Half of all texts are
// within 3 %, 95 of 100 within 15 %; the error of a whole conversation is smaller. Structure comes on top: 2 to
// 5 tokens a message, and for a tool call with its result 1 (Gemini), 22 (OpenAI), 28 (qwen, deepseek, llama3)
// or 64 (Claude); arguments count as they stand. [Part.Tokens] wins over any estimate; without it an image is
// 1 200 tokens, an opaque part a quarter of its bytes, at least 1 and at most 25 000 (100 if it does not say),
// and thinking a fifth of its signature's bytes beyond 200 where that is more than its text. A part of an
// unknown kind counts its text, and its bytes as an opaque one does.
//
// The tables of a family, 130 KB, are made when it is first asked for and then shared. An unknown name is an
// error that lists the known ones.
func NewEstimator(family string) (Estimator, error) {
	for _, f := range families {
		if f.name == family {
			return familyEstimator{f.tables.costs(), f.structure}, nil
		}
	}
	names := make([]string, len(families))
	for i, f := range families {
		names[i] = fmt.Sprintf("%q", f.name)
	}
	return nil, fmt.Errorf("winnow: unknown tokenizer family %q; known are %s", family, strings.Join(names, ", "))
}

// FamilyForModel returns the family of tokenizers for a model name as providers, gateways and clouds
// spell it: "claude-opus-4-6", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "openrouter/openai/gpt-4o".
// It goes by rules and so knows names to come; "" stands for a model whose tokenizer is not known, and
// [NewEstimator] takes it.
func FamilyForModel(model string) string {
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

func familyByName(name string) string {
	switch {
	case strings.Contains(name, "claude"):
		return claudeFamily(name)
	case strings.Contains(name, "llama"): // before DeepSeek and Qwen: a distilled model has the tokenizer it is made of
		if major, _ := versionAfter(name, "llama"); major == 3 || strings.Contains(name, "deepseek") {
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
	major, minor := versionAfter(name, "claude")
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

func openAIFamily(name string) string {
	for prefix, family := range map[string]string{
		"text-embedding-3": "cl100k", "text-embedding-ada": "cl100k", "codex-": "o200k", "computer-use-": "o200k",
	} {
		if strings.HasPrefix(name, prefix) {
			return family
		}
	}
	if len(name) > 1 && name[0] == 'o' && ascii.IsDigit(name[1]) { // o1, o3-mini
		return "o200k"
	}
	_, rest, ok := strings.Cut(name, "gpt")
	if !ok {
		return ""
	}
	joined := rest != "" && rest[0] >= 'a' && rest[0] <= 'z' // a word of its own: gptq is how a model was made small
	rest = strings.TrimLeftFunc(rest, isBreak)
	for _, product := range []string{"oss", "audio", "realtime", "image", "chat-latest"} {
		if strings.HasPrefix(rest, product) {
			return "o200k"
		}
	}
	switch major, minor := versionAfter(name, "gpt"); {
	case joined:
		return ""
	case major == 3:
		return "cl100k"
	case major == 4 && minor == 0 && !strings.HasPrefix(rest, "4o"):
		return "cl100k"
	case major >= 4: // 4o, 4.1, 4.5 and what came after
		return "o200k"
	}
	return "" // gpt2, gpt-j, gpt-neox
}

// versionAfter reads the first number of one or two digits behind word in name, and the one directly
// behind that: 4 and 5 in "claude-opus-4-5-20251101" and in "claude-opus-4.5", 3 and 0 in "llama3-70b". Azure and
// others leave the point out: 3 and 5 in "gpt-35-turbo".
func versionAfter(name, word string) (major, minor int) {
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

// isBreak says that r stands between the parts of a model name.
func isBreak(r rune) bool { return strings.ContainsRune("-._:@ []()", r) }

// smallNumber reads a version number: one or two digits, alone, with a v before them, or with a letter
// behind them that is no unit (4o, v3p1). A date is longer, a size (70b) has its own letter.
func smallNumber(s string) (int, bool) {
	digits := strings.TrimPrefix(s, "v")
	end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' })
	if end >= 0 {
		if digits[end] != 'o' && digits[end] != 'p' {
			return 0, false
		}
		digits = digits[:end]
	}
	n, err := strconv.Atoi(digits)
	if err != nil || len(digits) > 2 {
		return 0, false
	}
	return n, true
}

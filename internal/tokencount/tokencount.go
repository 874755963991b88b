// Package tokencount estimates the tokens of a text, by family of tokenizers or by a cautious count that needs no
// table, and those of what is not text.
package tokencount

import (
	"maps"
	"slices"
	"sync"
)

// A Family is a family of tokenizers: what texts cost, and what messages cost beside them.
type Family struct {
	Texts func() *Table
	Structure
}

// families are known by these names. Gemini has the tokenizer of Gemma.
var families = map[string]Family{
	"":            {table("unknown", 1, 1, 1), Unknown},
	"o200k":       {table("o200k", 1, 1, 1), openAI},
	"cl100k":      {table("cl100k", 1, 1, 1), openAI},
	"claude":      {table("claude", 1, 1, 1), claude},
	"claude4":     {table("claude", claude4, claude4, claude4), claude},
	"claude-next": {table("claude", claudeNextLatin, claudeNextCJK, claudeNextOther), claudeNext},
	"gemini":      {gemma, gemini},
	"gemma":       {gemma, gemini},
	"qwen":        {table("qwen", 1, 1, 1), templated},
	"deepseek":    {table("deepseek", 1, 1, 1), templated},
	"llama3":      {table("llama3", 1, 1, 1), templated},
}

var gemma = table("gemma", 1, 1, 1)

// Of returns a family. ok is false if there is none of that name.
func Of(name string) (f Family, ok bool) {
	f, ok = families[name]
	return f, ok
}

// Families returns the names that Of knows, in their order.
func Families() []string { return slices.Sorted(maps.Keys(families)) }

// table returns the table of a column of data/constants.tsv, which is made when it is first asked for. The factors are
// those of [constants.scaled].
func table(column string, latin, cjk, other float64) func() *Table {
	return sync.OnceValue(func() *Table { return newTable(readConstants(column).scaled(latin, cjk, other)) })
}

// Claude's tokenizers relative to the last one that Anthropic published. Users report 1.1 × for Claude 4 to 4.6. From
// Claude 4.7 on they report 1.2 to 1.45 × for Latin text and 1.0 × for Chinese, Japanese and Korean; nobody reports
// other scripts. In recorded sessions, with tool calls counted apart, the provider billed 0.97 to 1.02 × for the text
// of Claude 4.5 and 4.6 and 1.32 to 1.35 × for the text of Claude 5. These factors are on the safe side.
const (
	claude4         = 1.05
	claudeNextLatin = 1.35 // also what a token of reasoning becomes
	claudeNextCJK   = 1.0
	claudeNextOther = 1.1
)

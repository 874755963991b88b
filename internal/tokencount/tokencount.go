// Package tokencount estimates the tokens of a text: by family of tokenizers, and by a cautious count that needs no
// table.
package tokencount

import "sync"

// Of returns the table of a family of tokenizers, or nil if there is no such family.
func Of(family string) *Table {
	if table, ok := families[family]; ok {
		return table()
	}
	return nil
}

// families are the tables by the names that Of knows. Gemini has the tokenizer of Gemma.
var families = map[string]func() *Table{
	"":            table("unknown", 1, 1, 1),
	"o200k":       table("o200k", 1, 1, 1),
	"cl100k":      table("cl100k", 1, 1, 1),
	"claude":      table("claude", 1, 1, 1),
	"claude4":     table("claude", claude4, claude4, claude4),
	"claude-next": table("claude", ClaudeNextLatin, claudeNextCJK, claudeNextOther),
	"gemini":      gemma,
	"gemma":       gemma,
	"qwen":        table("qwen", 1, 1, 1),
	"deepseek":    table("deepseek", 1, 1, 1),
	"llama3":      table("llama3", 1, 1, 1),
}

var gemma = table("gemma", 1, 1, 1)

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
	ClaudeNextLatin = 1.35 // also what a token of reasoning becomes
	claudeNextCJK   = 1.0
	claudeNextOther = 1.1
)

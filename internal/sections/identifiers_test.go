package sections

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow/internal/digest"
)

func TestIdentifiers(t *testing.T) {
	tokens := func(s string) int { return (len(s) + 3) / 4 }
	table := func() *digest.Table {
		d := digest.NewTable()
		d.Next()
		d.Scan("Look at /src/parse.go and /src/lex.go, port 48080.", digest.FromUser)
		return d
	}
	text := "The bug is in /src/lex.go."
	section, ids := Identifiers(table(), text, 1_000, 2_000, tokens)
	assert.True(t, strings.HasPrefix(section, "\n\n"+digest.IdentifiersHeading+"\n- "), section)
	assert.Contains(t, ids, "/src/parse.go")
	assert.NotContains(t, ids, "/src/lex.go", "the text has it")

	section, ids = Identifiers(table(), text, leastIdentifiers, 2_000, tokens)
	assert.Empty(t, section, "no room is left beside the heading")
	assert.Empty(t, ids)
	section, ids = Identifiers(table(), text, 1_000, tokens(text)+3, tokens)
	assert.Empty(t, section, "the text would have too many tokens with it")
	assert.Empty(t, ids, "a list stands for the section")
	section, _ = Identifiers(digest.NewTable(), text, 1_000, 2_000, tokens)
	assert.Empty(t, section, "there is nothing to name")
}

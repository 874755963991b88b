package transport

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/winnowgo/winnow/adapters/internal/jsonedit"
)

// Tools that the provider loads on demand are not counted, in each provider's form.
func TestDeferredToolsAreNotCounted(t *testing.T) {
	long := strings.Repeat("long ", 100)
	for _, list := range []string{
		`[{"name":"a","input_schema":{}},{"name":"b","description":"` + long + `","defer_loading":true,"input_schema":{}},{"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"}]`,
		`[{"type":"function","name":"a"},{"type":"function","name":"b","description":"` + long + `","defer_loading":true},{"type":"tool_search"}]`,
		`[{"type":"namespace","name":"n","description":"d","tools":[{"name":"a"},{"name":"b","description":"` + long + `","defer_loading":true}]}]`,
	} {
		text := sentTools(jsonedit.Value(list))
		assert.NotContains(t, text, long)
		assert.Contains(t, text, `"name":"a"`)
	}
	whole := `[{"name":"a","description":"` + long + `","defer_loading":false}]`
	assert.Equal(t, whole, "["+sentTools(jsonedit.Value(whole))+"]")
	assert.Equal(t, `{"functionDeclarations":[{"name":"a"}]}`, sentTools(jsonedit.Value(`[{"functionDeclarations":[{"name":"a"}]}]`)), "Gemini's")
}

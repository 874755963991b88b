package prompt_test

import (
	"os"
	"reflect"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/prompt"
)

// Every name of this package in docs/openclaw.md is one, and every limit of Options is named there.
func TestMigrationNamesOptions(t *testing.T) {
	text, err := os.ReadFile("../docs/openclaw.md")
	require.NoError(t, err)
	types := map[string]reflect.Type{}
	for _, v := range []any{prompt.Options{}, prompt.File{}, prompt.Section{}, prompt.Input{}, prompt.Assembly{}, prompt.Conversation{}, prompt.Report{}} {
		types[reflect.TypeOf(v).Name()] = reflect.TypeOf(v)
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`prompt\\.(\\w+)\\.(\\w+)").FindAllStringSubmatch(string(text), -1) {
		named[m[1]+"."+m[2]] = true
		typ := types[m[1]]
		if !assert.NotNil(t, typ, m[0]) {
			continue
		}
		_, isField := typ.FieldByName(m[2])
		_, isMethod := reflect.PointerTo(typ).MethodByName(m[2])
		assert.True(t, isField || isMethod, "there is no %s.%s", m[1], m[2])
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[prompt.Options]()) {
		if len(field.Name) > 3 && (field.Name[:3] == "Max" || field.Name[:3] == "Min") {
			assert.True(t, named["Options."+field.Name], "Options.%s is not in docs/openclaw.md", field.Name)
		}
	}
}

package winnow_test

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// Every option that MIGRATION.md names is one, and every option that limits or prunes is named.
func TestMigrationNamesOptions(t *testing.T) {
	text, err := os.ReadFile("MIGRATION.md")
	require.NoError(t, err)
	types := map[string]reflect.Type{}
	for _, v := range []any{winnow.Options{}, winnow.ToolOptions{}, winnow.PruneOptions{}, winnow.TruncateOptions{}, winnow.CompactOptions{}, winnow.CacheOptions{}, winnow.WindowConfig{},
		winnow.ChannelLimits{}, winnow.DMLimits{}, winnow.HistoryLimits{}, &winnow.Manager{}} {
		typ := reflect.TypeOf(v)
		types[strings.TrimPrefix(typ.String(), "*")[len("winnow."):]] = typ
		if typ.Kind() == reflect.Pointer {
			types[typ.Elem().Name()] = typ
		}
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`([A-Z]\\w+)\\.(\\w+)").FindAllStringSubmatch(string(text), -1) {
		named[m[1]+"."+m[2]] = true
		typ := types[m[1]]
		if !assert.NotNil(t, typ, "%s.%s: no such type", m[1], m[2]) {
			continue
		}
		_, isMethod := typ.MethodByName(m[2])
		isField := false
		if typ.Kind() == reflect.Struct {
			_, isField = typ.FieldByName(m[2])
		}
		assert.True(t, isMethod || isField, "%s has no %s", m[1], m[2])
	}
	for _, name := range []string{"PruneOptions", "WindowConfig", "ChannelLimits", "DMLimits"} {
		for _, field := range reflect.VisibleFields(types[name]) {
			if field.Name != "Estimator" && name+"."+field.Name != "WindowConfig.Default" {
				assert.True(t, named[name+"."+field.Name], "%s.%s is not in MIGRATION.md", name, field.Name)
			}
		}
	}
}

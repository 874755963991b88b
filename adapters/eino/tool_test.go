package eino

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

// Eino's chat models are separate modules. Of a tool they read the JSON schema.
func TestTool(t *testing.T) {
	want := winnow.RecallTool()
	got := Tool(want)
	assert.Equal(t, want.Name, got.Name)
	assert.Equal(t, want.Description, got.Desc)
	s, err := got.ToJSONSchema()
	require.NoError(t, err)
	text, err := json.Marshal(s)
	require.NoError(t, err)
	assert.JSONEq(t, string(want.Schema), string(text))
	assert.Nil(t, Tool(winnow.Tool{Name: "x"}).ParamsOneOf, "no arguments")
}

package winnow

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/nontext"
)

// Every model of the catalogue has a window, and the family of its provider or none.
func TestFamilyForCatalogue(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(sharedDir(t), "providers", "models-wide.json"))
	require.NoError(t, err)
	var catalogue struct {
		Models []struct{ Provider, ID string }
	}
	require.NoError(t, json.Unmarshal(data, &catalogue))
	require.NotEmpty(t, catalogue.Models)
	byProvider := map[string][]string{
		"anthropic": {"claude", "claude4", "claude-next"}, "openai": {"o200k", "cl100k"}, "openai-codex": {"o200k"}, "google": {"gemini", "gemma", ""},
		"deepseek": {"deepseek"}, "qwen-token-plan": {"qwen"}, "xai": {""}, "mistral": {"", "deepseek"}, "alibaba": {"qwen"}, "cohere": {""}, "moonshotai": {""}, "zai": {""},
		"minimax": {""}, "meta": {""}, "xiaomi": {""}, "kimi-coding": {""},
	}
	for _, m := range catalogue.Models {
		family := FamilyForModel(m.ID)
		t.Logf("%-16s %-50s %q", m.Provider, m.ID, family)
		if want, ok := byProvider[m.Provider]; ok {
			assert.Contains(t, want, family, m.ID)
		}
		_, err := NewEstimator(family)
		assert.NoError(t, err)
		_, err = New(0, &Options{Model: m.ID})
		assert.NoError(t, err)
		for _, spelt := range []string{"openrouter/" + m.Provider + "/" + m.ID, strings.ToUpper(m.ID), m.ID + "-20261101", "models/" + m.ID} {
			assert.Equal(t, family, FamilyForModel(spelt), spelt)
		}
	}
}

func TestNewEstimatorUnknown(t *testing.T) {
	_, err := NewEstimator("no such family \xff")
	require.Error(t, err)
	for _, name := range nontext.Families() {
		assert.Contains(t, err.Error(), `"`+name+`"`)
	}
}

func FuzzFamilyForModel(f *testing.F) {
	f.Add("claude-")
	f.Add("gpt-\xff")
	f.Fuzz(func(t *testing.T, model string) {
		_, err := NewEstimator(FamilyForModel(model))
		assert.NoError(t, err)
	})
}

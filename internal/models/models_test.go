package models

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFind(t *testing.T) {
	for _, c := range []struct{ name, key, reason string }{
		{"claude-opus-4-6", "claudeopus46", "Anthropic's own"},
		{"  Claude-Opus-4-6 ", "claudeopus46", "case and space do not count"},
		{"claude-opus-4-5-20251101", "claudeopus45", "a dated version"},
		{"claude-sonnet-4-5-latest", "claudesonnet45", "the newest of its versions"},
		{"claude-opus-4-5@20251101", "claudeopus45", "Vertex AI"},
		{"claude-sonnet-4-6[1m]", "claudesonnet46", "Claude Code"},
		{"anthropic/claude-opus-4.6", "claudeopus46", "OpenRouter has a point"},
		{"openrouter/anthropic/claude-opus-4.6:thinking", "claudeopus46", "LiteLLM of OpenRouter, with a variant"},
		{"us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claudesonnet45", "Bedrock, by region"},
		{"global.anthropic.claude-opus-5-5", "claudeopus55", "Bedrock"},
		{"us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0", "claudesonnet45", "Bedrock, a region of two words"},
		{"bedrock/converse/eu.anthropic.claude-haiku-4-5-20251001-v1:0", "claudehaiku45", "LiteLLM of Bedrock"},
		{"arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-6-v1", "claudeopus46", "an ARN"},
		{"amazon.nova-pro-v1:0", "novapro", "Bedrock's own"},
		{"bedrock/amazon.nova-2-lite-v1:0", "nova2lite", "a number in the name"},
		{"gpt-4.1", "gpt41", "OpenAI's own"},
		{"gpt-41", "gpt41", "an Azure deployment has no points"},
		{"azure/gpt-4o-2024-11-20", "gpt4o", "LiteLLM of Azure, dated"},
		{"openai:o3", "o3", "Pydantic AI, agents with a provider in front"},
		{"o3-2025-04-16", "o3", "dated"},
		{"ft:gpt-4o-mini-2024-07-18:acme::abc123", "gpt4omini", "fine-tuned"},
		{"openai/gpt-5-mini:online", "gpt5mini", "OpenRouter's variant"},
		{"gpt-6.1-sol", "gpt61sol", "a point between digits is not an owner"},
		{"models/gemini-2.5-pro", "gemini25pro", "Gemini's own"},
		{"publishers/google/models/gemini-2.5-flash-001", "gemini25flash", "Vertex AI, a version of three digits"},
		{"gemini-2.5-flash-preview-09-2025", "gemini25flash", "a month and a year"},
		{"gemini-2.5-pro-preview-05-06", "gemini25pro", "a month and a day"},
		{"gemini-3.1-pro", "gemini31pro", "listed as a preview"},
		{"google/gemini-3-flash-preview", "gemini3flash", "listed as a preview"},
		{"openai/gpt-oss-120b", "gptoss120b", "Groq"},
		{"moonshotai/kimi-k2.6:free", "kimik26", "OpenRouter"},
		{"mistral-large-latest", "mistrallargelatest", "an alias is a name of its own"},
		{"minimax/MiniMax-M3.1-Flash", "minimaxm31flash", "case"},
		{"x-ai/grok-4.7", "grok47", "OpenRouter"},

		{"", "", "no name"},
		{"mistral-large-2407", "", "an old version is not what latest is"},
		{"gpt-5-codex", "", "a neighbour is another model"},
		{"gpt-4", "", "not in the catalogue"},
		{"o3-mini", "", "not o3"},
		{"claude-opus-4-20250514", "", "not 4.5 or 4.6"},
		{"claude-3-5-sonnet-20241022", "", "not Sonnet 5"},
		{"gpt-4o-audio-preview", "", "not GPT-4o"},
		{"my-deployment", "", "a name of the host's"},
		{"/", "", "no name"},
		{":::", "", "no name"},
		{"...", "", "no name"},
		{"-latest", "", "no name"},
	} {
		m, ok := Find(c.name)
		assert.Equal(t, c.key != "", ok, "%q: %s", c.name, c.reason)
		assert.Equal(t, table[c.key], m, "%q: %s", c.name, c.reason)
	}
}

func TestTableIsPlausible(t *testing.T) {
	for name, m := range table {
		assert.Equal(t, name, squeezed(name), "no lookup would find it")
		assert.GreaterOrEqual(t, m.Window, 16_000, name)
		assert.GreaterOrEqual(t, m.CacheRead, 0.0, name)
		assert.LessOrEqual(t, m.CacheRead, 1.0, "%s: a token that is read costs no more than one that is not cached", name)
		assert.True(t, m.CacheRead == 0 || m.CacheWrite >= 1 && m.Output >= 1, "%s: prices are known together", name)
	}
}

func FuzzFind(f *testing.F) {
	for _, name := range []string{"us.anthropic.claude-sonnet-4-5-20250929-v1:0", "ft:a:b", "a@b", "-09-2025", "x-1-22-33"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) { Find(name) })
}

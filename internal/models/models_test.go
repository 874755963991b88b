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
		{"openai:gpt-5-mini:online", "gpt5mini", "a variant"},
		{"gpt-6.1-sol", "gpt61sol", "a point between digits is not an owner"},
		{"models/gemini-2.5-pro", "gemini25pro", "Gemini's own"},
		{"publishers/google/models/gemini-2.5-flash-001", "gemini25flash", "Vertex AI, a version of three digits"},
		{"gemini-2.5-flash-preview-09-2025", "gemini25flash", "a month and a year"},
		{"gemini-2.5-pro-preview-05-06", "gemini25pro", "a month and a day"},
		{"gemini-3.1-pro", "gemini31pro", "listed as a preview"},
		{"google/gemini-3-flash-preview", "gemini3flashpreview", "a gateway has another window for it without its mark"},
		{"openai/gpt-oss-120b", "gptoss120b", "Groq"},
		{"gateway/kimi-k2.6:free", "kimik26", "a variant"},
		{"mistral-large-latest", "mistrallargelatest", "an alias is a name of its own"},
		{"MiniMax-M3.1-Flash", "minimaxm31flash", "case"},
		{"claude-3-opus", "claude3opus", "listed with a date only"},
		{"claude-3.5-haiku", "claude35haiku", "listed with a date, and as the latest"},
		{"gpt-35-turbo", "gpt35turbo", "Azure"},
		{"groq:llama-3.3-70b-versatile", "llama3370bversatile", "who serves it in front"},
		{"kimi-latest:free", "kimi", "a variant behind a name without a digit"},
		{"gemma-3-27b", "gemma327bit", "the one to talk to"},
		{"meta/llama-3.1-405b", "llama31405binstruct", "the one to talk to"},
		{"accounts/acme/models/claude-opus-4p8", "claudeopus48", "Fireworks has a p for the point"},
		{"databricks-claude-opus-4-7", "claudeopus47", "Databricks"},
		{"databricks-gpt-5-1", "gpt51", "Databricks"},
		{"deepseek-v3.2", "deepseekv32", "Bedrock's deepseek.v3.2"},
		{"mistral-large-2407", "mistrallarge2407", "an old version is not what latest is"},
		{"gpt-5-codex", "gpt5codex", "a neighbour is another model"},
		{"claude-opus-4-20250514", "claudeopus4", "not 4.5 or 4.6"},
		{"anthropic.claude-v2:1", "claudev2:1", "a number behind a colon"},
		{"x-ai/grok-4.7", "grok47", "OpenRouter"},

		{"claude-4.5-sonnet", "claudesonnet45", "the version first, as it once was"},
		{"anthropic/claude-4-sonnet-20250514", "claudesonnet4", "LiteLLM, dated"},
		{"Claude Opus 3", "claude3opus", "the version last, as it is now"},
		{"claude-haiku-3-5-latest", "claude35haiku", "the same"},
		{"claude-4-4-opus", "", "not 4 or 4.5"},

		{"claude-opus-4-6-high", "claudeopus46", "how much it shall think"},
		{"gpt-5-codex-medium", "gpt5codex", "the same"},
		{"claude-opus-4-6-max", "claudeopus46", "the same"},
		{"gpt-5.1-none", "gpt51", "the same"},
		{"mistral-large-2407-medium", "", "a size, at other makers"},
		{"gpt-oss:20b", "gptoss20b", "Ollama"},
		{"ollama/llama3.3:70b-instruct-q4_K_M", "llama3370binstruct", "Ollama, made small"},
		{"qwen3:32b", "qwen332b", "Ollama"},
		{"hf.co/unsloth/Qwen3-30B-A3B-GGUF:Q4_K_M", "qwen330ba3b", "a file of Hugging Face"},
		{"unsloth/Qwen3-32B-AWQ", "qwen332b", "the same, made small in another way"},
		{"deepseek-r1:70b", "", "another model than the one without a size"},

		{"anthropic--claude-4.5-sonnet", "claudesonnet45", "SAP"},
		{"qwen3-coder-480b-a35b-instruct-maas", "qwen3coder480ba35binstruct", "Vertex AI, of another maker"},

		{"", "", "no name"},
		{"chat", "", "not OpenAI's chat-latest: nobody knows which"},
		{"mistral-huge-2407", "", "no other size"},
		{"gpt-5-codec", "", "a neighbour is another model"},
		{"o5-mini", "", "not o3-mini"},
		{"claude-opus-4-4", "", "not 4 or 4.5"},
		{"claude-4-opus-thinker", "", "not a version"},
		{"v3.2", "", "a number is no model"},
		{"gpt-4o-audio-preview", "", "not GPT-4o"},
		{"my-deployment", "", "a name of the host's"},
		{"claude", "", "nobody knows which"},
		{"claude-latest", "", "the same"},
		{"gpt-5.9-codex-max", "", "Codex Max is a model of its own"},
		{"/", "", "no name"},
		{":::", "", "no name"},
		{"...", "", "no name"},
		{"-latest", "", "no name"},
	} {
		m, ok := Find(c.name)
		assert.Equal(t, c.key != "", ok, "%q: %s", c.name, c.reason)
		want := Model{}
		if c.key != "" {
			want = *known().named[c.key]
		}
		assert.Equal(t, want.Window, m.Window, "%q: %s", c.name, c.reason)
	}
}

// What a gateway or a cloud charges is its own price; how it sells a model has a price of its own, too.
func TestFindPrice(t *testing.T) {
	for _, c := range []struct {
		name          string
		input, output float64 // dollars for a million tokens
		reason        string
	}{
		{"claude-opus-5-5", 4, 20, "the maker's"},
		{"us.anthropic.claude-opus-5-5", 4.4, 22, "Bedrock's profile of a region"},
		{"global.anthropic.claude-opus-5-5", 4, 20, "Bedrock's profile of all regions"},
		{"ca.anthropic.claude-opus-5-5", 4.4, 22, "a region without a row: a tenth more, by rule"},
		{"eu.anthropic.claude-fable-5-2", 8.8, 44, "the same"},
		{"apac.anthropic.claude-sonnet-4-20250514-v1:0", 3, 15, "before Claude 4.5 regions cost the same"},
		{"us-gov.anthropic.claude-opus-5-5", 0, 0, "the government's price is not known"},
		{"us-gov.anthropic.claude-3-5-sonnet-20240620-v1:0", 0, 0, "nor that of an old model"},
		{"bedrock/us-gov-west-1/anthropic.claude-sonnet-4-6", 0, 0, "LiteLLM writes the region in the path"},
		{"us-gov.amazon.nova-pro-v1:0", 0, 0, "nor that of another maker's"},
		{"us-gov.openai.gpt-oss-20b-1:0", .084, .36, "the table has this one"},
		{"claude-opus-5-5-20260901-fast", 8, 40, "dated, and faster: the table has it without the date"},
		{"anthropic/claude-opus-5.5-batch", 2, 10, "Vercel, for later"},
		{"claude-opus-4-1-batch", 7.5, 37.5, "a rule: for later is half the price"},
		{"anthropic/claude-opus-5.5-fast", 8, 40, "Vercel, faster: the table has it"},
		{"claude-sonnet-4-5-fast", 0, 0, "faster costs more, nobody knows how much"},
		{"gpt-5.5-flex", 2.5, 15, "when there is room: as for later"},
		{"gpt-5.5-priority", 0, 0, "first costs more, nobody knows how much"},
		{"gpt-5.5-scale", 0, 0, "paid in advance: nobody knows what that comes to for a request"},
		{"moonshotai/kimi-k2.6:free", 0, 0, "what is free has no price"},
		{"gpt-oss:20b", 0, 0, "nor has what runs at home"},
		{"gpt-5.5-high", 5, 30, "thinking is billed as an answer"},
		{"openai/gpt-4.1:nitro", 2, 8, "a variant that routes"},
		{"accounts/fireworks/models/kimi-k3", 3, 15, "Fireworks"},
		{"gpt-6.2-sol", 2, 10, "new"},
		{"gemini-4-neon", 3, 15, "new"},
	} {
		m, ok := Find(c.name)
		assert.True(t, ok, c.name)
		assert.InDelta(t, c.input, m.Input, 1e-9, "%s: %s", c.name, c.reason)
		assert.InDelta(t, c.output, m.Input*m.Output, 1e-6, "%s: %s", c.name, c.reason)
	}
	for _, name := range []string{"grok-9-fast", "grok-4.7-fast"} {
		_, ok := Find(name)
		assert.False(t, ok, "%s: xAI's fast models are no faster ones of the same", name)
	}
}

// Above a size the whole request costs more.
func TestDollars(t *testing.T) {
	for _, c := range []struct {
		model   string
		tokens  Tokens
		dollars float64
		reason  string
	}{
		{"claude-haiku-5-5", Tokens{Input: 100_000, Output: 1_000}, .0105, "at the cliff"},
		{"claude-haiku-5-5", Tokens{CacheRead: 100_000, Input: 1, Output: 1_000}, .0050005 + .0025, "behind it"},
		{"openai/gpt-6.2-sol", Tokens{CacheRead: 200_000, CacheWrite: 80_000}, .04 + .4, "what is written counts, too"},
		{"claude-opus-4-6", Tokens{CacheWrite: 10_000, LongWrite: 10_000}, .0625 + .1, "an hour costs twice the input"},
		{"gpt-4-turbo", Tokens{Input: 1_000, CacheRead: 1_000}, .02, "a cache without a price"},
		{"gpt-5.4-pro", Tokens{Input: 1_000, CacheRead: 272_000, Output: 10}, 273*.06 + .0027, "the same behind a cliff"},
	} {
		m, _ := Find(c.model)
		got, ok := m.Dollars(c.tokens)
		assert.True(t, ok)
		assert.InDelta(t, c.dollars, got, 1e-9, "%s: %s", c.model, c.reason)
	}
	m, _ := Find("no such model")
	_, ok := m.Dollars(Tokens{Input: 1})
	assert.False(t, ok)
}

func TestKey(t *testing.T) {
	for _, c := range []struct {
		a, b   string
		isSame bool
		reason string
	}{
		{"claude-haiku-4-5-20251001", "claude-haiku-4-5", true, "a date"},
		{"anthropic/claude-opus-4.6", "Claude-Opus-4-6", true, "a gateway at the same price"},
		{"claude-opus-4-6", "claude-opus-4-6-high", true, "how much it shall think"},
		{"claude-opus-4-6", "us.anthropic.claude-opus-4-8", false, "another model"},
		{"claude-opus-5-5", "us.anthropic.claude-opus-5-5", false, "another price"},
		{"claude-opus-5-5", "claude-opus-5-5-batch", false, "another price"},
		{"claude-opus-4-7", "claude-opus-4-8", false, "another model at the same price"},
		{"house-1", " House-1", true, "a name that is not known is its own"},
		{"house-1", "house-2", false, "another name"},
	} {
		assert.Equal(t, c.isSame, Key(c.a) == Key(c.b), "%s and %s: %s", c.a, c.b, c.reason)
	}
}

// A host may give a model another window: its own spelling, or its name in front, says that it is meant.
func TestFindHosted(t *testing.T) {
	for _, c := range []struct {
		name   string
		window int
		reason string
	}{
		{"claude-sonnet-4-5", 200_000, "the maker's"},
		{"openai/gpt-5-mini:online", 400_000, "OpenRouter's spelling, a variant behind"},
		{"anthropic/claude-sonnet-4.5", 1_000_000, "OpenRouter's spelling"},
		{"openrouter/anthropic/claude-sonnet-4.5:nitro", 1_000_000, "OpenRouter in front, a variant behind"},
		{"gpt-5.5", 272_000, "the maker's"},
		{"gpt-5.4", 272_000, "the maker's, where its price doubles"},
		{"openai/gpt-5.4", 1_050_000, "OpenRouter's spelling: there is room above that, for the price"},
		{"openai:gpt-5.5", 272_000, "the maker's, in front"},
		{"us.openai.gpt-5.5", 1_000_000, "Bedrock, by region"},
		{"bedrock/converse/openai.gpt-5.5", 1_000_000, "LiteLLM of Bedrock"},
		{"qwen/qwen3-32b", 40_960, "two hosts spell it so: the smaller window is safe"},
		{"groq/qwen/qwen3-32b", 131_072, "the host in front"},
		{"openrouter:qwen/qwen3-32b", 40_960, "the host in front"},
		{"qwen3-32b", 131_072, "the maker's"},
		{"qwen-3.8-27b", 131_072, "Cerebras has a dash where the maker has none"},
		{"github_copilot/gpt-5.6-sol", 1_050_000, "LiteLLM of Copilot"},
		{"nvidia_nim/nvidia/nemotron-3-ultra-550b-a55b", 1_000_000, "LiteLLM of NVIDIA"},
		{"together_ai/nvidia/nemotron-3-ultra-550b-a55b", 512_300, "LiteLLM of Together"},
		{"llama3.1-8b", 32_000, "Cerebras"},
	} {
		m, _ := Find(c.name)
		assert.Equal(t, c.window, m.Window, "%s: %s", c.name, c.reason)
	}
}

func TestTableIsPlausible(t *testing.T) {
	for name, m := range known().named {
		assert.Equal(t, name, squeezed(name), "no lookup would find it")
		assert.GreaterOrEqual(t, m.Window, 4_000, name)
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

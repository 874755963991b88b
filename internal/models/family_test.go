package models

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFamily(t *testing.T) {
	for model, want := range map[string]string{
		"": "", "/": "", "unknown": "", "grok-4.7": "", "mistral-large-latest": "", "kimi-k3": "", "amazon.nova-pro-v1:0": "",
		"claude-2.1": "claude", "claude-instant-1.2": "claude", "claude-3-opus-20240229": "claude", "claude-3-5-sonnet-20241022": "claude",
		"anthropic.claude-3-haiku-20240307-v1:0": "claude", "claude-3-7-sonnet-latest": "claude",
		"claude-sonnet-4-20250514": "claude4", "claude-sonnet-4": "claude4", "claude-4-opus": "claude4", "claude-opus-4-1-20250805": "claude4",
		"claude-opus-4-5@20251101": "claude4", "us.anthropic.claude-sonnet-4-5-20250929-v1:0": "claude4", "anthropic/claude-sonnet-4.6": "claude4",
		"arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-4-6-v1:0": "claude4", "CLAUDE-HAIKU-4-5": "claude4",
		"claude-opus-4-7": "claude-next", "claude-opus-4.8": "claude-next", "claude-sonnet-5": "claude-next", "claude-fable-5-2": "claude-next",
		"openrouter/anthropic/claude-opus-5": "claude-next", "claude-sonnet-latest": "claude-next", "claude-opus-5-v1:0": "claude-next", "claude-opus-10": "claude-next",
		"gpt-3.5-turbo-0125": "cl100k", "gpt-35-turbo": "cl100k", "gpt-4": "cl100k", "gpt-4-0613": "cl100k", "gpt-4-turbo-2024-04-09": "cl100k",
		"text-embedding-3-large": "cl100k",
		"gpt-4o":                 "o200k", "openai/gpt-4o-mini-2024-07-18": "o200k", "chatgpt-4o-latest": "o200k", "gpt-4.1-nano": "o200k", "gpt-4.5-preview": "o200k",
		"gpt-5": "o200k", "gpt-5.3-codex-spark": "o200k", "GPT-6.1-Sol": "o200k", "gpt-10": "o200k", "openai/gpt-oss-120b": "o200k", "ft:gpt-4o-mini:org::id": "o200k",
		"o1": "o200k", "o3-mini": "o200k", "azure/o4-mini": "o200k", "codex-mini-latest": "o200k",
		"gpt2": "", "gpt-j-6b": "", "EleutherAI/gpt-neox-20b": "", "olmo-2": "",
		"models/gemini-3-pro-preview": "gemini", "gemini-4-argon": "gemini", "google/gemma-3-27b-it": "gemma", "vertex_ai/gemini-2.5-flash": "gemini",
		"qwen3.8-max": "qwen", "Qwen/Qwen3-Coder-480B": "qwen", "qwq-32b": "qwen", "deepseek-chat": "deepseek", "deepseek-ai/DeepSeek-V3.2": "deepseek",
		"us.deepseek.r1-v1:0": "deepseek", "deepseek-r1-distill-qwen-32b": "qwen", "deepseek-r1-distill-llama-70b": "llama3",
		"meta.llama3-1-70b-instruct-v1:0": "llama3", "llama-3.3-70b-versatile": "llama3", "llama3.1:8b": "llama3", "meta-llama/Meta-Llama-3-8B": "llama3",
		"llama-2-13b": "", "meta-llama/llama-4-maverick": "", "codellama-34b": "",

		// Bedrock's first names, profiles and models; Vertex; Databricks; Fireworks; Azure's deployments.
		"anthropic.claude-v2": "claude", "anthropic.claude-v2:1": "claude", "anthropic.claude-instant-v1": "claude",
		"arn:aws:bedrock:us-west-2::foundation-model/anthropic.claude-3-haiku-20240307-v1:0": "claude",
		"arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc123def456":  "",
		"apac.anthropic.claude-sonnet-4-20250514-v1:0":                                       "claude4", "openai.gpt-oss-120b-1:0": "o200k",
		"projects/p/locations/us-east5/publishers/anthropic/models/claude-sonnet-4@20250514": "claude4", "claude-3-5-sonnet-v2@20241022": "claude",
		"databricks-claude-opus-4-7": "claude-next", "databricks-meta-llama-3-3-70b-instruct": "llama3", "databricks-gpt-5-1": "o200k",
		"accounts/fireworks/models/llama-v3p1-405b-instruct": "llama3", "accounts/fireworks/models/deepseek-v3p1": "deepseek",
		"prod-gpt4o-eastus2": "o200k", "gpt-41-mini": "o200k", "my_gpt_4o": "o200k", "gpt-4-1": "o200k", "gpt4-turbo": "cl100k", "gpt-4-32k": "cl100k",
		"gpt-4-1106-preview": "cl100k", "Our GPT-4": "cl100k", "gpt-realtime": "o200k",
		// What serves the model, in front and behind.
		"openai:o3": "o200k", "ft:o4-mini-2025-04-16:org::id": "o200k", "ollama:llama3.2": "llama3", "ollama:qwen3": "qwen", "ollama/mistral": "",
		"anthropic:claude-haiku-4-5": "claude4", "deepseek/deepseek-r1:free": "deepseek", "anthropic/claude-3.7-sonnet:thinking": "claude",
		" gpt-5 ": "o200k", "gpt-5[1m]": "o200k", "claude-sonnet-4-5-20250929[1m]": "claude4", "claude-opus-4-8[1m]": "claude-next",
		// The customer's part of a name, versions without a point, files of models made small.
		"ft:gpt-4o-mini:claude-fans::id": "o200k", "ft:gpt-3.5-turbo-0613:llama-labs:qwen3:id": "cl100k", "openai/ft:gpt-4.1-nano:org::id": "o200k",
		"claude-opus-45": "claude4", "claude-37-sonnet": "claude", "claude-sonnet-48": "claude-next", "accounts/x/models/claude-opus-4p8": "claude-next",
		"llama31-8b": "llama3", "/models/Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf": "llama3", "hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:Q4_K_M": "llama3",
		"qwen2.5-coder:32b-instruct-q4_K_M": "qwen", "deepseek-r1:70b-llama-distill-q4_K_M": "llama3", "gpt-oss-20b-MXFP4.gguf": "o200k", "gemma2:9b-instruct-q8_0": "gemma",
		"TheBloke/Mistral-7B-Instruct-v0.2-GPTQ-4bit-v5": "", "mistral-7b-gptq-4-bit": "", "gpt-sw3-20b": "", "nvidia/llama-3_1-nemotron-ultra-253b-v1": "llama3",
		"llama-guard-4-12b": "", "llama-guard-3-8b": "llama3", "bedrock/converse/eu.anthropic.claude-haiku-4-5-20251001-v1:0": "claude4", "vertex_ai/claude-opus-4-7@20270101": "claude-next",
		"azure/gpt-41-mini": "o200k", "openrouter/anthropic/claude-opus-4.8:beta": "claude-next", "gpt-5-2027-01-31": "o200k",
		// Names that look like others.
		"text-embedding-004": "", "gpt4all-13b": "", "tinyllama-1.1b": "", "nous-hermes-llama2-13b": "", "o": "", "olympus": "",
	} {
		assert.Equal(t, want, Family(model), model)
	}
}

func TestHasBreakpoints(t *testing.T) {
	for model, want := range map[string]bool{
		"gpt-5.6-sol": true, "openai/gpt-6-luna": true, "gpt-6.2-astra": true, "azure/gpt-5.6-terra-2026-07-01": true,
		"gpt-5.5": false, "gpt-5": false, "gpt-4o": false, "gpt-35-turbo": false, "gpt-oss-120b": false, "o3": false, "claude-opus-5-6": false, "": false,
	} {
		assert.Equal(t, want, HasBreakpoints(model), model)
	}
}

func TestBindsThinking(t *testing.T) {
	for model, want := range map[string]bool{
		"claude-fable-5-1": true, "anthropic/claude-opus-5.5": true, "claude-opus-5": false, "claude-sonnet-4-6": false,
		"gpt-6.2-sol": true, "openrouter/openai/gpt-6.2-astra-pro:batch": true, "global.openai.gpt-6.2-sol": true,
		"claude-opus-latest": true, "claude-3-5-sonnet-latest": false,
		"gpt-6.1-sol": false, "gpt-6-astra": false, "gpt-oss-120b": false, "gpt-35-turbo": false, "gemini-4-neon": false, "": false,
	} {
		assert.Equal(t, want, BindsThinking(model), model)
	}
}

package adapter

import (
	"strings"

	"github.com/winnowgo/winnow"
)

// BindsToPrefix reports whether a provider leaves a part of thinking out of a prompt because what stands before it has
// changed, by its reason: "prefix_mismatch" of OpenAI, "prefix_binding_mismatch" of Anthropic.
func BindsToPrefix(reason string) bool { return strings.HasPrefix(reason, "prefix_") }

// Usage returns the usage of an API that counts what it read from its cache, and wrote to it, in the prompt. It is nil
// if it is unknown.
func Usage[N int | int32 | int64](prompt, read, written, output N) *winnow.Usage {
	if prompt == 0 && output == 0 {
		return nil
	}
	return &winnow.Usage{Input: int(max(0, prompt-read-written)), CacheRead: int(read), CacheWrite: int(written),
		Output: int(output)}
}

package adapter

import "github.com/winnowgo/winnow"

// Usage returns the usage of an API that counts what it read from its cache, and wrote to it, in the prompt. It is nil
// if it is unknown.
func Usage[N int | int32 | int64](prompt, read, written, output N) *winnow.Usage {
	if prompt == 0 && output == 0 {
		return nil
	}
	return &winnow.Usage{Input: int(max(0, prompt-read-written)), CacheRead: int(read), CacheWrite: int(written),
		Output: int(output)}
}

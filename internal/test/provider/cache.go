package provider

import "crypto/sha256"

// block is a piece of the prompt, in the order in which it is cached: tools, system, messages.
type block struct {
	text   string // what must be the same for the block to be found again
	tokens int
	marked bool // Anthropic: what ends here shall be cached
}

// Sizes of the simulation, from the providers' documentation.
const (
	minCached   = 1024 // tokens: shorter prefixes are not cached
	lookBack    = 20   // blocks before a mark in which Anthropic looks for an entry
	openAIGrain = 128  // OpenAI's hits are multiples of it
)

// promptCache holds the prefixes that were written, by the hash of all their blocks. They never expire.
type promptCache map[[sha256.Size]byte]bool

// bill returns what the prompt costs and writes it to the cache. OpenAI's writes each prefix, for nothing, and reads
// the longest one. Anthropic's writes what ends at a mark, and reads the longest entry that ends at most 20 blocks
// before one. The caller holds the lock.
func (c promptCache) bill(r *Request) Usage {
	h := sha256.New()
	h.Write([]byte(r.Model))
	// of the prompt up to and with each block
	hashes, sums := make([][sha256.Size]byte, len(r.blocks)), make([]int, len(r.blocks))
	var write [][sha256.Size]byte
	sum, read, written := 0, 0, 0
	for i, b := range r.blocks {
		h.Write([]byte("\x00" + b.text))
		sum += b.tokens
		sums[i], hashes[i] = sum, [sha256.Size]byte(h.Sum(nil))
		if r.Dialect == Anthropic && !b.marked || sum < minCached {
			continue
		}
		for k := i; k >= 0 && k > i-lookBack && sums[k] > read; k-- {
			if sums[k] >= minCached && c[hashes[k]] {
				read = sums[k]
			}
		}
		written, write = sum, append(write, hashes[i])
	}
	for _, key := range write {
		c[key] = true
	}
	if r.Dialect == OpenAI {
		read = read / openAIGrain * openAIGrain
		return Usage{Input: r.Tokens - read, CacheRead: read}
	}
	written = max(written, read)
	return Usage{Input: r.Tokens - written, CacheRead: read, CacheWrite: written - read}
}

// What the provider counts besides texts.
const (
	MessageTokens = 4    // for the frame of each message
	ImageTokens   = 1500 // for an image, whatever its size
)

// roleOptions is the role of the block with options that are not part of the prompt. To change one costs the cache.
const roleOptions = "options"

// block adds a piece of the prompt.
func (r *Request) block(role, canonical, shown string, tokens int, mark *cacheControl) {
	tokens += tokensOf(shown)
	r.Tokens += tokens
	text := role + "\x00" + canonical
	r.blocks = append(r.blocks, block{text, tokens, mark != nil})
	if role != roleOptions {
		r.before = sha256.Sum256(append(r.before[:], text...))
	}
}

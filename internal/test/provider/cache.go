package provider

import (
	"crypto/sha256"
	"time"
)

// block is a piece of the prompt, in the order in which it is cached: tools, system, messages.
type block struct {
	text   string        // what must be the same for the block to be found again
	tokens int           //
	mark   time.Duration // Anthropic: how long what ends here shall be cached; 0: not asked for
}

// Sizes of the simulation, from the providers' documentation.
const (
	lookBack         = 20  // blocks before a mark in which Anthropic looks for an entry
	openAIGrain      = 128 // OpenAI's hits are multiples of it
	maxCacheMarks    = 4
	maxCachedEntries = 1 << 14 // above it, expired entries are thrown away
)

// promptCache holds the prefixes that were written, by the hash of all their blocks.
type promptCache map[[sha256.Size]byte]cached

type cached struct {
	until time.Time
	ttl   time.Duration // refreshed by each hit
}

// bill returns what the prompt costs and writes it to the cache. The caller holds the lock.
func (c promptCache) bill(o *Options, r *Request, now time.Time) Usage {
	if o.Cache.None {
		return Usage{Input: r.Tokens}
	}
	if len(c) > maxCachedEntries {
		for k, e := range c {
			if !now.Before(e.until) {
				delete(c, k)
			}
		}
	}
	hashes, sums := r.prefixHashes()
	if r.Dialect == OpenAI {
		return c.billAll(o, r, now, hashes, sums)
	}
	return c.billMarked(o, r, now, hashes, sums)
}

// prefixHashes returns the hash and the tokens of the prompt up to and with each block.
func (r *Request) prefixHashes() (hashes [][sha256.Size]byte, sums []int) {
	h := sha256.New()
	h.Write([]byte(r.Model))
	sum := 0
	for _, b := range r.blocks {
		h.Write([]byte{0})
		h.Write([]byte(b.text))
		sum += b.tokens
		hashes = append(hashes, [sha256.Size]byte(h.Sum(nil)))
		sums = append(sums, sum)
	}
	return hashes, sums
}

// hit reports whether a prefix is cached, and keeps it alive.
func (c promptCache) hit(key [sha256.Size]byte, now time.Time) bool {
	e, ok := c[key]
	if !ok || !now.Before(e.until) {
		return false
	}
	e.until = now.Add(e.ttl)
	c[key] = e
	return true
}

// billAll is OpenAI's cache: each prefix is written, for nothing, and the longest one is read.
func (c promptCache) billAll(o *Options, r *Request, now time.Time, hashes [][sha256.Size]byte, sums []int) Usage {
	read := 0
	for i := len(hashes) - 1; i >= 0; i-- {
		if c.hit(hashes[i], now) {
			read = sums[i] / openAIGrain * openAIGrain
			break
		}
	}
	if read < o.Cache.MinTokens {
		read = 0
	}
	for _, h := range hashes {
		c[h] = cached{now.Add(o.Cache.TTL), o.Cache.TTL}
	}
	return Usage{Input: r.Tokens - read, CacheRead: read}
}

// billMarked is Anthropic's cache: what ends at a mark is written, and the longest entry that ends at
// most 20 blocks before a mark is read.
func (c promptCache) billMarked(o *Options, r *Request, now time.Time, hashes [][sha256.Size]byte, sums []int) Usage {
	read, written, hour := 0, 0, 0
	for i, b := range r.blocks {
		if b.mark == 0 || sums[i] < o.Cache.MinTokens {
			continue
		}
		for k := i; k >= 0 && k > i-lookBack; k-- {
			if sums[k] > read && sums[k] >= o.Cache.MinTokens && c.hit(hashes[k], now) {
				read = sums[k]
				break
			}
		}
		written = sums[i]
		if b.mark > 5*time.Minute {
			hour = sums[i]
		}
	}
	for i, b := range r.blocks {
		if b.mark == 0 || sums[i] < o.Cache.MinTokens {
			continue
		}
		ttl := max(b.mark, c[hashes[i]].ttl)
		if b.mark == defaultMark {
			ttl = max(o.Cache.TTL, c[hashes[i]].ttl)
		}
		c[hashes[i]] = cached{now.Add(ttl), ttl}
	}
	written = max(written, read)
	return Usage{Input: r.Tokens - written, CacheRead: read, CacheWrite: written - read, Write1h: max(0, hour-read)}
}

// defaultMark is a cache_control without a ttl.
const defaultMark = 5 * time.Minute

// What the provider counts besides texts.
const (
	MessageTokens = 4    // for the frame of each message
	ImageTokens   = 1500 // for an image, whatever its size
)

// roleOptions is the role of the block with options that are not part of the prompt. To change one costs the cache.
const roleOptions = "options"

// block adds a piece of the prompt.
func (r *Request) block(p *Provider, role, canonical, shown string, tokens int, mark *cacheControl) {
	if shown != "" {
		tokens += p.o.Count(shown)
	}
	r.Tokens += tokens
	text := role + "\x00" + canonical
	r.blocks = append(r.blocks, block{text, tokens, mark.lifetime()})
	if role != roleOptions {
		h := sha256.New()
		h.Write(r.before[:])
		h.Write([]byte(text))
		r.before = [sha256.Size]byte(h.Sum(nil))
	}
}

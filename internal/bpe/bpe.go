// Package bpe counts the tokens of a text exactly as OpenAI's models do. A vocabulary is loaded when the first text is
// counted with it, and linked only into programs that may do so.
package bpe

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/pkoukk/tiktoken-go"
)

// The vocabularies that OpenAI publishes with tiktoken (MIT): each token in order of its rank, as a uvarint length and its
// bytes, gzipped. Only O200k and CL100k name them, so the linker leaves them out of a program that calls neither.
var (
	//go:embed vocab/o200k_base.gz
	o200kVocabulary string
	//go:embed vocab/cl100k_base.gz
	cl100kVocabulary string
)

// The patterns that cut a text into pieces, each of which is encoded by itself. They are those of OpenAI's tiktoken (MIT).
const (
	o200kPattern = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	cl100kPattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// An Encoding is a loaded vocabulary. It is safe for concurrent use.
type Encoding struct {
	once  sync.Once
	core  *tiktoken.Tiktoken // nil if the vocabulary cannot be loaded
	ranks map[string]int     // the rank of each token
}

var o200k, cl100k Encoding

// O200k returns the encoding of GPT-4o and later. The first call loads the vocabulary, which then stays.
func O200k() *Encoding {
	return o200k.load("o200k_base", o200kVocabulary, o200kPattern)
}

// CL100k returns the encoding of GPT-4 and GPT-3.5. The first call loads the vocabulary, which then stays.
func CL100k() *Encoding {
	return cl100k.load("cl100k_base", cl100kVocabulary, cl100kPattern)
}

func (e *Encoding) load(name, vocabulary, pattern string) *Encoding {
	e.once.Do(func() {
		ranks, err := readVocabulary(vocabulary)
		if err != nil {
			return // the file is part of the program, and the tests read it
		}
		// The library makes a pattern of the special tokens and needs one; EncodeOrdinary uses none.
		special := map[string]int{"<|endoftext|>": len(ranks) + 1}
		core, err := tiktoken.NewCoreBPE(ranks, special, pattern)
		if err != nil {
			return
		}
		e.ranks = ranks
		e.core = tiktoken.NewTiktoken(core, &tiktoken.Encoding{Name: name, PatStr: pattern, MergeableRanks: ranks, SpecialTokens: special}, nil)
	})
	return e
}

// readVocabulary unpacks a vocabulary into token -> rank.
func readVocabulary(packed string) (map[string]int, error) {
	z, err := gzip.NewReader(bytes.NewReader([]byte(packed)))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	text := string(data) // all tokens share its memory
	ranks := make(map[string]int, len(text)/8)
	for at := 0; at < len(text); {
		n, size := binary.Uvarint(data[at:min(len(data), at+binary.MaxVarintLen64)])
		if size <= 0 || n == 0 || n > uint64(len(text)-at-size) {
			return nil, errors.New("bpe: damaged vocabulary")
		}
		at += size
		ranks[text[at:at+int(n)]] = len(ranks)
		at += int(n)
	}
	return ranks, nil
}

// Count returns the tokens of s. Special tokens such as <|endoftext|> count as the text they are. It reports false if the
// vocabulary cannot be loaded.
func (e *Encoding) Count(s string) (int, bool) {
	if e.core == nil {
		return 0, false
	}
	n, maxRun := 0, maxRunBytes
	if len(s) <= shortText && utf8.ValidString(s) {
		maxRun = maxRunBytesShort
	}
	for len(s) > 0 {
		end := e.segmentEnd(s, maxRun)
		n += len(e.core.EncodeOrdinary(s[:end]))
		s = s[end:]
	}
	return n, true
}

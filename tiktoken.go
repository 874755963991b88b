package winnow

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/pkoukk/tiktoken-go"
)

// The vocabularies that OpenAI publishes with tiktoken (MIT): each token in order of its rank, as a
// uvarint length and its bytes, gzipped. Only what is reachable from TiktokenEstimator names them, so a
// program that never calls it does not have them in its binary.
var (
	//go:embed vocab/o200k_base.gz
	o200kVocabulary string
	//go:embed vocab/cl100k_base.gz
	cl100kVocabulary string
)

// Patterns that cut a text into the pieces that are then encoded, from OpenAI's tiktoken (MIT).
const (
	o200kPattern = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	cl100kPattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

const (
	// A long text is encoded in segments of about this many bytes, cut where a token ends in any case, or
	// the library would need 120 bytes of memory for each byte of the whole.
	segmentBytes = 32 << 10
	// The texts of a message that are longer together are estimated: at 1 to 4 MB/s an exact count of more would
	// stop an agent for seconds.
	maxExactBytes = 3 << 19 // 1.5 MiB
)

// An encoding is loaded when the first text is counted, and then stays.
type encoding struct {
	once  sync.Once
	bpe   *tiktoken.Tiktoken // nil: it cannot be loaded
	ranks map[string]int     // token -> rank
}

var o200kEncoding, cl100kEncoding encoding

// TiktokenEstimator returns an estimator that counts text exactly as OpenAI's models do, without the
// network: encoding is "o200k_base" (GPT-4o and later) or "cl100k_base" (GPT-4, GPT-3.5); another is an
// error. Special tokens such as <|endoftext|> count as the text they are. What is not text counts as
// [NewEstimator] says. A message with more than 1.5 MiB of text is estimated, and runs of one class of
// characters above 384 bytes (4 096 in texts up to 256 KiB), which nobody writes, may in places count a token
// more or less, so that no text takes more than linear time.
//
// A program that calls this function is 2.1 MB larger, and loads nothing before the first count. One that does
// not has no vocabulary in it: the code of tiktoken-go adds 0.14 MB and 0.1 ms to its start.
//
// The first count loads the vocabulary, which takes a quarter to half a second and, for o200k_base, 22 MB that stay.
// Counting runs at 1 to 4 MB/s: [NewEstimator] is several hundred times as fast and for most uses exact enough.
func TiktokenEstimator(encoding string) (Estimator, error) {
	switch encoding {
	case "o200k_base":
		return tiktokenEstimator{loadO200k, "o200k"}, nil
	case "cl100k_base":
		return tiktokenEstimator{loadCL100k, "cl100k"}, nil
	}
	return nil, fmt.Errorf("winnow: unknown encoding %q; known are %q, %q", encoding, "o200k_base", "cl100k_base")
}

func loadO200k() *encoding {
	return o200kEncoding.load("o200k_base", o200kVocabulary, o200kPattern)
}

func loadCL100k() *encoding {
	return cl100kEncoding.load("cl100k_base", cl100kVocabulary, cl100kPattern)
}

func (e *encoding) load(name, vocabulary, pattern string) *encoding {
	e.once.Do(func() {
		ranks, err := readVocabulary(vocabulary)
		if err != nil {
			return // the program's own file: the tests read it
		}
		// The library makes a pattern of the special tokens and needs one; EncodeOrdinary uses none.
		special := map[string]int{"<|endoftext|>": len(ranks) + 1}
		core, err := tiktoken.NewCoreBPE(ranks, special, pattern)
		if err != nil {
			return
		}
		e.ranks = ranks
		e.bpe = tiktoken.NewTiktoken(core, &tiktoken.Encoding{Name: name, PatStr: pattern, MergeableRanks: ranks, SpecialTokens: special}, nil)
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
			return nil, errors.New("winnow: damaged vocabulary")
		}
		at += size
		ranks[text[at:at+int(n)]] = len(ranks)
		at += int(n)
	}
	return ranks, nil
}

type tiktokenEstimator struct {
	load   func() *encoding
	family string // estimates what is too long
}

// Estimate implements [Estimator].
func (e tiktokenEstimator) Estimate(m Message) int {
	bytes := 0
	for i := range m.Parts {
		bytes = addTokens(bytes, len(m.Parts[i].Text)+len(m.Parts[i].Arguments))
	}
	if bytes > maxExactBytes {
		return openAIStructure.sum(&m, e.estimate)
	}
	return openAIStructure.sum(&m, e.textTokens)
}

// atMost implements bounded: a token is at least a byte, and a byte that is no UTF-8 is one token.
func (e tiktokenEstimator) atMost(m *Message) int {
	return openAIStructure.bound(m, costScale)
}

func (e tiktokenEstimator) textTokens(s string) int {
	if s == "" {
		return 0
	}
	enc := e.load()
	if enc.bpe == nil {
		return e.estimate(s)
	}
	n, maxRun := 0, maxRunBytes
	if len(s) <= shortText && utf8.ValidString(s) {
		maxRun = maxRunBytesShort
	}
	for len(s) > 0 {
		end := enc.segmentEnd(s, maxRun)
		n += len(enc.bpe.EncodeOrdinary(s[:end]))
		s = s[end:]
	}
	return n
}

func (e tiktokenEstimator) estimate(s string) int {
	f, err := NewEstimator(e.family)
	if err != nil {
		return len(s)
	}
	return min(len(s), f.(familyEstimator).textTokens(s))
}

package tokencount

import (
	_ "embed"
	"sync"
	"unicode/utf8"
)

// A vocabulary counts the tokens of a text exactly as OpenAI's models do. A vocabulary is loaded when the first text is
// counted with it, and linked only into programs that may do so.

// The vocabularies that OpenAI publishes with tiktoken (MIT): each token in order of its rank, as a uvarint length and
// its bytes, gzipped. Only O200k and CL100k name them, so the linker leaves them out of a program that calls neither.
var (
	//go:embed vocab/o200k_base.gz
	o200kVocabulary string
	//go:embed vocab/cl100k_base.gz
	cl100kVocabulary string
)

// An Encoding is a loaded vocabulary. It is safe for concurrent use.
type Encoding struct {
	once       sync.Once
	vocabulary *vocabulary
	piece      func(string) int // the length of the first piece of a text
}

var o200k, cl100k Encoding

// O200k returns the encoding of GPT-4o and later. The first call loads the vocabulary, which then stays.
func O200k() *Encoding { return o200k.load(o200kVocabulary, o200kPiece) }

// CL100k returns the encoding of GPT-4 and GPT-3.5. The first call loads the vocabulary, which then stays.
func CL100k() *Encoding { return cl100k.load(cl100kVocabulary, cl100kPiece) }

func (e *Encoding) load(packed string, piece func(string) int) *Encoding {
	e.once.Do(func() { e.vocabulary, e.piece = readVocabulary(packed), piece })
	return e
}

// maxPieceBytes is the longest piece that is encoded at once: pieces of four times that take twice as long, because
// what merging needs to remember leaves the processor's cache. A longer one, which hardly anybody writes, is cut, and
// may count some tokens more at each cut. Tokens of one repeated character hold 1, 2, 4 … 128 of it, so that 3 × 256
// cuts none of one, two or three bytes each.
const maxPieceBytes = 3 * 256

// Count returns the tokens of s. Special tokens such as <|endoftext|> count as plain text, and a byte that is
// not UTF-8 counts as U+FFFD.
func (e *Encoding) Count(s string) int {
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	m := merger{vocabulary: e.vocabulary}
	n := 0
	for len(s) > 0 {
		end := e.piece(s)
		piece := s[:end]
		for len(piece) > maxPieceBytes {
			cut := maxPieceBytes
			for !utf8.RuneStart(piece[cut]) {
				cut--
			}
			n += m.tokens(piece[:cut])
			piece = piece[cut:]
		}
		n += m.tokens(piece)
		s = s[end:]
	}
	return n
}

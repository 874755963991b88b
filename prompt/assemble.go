package prompt

import (
	"slices"

	"github.com/winnowgo/winnow/internal/count"
)

// Assemble makes the system prompt: the sections in their order, the tools, the skills, and last the files, which
// change most often. Equal input gives equal bytes, and the order of files, skills and tools does not matter. Volatile
// sections are not in it; see [Assembly.Changes].
//
// Required sections are whole, or the error is a [*TooLargeError]. The other parts share the rest of the budget by
// priority, and Cuts names those that are cut.
func Assemble(in Input, opts *Options) (*Assembly, error) {
	o := opts.withDefaults()
	if in.Mode == "" {
		in.Mode = Full
	}
	a := &assembler{Options: o, in: in}
	a.out = &Assembly{Mode: in.Mode, MaxTokens: o.MaxTokens,
		Limits: Limits{o.MaxFileChars, o.MaxTotalChars, o.Window}}
	if err := a.withEstimator(); err != nil {
		return nil, err
	}
	a.count = newCounter(a.Estimator)
	a.cutter = cutter{count: a.count, rules: o.RuleHeadings}
	if err := a.steps(); err != nil {
		return nil, err
	}
	return a.out, nil
}

// assembler is an unfinished assembly.
type assembler struct {
	Options
	in     Input
	out    *Assembly
	count  *counter
	cutter cutter
	pieces []*piece // in the order of the prompt
}

// steps makes an assembly:
//
//  1. collect the parts of this mode
//  2. set aside the required sections
//  3. share characters among the files, and tokens among all
//  4. cut the parts that get less than they need
//  5. join the text, and measure the tools
func (a *assembler) steps() error {
	a.collect()
	required, err := a.required()
	if err != nil {
		return err
	}
	a.shareChars()
	a.shareTokens(a.MaxTokens - required)
	for _, p := range a.pieces {
		a.shape(p)
	}
	a.keepWithin()
	a.join()
	a.measureTools()
	a.warn()
	return nil
}

// piece is an unfinished part of the prompt.
type piece struct {
	Part
	raw      string // the text before it is cut
	prefix   string // blank lines and a heading before the text
	required bool
	weight   int
	priority int
	most     int    // most characters by its own limits
	need     size   // size of the whole text
	wants    int    // tokens that it takes within its characters, if known
	fixed    int    // tokens of the prefix
	limit    size   // what it gets
	out      bool   // left out
	reason   string // why it is cut
	cut      *Cut

	// makes the text for a limit, of a list or where the order of files matters
	list func(limit size) (text string, cut *Cut)
}

// add adds a piece and measures it.
func (a *assembler) add(p piece) {
	p.weight = max(1, p.priority)
	p.need, p.fixed = a.count.size(p.raw), a.count.tokens(p.prefix)
	p.RawChars = p.need.chars
	p.limit = size{p.most, p.need.tokens}
	a.pieces = append(a.pieces, &p)
}

// required returns the size of the required sections, in tokens.
func (a *assembler) required() (sum int, err error) {
	for _, p := range a.pieces {
		if p.required && p.need.chars > p.most {
			return 0, &TooLargeError{Section: p.Name, Unit: "characters", Need: p.need.chars, Limit: p.most}
		}
		if !p.required || p.Volatile {
			continue
		}
		if sum = count.Add(sum, p.need.tokens+p.fixed); sum > a.MaxTokens {
			return 0, &TooLargeError{Section: p.Name, Unit: "tokens", Need: sum, Limit: a.MaxTokens}
		}
	}
	return sum, nil
}

const (
	reasonFile   = "it is longer than one file may be"
	reasonOwn    = "it is longer than its own limit"
	reasonTotal  = "the files are longer together than they may be"
	reasonToken  = "the prompt is larger than its share of the window"
	reasonLast   = "there is no room left for it"
	reasonNoPath = "it has no path"
)

// shareChars divides the characters for all files among them.
func (a *assembler) shareChars() {
	var files []*piece // they are together, at the end
	for i, p := range a.pieces {
		if p.Kind == PartFile && files == nil {
			files = a.pieces[i:]
		}
		if p.reason = reasonOwn; p.Kind == PartFile && p.most == a.MaxFileChars {
			p.reason = reasonFile
		}
	}
	if a.HeadTail {
		a.shareInOrder(files, a.MaxTotalChars)
		return
	}
	a.divide(files, a.MaxTotalChars, func(p *piece) int { return min(p.need.chars, p.most) }, func(p *piece, n int) {
		if n < min(p.need.chars, p.most) {
			p.limit.chars, p.reason = n, reasonTotal
			p.out = n < a.MinFileChars
		}
	})
}

// divide shares n among pieces.
func (a *assembler) divide(pieces []*piece, n int, need func(*piece) int, give func(*piece, int)) {
	needs, weights := make([]int, len(pieces)), make([]int, len(pieces))
	for i, p := range pieces {
		needs[i], weights[i] = need(p), p.weight
	}
	for i, n := range shares(needs, weights, n) {
		give(pieces[i], n)
	}
}

// shareTokens divides the tokens that the required sections leave. The need of a file follows from its own limit and
// not from its share of characters, so that a larger budget of characters takes no tokens from any file.
func (a *assembler) shareTokens(room int) {
	pieces := make([]*piece, 0, len(a.pieces))
	for _, p := range a.pieces {
		if !p.required && !p.Volatile {
			pieces = append(pieces, p)
		}
	}
	need := func(p *piece) int {
		n := p.need.tokens
		if p.wants > 0 {
			n = p.wants
		} else if p.need.chars > p.most {
			n = int(float64(n) / float64(p.need.chars) * float64(p.most))
		}
		return count.Add(n, p.fixed)
	}
	a.divide(pieces, room, need, func(p *piece, n int) {
		if n < need(p) {
			p.reason = reasonToken
			p.limit.tokens = n - p.fixed
			p.out = p.out || p.limit.tokens < leastTokens
		}
	})
}

// leastTokens is the smallest useful text: the notice that it is cut.
const leastTokens = 16

// shape makes the text of a piece for its limit.
func (a *assembler) shape(p *piece) {
	p.Text, p.cut = p.raw, nil
	known := size{} // of the text, if it was measured
	switch {
	case p.out:
		p.Text, p.cut = "", &Cut{Chars: p.RawChars, Reason: reasonLast, Left: []string{p.Name}}
	case p.list != nil:
		p.Text, p.cut = p.list(p.limit)
	case p.need.fits(p.limit):
	case p.Kind == PartContext:
		p.Text = ""
	default:
		c := a.cutter.cut(p.Name, p.from(), p.raw, p.need.chars, p.limit)
		known = c.size
		p.Text, p.cut = c.text, &Cut{Chars: p.RawChars, Kept: c.kept, Reason: p.reason}
		named := min(len(c.left), mostLeft)
		p.cut.Left, p.cut.More = slices.Clone(c.left[:named]), len(c.left)-named
	}
	a.measure(p, known)
}

// mostLeft is how many titles a Cut has: a generated file may have 100 000 headings. A notice names some ten.
const mostLeft = 100

// from says how to read the rest of a piece.
func (p *piece) from() string {
	if p.Kind != PartFile {
		return ""
	}
	return "Read " + p.Name + " for the full text."
}

// measure counts the current text of a piece, unless its size is known.
func (a *assembler) measure(p *piece, known size) {
	p.Cut = p.cut != nil
	if p.cut != nil {
		p.cut.Name, p.cut.Kind, p.cut.Path, p.cut.Missing = p.Name, p.Kind, p.Path, p.Missing && p.out
	}
	switch {
	case p.Text == "" && (p.out || p.Kind != PartFile || p.raw != ""): // an empty file is shown
		p.Chars, p.Tokens = 0, 0
		p.out = true
	case p.Text == p.raw:
		p.Chars, p.Tokens = p.need.chars, count.Add(p.need.tokens, p.fixed)
	default:
		n := known
		if n == (size{}) {
			n = a.count.size(p.Text)
		}
		p.Chars, p.Tokens = n.chars, count.Add(n.tokens, p.fixed)
	}
	p.Fingerprint = fingerprint(p.Text)
}

// keepWithin keeps the text within the budget if the estimates of its parts did not add up: it cuts the largest file or
// list again.
func (a *assembler) keepWithin() {
	for range 64 {
		over := -a.MaxTokens
		var largest *piece
		for _, p := range a.pieces {
			if p.Volatile || p.out {
				continue
			}
			over += p.Tokens
			if !p.required && p.Kind != PartContext && (largest == nil || p.Tokens > largest.Tokens) {
				largest = p
			}
		}
		if over <= 0 || largest == nil {
			return
		}
		largest.limit.tokens = min(largest.limit.tokens, largest.Tokens-largest.fixed) - over
		if largest.out = largest.limit.tokens < leastTokens; a.HeadTail && largest.Kind == PartFile {
			largest.limit.chars = min(largest.limit.chars, largest.need.chars) * 7 / 8 // it may be the largest int
			largest.out = largest.limit.chars < a.MinFileChars
		}
		largest.reason = reasonToken
		a.shape(largest)
	}
}

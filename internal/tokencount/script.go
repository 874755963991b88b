package tokencount

// A script is a class of characters beyond ASCII that tokenizers treat alike: an alphabet, or a block of
// symbols. All borders are multiples of 16, so a table of 4 096 blocks is enough to find the script.
type script uint8

// The scripts that code knows by name. The others have a name in scriptNames and a place in scriptRanges.
const (
	scriptInvalid script = iota // a byte that is not UTF-8
	scriptLatin
	scriptLatinExtended
	scriptLatinVietnamese
	scriptHan
	scriptHanRare
	scriptEmoji
	scriptMath
	scriptOther4      // four bytes long
	scriptNone   = 63 // of no character
)

// scriptNames are the names in data/constants.tsv, by script.
var scriptNames = [...]string{
	"invalid", "latin", "latinA", "latinV", "cjk", "hanx", "emoji", "math", "s4", "lat1p", "comb", "greek", "cyr",
	"cyrx", "arm", "heb", "arabic", "persian", "syr", "deva", "beng", "guru", "gujr", "orya", "tamil", "telu", "knda",
	"mlym", "sinh", "thai", "lao", "tib", "mya", "khm", "geo", "eth", "misc", "gpunct", "sym", "box", "braille",
	"cjkp", "kana", "hangul", "full", "pua", "vs",
}

// scriptRanges says where in the first 65 536 code points a script begins; it ends where the next begins. Some names
// are short for more: comb is combining and phonetic, cyrx the letters that languages of Asia add to Cyrillic, persian
// those that other languages add to Arabic, misc all else of three bytes.
var scriptRanges = []struct {
	first int
	name  string
}{
	{0x0000, "invalid"}, {0x0080, "lat1p"}, {0x00C0, "latin"}, {0x0100, "latinA"}, {0x0250, "comb"},
	{0x0370, "greek"}, {0x0400, "cyr"}, {0x0480, "cyrx"}, {0x0530, "arm"}, {0x0590, "heb"}, {0x0600, "arabic"},
	{0x0670, "persian"}, {0x0700, "syr"}, {0x0900, "deva"}, {0x0980, "beng"}, {0x0A00, "guru"}, {0x0A80, "gujr"},
	{0x0B00, "orya"}, {0x0B80, "tamil"}, {0x0C00, "telu"}, {0x0C80, "knda"}, {0x0D00, "mlym"}, {0x0D80, "sinh"},
	{0x0E00, "thai"}, {0x0E80, "lao"}, {0x0F00, "tib"}, {0x1000, "mya"}, {0x10A0, "geo"}, {0x1100, "hangul"},
	{0x1200, "eth"}, {0x1400, "misc"}, {0x1780, "khm"}, {0x1800, "misc"}, {0x1E00, "latinV"}, {0x1F00, "greek"},
	{0x2000, "gpunct"}, {0x2070, "sym"}, {0x2500, "box"}, {0x25A0, "sym"}, {0x2800, "braille"}, {0x2900, "sym"},
	{0x3000, "cjkp"}, {0x3040, "kana"}, {0x3100, "sym"}, {0x3130, "hangul"}, {0x3190, "sym"}, {0x3400, "cjk"},
	{0xA000, "misc"}, {0xAC00, "hangul"}, {0xD7B0, "pua"}, {0xF900, "cjk"}, {0xFB00, "full"}, {0xFE00, "vs"},
	{0xFE10, "full"},
}

// longScript is the script of a character of four bytes.
func longScript(r rune) script {
	switch {
	case r >= 0x1F000 && r < 0x20000:
		return scriptEmoji
	case r >= 0x1D400 && r < 0x1D800:
		return scriptMath
	case r >= 0x20000 && r < 0x40000:
		return scriptHanRare
	}
	return scriptOther4
}

func (s script) isLatin() bool { return s >= scriptLatin && s <= scriptLatinVietnamese }

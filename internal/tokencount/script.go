package tokencount

// A script is a class of characters beyond ASCII that tokenizers treat alike: an alphabet, or a block of
// symbols. All borders are multiples of 16, so a table of 4 096 blocks is enough to find the script.
type script uint8

const (
	scriptLatin1Sign script = iota // U+0080–00BF
	scriptLatin
	scriptLatinExtended
	scriptLatinVietnamese
	scriptCombining // and phonetic
	scriptGreek
	scriptCyrillic
	scriptCyrillicExtended // the letters that languages of Asia add
	scriptArmenian
	scriptHebrew
	scriptArabic
	scriptPersian // the letters that other languages add to Arabic
	scriptSyriac
	scriptDevanagari
	scriptBengali
	scriptGurmukhi
	scriptGujarati
	scriptOriya
	scriptTamil
	scriptTelugu
	scriptKannada
	scriptMalayalam
	scriptSinhala
	scriptThai
	scriptLao
	scriptTibetan
	scriptMyanmar
	scriptKhmer
	scriptGeorgian
	scriptEthiopic
	scriptOther // three bytes long
	scriptPunct
	scriptSymbol
	scriptBox
	scriptBraille
	scriptCJKPunct
	scriptKana
	scriptHan
	scriptHangul
	scriptFullWidth
	scriptPrivate
	scriptVariation
	scriptEmoji
	scriptMath
	scriptOther4 // four bytes long
	scriptHanRare
	scriptInvalid // a byte that is not UTF-8
	scriptCount
)

// scriptNames are the names in data/constants.tsv.
var scriptNames = [scriptCount]string{
	"lat1p", "latin", "latinA", "latinV", "comb", "greek", "cyr", "cyrx", "arm", "heb", "arabic", "persian", "syr",
	"deva", "beng", "guru", "gujr", "orya", "tamil", "telu", "knda", "mlym", "sinh", "thai", "lao", "tib", "mya", "khm",
	"geo", "eth", "misc", "gpunct", "sym", "box", "braille", "cjkp", "kana", "cjk", "hangul", "full", "pua", "vs",
	"emoji", "math", "s4", "hanx", "invalid",
}

// scriptRanges says where in the first 65 536 code points a script begins; it ends where the next begins.
var scriptRanges = []struct {
	first  uint16
	script script
}{
	{0x0000, scriptInvalid}, {0x0080, scriptLatin1Sign}, {0x00C0, scriptLatin}, {0x0100, scriptLatinExtended},
	{0x0250, scriptCombining},
	{0x0370, scriptGreek}, {0x0400, scriptCyrillic}, {0x0480, scriptCyrillicExtended}, {0x0530, scriptArmenian},
	{0x0590, scriptHebrew},
	{0x0600, scriptArabic}, {0x0670, scriptPersian}, {0x0700, scriptSyriac}, {0x0900, scriptDevanagari},
	{0x0980, scriptBengali}, {0x0A00, scriptGurmukhi}, {0x0A80, scriptGujarati}, {0x0B00, scriptOriya},
	{0x0B80, scriptTamil}, {0x0C00, scriptTelugu}, {0x0C80, scriptKannada}, {0x0D00, scriptMalayalam},
	{0x0D80, scriptSinhala}, {0x0E00, scriptThai}, {0x0E80, scriptLao}, {0x0F00, scriptTibetan},
	{0x1000, scriptMyanmar}, {0x10A0, scriptGeorgian}, {0x1100, scriptHangul}, {0x1200, scriptEthiopic},
	{0x1400, scriptOther}, {0x1780, scriptKhmer}, {0x1800, scriptOther}, {0x1E00, scriptLatinVietnamese},
	{0x1F00, scriptGreek}, {0x2000, scriptPunct}, {0x2070, scriptSymbol}, {0x2500, scriptBox}, {0x25A0, scriptSymbol},
	{0x2800, scriptBraille}, {0x2900, scriptSymbol}, {0x3000, scriptCJKPunct}, {0x3040, scriptKana},
	{0x3100, scriptSymbol}, {0x3130, scriptHangul}, {0x3190, scriptSymbol}, {0x3400, scriptHan}, {0xA000, scriptOther},
	{0xAC00, scriptHangul}, {0xD7B0, scriptPrivate}, {0xF900, scriptHan}, {0xFB00, scriptFullWidth},
	{0xFE00, scriptVariation}, {0xFE10, scriptFullWidth},
}

// longScript is the script of a character of four bytes.
func longScript(r uint32) script {
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
func (s script) isCJK() bool {
	switch s {
	case scriptHan, scriptKana, scriptHangul, scriptCJKPunct, scriptFullWidth, scriptHanRare:
		return true
	}
	return false
}

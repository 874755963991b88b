package tokencount

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

func tableOf(family string) *Table { return families[family].Texts() }

// Whatever goes round in a circle costs something, or a long row of it would be free: a pair of characters may
// have a cost below 0.
func TestEstimateCircles(t *testing.T) {
	for family := range families {
		pair := tableOf(family).pair
		least := int32(math.MaxInt32)
		for a := range 128 {
			for b := range 128 {
				ab := pair[a|b<<8]
				if a != b {
					least = min(least, (ab+pair[b|a<<8])/2)
				}
				for c := range 128 {
					if a != b && b != c && c != a {
						least = min(least, (ab+pair[b|c<<8]+pair[c|a<<8])/3)
					}
				}
			}
		}
		assert.GreaterOrEqual(t, least, fixed(1.0/64), "%q: a token holds at most about 64 characters", family)
	}
}

// The tables are complete, and no text is free.
func TestEstimateTables(t *testing.T) {
	for family := range families {
		c := tableOf(family)
		for s, name := range scriptNames {
			assert.GreaterOrEqual(t, c.scripts[s].each, int32(0), "%s: %s", family, name)
			assert.Positive(t, c.scripts[s].each+c.scripts[s].first[0]+c.scripts[s].rarePair, "%s: %s", family, name)
		}
		for b := range 256 {
			m := strings.Repeat(string([]byte{byte(b)}), 1_000)
			assert.Positive(t, c.text(m), "%s: byte %#x", family, b)
		}
	}
	sh := shared()
	assert.Equal(t, scriptHan, sh.blocks['世'>>4].script)
	assert.Equal(t, "persian", scriptNames[sh.blocks['ک'>>4].script])
	assert.Equal(t, "full", scriptNames[sh.blocks['！'>>4].script])
	rare := func(r rune) bool { return sh.blocks[r>>4].rare>>(r&15)&1 != 0 }
	assert.False(t, rare('的'))
	assert.True(t, rare('龘'))
	assert.True(t, rare('㐀'))
	assert.False(t, rare('ж'))
	for _, r := range scriptRanges {
		assert.Zero(t, r.first%16, "U+%04X", r.first)
	}
	assert.True(t, utf8.ValidString(pairsFile))
}

func TestConstantsAreRead(t *testing.T) {
	used := map[string]bool{}
	read := func(names ...string) {
		for _, n := range names {
			used[n] = true
		}
	}
	for _, name := range scriptNames {
		read("s_"+name, "r_"+name, "q_"+name, "x_"+name)
	}
	for c := range byte(128) {
		read("w"+string(c), "p"+string(c), thirdName(c))
	}
	read(strings.Fields("camel upRun upx capLow wordSp wordDg wordPu wordNl latCont latIn dMore dRun spD dLet cr nlx nlPu nlRun " +
		"spRun spNl tab tabNl tabRun puS2 puMix puMixR puSp puW puNl ctrl cjkRare")...)
	for _, family := range strings.Split(strings.SplitN(constantsFile, "\n", 2)[0], "\t")[1:] {
		m := readConstants(family)
		for name := range m.of {
			assert.True(t, used[name], "%s: no code reads constant %q", family, name)
		}
		assert.Greater(t, len(m.of), 100, family)
		assert.NotZero(t, m.letters, family)
	}
}

func TestFamiliesShareTables(t *testing.T) {
	assert.Same(t, tableOf("gemini"), tableOf("gemma"))
	_, ok := Of("unknown")
	assert.False(t, ok, "a column of the constants is not the name of a family")
}

// Claude's later tokenizers are the published one times a factor, less for Chinese.
func TestClaudeFactors(t *testing.T) {
	latin, han := strings.Repeat("Some words of English, and a number: 42. ", 100), strings.Repeat("天地玄黃宇宙洪荒", 100)
	claude := tableOf("claude").Tokens
	assert.InEpsilon(t, 1.05, float64(tableOf("claude4").Tokens(latin))/float64(claude(latin)), .01)
	assert.InEpsilon(t, 1.35, float64(tableOf("claude-next").Tokens(latin))/float64(claude(latin)), .01)
	assert.InEpsilon(t, 1.0, float64(tableOf("claude-next").Tokens(han))/float64(claude(han)), .01)
}

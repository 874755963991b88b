package tokencount

import (
	"slices"
	"strconv"
	"strings"

	"github.com/winnowgo/winnow/internal/runes"
)

// constants are the numbers of one family, in tokens.
type constants struct {
	of      map[string]float64 // by the names of data/constants.tsv
	letters letterCosts
}

// letterCosts has what letters add by their neighbours, in any case: [letter][next], [outside][first of a
// word], [last of a word][outside].
type letterCosts [27][27]float64

const outside = 26 // the index of everything but letters

// readConstants reads the column of a family in data/constants.tsv, and its part of data/letters.txt.
func readConstants(family string) constants {
	lines := strings.Split(strings.TrimSpace(constantsFile), "\n")
	column := slices.Index(strings.Split(lines[0], "\t"), family)
	m := constants{of: make(map[string]float64, len(lines))}
	for _, line := range lines[1:] {
		cells := strings.Split(line, "\t")
		v, err := strconv.ParseFloat(cells[column], 64)
		if err != nil {
			// the file is part of the program, and the tests read it
			panic("tokencount: data/constants.tsv: " + err.Error())
		}
		m.of[cells[0]] = v
	}
	_, rows, _ := strings.Cut(lettersFile, family+"\n")
	for i, row := range strings.SplitN(rows, "\n", len(m.letters)+1)[:len(m.letters)] {
		for j := range row {
			m.letters[i][j] = (float64(row[j]) - '@') / 50
		}
	}
	return m
}

// letterIndex is the index of c in letterCosts.
func letterIndex(c byte) int {
	if runes.IsLetter(c) {
		return int(c|0x20) - 'a'
	}
	return outside
}

// scaled multiplies the constants of text in ASCII and in Latin script by latin, those of Chinese, Japanese and Korean
// by cjk, and all others by other.
func (m constants) scaled(latin, cjk, other float64) constants {
	by := map[string]float64{"cjkRare": cjk}
	for s, name := range scriptNames {
		f := other
		switch name {
		case "cjk", "kana", "hangul", "cjkp", "full", "hanx":
			f = cjk
		case "gpunct":
			f = latin
		}
		if script(s).isLatin() {
			f = latin
		}
		for _, prefix := range []string{"s_", "r_", "q_", "x_"} {
			by[prefix+name] = f
		}
	}
	out := constants{of: make(map[string]float64, len(m.of))}
	for name, v := range m.of {
		f, ok := by[name]
		if !ok {
			f = latin
		}
		out.of[name] = v * f
	}
	for i, row := range m.letters {
		for j, v := range row {
			out.letters[i][j] = v * latin
		}
	}
	return out
}

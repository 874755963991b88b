package minify

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/winnowgo/winnow/internal/prose"
)

// Bytes as a list of numbers: [137, 80, 78], 0x89, 0x50 or 89:50:4e, as programs print what they hold.

const (
	leastListed = 1_000           // numbers of a list: a table in a program, mostly of 256, is shorter
	leastList   = 3 * leastListed // bytes of it
)

// lists match the forms of a list, and numbers what stands in one.
var (
	lists = prose.NewPattern(`0[xX][\da-fA-F]{1,2}(?:,\s*0[xX][\da-fA-F]{1,2})+|` +
		`-?\d{1,3}(?:,\s*-?\d{1,3})+|\[\d{1,3}(?: \d{1,3})+|` +
		`[\da-fA-F]{2}(?::\s*[\da-fA-F]{2})+|[\da-fA-F]{2}(?: [\da-fA-F]{2})+`)
	numbers = prose.NewPattern(`[\da-fA-F]+`)
)

// inList says of each byte whether it may stand in a list.
var inList = func() (is [256]bool) {
	for _, c := range []byte("0123456789abcdefABCDEFxX,: \t\r\n-[") {
		is[c] = true
	}
	return is
}()

// withoutLists returns s with a short text in the place of each list of bytes.
func withoutLists(s, note string) string {
	r := rewriter{text: s}
	for p, done := 0, 0; p+leastDataLine <= len(s); p += leastList / 2 { // one of these places is in each list
		from, to := p, p
		for to < len(s) && inList[s[to]] {
			to++
		}
		if p < done || to-from < leastDataLine {
			continue
		}
		for from > done && inList[s[from-1]] {
			from--
		}
		done = to
		if to-from < leastList {
			continue
		}
		for _, m := range lists().FindAllStringIndex(s[from:to], -1) {
			start, end := from+m[0], from+m[1]
			if n := bytesIn(s[start:end]); n >= leastListed {
				if s[start] == '[' {
					start++
				}
				r.replace(start, end, fmt.Sprintf("[list of bytes: %d bytes left out%s]", n, note))
			}
		}
	}
	return r.result()
}

// bytesIn returns how many bytes a list stands for, or 0 if its numbers are no bytes of data: those are up to 255, and
// of many values.
func bytesIn(list string) int {
	base, seen, most, n := 16, map[uint64]bool{}, uint64(0), 0
	if strings.ContainsAny(list, ",[") && !strings.Contains(list, "0x") && !strings.Contains(list, "0X") {
		base = 10
	}
	for _, word := range numbers().FindAllString(list, -1) {
		x, err := strconv.ParseUint(word, base, 64)
		if err != nil || x > 255 {
			return 0
		}
		seen[x], most, n = true, max(most, x), n+1
	}
	if base == 16 && strings.ContainsAny(list, "xX") {
		n /= 2
	}
	if most < 128 || len(seen) < 64 {
		return 0
	}
	return n
}

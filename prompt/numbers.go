package prompt

import (
	"strconv"
	"strings"
)

// comma writes 12345 as 12,345.
func comma(n int) string {
	s := strconv.Itoa(n)
	first := len(s) % 3
	var b strings.Builder
	for i := range len(s) {
		if i > 0 && i%3 == first && s[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

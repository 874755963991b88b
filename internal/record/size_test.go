package record

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// sizes returns records of the given tokens, one behind the other. 0 stands for a message that is not a record.
func sizes(isBare bool, tokens ...int) (list []Size) {
	for i, n := range tokens {
		if n > 0 {
			list = append(list, Size{At: i, Tokens: n, IsBare: isBare})
		}
	}
	return list
}

func TestOlder(t *testing.T) {
	for _, tt := range []struct {
		name    string
		records []Size
		room    int
		want    []Run
	}{
		{"none", nil, 0, nil},
		{"they have room", sizes(false, 10, 10, 10), 30, nil},
		{"the older half becomes one", sizes(false, 10, 10, 10, 10, 10, 10), 50, []Run{{0, 4}}},
		{"what stands between them divides them", sizes(false, 10, 0, 10, 10, 10), 30, []Run{{0, 1}, {2, 4}}},
		{"a large one is more than half", sizes(false, 90, 10, 10), 100, []Run{{0, 1}}},
		{"one that has only its frame stays", sizes(true, 10, 0, 10), 0, nil},
		{"frames beside each other become one", sizes(true, 10, 10, 10), 0, []Run{{0, 3}}},
		{"a bare one joins the next", append(sizes(true, 10), Size{1, 10, false}, Size{2, 30, false}), 40, []Run{{0, 3}}},
	} {
		assert.Equal(t, tt.want, Older(tt.records, tt.room), tt.name)
	}
}

package record

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// sizes returns records of the given tokens, one behind the other. 0 stands for a message that is not a record.
func sizes(lean int, tokens ...int) (list []Size) {
	for i, n := range tokens {
		if n > 0 {
			list = append(list, Size{At: i, Tokens: n, Lean: lean})
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
		{"they have room", sizes(0, 10, 10, 10), 30, nil},
		{"the older half becomes one", sizes(0, 10, 10, 10, 10, 10, 10), 50, []Run{{0, 4, 40, 1}}},
		{"what stands between them divides them", sizes(0, 10, 0, 10, 10, 10), 30, []Run{{0, 1, 10, 1}, {2, 4, 20, 1}}},
		{"a large one is more than half", sizes(0, 90, 10, 10), 100, []Run{{0, 1, 90, 1}}},
		{"one that has only its frame stays", sizes(Leanest, 10, 0, 10), 0, nil},
		{"frames beside each other become one", sizes(Leanest, 10, 10, 10), 0, []Run{{0, 3, 30, Leanest + 1}}},
		{"the leanest decides", append(sizes(1, 10), Size{1, 10, 0}, Size{2, 30, 0}), 40, []Run{{0, 3, 50, 2}}},
	} {
		assert.Equal(t, tt.want, Older(tt.records, tt.room), tt.name)
	}
}

func TestSmall(t *testing.T) {
	for _, tt := range []struct {
		name    string
		records []Size
		want    []Run
	}{
		{"none", nil, nil},
		{"one has no neighbour", sizes(0, 10), nil},
		{"neighbours become one", sizes(0, 10, 10, 10), []Run{{0, 3, 30, 0}}},
		{"what stands between them divides them", sizes(0, 10, 10, 0, 10, 10), []Run{{0, 2, 20, 0}, {3, 5, 20, 0}}},
		{"a large one waits for newer ones", sizes(0, 50, 10, 10), []Run{{1, 3, 20, 0}}},
		{"twice the newer ones is not too large", sizes(0, 41, 10, 10), []Run{{0, 3, 61, 0}}},
		{"not above the limit", sizes(0, 40, 40, 40), []Run{{1, 3, 80, 0}}},
		{"leaner ones stay", sizes(1, 10, 10), nil},
	} {
		assert.Equal(t, tt.want, Small(tt.records, 100), tt.name)
	}
}

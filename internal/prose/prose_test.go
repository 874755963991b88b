package prose

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSentenceEnd(t *testing.T) {
	for in, want := range map[string]string{
		"One. Two.": "One.", "v1.2 is out! Yes": "v1.2 is out!", "先看日志。然后报告。": "先看日志。",
		"1. Fix it. Then test it.": "1. Fix it.", "In 2. Then": "In 2.", "no end": "no end", "": "",
	} {
		assert.Equal(t, want, in[:SentenceEnd(in)], in)
	}
}

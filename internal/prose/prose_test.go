package prose

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLists(t *testing.T) {
	rules := NewList([]string{"must", "don't"}, []string{"必须"})
	for in, want := range map[string]bool{
		"You MUST test": true, "The mustard": false, "a must_have, a must_": false, "mustard, and it must.": true,
		"Don’t touch it": true, "必须保留": true, "请你must停": true, "": false,
	} {
		assert.Equal(t, want, rules.In(in), in)
	}
}

func TestSentenceEnd(t *testing.T) {
	for in, want := range map[string]string{
		"One. Two.": "One.", "v1.2 is out! Yes": "v1.2 is out!", "先看日志。然后报告。": "先看日志。", "no end": "no end", "": "",
	} {
		assert.Equal(t, want, in[:SentenceEnd(in)], in)
	}
}

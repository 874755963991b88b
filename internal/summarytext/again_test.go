package summarytext_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow/internal/summarytext"
)

// A summarizer that is asked again reads why, in a sentence.
func TestAgain(t *testing.T) {
	assert.Equal(t, "This is attempt 2.", summarytext.Again("", ""))
	assert.Equal(t, "Short.\n\nThis is attempt 2. The answer before was refused: it is empty.",
		summarytext.Again("Short.", "it is empty"))
}

package sections

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSection(t *testing.T) {
	text := "# Top\n## Red Lines\none\n### Under\n```\n## no heading\n```\ntwo\n# Also within\n## Next\nthree\n##NoSpace\n"
	assert.Equal(t, "## Red Lines\none\n### Under\n```\n## no heading\n```\ntwo\n# Also within", Section(text, "red lines"))
	assert.Equal(t, "### Under\n```\n## no heading\n```\ntwo\n# Also within", Section(text, "Under"))
	assert.Equal(t, "## Next\nthree\n##NoSpace", Section(text, "Next"))
	assert.Empty(t, Section(text, "Top"), "of the first level")
	assert.Empty(t, Section(text, "NoSpace"))
}

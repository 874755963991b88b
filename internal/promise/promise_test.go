package promise

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestBlame: of what could explain that less was read, it is what alone explains it. The base has 50 000 tokens, 8 000 of
// them in front of the messages. The last request has 51 000 to 53 000, if nobody has changed those.
func TestBlame(t *testing.T) {
	const warm, long, older = time.Minute, 10 * time.Minute, 2 * time.Hour
	whole := Promise{Kept: 10, Size: Size{Cached: 50_000, Hidden: 8_000, Least: 51_000, Most: 53_000}}
	folded := Promise{Kept: 3, Whose: Winnow, Reason: "it pays", Size: Size{Cached: 20_000, Error: 1_000, Hidden: 8_000,
		Least: 15_000, Most: 30_000}}
	edited := folded
	edited.Whose, edited.Reason = Host, "edited"
	elsewhere := Promise{Kept: Elsewhere, Whose: Host, Reason: "another model"}
	for _, tt := range []struct {
		name   string
		p      Promise
		pause  time.Duration
		prompt int
		read   int
		said   string
		whose  Whose // of what was missed; "": nothing was
		counts Use   // without what is always there
	}{
		{"all is read", whole, warm, 52_000, 50_000, "", "", Use{}},
		{"but for a part of a block", whole, warm, 52_000, 49_900, "", "", Use{}},
		{"nothing shows why", whole, warm, 52_000, 0, "", Provider, Use{Lost: 50_000}},
		{"other tools", whole, warm, 60_000, 0, "", Host, Use{Changed: 50_000}},
		{"fewer tools", whole, warm, 45_000, 0, "", Host, Use{Changed: 50_000}},
		{"a pause", whole, long, 52_000, 0, "", Time, Use{Expired: 50_000}},
		{"a pause, and an estimate that is a little off", whole, long, 53_500, 0, "", Time, Use{Expired: 50_000}},
		{"a pause and other tools", whole, long, 60_000, 0, "", Host, Use{Changed: 50_000}},
		{"too old", whole, older, 52_000, 0, "", "", Use{Expired: 50_000}},
		{"too old, as was believed, and read", whole, older, 52_000, 50_000, "", "", Use{}},
		{"too old, and the provider says that tools have changed", whole, older, 52_000, 0, "tools_changed", "",
			Use{Changed: 50_000}},
		{"a rewrite", folded, warm, 22_000, 20_000, "", "", Use{Rewritten: 30_000}},
		{"a rewrite of which the estimate is off", folded, warm, 22_000, 18_500, "", "", Use{Rewritten: 31_500}},
		{"a rewrite, read up to an earlier marker", folded, warm, 22_000, 9_000, "", Winnow, Use{Rewritten: 41_000}},
		{"a rewrite, and the provider has lost it", folded, warm, 22_000, 0, "", Provider,
			Use{Rewritten: 30_000, Lost: 20_000}},
		{"a rewrite, and a pause", folded, long, 22_000, 0, "", Time, Use{Rewritten: 30_000, Expired: 20_000}},
		{"a rewrite, and more tools", folded, warm, 40_000, 0, "", Host, Use{Rewritten: 30_000, Changed: 20_000}},
		{"a rewrite, too old", folded, older, 22_000, 0, "", "", Use{Expired: 50_000}},
		{"a rewrite, too old as was believed", folded, older, 22_000, 20_000, "", "", Use{Rewritten: 30_000}},
		{"a rewrite, by the provider's word", folded, warm, 22_000, 0, "messages_changed", Winnow, Use{Rewritten: 50_000}},
		{"a rewrite, and other tools by the provider's word", folded, warm, 22_000, 0, "tools_changed", Host,
			Use{Rewritten: 30_000, Changed: 20_000}},
		{"an edit", edited, warm, 50_000, 20_000, "", "", Use{Changed: 30_000}},
		{"messages by the provider's word, though they are the same", whole, warm, 52_000, 0, "messages_changed", Host,
			Use{Changed: 50_000}},
		{"another reason of the provider", whole, long, 52_000, 0, "unavailable", Provider, Use{Lost: 50_000}},
		{"another model", elsewhere, warm, 52_000, 0, "", "", Use{Changed: 50_000}},
		{"another model, too old", elsewhere, older, 52_000, 0, "", "", Use{Changed: 50_000}},
	} {
		p := tt.p
		p.Base = Base{Prompt: 50_000, Held: 50_000, SentAt: time.Unix(1_000_000, 0)}
		p.SentAt = p.Base.SentAt.Add(tt.pause)
		var use Use
		missed := p.Settle(Answer{Prompt: tt.prompt, Read: tt.read, Written: tt.prompt - tt.read, Said: tt.said},
			Cache{TTL: time.Hour, Least: 1_024}, &use)
		whose := Whose("")
		if missed != nil {
			whose = missed.Whose
			assert.Equal(t, missed.Tokens, use.Missed, tt.name)
		}
		assert.Equal(t, tt.whose, whose, tt.name)
		assert.Equal(t, tt.read, use.Read, tt.name)
		assert.Equal(t, tt.counts, Use{Rewritten: use.Rewritten, Changed: use.Changed, Expired: use.Expired, Lost: use.Lost}, tt.name)
		assert.Equal(t, tt.prompt, p.Base.Prompt, "%s: what was answered is the next base", tt.name)
	}
}

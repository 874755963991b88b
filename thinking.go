package winnow

import "slices"

// ThinkingPolicy says what becomes of the thinking that a model wrote, when the bytes in front of it change.
// Whatever the policy, no thinking is edited: it is sent as it came, or not at all.
type ThinkingPolicy string

const (
	// ThinkingKept sends all thinking as it came.
	ThinkingKept ThinkingPolicy = ""
	// ThinkingDropped leaves out the thinking of older turns at each epoch: most providers do not read it, and
	// some bill it. That of the newest turn is sent as it came.
	ThinkingDropped ThinkingPolicy = "dropped"
	// ThinkingBound is for models whose signatures are bound to all that stands in front of them (Claude 5.1
	// and later): after any change of it the provider refuses the thinking behind it. So what was sent is
	// rewritten only when a request does not fit otherwise, and the thinking behind the change is left out.
	ThinkingBound ThinkingPolicy = "bound"
)

// thinkingLeftOut stands in a message that was nothing but thinking: an empty one would be refused.
const thinkingLeftOut = "[thinking left out]"

// leaveOutThinking does what the policy says, at an epoch: behind what is rewritten nothing is in the cache.
func (d *draft) leaveOutThinking() {
	policy := d.manager.opts.Thinking
	from := d.firstChanged()
	if policy == ThinkingKept || from >= len(d.ledger.sent) {
		return
	}
	v := d.view
	end := len(v.messages)
	if policy == ThinkingDropped {
		end = max(0, newestRequest(v.messages))
	}
	for i := from; i < end; i++ {
		m := v.messages[i]
		if m.Role != RoleAssistant || m.Pinned || !slices.ContainsFunc(m.Parts, isThinking) {
			continue
		}
		m.Parts, m.Source = slices.DeleteFunc(slices.Clone(m.Parts), isThinking), nil
		if len(m.Parts) == 0 {
			m.Parts = []Part{{Text: thinkingLeftOut}}
		}
		d.project(i, m, max(0, d.manager.opts.Estimator.Estimate(m)), OpTrim, "thinking from before what is rewritten")
	}
}

func isThinking(p Part) bool { return p.Kind == KindThinking }

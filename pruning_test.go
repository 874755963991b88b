package winnow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow"
)

func TestPruneProtects(t *testing.T) {
	long := strings.Repeat("x", 5000)
	result := toolSays("r", long)
	image, opaque := withParts(result, imagePart()), withParts(result, winnow.Part{Kind: winnow.KindOpaque, Bytes: 10})
	clear := always(winnow.PruneOptions{})
	for _, tt := range []struct {
		name    string
		in      []winnow.Message
		opts    *winnow.PruneOptions
		changed []int
		reason  string
	}{
		{"old", old(result), clear, []int{2}, "an old result that is long"},
		{"short", old(toolSays("r", "ok")), clear, nil, "a placeholder would be longer"},
		{"newest three", list(userSays("go"), modelCalls("r"), result, modelSays("one"), modelSays("two")), clear, nil, "the third newest assistant message protects what follows it"},
		{"newest four", list(userSays("go"), modelCalls("r"), result, modelSays("one"), modelSays("two"), modelSays("three")), clear, []int{2}, "the call is the fourth"},
		{"keep one", list(userSays("go"), modelCalls("r"), result, modelSays("one")), always(winnow.PruneOptions{KeepLastAssistants: 1}), []int{2}, "fewer are protected"},
		{"keep none", list(userSays("go"), modelCalls("r"), result), always(winnow.PruneOptions{KeepLastAssistants: -1}), []int{2}, "none is protected"},
		{"too few assistants", list(userSays("go"), result, modelSays("one")), clear, nil, "fewer assistant messages than are protected: everything is"},
		{"before the first question", append(list(modelCalls("r"), result), old()...), clear, nil, "what the host put there, such as its identity files"},
		{"behind the host's message", append(list(hostSays("boot"), modelCalls("r"), result), old()...), clear, []int{2}, "a user message of the host is one"},
		{"no question", list(modelCalls("r"), result, modelSays("one"), modelSays("two"), modelSays("three")), clear, nil, "nothing comes after the first user message"},
		{"pinned", old(pinned(result)), clear, nil, "a pin survives every stage"},
		{"image", old(image), clear, nil, "its text may be about the image"},
		{"opaque", old(opaque), clear, nil, "nobody knows what would be lost"},
		{"long answer", append(list(userSays("go"), modelSays(long)), old()...), clear, nil, "only results are pruned"},
		{"allowed", old(result), always(winnow.PruneOptions{AllowTools: []string{"exec"}}), []int{2}, "the tool is on the list"},
		{"not allowed", old(result), always(winnow.PruneOptions{AllowTools: []string{"read"}}), nil, "the tool is not on the list"},
		{"allowed by pattern", old(result), always(winnow.PruneOptions{AllowTools: []string{"re*", " E*C "}}), []int{2}, "in any case, without the spaces around"},
		{"denied", old(result), always(winnow.PruneOptions{DenyTools: []string{"EXEC"}}), nil, "in any case"},
		{"deny wins", old(result), always(winnow.PruneOptions{AllowTools: []string{"exec"}, DenyTools: []string{"ex*"}}), nil, "over allow"},
		{"blank patterns", old(result), always(winnow.PruneOptions{AllowTools: []string{" ", ""}, DenyTools: []string{""}}), []int{2}, "a blank pattern matches nothing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := named(deepCopy(tt.in))
			got, edits := winnow.PruneContext(in, 1000, tt.opts)
			var changed []int
			for _, e := range edits {
				changed = append(changed, e.Index)
				assert.Equal(t, cleared, fullText(got[e.Index]))
			}
			assert.Equal(t, tt.changed, changed, tt.reason)
			assert.Equal(t, len(tt.changed) == 0, sharesMemory(in, got), "the same list exactly if nothing was done")
			checkStage(t, pruneStage("", 1000, tt.opts), in)
		})
	}
}

func TestPruneGolden(t *testing.T) {
	for _, name := range []string{"go-test.txt", "traceback.txt", "chinese.txt"} {
		h := old(toolSays("", readFile(t, "outputs", name)))
		got, edits := winnow.PruneContext(h, 100, &winnow.PruneOptions{SoftTrimMaxChars: 600, SoftTrimHeadChars: 200, SoftTrimTailChars: 200, NoHardClear: true})
		require.Len(t, edits, 1, name)
		golden(t, "prune-"+name, fullText(got[2]))
	}
}

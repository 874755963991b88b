package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/winnowgo/winnow"
)

const (
	task     = "How many words do chapters 1 to 10 have, all together?"
	chapters = 10
)

// model stands for a language model. It knows only what it sees.
func (a *agent) model(_ context.Context, messages []winnow.Message) (winnow.Message, error) {
	time.Sleep(a.pause)
	done, sum := map[int]bool{}, 0
	for _, m := range messages {
		var chapter, words int
		if m.Role == winnow.RoleTool && !m.IsError {
			if _, err := fmt.Sscanf(m.Parts[0].Text, "chapter %d has %d words", &chapter, &words); err == nil &&
				!done[chapter] {
				done[chapter] = true
				sum += words
			}
		}
	}
	for chapter := 1; chapter <= chapters; chapter++ {
		if !done[chapter] {
			return countCall(chapter, len(messages)), nil
		}
	}
	return winnow.Message{Role: winnow.RoleAssistant,
		Parts: []winnow.Part{{Text: fmt.Sprintf("All together they have %d words.", sum)}}}, nil
}

func countCall(chapter, id int) winnow.Message {
	return winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{{
		Kind: winnow.KindToolCall, ID: fmt.Sprintf("call_%d", id), Name: "count_words",
		Arguments: json.RawMessage(fmt.Sprintf(`{"chapter":%d}`, chapter)),
	}}}
}

// runTool counts the words of a chapter, which takes a while.
func (a *agent) runTool(call winnow.Part) string {
	time.Sleep(a.pause)
	var arguments struct{ Chapter int }
	if err := json.Unmarshal(call.Arguments, &arguments); err != nil {
		return "error: " + err.Error()
	}
	text := strings.Repeat("word ", 100*arguments.Chapter)
	return fmt.Sprintf("chapter %d has %d words", arguments.Chapter, len(strings.Fields(text)))
}

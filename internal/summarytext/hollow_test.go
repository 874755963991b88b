package summarytext

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestIsHollow(t *testing.T) {
	work := []string{
		"Please take care of ticket PROJ-1001 and never touch the table invoices_7. " + strings.Repeat("This is the context, and there is more of it. ", 40),
		"Ticket PROJ-1001 is done: I changed src/mod1/file1.go. The server said null, NO_REPLY and {}.",
		`{"path": "src/mod1/file1.go"}`,
	}
	talk := []string{strings.Repeat("We want to fly to the sea in summer, with the children and the dog. ", 20), "Ich suche einen Flug ans Meer, im Sommer, mit Hund."}
	chinese := []string{strings.Repeat("我们想在夏天带着孩子和狗去海边，请预订航班和旅馆。", 40)}
	short := []string{"Hi", "Hello! How are you?"}
	for _, tt := range []struct {
		answer string
		of     []string
		hollow bool
	}{
		{"null", work, true}, {"{}", work, true}, {`{"summary": ""}`, work, true}, {"[]", work, true}, {"None", work, true},
		{"NO_REPLY", work, true}, {"```\n```", work, true}, {"```markdown\n\n```", work, true}, {"<!-- -->", work, true},
		{"<!-- the summary\ngoes here -->", work, true}, {"<summary>\n</summary>", work, true}, {"...", work, true}, {"---", work, true},
		{"# Summary", work, true}, {"## Goal", work, true}, {"Summary:", work, true}, {"OK.", short, true}, {"null", short, true},
		{"Sure! Could you please provide the conversation you would like me to summarize?", work, true},
		{"Sure! Could you please provide the conversation you would like me to summarize?", talk, true},
		{"Understood. I'm ready to continue with the next task.", work, true},
		{"I don't see any conversation in your message. Please share it and I will write a comprehensive summary in the structure that you asked for.", work, true},
		{"Error: rate limit exceeded, please try again later.", work, true},
		{"Error: rate limit exceeded, please try again later.", talk, true},
		{"Error: rate limit exceeded, please try again later.", short, true},
		{`{"error": {"type": "overloaded_error", "message": "Overloaded"}}`, work, true},
		{"<html><body><h1>502 Bad Gateway</h1>" + strings.Repeat("<p>nginx</p>", 200), work, true},
		{"请提供您想要我总结的对话内容。", work, true}, {"Bitte geben Sie mir die Unterhaltung, die ich zusammenfassen soll.", work, true},
		{"Here is what remains of it all, in a few words, and nothing else.", work, true},

		{"## Goal\nshort", work, false}, {"**Goal:** ship it", work, false}, {"Goal: ship it", work, false}, {"1. Goal\nship it", work, false},
		{"GOAL\n====\nship it", work, false}, {"- **Next Steps** – ship it", work, false},
		{"## Ziel\nDie Rechnungen bleiben, wie sie sind.", work, false}, {"## 目标\n修复构建，不要动发票表。", work, false}, {"【目标】修复构建，不要动发票表。", work, false},
		{"The server said null after the ticket had changed.", work, false}, {"Invoices never take care of the server.", work, false},
		{"Oranges, tables, the moon and the stars in the sky above.", work, true}, {"ticket server changed care", work, true},
		{"The ticket PROJ-1001 is done.", work, false}, {`{"summary": "PROJ-1001 is done, file1.go in src/mod1/file1.go has changed."}`, work, false},
		{"PROJ-1001 已完成。", work, false},
		{"The family flies to the sea in summer.", talk, false}, {"Ein Flug ans Meer wird gesucht, der Hund kommt mit.", talk, false},
		{"用户想在夏天带孩子和狗去海边。", chinese, false},
		{"Nothing but a greeting.", short, false},
		{strings.Repeat("What was done. ", 100), work, false},
	} {
		assert.Equal(t, tt.hollow, IsHollow(tt.answer, slices.Values(tt.of)), "%.80q of %.20q", tt.answer, tt.of)
	}
}

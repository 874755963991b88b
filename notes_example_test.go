package winnow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/winnowgo/winnow"
)

// withNotes returns a manager for a model that has the tools for notes.
func withNotes() *winnow.Manager {
	m, err := winnow.New(200_000, &winnow.Options{Tools: &winnow.ToolOptions{Notes: true}})
	if err != nil {
		panic(err)
	}
	return m
}

// noteCall is a call of the model's.
func noteCall(tool winnow.Tool, arguments string) winnow.Message {
	return winnow.Message{Role: winnow.RoleAssistant, Parts: []winnow.Part{
		{Kind: winnow.KindToolCall, ID: "call_1", Name: tool.Name, Arguments: json.RawMessage(arguments)},
	}}
}

func ExampleNotesTool() {
	fmt.Println(winnow.NotesTool().Name, string(winnow.NotesTool().Schema)[:16])
	// Output: write_note {"type":"object"
}

func ExampleCompactTool() {
	fmt.Println(winnow.CompactTool().Name)
	// Output: end_phase
}

func ExampleManager_Note() {
	m := withNotes()
	call := noteCall(winnow.NotesTool(), `{"name":"goal","text":"Ship on Friday."}`)
	history := []winnow.Message{user("Ship it."), call}
	history = append(history, m.Note(history, call.Parts[0].Arguments))
	fmt.Println(history[2].Parts[0].Text)
	fmt.Println(winnow.Notes(history))
	// Output:
	// Noted. 1 of 32 notes, 10 of 9000 tokens.
	// [{goal Ship on Friday.}]
}

func ExampleNotes() {
	fmt.Println(winnow.Notes(nil))
	// Output: []
}

func ExampleManager_EndPhase() {
	m := withNotes()
	call := noteCall(winnow.CompactTool(), `{"keep":"The tests pass."}`)
	history := []winnow.Message{user("Fix it."), call}
	answer := m.EndPhase(history, call.Parts[0].Arguments)
	fmt.Println(answer.IsError, answer.Parts[0].Text)
	// Output: true Not yet: it would free 0 tokens, and there is room enough. Go on.
}

func ExampleManager_WindowNote() {
	m := withNotes()
	line := m.WindowNote(&winnow.Request{Tokens: 130_000, Budget: 180_000})
	fmt.Println(line.Parts[0].Text)
	// Output: [The context window is 72 % full, and older work will be shortened. write_note keeps what must not be lost; end_phase ends a phase.]
}

func ExampleManager_Warm() {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	m, err := winnow.New(200_000, &winnow.Options{Now: func() time.Time { return now }})
	if err != nil {
		fmt.Println(err)
		return
	}
	history := []winnow.Message{user("Hello")}
	if _, err := m.Prepare(context.Background(), history); err != nil {
		fmt.Println(err)
		return
	}
	w := m.Warm(history, now.Add(time.Minute))
	fmt.Println(w.Until.Format(time.TimeOnly), w.Pays)
	// Output: 12:05:00 true
}

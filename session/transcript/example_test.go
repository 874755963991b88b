package transcript_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/session"
	"github.com/winnowgo/winnow/session/entry"
	"github.com/winnowgo/winnow/session/transcript"
	"github.com/winnowgo/winnow/session/upkeep"
)

const recorded = `{"type":"summary","summary":"A greeting","leafUuid":"u2"}
{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","cwd":"/home/me","version":"2.1.34","timestamp":"2026-06-01T09:00:00Z","message":{"role":"user","content":"Hello"}}
{"type":"assistant","uuid":"u2","parentUuid":"u1","timestamp":"2026-06-01T09:00:02Z","message":{"id":"msg_1","role":"assistant","content":[{"type":"text","text":"Hello to you."}],"usage":{"input_tokens":12,"output_tokens":6}}}
{"type":"telepathy","waves":[1,2,3]}
`

// A session of Claude Code continues in a store.
func ExampleParse() {
	t, err := transcript.Parse([]byte(recorded))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Format, t.Session.CWD)
	fmt.Println(t.Report)

	ctx := context.Background()
	store := session.NewMemory(nil)
	if err := upkeep.Import(ctx, store, "greeting", t.Entries); err != nil {
		log.Fatal(err)
	}
	view, err := store.Read(ctx, "greeting")
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range view.History {
		fmt.Printf("%s: %s\n", m.Role, m.Parts[0].Text)
	}
	fmt.Println(view.Counts.Usage.Prompt(), "tokens of input were billed")
	// Output:
	// claude-code /home/me
	// 4 lines, 1 beside the conversation, 1 of unknown kinds (telepathy)
	// user: Hello
	// assistant: Hello to you.
	// 12 tokens of input were billed
}

func ExampleDetect() {
	fmt.Println(transcript.Detect([]byte(recorded)))
	// Output: claude-code
}

// A session is written as a file that pi and OpenClaw read.
func ExamplePiWriter() {
	ctx := context.Background()
	store := session.NewMemory(nil)
	text := winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "Hello"}}}
	entries := []*entry.Entry{
		{ID: "root", Type: entry.TypeSession},
		{ID: "a", Type: entry.TypeMessage, ParentID: "root", Message: &text},
	}
	if err := upkeep.Import(ctx, store, "k", entries); err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	w := transcript.NewPiWriter(&file)
	for e, err := range store.Entries(ctx, "k") {
		if err == nil {
			err = w.Write(e)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(transcript.Detect(file.Bytes()), bytes.Count(file.Bytes(), []byte("\n")), "lines")
	// Output: pi 2 lines
}

func ExampleParseIndex() {
	list, err := transcript.ParseIndex([]byte(`{"agent:main:main":{"sessionId":"s1","totalTokens":9000,"displayName":"Anna"}}`))
	fmt.Println(list[0].Key, list[0].Label, list[0].Total, list[0].Path("sessions"), err)
	// Output: agent:main:main Anna 9000 sessions/s1.jsonl <nil>
}

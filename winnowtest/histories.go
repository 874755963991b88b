package winnowtest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/histories"
)

// History is a conversation that adapters have to handle, and the reason why it is in the table.
type History struct {
	Name     string
	Messages []winnow.Message
	Reason   string
}

// Histories returns the table that [Run] uses: conversations that providers accept in only one form, and content of
// real transcripts that they refuse. Each call returns a new table.
func Histories() []History {
	return append(plainHistories(), brokenHistories()...)
}

// plainHistories are valid everywhere.
func plainHistories() []History {
	q, a := user("Where is the window set? "), assistant(text("In window.go."))
	return []History{
		{"nothing", nil, "there is nothing to send"},
		{"chat", list(q, a, user("And the reserve?"), a, user("Thanks & <bye>\u2028")), "the plainest conversation, and characters that JSON may escape"},
		{"several texts", list(userParts(text("First."), text("Second.")), assistant(text("One."), text("Two.")), q), "a message holds more than one text"},
		{"neighbours", list(q, user("Anyone there?"), a, q), "two user messages in a row"},
		{"system", list(system("You are careful."), q, a, q), "system text has a place of its own in many APIs"},
		{"summary", list(summary("So far: the window was found."), q, a, q), "a summary is sent as the user's"},
		{"one call", list(q, assistant(text("I look."), call("a", "read")), result("a", "read", "package winnow"), a, q), "a call and its result"},
		{"parallel calls", list(q, assistant(call("a", "read"), call("b", "search")), result("a", "read", "x"), result("b", "search", "y"), a, q), "results of one turn belong together"},
		{"steps", list(q, assistant(call("a", "read")), result("a", "read", "x"), assistant(call("b", "read")), result("b", "read", "y"), a, q), "one call after the other"},
		{"a word in between", list(q, assistant(call("a", "read")), result("a", "read", "x"), user("Mind the tests."), a, q), "results come before what the user says"},
		{"empty result", list(q, assistant(call("a", "exec")), result("a", "exec"), a, q), "a command without output"},
		{"no arguments", list(q, assistant(bareCall("a", "exec", "")), result("a", "exec", "x"), a, q), "a call without arguments"},
		{"failed result", list(q, assistant(call("a", "exec")), failed(result("a", "exec", "exit status 1")), a, q), "the call failed"},
		{"several texts in a result", list(q, assistant(call("a", "exec")), result("a", "exec", "out", "err"), a, q), "a result holds more than one text"},
		{"signed thinking", list(q, assistant(thinking("Look first.", "c2lnbmVkMTIz"), call("a", "read")), result("a", "read", "x"), a, q), "reasoning goes with the call that it led to"},
		{"unsigned thinking", list(q, assistant(thinking("Look first.", ""), text("I look."), call("a", "read")), result("a", "read", "x"), a, q), "some providers take no reasoning back"},
		{"image", list(userParts(text("What is this?"), image()), a, q), "an image of which only the size is known"},
		{"image in a result", list(q, assistant(call("a", "screenshot")), with(result("a", "screenshot", "taken"), image()), a, q), "not allowed everywhere"},
		{"image in a failed result", list(q, assistant(call("a", "screenshot")), failed(with(result("a", "screenshot", "timed out"), image())), a, q), "allowed nowhere"},
		{"image alone in a failed result", list(q, assistant(call("a", "screenshot")), failed(with(result("a", "screenshot"), image())), a, q), "and there is no text beside it"},
		{"opaque", list(q, assistant(winnow.Part{Kind: winnow.KindOpaque, MediaType: "application/pdf", Bytes: 900}, text("Here.")), q), "what nobody reads"},
		{"the assistant last", list(q, assistant(text("I am \n"))), "an answer that the model is to go on with"},
		{"long results", longResults(), "what the stages trim, clear and cut"},
		{"many turns", manyTurns(), "what the turn limit drops"},
	}
}

// brokenHistories need a repair, or hold content that some provider refuses.
func brokenHistories() []History {
	q, a := user("Where?"), assistant(text("There."))
	long := strings.Repeat("an-id-of-another-provider|", 6)
	step := func(id string) []winnow.Message {
		return list(q, assistant(call(id, "read")), result(id, "read", "x"), a)
	}
	return []History{
		{"assistant first", list(a, q, a, q), "a history that was cut"},
		{"results first", list(result("a", "read", "x"), q, a, q), "a history that was cut between call and result"},
		{"blank texts", list(userParts(text(" "), text("Where?")), assistant(text("\n"), call("a", "read")), result("a", "read", "", "x", "\t"), user(" \n"), a, q), "what is blank is refused by some"},
		{"blank result", list(q, assistant(call("a", "read")), result("a", "read", "\n\n"), a, q), "and nothing may be left"},
		{"reused ids", append(append(step("a"), step("a")...), step("a")...), "ids repeat in real transcripts"},
		{"ids twice in a message", list(q, assistant(call("a", "read"), call("a", "search")), result("a", "read", "x"), result("a", "search", "y"), a, q), "and even within a message"},
		{"empty ids", append(list(q, assistant(call("", "read"), call("", "search")), result("", "read", "x"), result("", "search", "y"), a), step("")...), "Ollama and Gemini give none"},
		{"foreign ids", append(step("functions.read:0"), step("call|fc_1/2+3==")...), "each provider has its own characters"},
		{"long ids", append(step(long+"1"), step(long+"2")...), "two that differ only at the end"},
		{"foreign names", list(q, assistant(call("a", "mcp.server/read file")), result("a", "mcp.server/read file", "x"), a, q), "tools of other systems"},
		{"no name", list(q, assistant(call("a", "")), result("a", "", "x"), a, q), "a stream that broke off"},
		{"arguments of other kinds", list(q, assistant(bareCall("a", "exec", `"ls -l"`), bareCall("b", "exec", `[1,2]`), bareCall("c", "exec", "null")), result("a", "exec", "x"), result("b", "exec", "y"), result("c", "exec", "z"), a, q), "arguments are an object almost everywhere"},
		{"exact numbers", list(q, assistant(bareCall("a", "exec", `{"n":12345678901234567890,"x":1.10}`)), result("a", "exec", "x"), a, q), "no float holds them"},
		{"broken arguments", list(q, assistant(bareCall("a", "exec", `{"cmd":"ls`)), result("a", "exec", "x"), a, q), "a stream that broke off"},
		{"missing result", list(q, assistant(call("a", "read"), call("b", "read")), result("b", "read", "x"), q, a, q), "the host was killed"},
		{"late result", list(q, assistant(call("a", "read")), q, a, result("a", "read", "x"), q), "the result of a job in the background"},
		{"orphan and duplicate", list(q, assistant(call("a", "read")), result("a", "read", "x"), result("a", "read", "again"), result("z", "read", "of nothing"), a, q), "results without a call"},
		{"failed turn", list(q, aborted(assistant(text("I look."), call("a", "read"))), result("a", "read", "x"), q, a, q), "its calls may be incomplete"},
		{"thinking alone", list(q, assistant(thinking("Hm.", "c2lnbmVkMTIz")), q, a, q), "nothing that it led to"},
	}
}

func longResults() []winnow.Message {
	var out []winnow.Message
	for n := range 4 {
		id, other := fmt.Sprintf("call_%d", n), fmt.Sprintf("call_%d_b", n)
		line := fmt.Sprintf("result %d says nothing that matters, at length; ", n)
		out = append(out, user(fmt.Sprintf("Question %d?", n)),
			assistant(text("I look."), call(id, "read"), call(other, "exec")),
			result(id, "read", strings.Repeat(line, 300)),
			result(other, "exec", "short"),
			user("Go on."),
			assistant(text("Found.")))
	}
	return out
}

func manyTurns() []winnow.Message {
	var out []winnow.Message
	for n := range 12 {
		id := fmt.Sprintf("call_%d", n)
		out = append(out, user(fmt.Sprintf("Question %d?", n)), assistant(call(id, "read")), result(id, "read", "x"), assistant(text("Found.")))
	}
	return append(out, user("Thanks."))
}

// Messages, short to write.

var (
	text, thinking, image            = histories.Text, histories.Think, histories.Image
	system, user, summary, assistant = histories.System, histories.User, histories.Summary, histories.Model
)

func list(m ...winnow.Message) []winnow.Message { return m }

func call(id, name string) winnow.Part {
	return bareCall(id, name, `{"path":"window.go","depth":2}`)
}

func bareCall(id, name, arguments string) winnow.Part {
	p := histories.Call(id, name)
	p.Arguments = json.RawMessage(arguments)
	return p
}

func userParts(p ...winnow.Part) winnow.Message {
	return winnow.Message{Role: winnow.RoleUser, Parts: p}
}

func result(id, tool string, texts ...string) winnow.Message {
	m := histories.Tool(id, texts...)
	m.ToolName = tool
	return m
}

func with(m winnow.Message, p ...winnow.Part) winnow.Message {
	m.Parts = append(m.Parts, p...)
	return m
}

func failed(m winnow.Message) winnow.Message {
	m.IsError = true
	return m
}

func aborted(m winnow.Message) winnow.Message {
	m.StopReason = "aborted"
	return m
}

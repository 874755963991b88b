package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/internal/test/provider"
)

// scene is a question of the user, and how the scripted model handles it.
type scene struct {
	user  string
	steps [][]provider.ToolCall
	// after the steps: calls that look for what is missing in the request
	find   func(r *provider.Request) []provider.ToolCall
	answer func(r *provider.Request) string
}

func call(name, key, value string) provider.ToolCall {
	arguments, _ := json.Marshal(map[string]string{key: value}) // strings can always be written
	return provider.ToolCall{Name: name, Arguments: arguments}
}

func note(name, text string) provider.ToolCall {
	arguments, _ := json.Marshal(map[string]string{"name": name, "text": text}) // strings can always be written
	return provider.ToolCall{Name: winnow.NotesTool().Name, Arguments: arguments}
}

func readLog(day string) provider.ToolCall { return call("read", "path", "logs/"+day+".log") }

func says(text string) func(*provider.Request) string {
	return func(*provider.Request) string { return text }
}

// scenes are the conversation. The first two read more than the window holds.
var scenes = []scene{
	{
		user: "Ticket INC-4711: orders for Lisbon get lost since Monday. Find out why. Whatever you do, never touch " +
			"config/billing.yaml.",
		steps: [][]provider.ToolCall{
			{call("list", "path", "."), call("read", "path", "README.md")},
			{readLog("monday")},
			{call("search", "pattern", "timeout")},
			{readLog("tuesday")},
			{note("cause", "dispatch gives up on heavy orders for Lisbon after 800 ms; it was 8 s before Monday")},
		},
		answer: says("Dispatch gives up on heavy orders for Lisbon after 800 ms and does not try again. " +
			"config/dispatch.yaml says that the timeout was 8 s before Monday's release."),
	},
	{
		user: "Is it the same on all other days? Read each log, not just the errors.",
		steps: [][]provider.ToolCall{
			{readLog("wednesday")}, {readLog("thursday")}, {readLog("friday")},
			{readLog("saturday"), readLog("sunday")},
		},
		answer: says("Yes: every day loses the orders for Lisbon above 500 kg, and no others."),
	},
	{
		user: "Are other ports safe?",
		steps: [][]provider.ToolCall{{call("read", "path", "config/port.yaml")}, {readLog("monday")},
			{call("read", "path", "config/dispatch.yaml")},
			{call(winnow.CompactTool().Name, "keep", "all logs are read: each day loses orders for LIS above 500 kg")}},
		answer: says("Yes: all that are lost are for LIS. With the timeout at 8 s again they would arrive."),
	},
	{
		user:   "Which ticket was this, and which file must stay as it is?",
		answer: remember,
	},
	{
		user:   "And how heavy was H-3042, which got lost on Wednesday?",
		find:   findWeight,
		answer: tellWeight,
	},
}

var (
	weight  = regexp.MustCompile(`id=H-3042 port=LIS weight=(\d+)`)
	cleared = regexp.MustCompile(`wednesday 06:00:00 [^\n]*\n\[[^\]]*, recall (\d+)`)
)

// findWeight asks for the line that the request no longer holds: in the log if a placeholder stands for it, otherwise
// in everything that was left out.
func findWeight(r *provider.Request) []provider.ToolCall {
	text := requestText(r)
	if weight.MatchString(text) {
		return nil
	}
	arguments := map[string]string{"pattern": "accepted id=H-3042 "}
	if log := cleared.FindStringSubmatch(text); log != nil {
		arguments["handle"] = log[1]
	}
	raw, _ := json.Marshal(arguments) // strings can always be written
	return []provider.ToolCall{{Name: "recall", Arguments: raw}}
}

func tellWeight(r *provider.Request) string {
	found := weight.FindStringSubmatch(requestText(r))
	if found == nil {
		return "I do not know any more."
	}
	return "It weighed " + found[1] + " kg."
}

var (
	ticket = regexp.MustCompile(`INC-\d+`)
	taboo  = regexp.MustCompile(`never touch (\S+\.yaml)`)
)

// remember answers from what the request holds, as a model has to.
func remember(r *provider.Request) string {
	text := requestText(r)
	id, file := ticket.FindString(text), taboo.FindStringSubmatch(text)
	if id == "" || file == nil {
		return "I do not know any more."
	}
	return fmt.Sprintf("It is %s, and %s stays as it is.", id, file[1])
}

func requestText(r *provider.Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		b.WriteString(m.Text + "\n")
		for _, result := range m.Results {
			b.WriteString(result.Text + "\n")
		}
	}
	return b.String()
}

// player is the scripted model. It advances by one step with each request that the provider accepts.
type player struct {
	scene, step int
	looked      bool // it has looked for the subject of the scene
}

func (p *player) answer(r *provider.Request) provider.Answer {
	if len(r.Tools) == 0 { // without tools it is a request for a summary
		return provider.Answer{Text: summaryOf(requestText(r))}
	}
	s := &scenes[p.scene]
	if p.step < len(s.steps) {
		p.step++
		return provider.Answer{Calls: slices.Clone(s.steps[p.step-1])}
	}
	if s.find != nil && !p.looked {
		p.looked = true
		if calls := s.find(r); calls != nil {
			return provider.Answer{Calls: calls}
		}
	}
	p.scene, p.step, p.looked = p.scene+1, 0, false
	return provider.Answer{Text: s.answer(r)}
}

var logFile = regexp.MustCompile(`logs/[a-z]+\.log`)

// summaryOf writes the required sections of a summary from the prompt.
func summaryOf(prompt string) string {
	files := logFile.FindAllString(prompt, -1)
	slices.Sort(files)
	files = slices.Compact(files)
	var b strings.Builder
	fmt.Fprintf(&b, "## Goal\nFind out why orders for Lisbon get lost since Monday (%s).\n\n",
		ticket.FindString(prompt))
	b.WriteString("## Constraints & Preferences\n")
	if file := taboo.FindString(prompt); file != "" {
		fmt.Fprintf(&b, "- \"%s\"\n", file)
	}
	fmt.Fprintf(&b, "\n## Progress\n### Done\nRead %s.\n", strings.Join(files, ", "))
	b.WriteString("\n## Critical Context\nDispatch gives up on orders for LIS above 500 kg after 800 ms; " +
		"config/dispatch.yaml had 8 s before.\n")
	return b.String()
}

// The provider's window changes during the conversation, as when a gateway switches to another model: first it is the
// one that the agent was told, then half of it.
const sceneOfSwitch = 2

// play lets the agent talk to the scripted model. It returns the provider, which has recorded its requests.
func play(ctx context.Context, c config, s *screen) (*provider.Provider, error) {
	dir, err := os.MkdirTemp("", "winnow-agent-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := writeProject(dir); err != nil {
		return nil, err
	}
	var window atomic.Int64 // the provider's window
	window.Store(int64(c.window))
	refuse := provider.Wordings()["openai"]
	p := &player{}
	local := provider.New(provider.Options{Model: p.answer, Window: c.window,
		Overflow: func(size provider.Size) *provider.Error {
			size.Window = int(window.Load())
			return refuse(size)
		}})
	server := httptest.NewServer(local)
	defer server.Close()

	c.dir, c.questions = dir, nil
	for _, scene := range scenes {
		c.questions = append(c.questions, scene.user)
	}
	s.print("A scripted model at a provider within this program, whose window is %s tokens.\n", number(c.window))
	scripted := &endpoint{url: server.URL + "/v1", key: "none", model: "scripted"}
	return local, talk(ctx, c, scripted, s, func(question int) {
		if question == sceneOfSwitch {
			window.Store(int64(c.window / 2))
			s.print("\n[The provider now switches to a model with a window of %s tokens, and tells nobody.]\n",
				number(c.window/2))
		}
	})
}

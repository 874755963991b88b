package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/winnowgo/winnow"
	"github.com/winnowgo/winnow/winnowtest"
)

// scene is a question of the user, and how the scripted model handles it.
type scene struct {
	user   string
	steps  [][]winnow.Part                  // its calls, step by step
	look   func(known string) []winnow.Part // calls that look for what the request does not hold
	answer func(known string) string
}

// call returns a call with arguments in pairs of a name and a text.
func call(tool string, arguments ...string) winnow.Part {
	in := map[string]string{}
	for pair := range slices.Chunk(arguments, 2) {
		in[pair[0]] = pair[1]
	}
	text, _ := json.Marshal(in) // strings can always be written
	return winnowtest.Call("", tool, string(text))
}

func readLog(day string) winnow.Part { return call("read", "path", "logs/"+day+".log") }

func says(text string) func(string) string { return func(string) string { return text } }

// sceneOfSwitch is the scene before which the window becomes smaller.
const sceneOfSwitch = 3

// scenes are the conversation. The first two read more than the window holds.
var scenes = []scene{
	{
		user: "Ticket INC-4711: orders for Lisbon get lost since Monday. Find out why. Whatever you do, never touch " +
			"config/billing.yaml.",
		steps: [][]winnow.Part{
			{call("list"), call("read", "path", "README.md")},
			{readLog("monday")},
			{call("search", "pattern", "timeout")},
			{readLog("tuesday")},
			{call(winnow.NotesTool().Name, "name", "cause", "text",
				"dispatch gives up on heavy orders for Lisbon after 800 ms; it was 8 s before Monday")},
		},
		answer: says("Dispatch gives up on heavy orders for Lisbon after 800 ms and does not try again. " +
			"config/dispatch.yaml says that the timeout was 8 s before Monday's release."),
	},
	{
		user: "Is it the same on all other days? Read each log, not just the errors.",
		steps: [][]winnow.Part{
			{readLog("wednesday")}, {readLog("thursday")}, {readLog("friday")},
			{readLog("saturday"), readLog("sunday")},
		},
		answer: says("Yes: every day loses the orders for Lisbon above 500 kg, and no others."),
	},
	{
		user:   "List what is lost, for the customers' letters.",
		steps:  [][]winnow.Part{{call("search", "pattern", "ERROR")}},
		answer: listLost,
	},
	{
		user: "Are other ports safe?",
		steps: [][]winnow.Part{{call("read", "path", "config/port.yaml")}, {readLog("monday")},
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
		look:   findWeight,
		answer: tellWeight,
	},
}

var (
	ticket = regexp.MustCompile(`INC-\d+`)
	taboo  = regexp.MustCompile(`never touch (\S+\.yaml)`)
	lost   = regexp.MustCompile(`(\w+ [\d:]+) ERROR dispatch timeout id=(H-\d+)`)
	weight = regexp.MustCompile(`id=H-3042 port=LIS weight=(\d+)`)
)

const forgotten = "I do not know any more."

// remember answers from what the request holds, as a model has to.
func remember(known string) string {
	id, file := ticket.FindString(known), taboo.FindStringSubmatch(known)
	if id == "" || file == nil {
		return forgotten
	}
	return fmt.Sprintf("It is %s, and %s stays as it is.", id, file[1])
}

// listLost writes a letter's worth of text, which stays as it is until a summary is due.
func listLost(known string) string {
	text := "These orders for Lisbon did not reach the port:\n"
	for _, order := range lost.FindAllStringSubmatch(known, -1) {
		text += fmt.Sprintf("- %s, accepted on %s: dispatch gave up after 800 ms, and nobody told the customer\n",
			order[2], order[1])
	}
	return text
}

// findWeight asks for a line in all that was left out.
func findWeight(known string) []winnow.Part {
	if weight.MatchString(known) {
		return nil
	}
	return []winnow.Part{call(winnow.RecallTool().Name, "pattern", "accepted id=H-3042 ")}
}

func tellWeight(known string) string {
	if found := weight.FindStringSubmatch(known); found != nil {
		return "It weighed " + found[1] + " kg."
	}
	return forgotten
}

// player is the scripted model. It goes on by one step with each request that is not refused.
type player struct {
	scene, step, calls int
}

func (p *player) answer(request []winnow.Message) winnowtest.Answer {
	s, known := &scenes[p.scene], textOf(request...)
	if p.step++; p.step <= len(s.steps) {
		return p.calling(s.steps[p.step-1])
	}
	if s.look != nil && p.step == len(s.steps)+1 {
		if calls := s.look(known); calls != nil {
			return p.calling(calls)
		}
	}
	p.scene, p.step = p.scene+1, 0
	return winnowtest.Answer{Text: s.answer(known)}
}

// calling gives each call an ID of its own.
func (p *player) calling(calls []winnow.Part) winnowtest.Answer {
	calls = slices.Clone(calls)
	for i := range calls {
		p.calls++
		calls[i].ID = fmt.Sprintf("call_%d", p.calls)
	}
	return winnowtest.Answer{Calls: calls}
}

var logFile = regexp.MustCompile(`logs/[a-z]+\.log`)

// summaryOf plays the model that summarizes.
func summaryOf(prompt string) string {
	read := logFile.FindAllString(prompt, -1)
	slices.Sort(read)
	return "## Goal\nFind out why orders for Lisbon get lost since Monday (" + ticket.FindString(prompt) + ").\n\n" +
		"## Progress\n### Done\nRead " + strings.Join(slices.Compact(read), ", ") + ".\n\n" +
		"## Critical Context\nDispatch gives up on orders for LIS above 500 kg after 800 ms; it was 8 s before.\n"
}

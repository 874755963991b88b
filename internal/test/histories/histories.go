// Package histories makes random histories with the faults of real ones.
package histories

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/winnowgo/winnow"
)

// Random histories are made from dice, so that both a seed and the bytes of a fuzzer can make them.

// Dice yields numbers in [0, n). 0 is always the plainest choice.
type Dice interface{ IntN(n int) int }

// Seeded returns the dice of a seed.
func Seeded(seed uint64) Dice { return rand.New(rand.NewPCG(seed, 0x57696e6e6f77)) }

// FromBytes returns dice that read their numbers from a fuzzer's bytes, and then return zeros.
func FromBytes(b []byte) Dice { return &byteDice{b} }

type byteDice struct{ b []byte }

func (d *byteDice) IntN(n int) int {
	v := 0
	for k := 1; k < n && len(d.b) > 0; k <<= 8 {
		v, d.b = v<<8|int(d.b[0]), d.b[1:]
	}
	return v % n
}

// Random returns the history of a seed. Every message has an ID and usually a Source. Only messages that no stage has a
// reason to change are pinned.
func Random(seed uint64) []winnow.Message { return From(Seeded(seed)) }

// From returns a history like Random, made from dice.
func From(d Dice) []winnow.Message {
	g := &historyGen{d: d}
	g.faults = []int{0, 3, 10, 30}[d.IntN(4)]
	g.invalid = d.IntN(100) >= 95
	for _, p := range []*int{&g.failures, &g.thinking, &g.blanks, &g.images, &g.hosts, &g.long} {
		if d.IntN(100) >= 60 {
			*p = 3 + d.IntN(30)
		}
	}
	g.conversation()
	h := g.out
	if n := len(h); n > 0 && g.chance(10) {
		h = h[d.IntN(n):] // begins anywhere
	}
	if n := len(h); n > 0 && g.chance(5) {
		h = h[:d.IntN(n)]
	}
	g.pin(h)
	if !g.chance(15) {
		Named(h)
	} else {
		for i := range h {
			h[i].ID = "m" + strconv.Itoa(i)
		}
	}
	return h
}

type historyGen struct {
	d    Dice
	out  []winnow.Message
	late []winnow.Message // results that come later
	ids  int

	faults, failures, thinking, blanks, images, hosts, long int // per cent

	invalid bool // texts are not valid UTF-8
}

func (g *historyGen) chance(percent int) bool { return 100-g.d.IntN(100) <= percent }
func (g *historyGen) fault() bool             { return g.chance(g.faults) }

func (g *historyGen) add(m winnow.Message) {
	g.out = append(g.out, m)
	if len(g.late) > 0 && g.chance(40) {
		g.out, g.late = append(g.out, g.late...), nil
	}
}

func (g *historyGen) conversation() {
	if g.chance(15) {
		g.add(System("You are careful. " + g.text(30)))
	}
	if g.chance(15) {
		m := Summary("So far: " + g.text(200))
		if g.chance(30) {
			m.Role = winnow.RoleAssistant
		}
		g.add(m)
	}
	if g.chance(6) {
		g.step(false) // an assistant leads
	}
	for range 1 + g.d.IntN(6) {
		g.user()
		for range g.d.IntN(4) {
			g.step(false)
		}
		if g.chance(70) {
			g.answer()
		}
	}
	if g.chance(40) {
		g.user()
	}
	if g.chance(30) {
		g.step(g.chance(60))
	}
	g.out = append(g.out, g.late...)
}

func (g *historyGen) user() {
	m := User(g.text(1 + g.d.IntN(120)))
	m.Injected = g.chance(g.hosts)
	g.decorate(&m)
	if g.chance(g.blanks / 3) {
		m.Parts = nil
	}
	g.add(m)
	if g.chance(g.hosts / 4) {
		g.add(System("Mind " + g.text(20)))
	}
}

func (g *historyGen) answer() {
	m := Model(Text(g.text(1 + g.d.IntN(300))))
	m.StopReason = "stop"
	if g.chance(g.thinking) {
		m.Parts = slices.Insert(m.Parts, g.d.IntN(2), g.thought())
	}
	if g.chance(g.failures) {
		m.StopReason = "error"
	}
	g.decorate(&m)
	switch {
	case g.chance(g.blanks / 3):
		m.Parts = nil
	case g.chance(g.thinking / 4):
		m.Parts = []winnow.Part{g.thought()}
	}
	g.add(m)
}

func (g *historyGen) thought() winnow.Part {
	switch p := Think(g.text(1+g.d.IntN(80)), "c2ln"+strconv.Itoa(g.d.IntN(1000))); g.d.IntN(6) {
	case 0:
		p.Signature = ""
		return p
	case 1:
		p.Text = "" // encrypted
		return p
	default:
		return p
	}
}

// decorate adds fragile content: empty texts, images, content that only the host understands.
func (g *historyGen) decorate(m *winnow.Message) {
	if g.chance(g.blanks) {
		s := []string{" \n", "", "\t", ""}[g.d.IntN(4)]
		m.Parts = slices.Insert(m.Parts, g.d.IntN(len(m.Parts)+1), Text(s))
	}
	if m.Role != winnow.RoleAssistant && g.chance(g.images) {
		m.Parts = append(m.Parts, Image())
	}
	if m.Role != winnow.RoleTool && g.chance(g.images/2) {
		m.Parts = append(m.Parts, winnow.Part{Kind: winnow.KindOpaque, MediaType: "application/pdf",
			Bytes: g.d.IntN(9000)})
	}
	if g.chance(2) {
		m.Usage = &winnow.Usage{Input: g.d.IntN(1000), CacheRead: g.d.IntN(1000)}
	}
}

func (g *historyGen) callID() string {
	g.ids++
	if !g.fault() {
		return "call_" + strconv.Itoa(g.ids)
	}
	return []string{"call_1", "", "call_2", "odd.id|1"}[g.d.IntN(4)]
}

// ToolNames are the tools of the agent.
var ToolNames = []string{"exec", "read", "Write", "mcp__git__log", "web-search"}

// step adds an assistant message with calls and their results. With pending, some results are still missing.
func (g *historyGen) step(pending bool) {
	m := winnow.Message{Role: winnow.RoleAssistant, StopReason: "toolUse"}
	if g.chance(g.thinking) {
		m.Parts = append(m.Parts, g.thought())
	}
	if g.chance(50) {
		m.Parts = append(m.Parts, Text(g.text(1+g.d.IntN(100))))
	}
	g.decorate(&m)
	if g.chance(g.failures) {
		m.StopReason = "aborted"
	}
	var calls []winnow.Part
	for range []int{1, 1, 1, 2, 3, 5}[g.d.IntN(6)] {
		p := Call(g.callID(), ToolNames[g.d.IntN(len(ToolNames))])
		switch {
		case g.chance(10):
			p.Arguments = nil
		case g.fault():
			p.Arguments = json.RawMessage(`{"path": "sr`)
		}
		if len(calls) > 0 && g.fault() {
			p.ID = calls[0].ID
		}
		calls = append(calls, p)
	}
	m.Parts = append(m.Parts, calls...)
	g.add(m)
	if g.fault() {
		slices.Reverse(calls)
	}
	for k, p := range calls {
		if pending && k >= g.d.IntN(len(calls)+1) {
			return
		}
		g.result(p)
	}
	if g.fault() {
		g.add(Tool("ghost_"+strconv.Itoa(g.d.IntN(9)), g.text(20)))
	}
}

func (g *historyGen) result(call winnow.Part) {
	m := winnow.Message{Role: winnow.RoleTool, ToolCallID: call.ID, ToolName: call.Name, IsError: g.chance(8)}
	for range []int{1, 1, 1, 1, 2, 3}[g.d.IntN(6)] {
		m.Parts = append(m.Parts, Text(g.text(g.size())))
	}
	g.decorate(&m)
	if g.chance(10) {
		m.Details = json.RawMessage(`{"exitCode":1}`)
	}
	switch {
	case !g.fault():
		g.add(m)
	case g.fault():
		g.user() // somebody spoke first
		g.add(m)
	default:
		switch g.d.IntN(3) {
		case 0: // missing
		case 1:
			g.late = append(g.late, m)
		case 2:
			g.add(m)
			m.Parts = slices.Clone(m.Parts)
			g.add(m)
		}
	}
}

func (g *historyGen) size() int {
	switch {
	case g.chance(g.long):
		return 3000 + g.d.IntN(9000)
	case g.chance(20):
		return 200 + g.d.IntN(2500)
	}
	return 1 + g.d.IntN(150)
}

// text returns n characters, which are not all white space.
func (g *historyGen) text(n int) string {
	s, starts := MixedText()
	from := g.d.IntN(len(starts) - n - 1)
	out := s[starts[from]:starts[from+n]]
	if strings.TrimSpace(out) == "" {
		out = "x" + out
	}
	if g.invalid {
		out = strings.ReplaceAll(out, "e", "\xe4\xb8") // a split character
	}
	return out
}

// MixedText returns the source of texts, with the offset of each character.
var MixedText = sync.OnceValues(func() (string, []int) {
	r := rand.New(rand.NewPCG(1, 2))
	english := strings.Fields("build error parse token window branch commit test result server cache index edge " +
		"retry limit summary panic: trace value func import exit status FAIL ok")
	chinese := []rune("上下文窗口管理在长会话中无法回避工具结果裁剪摘要压缩历史消息轮次限制缓存失效成本估算恢复溢出错误")
	odd := []string{"👩🏽‍💻", "🇺🇳", "é", "e\u0301", "\u2028", "\t", "\"quoted\"", "</conversation>", "{\"a\":[1,2]}",
		"𝔘𝔫𝔦", "\nValueError: no such key\n", "\nexit status 2\n"}
	var b strings.Builder
	for b.Len() < 200_000 {
		switch r.IntN(11) {
		case 0, 1, 2, 3, 4:
			for range 1 + r.IntN(12) {
				b.WriteString(english[r.IntN(len(english))] + " ")
			}
			b.WriteByte('\n')
		case 5, 6:
			for range 5 + r.IntN(60) {
				b.WriteRune(chinese[r.IntN(len(chinese))])
			}
			b.WriteString("。\n")
		case 7:
			for range 100 + r.IntN(500) {
				b.WriteByte("abcdefghijklmnopqrstuvwxyz0123456789+/"[r.IntN(38)])
			}
		case 8:
			b.WriteString(" \n\n\t")
		case 9:
			writeOutput(&b, r)
		default:
			b.WriteString(odd[r.IntN(len(odd))] + " ")
		}
	}
	s := b.String()
	starts := make([]int, 0, utf8.RuneCountInString(s)+1)
	for i := range s {
		starts = append(starts, i)
	}
	return s, starts
})

// writeOutput writes typical tool output: a progress bar, a colour, a viewed file, search results, a log with counters,
// a certificate.
func writeOutput(b *strings.Builder, r *rand.Rand) {
	first, lines := r.IntN(90), 10+r.IntN(30)
	form := r.IntN(6)
	for k := range lines {
		switch n := first + k; form {
		case 0:
			fmt.Fprintf(b, "loading %d of %d\r", k, lines)
		case 1:
			fmt.Fprintf(b, "\x1b[3%dmtest_%c passed\x1b[0m\n", k%8, 'a'+k%26)
		case 2:
			fmt.Fprintf(b, "%6d\tif value_%c {\n", n, 'a'+k%26)
		case 3:
			fmt.Fprintf(b, "src/parse.go:%d:\treturn err\n", n)
		case 4:
			fmt.Fprintf(b, "attempt %d of the branch\n", n)
		default:
			b.WriteString("MIIDazCCAlOgAwIBAgIUf9Wq3b+Zk1tJx0yQe2mHh4aLrV8wDQYJKoZIhvcNAQEL\n")
		}
	}
	b.WriteString("done\n")
}

// pin pins some sound messages: those with content, whose calls have unique ids.
func (g *historyGen) pin(h []winnow.Message) {
	if !g.chance(30) || len(h) == 0 {
		return
	}
	for range 1 + g.d.IntN(3) {
		if i := g.d.IntN(len(h)); IsSound(h, i) {
			h[i].Pinned = true
		}
	}
}

package sections

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/winnowgo/winnow/internal/markup"
)

const roomy = 1 << 20

// sectionOf returns the section with room for the newest messages whatever they are.
func sectionOf(d *Dialogue, old, most int) string {
	section, _ := d.Section(tokens, Room{Old: old, Free: most})
	return section
}

var monday = time.Date(2026, 3, 9, 18, 30, 0, 0, time.FixedZone("", 3600))

func TestSaid(t *testing.T) {
	var d Dialogue
	d.Person(monday, "", "Deploy to staging-eu.\r\nPlease.", "")
	d.Agent("I looked.\n\nA) today or B) tomorrow?", "B.")
	d.Open()
	d.Answer(time.Time{}, "Bo", "Which region?", "No, I meant staging-us.", "")
	require.Equal(t, "<people-said>\n"+saidIntro+"\n"+
		"person, 2026-03-09 18:30 (2 lines):\nDeploy to staging-eu.\r\nPlease.\n"+
		"agent: I looked. A) today or B) tomorrow?\n"+
		string(openHere)+"\n"+
		"answer, \"Bo\", to \"Which region?\" (1 lines):\nNo, I meant staging-us.\n"+
		"</people-said>\n\n", sectionOf(&d, roomy, roomy))

	var next Dialogue
	next.Read(Begin + sectionOf(&d, roomy, roomy) + "## Goal\nx" + End)
	next.Person(monday, "Ann \"A\" Lee", "B.", "")
	next.Agent("", "What?")
	text := sectionOf(&next, roomy, roomy)
	assert.Contains(t, text, "tomorrow?\nperson, 2026-03-09 18:30, \"Ann \\\"A\\\" Lee\" (1 lines):\nB.\nanswer, \"Bo\", to", "the open request comes to its place")
	assert.Contains(t, text, "staging-us.\nagent: (no text before the next message)\n")
	assert.Empty(t, sectionOf(new(Dialogue), roomy, roomy))

	var silent Dialogue
	silent.Answer(time.Time{}, "", "", "Yes.", "")
	assert.Contains(t, sectionOf(&silent, roomy, roomy), "\nanswer (1 lines):\nYes.\n", "the call asked nothing")
}

// A request that stood in front of all is there in what a host keeps of the last request: its mark is its place, and the
// next request is not.
func TestSaidBehindItsRequest(t *testing.T) {
	var first, next Dialogue
	first.Open()
	first.Answer(monday, "", "Which region?", "us", "")
	text := sectionOf(&first, roomy, roomy)
	next.Person(monday, "", "Deploy it.", "")
	next.Read(Begin + text + "## Goal\nx" + End)
	next.Agent("Done.", "Test it.")
	next.Person(monday, "", "Test it.", "")
	assert.Equal(t, []string{"Deploy it.", "us", "Done.", "Test it."}, []string{next.list[0].text, next.list[1].text, next.list[2].text, next.list[3].text})
}

// What people said comes back from a summary byte for byte, whatever it is, if it stands in front of all.
func TestSaidComesBack(t *testing.T) {
	pieces := []string{"go on", "<summary>", "</summary>", "</people-said>", "<people-said>", "person (1 lines):", "\n", "\n\n", "agent: ",
		string(openHere), "&lt;", "(3 older messages of people have no room here.)", "\r\n", "\"", "日本", "🙂", "\t", "> a", " ", "<", "\u2028", " (2 lines):"}
	r := rand.New(rand.NewPCG(1, 54))
	for range 3_000 {
		var d Dialogue
		for range 1 + r.IntN(6) {
			text := ""
			for range 1 + r.IntN(9) {
				text += pieces[r.IntN(len(pieces))]
			}
			switch r.IntN(3) {
			case 0:
				d.Person(monday, text, text, "")
			case 1:
				d.Answer(monday, text, text, text, "")
			case 2:
				d.Agent(text, "x")
			}
		}
		section := sectionOf(&d, roomy, roomy)
		var again, other Dialogue
		again.Read(Begin + section + "## Goal\nx" + End)
		require.Equal(t, section, sectionOf(&again, roomy, roomy))
		other.Read("## Goal\nx\n" + section)
		require.Empty(t, sectionOf(&other, roomy, roomy), "not in front")
	}
}

// talk adds messages from up to to of a long conversation.
func talk(d *Dialogue, from, to int, note string) {
	for i := from; i < to; i++ {
		text := fmt.Sprintf("Message %d has a first sentence. And it has another one, which says somewhat more than the first one did.", i)
		if i%9 == 4 {
			text += strings.Repeat(fmt.Sprintf("\npasted line %d", i), 200)
		}
		d.Person(monday, "", text, note)
		d.Agent(fmt.Sprintf("Message %d is done.", i), "Thanks, and now there is more to do, which is said in a message that is not short.")
	}
}

// What is given up stays given up, what stays keeps its bytes, and a summary of a summary says the same.
func TestSaidGivesUpInBatches(t *testing.T) {
	const room, most = 2_000, 3_000
	var carried Dialogue
	before, same := "", 0
	for n := 1; n <= 120; n++ {
		var d Dialogue
		talk(&d, 0, n, "")
		section := sectionOf(&d, room, most)
		require.LessOrEqual(t, tokens(section), most, n)
		for i := max(0, n-3); i < n; i++ {
			require.Contains(t, section, fmt.Sprintf("Message %d has a first sentence. And it has another one, which says somewhat more than the first one did.", i), "the newest stay whole")
		}
		talk(&carried, n-1, n, "")
		require.True(t, section == sectionOf(&carried, room, most), "message %d: made of the history or of the last summary", n)
		carried = Dialogue{}
		carried.Read(Begin + section + End)
		if strings.HasPrefix(section, strings.TrimSuffix(before, "</people-said>\n\n")) {
			same++
		}
		before = section
	}
	assert.Greater(t, same, 90, "few summaries change what stood in the one before")
	assert.Contains(t, before, "older messages of people have no room here", "what is left out is counted")
	var d Dialogue
	talk(&d, 0, 40, ", recall 7")
	assert.Contains(t, sectionOf(&d, 4_000, roomy), "characters left out, recall 7 …]")
}

// What came of the newest messages goes before older words: a correction goes no sooner than what it corrects. What came
// of the last one stays.
func TestSaidKeepsWordsBeforeWhatCameOfThem(t *testing.T) {
	var d Dialogue
	words := 0
	for k := range 10 {
		d.Person(monday, "", fmt.Sprintf("Deploy number %d to staging.", k), "")
		words += tokens(d.list[len(d.list)-1].write())
		d.Agent(fmt.Sprint(strings.Repeat("It was not done. ", 9), k), "")
	}
	text := sectionOf(&d, words*5/4, roomy)
	for k := range 10 {
		assert.Contains(t, text, fmt.Sprintf("number %d", k))
	}
	assert.Contains(t, text, "done. 9\n")
	assert.LessOrEqual(t, tokens(text), words*5/4+tokens(saidIntro)+20)
}

// Where there is no room even for the newest, the section is as small as it has to be.
func TestSaidFitsAnyRoom(t *testing.T) {
	for most := range 400 {
		var d Dialogue
		talk(&d, 0, 30, "")
		require.LessOrEqual(t, tokens(sectionOf(&d, 2_000, most)), most)
	}
}

// The newest messages stay whole as long as older ones can go.
func TestSaidGivesUpOldestFirst(t *testing.T) {
	var d Dialogue
	talk(&d, 0, 14, "")
	section := sectionOf(&d, roomy, 1_300)
	assert.True(t, strings.Contains(section, strings.Repeat("\npasted line 13", 200)), "the newest is longer than most")
	assert.Contains(t, section, "characters left out", "of an older one")
}

// A message that goes is older than all that stay, however long they are: no correction goes before what it corrects.
func TestSaidLeavesOutOldestFirst(t *testing.T) {
	for room := 80; room < 500; room += 20 {
		var d Dialogue
		for k := range 12 {
			d.Person(time.Time{}, "", fmt.Sprintf("Wish %d:", k)+strings.Repeat(" and more of it", 12*(k%3)), "")
		}
		section := sectionOf(&d, room, roomy)
		var stay []int
		for k := range 12 {
			if strings.Contains(section, fmt.Sprintf("Wish %d:", k)) {
				stay = append(stay, k)
			}
		}
		require.NotEmpty(t, stay)
		assert.Equal(t, 11, stay[0]+len(stay)-1, "%v stay, with room for %d tokens", stay, room)
		assert.Equal(t, stay[0] > 0, strings.Contains(section, fmt.Sprintf(leftOut, stay[0])))
	}
}

// Older words do not go for a newest message that has no room anyway, and half of the room is theirs.
func TestSaidLargeNewestMessage(t *testing.T) {
	for _, lines := range []int{24, 140, 2_000} {
		var d Dialogue
		for k := range 9 {
			d.Person(time.Time{}, "", fmt.Sprintf("Wish %d is short.", k), "")
		}
		d.Person(time.Time{}, "", "It says:"+strings.Repeat("\npasted line of text", lines), "")
		section, ok := d.Section(tokens, Room{Old: 2_000, Free: 240, Whole: 950, Most: 1_000})
		require.True(t, ok)
		for k := range 9 {
			assert.Contains(t, section, fmt.Sprintf("Wish %d is short.", k), "%d lines", lines)
		}
		assert.Contains(t, section, "It says:")
	}
}

// Of a message that begins with empty lines the first sentence stays, not the empty line.
func TestSaidKeepsTheFirstSentence(t *testing.T) {
	var d Dialogue
	for range 8 {
		d.Person(time.Time{}, "", "\n \n  Never drop the table. "+strings.Repeat("It has been there for years. ", 40), "")
	}
	section := sectionOf(&d, 300, 2_000)
	assert.Equal(t, 8, strings.Count(section, "Never drop the table."), section)
	assert.Contains(t, section, "characters left out")
}

// A path in front of a message stays whole, although it is longer than what stays of a message otherwise.
// Claude Code puts elements in front of what a person typed, in the same message: 11,000 characters of them, by which
// the request of a line would be cut.
func TestSaidKeepsWordsBehindElements(t *testing.T) {
	elements := strings.Repeat("<system-reminder>\n"+strings.Repeat("The tools are these. ", 100)+"\n</system-reminder>\n", 5)
	for _, tt := range []struct {
		text, own, reason string
	}{
		{elements + "\nDeploy to staging-us, please.", "Deploy to staging-us, please.", ""},
		{"<host-context kind=\"a\">x</host-context> Yes. ", "Yes. ", "of any name"},
		{elements, elements, "nothing else"},
		{"Look: <b>x</b>", "Look: <b>x</b>", "an element behind words"},
		{"<b> 5 > 3", "<b> 5 > 3", "an open tag"},
		{"", "", ""},
	} {
		assert.Equal(t, tt.own, tt.text[ownWords(tt.text):], tt.reason)
		escaped := markup.Escape(tt.text)
		assert.Equal(t, markup.Escape(tt.own), escaped[ownWords(escaped):], tt.reason)
	}
	assert.True(t, IsShort(elements+"B2."))

	var d Dialogue
	d.Person(monday, "", elements+"\nDeploy to staging-us, please.", ", recall 12")
	talk(&d, 1, 8, "")
	text := sectionOf(&d, 1_200, 2_000)
	assert.Regexp(t, `\n\[… 10\d\d\d characters left out, recall 12 …\] Deploy to staging-us, please\.\n`, text)
}

func TestSaidKeepsThePathInFront(t *testing.T) {
	var d Dialogue
	path := "/srv/" + strings.Repeat("deep/", 20) + "main.go:7"
	d.Person(time.Time{}, "", path+" does not build: "+strings.Repeat("It did before. ", 40), "")
	assert.Contains(t, sectionOf(&d, 100, 100), path)
}

// Where the newest messages have no room together, as many of them stay whole as there is room for.
func TestSaidKeepsAsManyNewestAsFit(t *testing.T) {
	for k, whole := range []int{700, 500, 300, 100} {
		var d Dialogue
		for i := range NewestSaid {
			d.Person(time.Time{}, "", fmt.Sprintf("Wish %d.", i)+strings.Repeat(" And more of it.", 45), "")
		}
		section, _ := d.Section(tokens, Room{Old: 2_000, Free: whole / 4, Whole: whole, Most: whole})
		assert.Equal(t, NewestSaid-k, strings.Count(section, strings.Repeat(" And more of it.", 45)), "%d tokens", whole)
		assert.LessOrEqual(t, tokens(section), whole)
	}
}

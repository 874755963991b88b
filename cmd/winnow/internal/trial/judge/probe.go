package judge

import (
	"path"
	"strings"
	"unicode"
)

// Probe is a question whose answer code knows from the history.
type Probe struct {
	Kind string   `json:"kind"` // which of the five
	Ask  string   `json:"ask"`
	Want []string `json:"want"` // any of these is right

	IsFile bool `json:"isFile,omitempty"` // Want are paths: the name of the file is enough where no other has it
}

// Right reports whether an answer has what is wanted, whatever stands around it: case, punctuation and the kind of
// white space do not matter.
func (p *Probe) Right(answer string) bool {
	said := " " + plain(answer) + " "
	for _, want := range p.Want {
		if p.IsFile {
			want = path.Base(strings.ReplaceAll(want, `\`, "/"))
		}
		if want = plain(want); want != "" && strings.Contains(said, " "+want+" ") {
			return true
		}
	}
	return false
}

// plain returns the words of a text, in small letters, with one space between them: letters and digits of any script.
func plain(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), " ")
}

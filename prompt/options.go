package prompt

import (
	"fmt"
	"math"

	"github.com/winnowgo/winnow"
)

// Options are the options of [Assemble]. nil and the zero value mean the defaults in parentheses; a negative number
// means 0. Characters are Unicode code points.
type Options struct {
	Window        int // the model's context window, in tokens; 0: unknown, and only the limits in characters apply
	MaxTokens     int // tokens of the system prompt's text (a quarter of Window)
	MaxFileChars  int // characters of one file (20 000)
	MaxTotalChars int // characters of all files together (150 000)
	MinFileChars  int // a file that would get fewer characters is left out (64)
	MaxSkills     int // skills that are listed (150)
	MaxSkillChars int // characters of their list (30 000)

	// the reference's limits byte for byte: files in their order, each cut in its middle; the first skills that fit
	HeadTail      bool
	RuleHeadings  []string         // headings of sections to keep first: see [ExtractRules] (none)
	Home          string           // directory to show as ~ in the locations of skills ("")
	MinimalSkills bool             // list skills in the mode Minimal too, as in later versions of the reference
	Tools         map[Mode]Allowed // the tools that a mode may use (all)
	OnDemand      bool             // list tools by name, and load their schemas like skills; see [Tool.Always]
	Form          Form             // the form in which the provider gets schemas (FormJSON)
	Estimator     winnow.Estimator // counts tokens (winnow.NewEstimator(""))
}

// Allowed lists tools by name, or by a pattern with *.
type Allowed []string

// Defaults. The limits are the reference's, the shares of the window Winnow's.
const (
	defaultMaxFileChars  = 20_000
	defaultMaxTotalChars = 150_000
	defaultMinFileChars  = 64
	defaultMaxSkills     = 150
	defaultMaxSkillChars = 30_000
	promptShare          = 4 // the text gets at most a quarter of the window
	toolShare            = 5 // a warning is given if tools take more than a fifth of it
)

func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	setDefault(&c.MaxFileChars, defaultMaxFileChars)
	setDefault(&c.MaxTotalChars, defaultMaxTotalChars)
	setDefault(&c.MinFileChars, defaultMinFileChars)
	setDefault(&c.MaxSkills, defaultMaxSkills)
	setDefault(&c.MaxSkillChars, defaultMaxSkillChars)
	c.Window = max(0, c.Window)
	whole := math.MaxInt
	if c.Window > 0 {
		whole = c.Window / promptShare
	}
	setDefault(&c.MaxTokens, whole)
	return c
}

// withEstimator sets the estimator, which takes time to build.
func (o *Options) withEstimator() error {
	if o.Estimator != nil {
		return nil
	}
	e, err := winnow.NewEstimator("")
	if err != nil {
		return fmt.Errorf("prompt: Estimator: %w", err)
	}
	o.Estimator = e
	return nil
}

func setDefault(p *int, value int) {
	if *p == 0 {
		*p = value
	}
	*p = max(0, *p)
}

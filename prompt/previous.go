package prompt

import (
	"bytes"
	"maps"
	"reflect"
	"slices"

	"github.com/winnowgo/winnow"
)

// isOf reports whether a is the result of Assemble for in and o.
func (a *Assembly) isOf(in *Input, o *Options) bool {
	b := &a.input
	return b.Mode == in.Mode && a.options.isLike(o, a.given) &&
		slices.EqualFunc(b.Sections, in.Sections, sameSection) &&
		slices.Equal(a.given.files, in.Files) && sameSkills(b.Skills, in.Skills) && a.sameTools(in.Tools)
}

func sameSection(a, b Section) bool {
	return a.Name == b.Name && a.Text == b.Text && a.Max == b.Max && a.Priority == b.Priority &&
		a.Required == b.Required && a.Volatile == b.Volatile && slices.Equal(a.Modes, b.Modes)
}

func sameSkills(a, b []Skill) bool {
	return slices.EqualFunc(a, b, func(a, b Skill) bool {
		return a.Name == b.Name && a.Description == b.Description && a.Location == b.Location && a.Hidden == b.Hidden
	})
}

// sameTools compares tools with those that the caller passed.
func (a *Assembly) sameTools(tools []Tool) bool {
	return slices.EqualFunc(a.given.tools, tools, func(a, b Tool) bool {
		return a.Name == b.Name && a.Summary == b.Summary && a.Description == b.Description && a.Always == b.Always &&
			bytes.Equal(a.Schema, b.Schema)
	})
}

// isLike reports whether o and p give the same result for the same input. It compares the estimators that the caller
// passed.
func (o *Options) isLike(p *Options, given given) bool {
	return o.measuresLike(p, given) && o.Window == p.Window && o.MaxTokens == p.MaxTokens &&
		o.MaxFileChars == p.MaxFileChars && o.MaxTotalChars == p.MaxTotalChars && o.MinFileChars == p.MinFileChars &&
		o.OnDemand == p.OnDemand && o.Form == p.Form && o.ToolRatio == p.ToolRatio &&
		o.MinimalSkills == p.MinimalSkills &&
		maps.EqualFunc(o.Tools, p.Tools, sameAllowed)
}

// measuresLike reports whether o and p give the same text for the same limit.
func (o *Options) measuresLike(p *Options, given given) bool {
	return o.HeadTail == p.HeadTail && o.MaxSkills == p.MaxSkills && o.MaxSkillChars == p.MaxSkillChars &&
		o.Home == p.Home &&
		slices.Equal(o.RuleHeadings, p.RuleHeadings) && sameEstimator(given.estimator, p.Estimator)
}

// sameEstimator compares estimators; functions cannot be compared.
func sameEstimator(a, b winnow.Estimator) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return reflect.TypeOf(a).Comparable() && reflect.TypeOf(b).Comparable() && a == b
}

// measuredTools reports whether p has the tools of a, measured in the same way.
func (p *Assembly) measuredTools(a *assembler) bool {
	o := &p.options
	return p.Mode == a.in.Mode && p.sameTools(a.out.given.tools) && o.OnDemand == a.OnDemand && o.Form == a.Form &&
		o.ToolRatio == a.ToolRatio && maps.EqualFunc(o.Tools, a.Options.Tools, sameAllowed) &&
		sameEstimator(p.given.estimator, a.out.given.estimator)
}

// own returns in and o with copies of their lists, so that the host may change its own. Unchanged lists are taken from
// the previous assembly, which already has copies.
func (in Input) own(o *Options) (Input, given) {
	last := o.Previous
	if last == nil {
		last = &Assembly{}
	}
	if slices.EqualFunc(last.input.Sections, in.Sections, sameSection) {
		in.Sections = last.input.Sections
	} else {
		in.Sections = slices.Clone(in.Sections)
		for i := range in.Sections {
			in.Sections[i].Modes = slices.Clone(in.Sections[i].Modes)
		}
	}
	if sameSkills(last.input.Skills, in.Skills) {
		in.Skills = last.input.Skills
	} else {
		in.Skills = slices.Clone(in.Skills)
	}
	if last.sameTools(in.Tools) {
		in.Tools = last.given.tools
	} else {
		in.Tools = cloneTools(in.Tools)
	}
	if slices.Equal(last.given.files, in.Files) {
		in.Files = last.given.files
	} else {
		in.Files = slices.Clone(in.Files)
	}
	o.own(last)
	return in, given{o.Estimator, in.Tools, in.Files}
}

// own copies the lists of o.
func (o *Options) own(last *Assembly) {
	if maps.EqualFunc(last.options.Tools, o.Tools, sameAllowed) {
		o.Tools = last.options.Tools
	} else {
		o.Tools = maps.Clone(o.Tools)
		for mode, allowed := range o.Tools {
			o.Tools[mode] = slices.Clone(allowed)
		}
	}
	if slices.Equal(last.options.RuleHeadings, o.RuleHeadings) {
		o.RuleHeadings = last.options.RuleHeadings
	} else {
		o.RuleHeadings = slices.Clone(o.RuleHeadings)
	}
}

func cloneTools(tools []Tool) []Tool {
	tools = slices.Clone(tools)
	for i := range tools {
		tools[i].Schema = slices.Clone(tools[i].Schema)
	}
	return tools
}

func sameAllowed(a, b Allowed) bool { return slices.Equal(a, b) }

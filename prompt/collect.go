package prompt

import (
	"cmp"
	"slices"
	"strings"
)

// collect makes the pieces of the prompt, in its order: the host's sections, tools, skills, files.
func (a *assembler) collect() {
	mode := a.in.Mode
	for i := range a.in.Sections {
		if s := &a.in.Sections[i]; s.standsIn(mode) && strings.TrimSpace(s.Text) != "" {
			a.addSection(s)
		}
	}
	a.in.Tools = a.allowed(a.in.Tools)
	if byName(nameTooling, mode) && len(a.in.Tools) > 0 {
		a.addTools()
	}
	if byName(nameSkills, mode) || mode == Minimal && a.MinimalSkills {
		a.addSkills()
	}
	if byName(nameContext, mode) {
		a.addFiles()
	}
}

const blank = "\n\n" // separates two parts

// unlimited means no limit of characters.
const unlimited = int(^uint(0) >> 1)

func (a *assembler) addSection(s *Section) {
	most := s.Max
	if most <= 0 {
		most = unlimited
	}
	a.add(piece{
		Part: Part{Name: valid(s.Name), Kind: PartSection, Volatile: s.Volatile},
		raw:  valid(s.Text), prefix: blank, required: s.Required, priority: s.Priority, most: most,
	})
}

func (a *assembler) addTools() {
	l := toolList{a.in.Tools, a.OnDemand, a.count}
	a.add(piece{Part: Part{Name: nameTooling, Kind: PartTools}, raw: l.full(), prefix: blank, most: unlimited,
		list: l.within})
}

func (a *assembler) addSkills() {
	l := newSkillList(a.in.Skills, &a.Options, a.count)
	if len(l.skills) == 0 {
		return
	}
	a.out.SkillSizes = l.sizes()
	a.add(piece{Part: Part{Name: nameSkills, Kind: PartSkills}, raw: l.full(), prefix: blank, most: unlimited,
		list: l.within})
}

// addFiles adds the files in the reference's order, and then all others by name.
func (a *assembler) addFiles() {
	a.in.Files = slices.Clone(a.in.Files) // the caller's keeps its order
	slices.SortStableFunc(a.in.Files, compareFiles)
	first := len(a.pieces)
	for i := range a.in.Files {
		f := a.in.Files[i]
		if !a.HeadTail && strings.TrimSpace(f.Path) == "" { // the reference leaves it out
			f.Path = f.Name
		}
		if strings.TrimSpace(f.Path) == "" {
			cut := Cut{Name: cleanName(f.Name), Kind: PartFile, Reason: reasonNoPath, Chars: chars(f.Text)}
			a.out.Cuts = append(a.out.Cuts, cut)
			continue
		}
		if len(a.pieces) == first {
			a.add(piece{Part: Part{Name: nameContext, Kind: PartContext}, raw: contextHeading, prefix: blank,
				most: unlimited})
		}
		most := a.MaxFileChars
		if f.Max > 0 {
			most = min(most, f.Max)
		}
		path := cleanName(f.Path)
		a.add(piece{
			Part: Part{Name: cleanName(f.Name), Kind: PartFile, Path: path, Missing: f.Missing},
			raw:  f.shown(), prefix: blank + "## " + path + blank, priority: f.Priority, most: most,
		})
	}
}

const contextHeading = "# Project Context"

// shown returns the text of a file in the prompt, before it is cut.
func (f *File) shown() string {
	switch {
	case f.Missing:
		return "[MISSING] Expected at: " + cleanName(f.Path)
	case f.Problem != "":
		return "[NOT READ] " + cleanName(f.Path) + ": " + cleanName(f.Problem)
	}
	return strings.TrimRightFunc(valid(f.Text), isReferenceSpace)
}

func compareFiles(a, b File) int {
	if a.Name != b.Name {
		return cmp.Or(cmp.Compare(fileRank(a.Name), fileRank(b.Name)), cmp.Compare(a.Name, b.Name))
	}
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Text, b.Text))
}

// shareInOrder applies the reference's budget of characters: each file takes what the files before it left.
func (a *assembler) shareInOrder(files []*piece, left int) {
	full := false
	for _, p := range files {
		if full = full || left <= 0 || !p.Missing && left < a.MinFileChars; full {
			p.out = true
			continue
		}
		rest, limit := left, max(1, min(p.most, left))
		p.list = func(most size) (string, *Cut) { // a function per file: it depends on the files before it
			return a.headTail(p, min(limit, most.chars), rest, most.tokens)
		}
		text, _ := p.list(size{unlimited, unlimited})
		left -= chars(text)
		p.wants = a.count.tokens(text)
		p.limit = size{unlimited, unlimited}
	}
}

// headTail applies the reference's cut of a file: to limit characters, and then to the rest of the budget for all
// files. A smaller budget of tokens lowers the limit.
func (a *assembler) headTail(p *piece, limit, left, tokens int) (string, *Cut) {
	for {
		text, isCut := p.raw, false
		if !p.Missing {
			text, isCut = headTail(p.Name, p.raw, limit)
		}
		shown := clip(text, left)
		if a.count.tokens(shown) > tokens {
			if limit = min(limit, p.need.chars) * 7 / 8; limit < max(1, a.MinFileChars) {
				return "", &Cut{Chars: p.need.chars, Reason: reasonToken, Left: []string{p.Name}}
			}
			continue
		}
		if !isCut && shown == text {
			return shown, nil
		}
		kept := min(p.need.chars, int(float64(limit)*headShare)+int(float64(limit)*tailShare))
		return shown, &Cut{Chars: p.need.chars, Kept: min(kept, chars(shown)), Reason: p.reason,
			Left: []string{"its middle"}}
	}
}

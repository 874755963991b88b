package prompt

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Skill is a text that the model knows only by name and description until it needs it.
type Skill struct {
	Name          string // 1 to 64 of a–z, 0–9 and single hyphens, like its folder
	Description   string // what it does and when to use it
	Location      string // path of its file in the prompt
	License       string
	Compatibility string
	Metadata      map[string]string
	AllowedTools  string
	Hidden        bool   // disable-model-invocation: not listed, and only the host loads it
	Body          string // text of a skill without a file ("": read from its file when the skill is loaded)

	root *os.Root
	file string // in root
}

// Problem names the file of a skill that was left out, and the reason, without its text.
type Problem struct {
	Path   string
	Reason string
}

// String returns the path and the reason.
func (p Problem) String() string { return p.Path + ": " + p.Reason }

const (
	skillFile       = "SKILL.md"
	maxSkillFolders = 300     // per root
	maxSkillsLoaded = 200     // of those
	maxSkillBytes   = 256_000 // per file
	// Front matter that uses everything the specification allows has about 7 000 bytes. The YAML package compares each
	// key of a map with all others: 64 KiB of keys took 160 ms per file.
	maxFrontMatter    = 16 * 1024
	maxSkillName      = 64
	maxDescription    = 1_024
	maxCompatibility  = 500
	frontMatterMarker = "---"
)

// ReadSkills reads skills, folders with a file SKILL.md, sorted by name; of two with the same name, that of the first
// root counts. Skills that break the open specification of agent skills or exceed the reference's limits (300 folders
// and 200 skills per root, 256 000 bytes per file) are named in the problems. Keep the roots open as long as skills
// are loaded.
func ReadSkills(roots ...*os.Root) ([]Skill, []Problem) {
	var skills []Skill
	var problems []Problem
	for _, root := range roots {
		found, bad := readSkills(root)
		problems = append(problems, bad...)
		for _, s := range found {
			if slices.ContainsFunc(skills, func(t Skill) bool { return t.Name == s.Name }) {
				problems = append(problems, Problem{s.Location, "another root has a skill of this name"})
				continue
			}
			skills = append(skills, s)
		}
	}
	slices.SortStableFunc(skills, compareSkills)
	return skills, problems
}

func compareSkills(a, b Skill) int {
	if a.Name != b.Name {
		return cmp.Compare(a.Name, b.Name)
	}
	return cmp.Or(cmp.Compare(a.Location, b.Location), cmp.Compare(a.Description, b.Description))
}

func readSkills(root *os.Root) (skills []Skill, problems []Problem) {
	folders, err := fs.ReadDir(root.FS(), ".") // sorted by name
	if err != nil {
		return nil, []Problem{{cleanName(root.Name()), problem(err)}}
	}
	looked := 0
	for _, folder := range folders {
		if !folder.IsDir() && folder.Type()&fs.ModeSymlink == 0 {
			continue
		}
		where := cleanName(filepath.Join(root.Name(), folder.Name(), skillFile))
		looked++
		switch {
		case looked > maxSkillFolders:
			problems = append(problems, Problem{where, fmt.Sprintf("more than %d folders", maxSkillFolders)})
			continue
		case len(skills) >= maxSkillsLoaded:
			problems = append(problems, Problem{where, fmt.Sprintf("more than %d skills", maxSkillsLoaded)})
			continue
		}
		s, err := readSkill(root, folder.Name(), where)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a folder without a skill
		}
		if err != nil {
			problems = append(problems, Problem{where, problem(err)})
			continue
		}
		skills = append(skills, s)
	}
	return skills, problems
}

func readSkill(root *os.Root, folder, where string) (Skill, error) {
	front, err := readFront(root, folder)
	if err != nil {
		return Skill{}, err
	}
	s, err := parseFront(front)
	if err != nil {
		return Skill{}, err
	}
	if s.Name != folder {
		return Skill{}, refusal("its name is not that of its folder")
	}
	s.Location, s.root, s.file = where, root, path.Join(folder, skillFile)
	return s, nil
}

// readFront reads the front matter of the skill in a folder. Loading the skill reads the body.
func readFront(root *os.Root, folder string) (string, error) {
	within, err := root.OpenRoot(folder) // once, instead of for each access to the file
	if err != nil {
		return "", err
	}
	defer within.Close()
	f, err := openFile(within, skillFile, maxSkillBytes)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFrontMatter))
	if err != nil {
		return "", err
	}
	front, _, err := splitFrontMatter(valid(string(data)))
	return front, err
}

// frontMatter is the beginning of a SKILL.md.
type frontMatter struct {
	Name          string            `yaml:"name"`
	Description   string            `yaml:"description"`
	License       string            `yaml:"license"`
	Compatibility string            `yaml:"compatibility"`
	Metadata      map[string]string `yaml:"metadata"`
	AllowedTools  string            `yaml:"allowed-tools"`
	Hidden        bool              `yaml:"disable-model-invocation"`
}

// ParseSkill parses a SKILL.md and returns the skill and its body. The error names the rule that the file breaks,
// without any of its text.
func ParseSkill(text string) (s Skill, body string, err error) {
	front, body, err := splitFrontMatter(text)
	if err != nil {
		return Skill{}, "", err
	}
	s, err = parseFront(front)
	if err != nil {
		return Skill{}, "", err
	}
	return s, body, nil
}

func parseFront(front string) (Skill, error) {
	var m frontMatter
	if err := decodeFrontMatter(front, &m); err != nil {
		return Skill{}, err
	}
	if err := m.check(); err != nil {
		return Skill{}, err
	}
	return Skill{Name: m.Name, Description: m.Description, License: m.License, Compatibility: m.Compatibility,
		Metadata: m.Metadata, AllowedTools: m.AllowedTools, Hidden: m.Hidden}, nil
}

// splitFrontMatter splits a text after the line that ends its front matter.
func splitFrontMatter(text string) (front, body string, err error) {
	text = strings.TrimPrefix(text, "\ufeff")
	first := lineAt(text, 0)
	if strings.TrimRight(first, " \t\r\n") != frontMatterMarker {
		return "", "", refusal("it does not begin with front matter")
	}
	for at := len(first); at < len(text) && at < maxFrontMatter; {
		line := lineAt(text, at)
		if strings.TrimRight(line, " \t\r\n") == frontMatterMarker {
			return text[len(first):at], strings.TrimLeft(text[at+len(line):], "\r\n"), nil
		}
		at += len(line)
	}
	return "", "", refusal("its front matter does not end")
}

var yamlLine = regexp.MustCompile(`line (\d+)`)

// decodeFrontMatter decodes YAML. Errors of the YAML package quote the text, so only their line number is used.
func decodeFrontMatter(front string, m *frontMatter) error {
	err := yaml.Unmarshal([]byte(front), m)
	if err == nil {
		return nil
	}
	if line := yamlLine.FindStringSubmatch(err.Error()); line != nil {
		return refusal("its front matter is not what the specification wants, near its line " + line[1])
	}
	return refusal("its front matter is not what the specification wants")
}

var skillName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// check checks the front matter against the specification.
func (m *frontMatter) check() error {
	switch {
	case !skillName.MatchString(m.Name):
		return refusal("its name has other characters than a–z, 0–9 and single hyphens between them")
	case len(m.Name) > maxSkillName:
		return refusal(fmt.Sprintf("its name has more than %d characters", maxSkillName))
	case strings.TrimSpace(m.Description) == "":
		return refusal("it has no description")
	case chars(m.Description) > maxDescription:
		return refusal(fmt.Sprintf("its description has more than %s characters", comma(maxDescription)))
	case chars(m.Compatibility) > maxCompatibility:
		return refusal(fmt.Sprintf("its compatibility has more than %d characters", maxCompatibility))
	}
	return nil
}

// body returns the text of a skill.
func (s *Skill) body() (string, error) {
	if s.Body != "" || s.root == nil {
		return s.Body, nil
	}
	text, err := readText(s.root, s.file, maxSkillBytes)
	if err != nil {
		return "", fmt.Errorf("prompt: skill %s: %s", s.Name, problem(err))
	}
	_, body, err := ParseSkill(text)
	if err != nil {
		return "", fmt.Errorf("prompt: skill %s: %w", s.Name, err)
	}
	return body, nil
}

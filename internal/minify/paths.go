package minify

import (
	"strings"

	"github.com/winnowgo/winnow/internal/ascii"
)

// fewestInFile is how many lines in a row have to be of one file.
const fewestInFile = 2

// underPaths writes the path that several lines of a search begin with once, above them, as rg --heading does: "a.go"
// over "12:text" and "13-text" in place of "a.go:12:text" and "a.go-13-text".
func underPaths(s string) string {
	r := rewriter{text: s}
	done := 0
	for i := 0; i < len(s); {
		end := lineEnd(s, i)
		path := searchedPath(s[i:end])
		if path == 0 {
			i = end + 1
			continue
		}
		first := around(s, done, i, s[i:i+path])
		lines, last := inFile(s, first, s[i:i+path])
		if lines >= fewestInFile {
			r.head(first, last, path)
		}
		i = last + 1
		done = i
	}
	return r.result()
}

// searchedPath returns the length of the path that a line of a search begins with, or 0. Windows has a colon in it.
func searchedPath(line string) int {
	if len(line) == 0 || !ascii.IsLetter(line[0]) && strings.IndexByte("/._~@", line[0]) < 0 {
		return 0
	}
	from := 0
	if len(line) > 2 && line[1] == ':' && (line[2] == '\\' || line[2] == '/') {
		from = 2
	}
	end := strings.IndexByte(line[from:], ':')
	if end < 0 {
		return 0
	}
	path := line[:from+end]
	if !strings.ContainsAny(path, "/.\\") || strings.ContainsAny(path, " \t\"'") || numberedBy(line[len(path):]) == 0 {
		return 0
	}
	return len(path)
}

// numberedBy returns the colon or the dash that stands on both sides of the number that s begins with, or 0. A search
// marks lines that match with colons, and those around them with dashes.
func numberedBy(s string) byte {
	if len(s) < 3 || s[0] != ':' && s[0] != '-' {
		return 0
	}
	i := 1
	for i < len(s) && ascii.IsDigit(s[i]) {
		i++
	}
	if i == 1 || i == len(s) || s[i] != s[0] {
		return 0
	}
	return s[0]
}

// around returns where the lines begin that a search shows in front of the line at index i of s, which matches: they
// are of the same file, behind index done.
func around(s string, done, i int, path string) int {
	for i > done {
		before := strings.LastIndexByte(s[:i-1], '\n') + 1
		line := s[before : i-1]
		if before < done || !strings.HasPrefix(line, path) || numberedBy(line[len(path):]) != '-' {
			break
		}
		i = before
	}
	return i
}

// inFile returns how many lines from index i of s on are of one file, and where the last of them ends. A line of two
// dashes stands between parts of it.
func inFile(s string, i int, path string) (lines, last int) {
	for i < len(s) {
		end := lineEnd(s, i)
		switch line := s[i:end]; {
		case strings.HasPrefix(line, path) && numberedBy(line[len(path):]) != 0:
			lines, last = lines+1, end
		case line != "--":
			return lines, last
		}
		i = end + 1
	}
	return lines, last
}

// head writes the path of the lines in text[start:end] above them.
func (r *rewriter) head(start, end, path int) {
	r.replace(start, start, r.text[start:start+path], "\n")
	for i := start; i < end; {
		stop := lineEnd(r.text, i)
		if r.text[i:stop] != "--" {
			r.replace(i, i+path+1)
		}
		i = stop + 1
	}
}

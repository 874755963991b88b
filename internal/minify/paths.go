package minify

import (
	"strings"

	"github.com/winnowgo/winnow/internal/ascii"
)

// fewestInFile is how many lines in a row must be of one file for its path to be written above them.
const fewestInFile = 2

// underPaths writes a path with which several lines of a search begin once, above them, as rg --heading does: "a.go"
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

// searchedPath returns the length of the path with which a line of a search begins, or 0. A path of Windows may have a
// colon in it.
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

// numberedBy returns the colon or the dash that stands on both sides of the number at the beginning of s, or 0. A
// search marks lines that match with colons, and the lines around them with dashes.
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

// around returns where the lines begin that a search shows in front of the line at index i of s, which matches. They
// are of the file path, and do not begin before index done.
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

// inFile returns how many lines of s from index i on are of the file path, and where the last of them ends. A line of
// two dashes may stand between them.
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

// head writes the path of the lines in text[start:end], which is path bytes long, once above them.
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

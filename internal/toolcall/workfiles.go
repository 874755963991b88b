package toolcall

import (
	"hash/fnv"
	"slices"
	"strings"
)

// For how many requests after the newest call that touched it a file counts as worked on, in the newest turn: an agent
// goes on with the files of a turn until a person asks for something else. Each number is about where the next edit,
// which quotes the file, is no longer likely enough to pay for carrying the text. See BENCHMARKS.md.
const (
	// Of a call that read it: an agent reads several files, thinks, and then edits them. In the recorded sessions 30
	// and 20 keep one point less of the lines that edits quote, in windows of 64 000 and of 200 000 tokens, and cost
	// .0002 and .002 less.
	readRequests = 50
	// Likewise where no provider's cache makes it cheap to carry the text.
	uncachedReadRequests = 15
	// Of a call that changed it: the next change of the same file mostly follows soon. In the recorded sessions 3 keep
	// .4 points less of the lines in a window of 64 000 tokens, and cost .0005 less.
	editedRequests = 5
)

// heldReads is how many of the newest calls that read a file are held: agents read long files in pieces.
const heldReads = 2

// workFile is a file that a call works on.
type workFile struct {
	name      uint32 // hash of the last element of its path: agents name a file by its whole path and by the end of it
	kind      uint32 // hash of its extension
	modifies  bool
	isPattern bool // *.go: any of its kind
	byCommand bool
}

// WorkFiles are the files that a call works on.
type WorkFiles []workFile

// WorkFiles returns the files that a call works on.
func (t *Files) WorkFiles(tool string, arguments []byte) (files WorkFiles) {
	use := t.OfShell(tool, arguments)
	for k, path := range append(slices.Clip(use.Modified), use.Read...) {
		base := path[strings.LastIndexAny(path, `/\`)+1:]
		files = append(files, workFile{
			name: hash(base), kind: hash(base[max(0, strings.LastIndexByte(base, '.')):]),
			modifies: k < len(use.Modified), isPattern: strings.Contains(base, "*"), byCommand: use.byCommand,
		})
	}
	return files
}

// AfterError returns the files that may be changed though the call failed: a command fails behind what it wrote, too.
func (files WorkFiles) AfterError() (changed WorkFiles) {
	for _, u := range files {
		if u.byCommand && u.modifies {
			changed = append(changed, u)
		}
	}
	return changed
}

// Change reports whether one of the files is changed.
func (files WorkFiles) Change() bool {
	return slices.ContainsFunc(files, func(u workFile) bool { return u.modifies })
}

func hashPath(path string) uint32 { return hash(path[strings.LastIndexAny(path, `/\`)+1:]) }

func hash(s string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(s))
	return h.Sum32()
}

// requestsOf returns for how many requests a call that touched a file last says that the file is worked on.
func (w *Work) requestsOf(u workFile) int {
	switch {
	case u.modifies:
		return editedRequests
	case w.Uncached:
		return uncachedReadRequests
	}
	return readRequests
}

// Work is the files of the newest turn, read from the end.
type Work struct {
	Uncached bool // no provider's cache makes it cheap to carry a text

	requests  int
	changed   map[uint32]bool // files that a call changes
	reads     map[uint32]int  // of each file that is worked on, how many reads are held; 0: only what was written
	kinds     map[uint32]bool // of files of which a call may have changed any
	unchanged map[uint32]bool // files of which a newer result only says that they are as they were
}

// Back goes back to the request before.
func (w *Work) Back() { w.requests++ }

// Holds reports whether a call of that request that works on these files is held: it is one of the newest reads of a
// file that is worked on, or wrote to it since. short says that its result is too short to be the text of a file.
func (w *Work) Holds(files WorkFiles, short bool) (held bool) {
	for _, use := range files {
		if use.isPattern {
			note(&w.kinds, use.kind)
			continue
		} else if use.modifies {
			note(&w.changed, use.name)
		}
		n, isKnown := w.reads[use.name]
		if !isKnown && w.requests > w.requestsOf(use) || w.kinds[use.kind] {
			n = heldReads // the work has moved on: no older one is held
		}
		held = held || n == 0 || !use.modifies && n < heldReads
		if !use.modifies && !short {
			n++
		}
		if w.reads == nil {
			w.reads = map[uint32]int{}
		}
		w.reads[use.name] = n
	}
	return held
}

// Changed reports whether a call that [Work.Holds] was asked about changes one of these files.
func (w *Work) Changed(files WorkFiles) bool {
	return slices.ContainsFunc(files, func(u workFile) bool { return w.changed[u.name] })
}

func note(names *map[uint32]bool, name uint32) {
	if *names == nil {
		*names = map[uint32]bool{}
	}
	(*names)[name] = true
}

// PointedAt reports whether a call shows a file of which a newer result is short: most likely, that one says that the
// file is unchanged. If short is set, it is such a newer result itself.
func (w *Work) PointedAt(files WorkFiles, short bool) (isPointedAt bool) {
	for _, use := range files {
		switch {
		case use.modifies:
		case short:
			note(&w.unchanged, use.name)
		case w.unchanged[use.name]:
			isPointedAt = true
			delete(w.unchanged, use.name)
		}
	}
	return isPointedAt
}

// WasPointedAt reports whether a short result of the file stands there, and no longer one before it.
func (w *Work) WasPointedAt(path string) bool { return w.unchanged[hashPath(path)] }

// Overlap reports whether two calls work on the same file.
func (files WorkFiles) Overlap(others WorkFiles) bool {
	return slices.ContainsFunc(files, func(x workFile) bool {
		return slices.ContainsFunc(others, func(y workFile) bool { return x.name == y.name })
	})
}

package recording

import (
	"os"
	"path/filepath"
)

// builtin is the recorded session that the examples read by default.
const builtin = "examples/quickstart/sessions/english.jsonl.gz"

// Builtin looks for the built-in session in the working directory and in those above it, so that it is found anywhere
// in a clone of the repository. Elsewhere it returns a path that does not exist, so that the error says what is
// missing.
func Builtin() string {
	path := filepath.FromSlash(builtin)
	for above := "."; ; above = filepath.Join(above, "..") {
		candidate := filepath.Join(above, path)
		if _, err := os.Stat(candidate); err == nil {
			return candidate
		}
		if root, err := filepath.Abs(above); err != nil || root == filepath.Dir(root) {
			return path
		}
	}
}

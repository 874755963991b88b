package recording

import (
	"os"
	"path/filepath"
)

// builtin is the recorded session that the examples read where none is named.
const builtin = "examples/quickstart/sessions/english.jsonl.gz"

// Builtin looks for the built-in session in the working directory and in those above it: in a clone of the repository
// it is found from everywhere. Elsewhere it returns a path that cannot be opened, and whose error says what is missing.
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

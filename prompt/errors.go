package prompt

import (
	"errors"
	"fmt"
)

// ErrTooLarge is in the chain of every error that says that a required section does not fit.
var ErrTooLarge = errors.New("prompt: a required section does not fit")

// TooLargeError says which required section does not fit, and by how much. It wraps [ErrTooLarge].
type TooLargeError struct {
	Section string // its name
	Unit    string // "characters" of Section.Max, or "tokens" of the budget
	Need    int    // of this section and, in tokens, of the required ones before it
	Limit   int    // what they may have
}

// Error says which section it is and how much of it is too much.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("prompt: the required section %q does not fit: %d %s, %d above the limit of %d",
		cleanName(e.Section), e.Need, e.Unit, e.Need-e.Limit, e.Limit)
}

// Unwrap returns ErrTooLarge.
func (e *TooLargeError) Unwrap() error { return ErrTooLarge }

package prompt

import (
	"errors"
	"fmt"
)

// ErrTooLarge is in the chain of every error that says that a required section does not fit.
var ErrTooLarge = errors.New("prompt: a required section does not fit")

// TooLargeError says which required section does not fit, and by how much it is too large. It wraps [ErrTooLarge].
type TooLargeError struct {
	Section string // its name
	Unit    string // "characters" where Section.Max is exceeded, "tokens" where the budget is
	Need    int    // the size of this section; in tokens, together with the required sections before it
	Limit   int    // the size that fits
}

// Error names the section and says by how much it is too large.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("prompt: the required section %q does not fit: %d %s, %d above the limit of %d",
		cleanName(e.Section), e.Need, e.Unit, e.Need-e.Limit, e.Limit)
}

// Unwrap returns ErrTooLarge.
func (e *TooLargeError) Unwrap() error { return ErrTooLarge }

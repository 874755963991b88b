package prompt

import (
	"errors"
	"fmt"
)

// ErrTooLarge is wrapped by every error for a required section that does not fit.
var ErrTooLarge = errors.New("prompt: a required section does not fit")

// TooLargeError says which required section does not fit. It wraps [ErrTooLarge].
type TooLargeError struct {
	Section string // its name
	Unit    string // "characters" if Section.Max is exceeded, "tokens" if the budget is
	Need    int    // size of this section; for tokens, including the required sections before it
	Limit   int    // largest size that fits
}

// Error names the section and says by how much it is too large.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("prompt: the required section %q does not fit: %d %s, %d above the limit of %d",
		cleanName(e.Section), e.Need, e.Unit, e.Need-e.Limit, e.Limit)
}

// Unwrap returns ErrTooLarge.
func (e *TooLargeError) Unwrap() error { return ErrTooLarge }

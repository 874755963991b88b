package winnow_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/winnowgo/winnow"
)

func ExampleOverflowError() {
	var err error = fmt.Errorf("turn 12: %w", &winnow.OverflowError{
		Tokens: 210_000, Budget: 180_000, Overhead: 12_000, Pinned: 3_000, Protected: 195_000,
	})
	var overflow *winnow.OverflowError
	if errors.Is(err, winnow.ErrOverflow) && errors.As(err, &overflow) {
		fmt.Printf("%d tokens too many, %d of them in the newest request\n", overflow.Tokens-overflow.Budget, overflow.Protected)
	}
	// Output: 30000 tokens too many, 195000 of them in the newest request
}

func ExampleOverflowError_Unwrap() {
	refused := errors.New("prompt is too long")
	err := &winnow.OverflowError{Tokens: 210_000, Budget: 180_000, Err: refused}
	fmt.Println(errors.Is(err, winnow.ErrOverflow), errors.Is(err, refused))
	// Output: true true
}

func ExampleOverflowError_Error() {
	err := &winnow.OverflowError{Tokens: 210_000, Budget: 180_000, Overhead: 12_000, Protected: 198_000}
	what, advice, _ := strings.Cut(err.Error(), "; ")
	fmt.Println(what)
	fmt.Println(advice)
	// Output:
	// winnow: the request needs about 210000 tokens and 180000 are free: system prompt and tools 12000, pinned and system messages 0, summary 0, newest request and its results 198000
	// start a new conversation, send less, or use a model with a larger context window
}

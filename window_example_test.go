package winnow_test

import (
	"fmt"

	"github.com/winnowgo/winnow"
)

func ExampleResolveWindow() {
	tokens, source := winnow.ResolveWindow(winnow.WindowConfig{Model: 1_000_000, Cap: 200_000})
	fmt.Println(tokens, source)
	tokens, source = winnow.ResolveWindow(winnow.WindowConfig{})
	fmt.Println(tokens, source)
	// Output:
	// 200000 cap
	// 200000 default
}

func ExampleCheckWindow() {
	for _, tokens := range []int{8_000, 16_000, 128_000} {
		fmt.Println(tokens, winnow.CheckWindow(tokens))
	}
	// Output:
	// 8000 block
	// 16000 warn
	// 128000 ok
}

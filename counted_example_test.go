package winnow_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/winnowgo/winnow"
)

// A manager that takes over a history asks the provider once, where its API has an endpoint for that.
func ExampleManager_Counted() {
	m, err := winnow.New(100_000, nil)
	if err != nil {
		panic(err)
	}
	history := []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: strings.Repeat("word ", 1_000)}}}}
	request, err := m.Prepare(context.Background(), history)
	if err != nil {
		panic(err)
	}
	const counted = 1_150 // of request.Messages, by the provider
	m.Counted(counted)
	fmt.Println(request.Tokens != counted, m.Plan(history).Tokens)
	// Output: true 1150
}

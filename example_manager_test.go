package winnow_test

import (
	"context"
	"fmt"

	"github.com/winnowgo/winnow"
)

func ExampleDo() {
	m, err := winnow.New(200_000, nil) // one manager a conversation
	if err != nil {
		fmt.Println(err)
		return
	}
	history := []winnow.Message{{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: "Hello"}}}}
	answer, _, err := winnow.Do(context.Background(), m, history, func(_ context.Context, messages []winnow.Message) (string, error) {
		return fmt.Sprintf("the model was sent %d message", len(messages)), nil
	})
	fmt.Println(answer, err)
	// Output: the model was sent 1 message <nil>
}

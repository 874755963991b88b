package adaptertest

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"

	"github.com/winnowgo/winnow/internal/test/provider"
)

// Library starts a provider for examples. Its model reads a book page by page, with calls of the tool "read" whose
// arguments are made of a format, to the page that the question names. report says how many requests there were, how
// many were refused, and whether the newest one begins with the messages of the one before it.
func Library(arguments string) (url string, report func() string, stop func()) {
	p := provider.New(provider.Options{Window: frameworkWindow, Model: Reader(arguments)})
	server := httptest.NewServer(p)
	return server.URL, func() string {
		x, refused := p.Exchanges(), 0
		for i := range x {
			if x[i].Error != nil {
				refused++
			}
		}
		last, before := x[len(x)-1], x[len(x)-2]
		var a, b struct{ Messages []json.RawMessage }
		_ = json.Unmarshal(before.Body, &a) // the provider has read them
		_ = json.Unmarshal(last.Body, &b)
		same := len(a.Messages) <= len(b.Messages)
		for i := range a.Messages {
			same = same && string(a.Messages[i]) == string(b.Messages[i])
		}
		return fmt.Sprintf("%d requests, %d refused, the last one begins with the one before it: %v",
			len(x), refused, same)
	}, server.Close
}

// Page is what the tool reads.
func Page(page, to int) string { return reads("a", to)(fmt.Sprint(page)) }

// Question asks for pages of a book.
func Question(from, to int) string { return questionOf("a", from, to) }

package overflow

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func FuzzDiagnose(f *testing.F) {
	for i, c := range refusalTexts {
		f.Add(c.text, []int{0, 400, 413, 429}[i%4])
	}
	f.Add("{{[[\"\\\"", 413)
	f.Add("\xff\xfe 10000000000000000000000 > 5 tokens \xe4", -1)
	f.Add(`[{"a":{"b":["`+strings.Repeat(`\\\"{`, 50), 500)
	f.Fuzz(func(t *testing.T, text string, status int) {
		for _, err := range []error{errors.New(text), &statusErr{status, text}} {
			info := classify(err)
			if again := classify(err); again != info {
				t.Fatalf("%+v, then %+v", info, again)
			}
			if info.Tokens < 0 || info.Limit < 0 || info.Limit > maxLimit || info.Tokens > 64*maxLimit {
				t.Fatalf("numbers out of range: %+v", info)
			}
			if info.Class != ClassOverflow && (info.Tokens != 0 || info.Limit != 0 && info.Class != ClassImages) {
				t.Fatalf("numbers of what is not an overflow: %+v", info)
			}
		}
	})
}

// hostileBodies are shapes that make careless scanners slow; n is about their length.
func hostileBodies(n int) map[string]string {
	rep := func(s string) string { return strings.Repeat(s, n/len(s)+1)[:n] }
	return map[string]string{
		"words":            rep("prompt is too long "),
		"open braces":      rep(`{"a":`),
		"open brackets":    rep("["),
		"plain braces":     rep("{ "),
		"backslashes":      rep(`\`),
		"escaped braces":   rep(`{\"`),
		"nested strings":   `{"message":"` + rep(`{\\\"message\\\":\\\"`),
		"quotes":           rep(`"`),
		"numbers":          rep("1,234 + "),
		"digits":           rep("9"),
		"angles":           rep("<"),
		"links":            rep("https://a "),
		"Chinese":          rep("上下文过长"),
		"invalid UTF-8":    rep("\xff\xe4"),
		"underscores":      rep("a_"),
		"messages":         `{"e":[` + rep(`{"message":"x y"},`),
		"keys":             "{" + rep(`"message":"prompt","code":"a_b",`),
		"one long message": `{"error":{"message":"` + rep("a b ") + `"}}`,
	}
}

// BenchmarkDiagnoseHostile classifies bodies of 1 MB and of 4 MB: what is looked for is a cost that grows
// with the square.
func BenchmarkDiagnoseHostile(b *testing.B) {
	for _, size := range []int{1 << 20, 4 << 20} {
		for name, body := range hostileBodies(size) {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					classify(errors.New(body))
				}
			})
		}
	}
}

func TestDiagnoseFindsTheEnds(t *testing.T) {
	filler := strings.Repeat("lorem ipsum dolor ", 60_000)
	catalogued := "prompt is too long: 250000 tokens > 200000 maximum"
	for name, text := range map[string]string{
		"head":    catalogued + " " + filler,
		"tail":    filler + " " + catalogued,
		"message": `{"input":"` + filler + `","error":{"message":"` + catalogued + `"}}`,
		"first":   `{"error":{"message":"` + catalogued + `"},"input":"` + filler + `"}`,
	} {
		if got, want := classify(errors.New(text)), (told{ClassOverflow, 250000, 200000}); got != want {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

// realBodies are the shapes in which 2 KB of a refusal reach a host.
func realBodies() map[string]string {
	prose := "litellm.BadRequestError: the upstream service at api-17 has rejected your call on attempt 2; please see the guide on how to set a timeout, " +
		"which key the http gateway expects, and why a retry in this case is of no use. The deployment 'chat-prod-eu' (version 2026-03-01, region westeurope) " +
		"was selected by the router with strategy \"least busy\", its fallbacks are None, and the time between both was 0.83 seconds. "
	said := "This model's maximum context length is 131072 tokens. However, you requested 168754 tokens (160562 in the messages, 8192 in the completion). Please reduce the length of the messages or completion."
	dump := `'messages': [{'role': 'system', 'content': 'You are an agent. Never say that a prompt is too long.'}, {'role': 'user', 'content': '` + strings.Repeat("list the files, then ", 40) + `'}]`
	return map[string]string{
		"json": `{"error":{"message":"` + said + " " + strings.Repeat(prose, 3) + `","type":"invalid_request_error","param":"messages","code":"context_length_exceeded","innererror":{"request_id":"req_011CQ","trace":"00-ab12-01"}}}`,
		"text": strings.Repeat(prose, 4) + said,
		"wrapped": "agent step 14 failed: " + prose + "Error code: 400 - {'error': {'message': \"" + said + "\", 'type': 'invalid_request_error', 'code': None}}\n" +
			"Received Model Group=chat-prod\nrequest was: {'model': 'gpt-5', 'max_tokens': 8192, " + dump + "}",
	}
}

func BenchmarkDiagnose(b *testing.B) {
	body := func(n int) string {
		head := `POST "https://api.example.com/v1/messages": 400 Bad Request {"type":"error","error":{"type":"invalid_request_error","message":"`
		text := "This model's maximum context length is 131072 tokens. However, you requested 168754 tokens. "
		return head + strings.Repeat(text, max(1, (n-len(head))/len(text))) + `"}}`
	}
	bodies := map[string]string{
		"200B":       body(200),
		"2KB":        body(2 << 10),
		"2KB-echo":   `{"error":{"message":"prompt is too long: 250000 tokens > 200000 maximum"},"input":"` + strings.Repeat("lorem ipsum ", 170) + `"}`,
		"2KB-other":  strings.Repeat("something else went wrong here, ", 64),
		"1MB":        body(1 << 20),
		"1MB-nested": hostileBodies(1 << 20)["nested strings"],
	}
	for name, text := range realBodies() {
		bodies["2KB-"+name] = text[:min(len(text), 2<<10)]
	}
	for name, text := range bodies {
		err := errors.New(text)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				classify(err)
			}
		})
	}
}

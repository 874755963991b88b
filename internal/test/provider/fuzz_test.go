package provider_test

import (
	"encoding/json"
	"testing"

	"github.com/winnowgo/winnow/internal/test/provider"
)

// FuzzBodies: whatever comes is answered with JSON, and never with a panic.
func FuzzBodies(f *testing.F) {
	for _, c := range append(pairCases(), emptyCases()...) {
		body, _ := json.Marshal(c.body)
		f.Add(string(body))
	}
	for _, c := range append(openAICases(), vendorCases()...) {
		if body, _ := json.Marshal(c.body); len(body) < 4096 {
			f.Add(string(body))
		}
	}
	f.Add(`{"model":"m","max_tokens":1,"messages":[null,{"role":"user","content":[null,{"type":"tool_result","content":[null]}]}],"tools":[null],"system":null}`)
	f.Add(`{"model":"m","messages":[{"role":"assistant","tool_calls":[null],"content":[null]}],"thinking":null,"stream":true}`)
	f.Fuzz(func(t *testing.T, body string) {
		for _, v := range []provider.Vendor{provider.VendorOpenAI, provider.VendorMistral, provider.VendorKimi, provider.VendorMiniMax, provider.VendorLlamaCpp} {
			p := provider.New(provider.Options{Vendor: v})
			for _, path := range []string{"/v1/messages", "/v1/chat/completions"} {
				status, answer := post(t, p, path, body)
				if x := p.Exchanges(); status == 200 && x[len(x)-1].Request.Stream {
					continue
				}
				if !json.Valid([]byte(answer)) || status != 200 && status < 400 {
					t.Errorf("%d %q", status, answer)
				}
			}
		}
	})
}

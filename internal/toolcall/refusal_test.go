package toolcall

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRefusal(t *testing.T) {
	for _, tt := range []struct {
		text    string
		refuses bool
		reason  string
	}{
		{"No replacement was performed, old_str did not appear verbatim in a.c.", true, "an editor"},
		{"<error>String not found</error>", true, "in a tag"},
		{"Error: edit 2 of 3 failed. No edits were applied.", true, "an error first"},
		{"Failed to find expected lines in a.c:\nx", true, "a patch"},
		{"FileNotFoundError: a.c", true, "the name of an exception"},
		{"Replaced 0 occurrences in a.c", true, "nothing was replaced"},
		{"The file couldn’t be saved", true, "another apostrophe"},
		{`{"success":false,"error":"x"}`, true, "JSON"},
		{`{"success":true,"message":"no errors"}`, false, "JSON of success"},
		{`{"rows":["not found"]}`, false, "JSON that reports nothing"},
		{"The file src/error.go has been updated. Here is what does not fit:", false, "the name of a file"},
		{"Edited a.c: replaced 1 occurrence of \"not found\"", false, "what was replaced"},
		{"Wrote a.c (no changes to imports)", false, "something else did not change"},
		{"Success. Updated the following files:\nM error.go", false, "a patch"},
		{"a.c: there is no newline at its end", false, "no word for a failure"},
		{"No errors found. The file was updated.", false, "a linter beside an editor"},
		{"Diff applied. 0 errors", false, "a number of them"},
		{"No error message; the edit failed", true, "it failed all the same"},
		{"", false, "nothing"},
	} {
		assert.Equal(t, tt.refuses, Refusal(tt.text) != "", "%s: %s", tt.reason, tt.text)
	}
}

func TestFault(t *testing.T) {
	for in, want := range map[string]string{
		`{"id":7,"success":false,"message":"closed"}`:               `{"success":false,"message":"closed"}`,
		`{"isError":true,"content":[{"type":"text","text":"403"}]}`: `{"isError":true,"content":[{"type":"text","text":"403"}]}`,
		"{\n \"status\": \"FAILED\",\n \"logs\": []\n}":             `{"status":"FAILED"}`,
		`{"error":"no such table","code":"42P01"}`:                  `{"error":"no such table","code":"42P01"}`,
		`{"status":500,"message":"down"}`:                           `{"status":500,"message":"down"}`,
		`{"exit_code":2,"stdout":"x"}`:                              `{"exit_code":2}`,
		`{"exit_code":0,"message":"fine"}`:                          "",
		`{"error":null,"errors":[],"status":"cancelled","ok":true}`: "",
		`{"status":200,"message":"fine"}`:                           "",
		"{\"error\": \"None\", \"errors\": [ ]}":                    "",
		`{"nested":{"error":"x"}}`:                                  "",
		`{"error":"x"`:                                              "",
		`["error"]`:                                                 "",
		`{"error":"` + strings.Repeat("x", mostFaultBytes) + `"}`:   "",
	} {
		assert.Equal(t, want, Fault(in), "%.80s", in)
	}
}

func TestRange(t *testing.T) {
	for in, want := range map[string]string{
		`{"path":"a","offset":100,"limit":50}`:                            "offset=100 limit=50",
		`{"path":"a","view_range":[10,-1],"x":"1"}`:                       "view_range=[10,-1]",
		`{"target_file":"a","should_read_entire_file":true}`:              "",
		`{"start_line_one_indexed":1,"end_line_one_indexed_inclusive":9}`: "start_line_one_indexed=1 end_line_one_indexed_inclusive=9",
		`{"n":` + strings.Repeat("1", 60) + `}`:                           "",
		`"a"`:                                                             "",
		`{`:                                                               "",
	} {
		assert.Equal(t, want, Range(json.RawMessage(in)), in)
	}
}

func FuzzRefusal(f *testing.F) {
	f.Add(`{"success":false,"error":"x","message":1}`)
	f.Add("No replacement was performed in src/error.go")
	f.Add("<error>\xff’ not</error>")
	f.Fuzz(func(t *testing.T, text string) {
		if fault := Fault(text); fault != "" && !json.Valid([]byte(fault)) {
			t.Fatalf("%q is not JSON", fault)
		}
		if refusal := Refusal(text); refusal != "" && Fault(text) == "" && !strings.Contains(text, refusal) {
			t.Fatalf("%q is not of the text", refusal)
		}
	})
}

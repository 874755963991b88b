package overflow

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// sharedOverflowFile opens the catalogue of refusals, which is not part of the repository: WINNOW_SHARED,
// or shared beside it. The test is skipped without it.
func sharedOverflowFile(t testing.TB) *os.File {
	t.Helper()
	dir := os.Getenv("WINNOW_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	f, err := os.Open(filepath.Join(dir, "providers", "overflow-errors.jsonl"))
	if err != nil {
		t.Skipf("no catalogue: %v", err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// catalogued is a row of the catalogue.
type catalogued struct {
	ID        string `json:"id"`
	Overflow  bool   `json:"overflow"`
	Kind      string `json:"kind"`
	Status    *int   `json:"status"`
	Record    string `json:"record_type"`
	Text      string `json:"text"`
	Tokens    *int   `json:"actual_tokens"`
	Limit     *int   `json:"limit_tokens"`
	Family    string `json:"family"`
	Contested bool   `json:"contested"`
	Pressure  bool   `json:"requires_context_pressure"`
	Single    bool   `json:"single_request_exceeds"`
}

// contestedRows are those that the catalogue's notes exempt, marked in the row or not.
var contestedRows = map[string]bool{"P219": true, "P220": true, "P221": true, "P222": true, "P238": true, "N020": true,
	"N076": true, "N083": true, "N129": true, "N145": true, "N188": true}

func refusals(t testing.TB) []catalogued {
	t.Helper()
	var out []catalogued
	lines := bufio.NewScanner(sharedOverflowFile(t))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r catalogued
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		r.Contested = r.Contested || contestedRows[r.ID]
		out = append(out, r)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// statusErr is an SDK's error with a status.
type statusErr struct {
	status int
	text   string
}

func (e *statusErr) Error() string   { return e.text }
func (e *statusErr) StatusCode() int { return e.status }

// forms are the ways in which a host meets one catalogued.
func (r catalogued) forms() map[string]error {
	out := map[string]error{"text": errors.New(r.Text)}
	for form, text := range map[string]string{
		"with a quota":  r.Text + " (quota used: 12%)",
		"with a rate":   "[rate limit: 49 requests left] " + r.Text,
		"with a budget": r.Text + "\nMonthly budget: 1500000 of 10000000 tokens used.",
		"at a line":     "client.go:2630: " + r.Text,
		"at a place":    r.Text + " [chat:2630]",
		"at a host":     "api.example.com:8443: " + r.Text,
		"of a code":     "call failed with 400 - " + r.Text,
		"of a client":   "error in step 7: " + r.Text,
	} {
		if form == "of a client" && r.Kind == "output_cap" {
			text = "error in the conversation, this context: " + r.Text
		}
		out[form] = errors.New(text)
		if r.Status != nil {
			out[form] = &statusErr{*r.Status, text}
		}
	}
	if r.Status != nil {
		typed := &statusErr{*r.Status, r.Text}
		out["typed"] = typed
		out["wrapped"] = fmt.Errorf("call 3 of 7: %w", typed)
		out["joined"] = errors.Join(errors.New("the request failed"), typed)
	}
	body, _ := json.Marshal(map[string]any{"error": map[string]any{"message": r.Text}})
	out["nested"] = fmt.Errorf("received error while streaming: %s", body)
	return out
}

// TestDiagnoseCatalogue holds the classifier to the shared catalogue, in each form of an error.
func TestDiagnoseCatalogue(t *testing.T) {
	type score struct{ right, all int }
	scores := map[string]*score{}
	count := func(what, form string, ok bool) {
		s := scores[what+" "+form]
		if s == nil {
			s = &score{}
			scores[what+" "+form] = s
		}
		s.all++
		if ok {
			s.right++
		}
	}
	for _, r := range refusals(t) {
		if r.Record != "error" {
			continue
		}
		for form, err := range r.forms() {
			info := classify(err)
			found := info.Class == ClassOverflow || info.Class == ClassBytes
			switch {
			case r.Contested:
				if form == "text" {
					t.Logf("contested %s, labelled %v: %+v", r.ID, r.Overflow, info)
				}
				continue
			case r.Pressure:
				if form == "text" {
					t.Logf("needs context pressure %s: %+v", r.ID, info)
				}
				continue
			case r.Single:
				count("one request above its rate", form, info.Class == ClassOverflow && info.Limit > 0)
				continue
			}
			strict := form == "typed" || form == "wrapped" || form == "joined" || r.Status == nil
			what := "positives"
			if !r.Overflow {
				what = "negatives"
			}
			count(what, form, found == r.Overflow)
			if found != r.Overflow && (strict || r.Overflow || *r.Status != 402) {
				t.Errorf("%s (%s, %s): %+v\n%s", r.ID, form, r.Kind, info, r.Text)
			}
			if !r.Overflow {
				count("no numbers of negatives", form, info.Tokens == 0 && info.Limit == 0)
				continue
			}
			if r.Tokens != nil && r.Limit != nil && *r.Tokens <= *r.Limit {
				r.Tokens = nil // it counts something else
			}
			checkNumber(t, r, form, "tokens", r.Tokens, info.Tokens, count)
			checkNumber(t, r, form, "limit", r.Limit, info.Limit, count)
		}
	}
	for what, s := range scores {
		t.Logf("%-45s %d of %d", what, s.right, s.all)
	}
}

// TestDiagnoseBrokenNumbers breaks the lines of each refusal within a number: half of a number is none.
func TestDiagnoseBrokenNumbers(t *testing.T) {
	broken := 0
	for _, r := range refusals(t) {
		if r.Record != "error" || r.Contested || r.Pressure || !r.Overflow {
			continue
		}
		whole := classify(errors.New(r.Text))
		for _, number := range regexp.MustCompile(`\d{4,}`).FindAllStringIndex(r.Text, -1) {
			for at := number[0] + 1; at < number[1]; at++ {
				text := r.Text[:at] + "\n  " + r.Text[at:]
				got := classify(errors.New(text))
				if got.Class != whole.Class {
					t.Errorf("%s: %+v\n%s", r.ID, got, text)
				}
				for _, half := range []string{r.Text[number[0]:at], r.Text[at:number[1]]} {
					if n, _ := strconv.Atoi(half); n > 0 && (n == got.Tokens || n == got.Limit) {
						t.Errorf("%s: %+v\n%s", r.ID, got, text)
					}
				}
				broken++
			}
		}
	}
	t.Logf("%d broken numbers", broken)
}

func checkNumber(t *testing.T, r catalogued, form, what string, want *int, got int, count func(what, form string, ok bool)) {
	t.Helper()
	if want == nil {
		count(what+" where there are none", form, got == 0)
		if got != 0 {
			t.Errorf("%s (%s): %s %d, none labelled\n%s", r.ID, form, what, got, r.Text)
		}
		return
	}
	count(what, form, got == *want)
	if got != *want {
		t.Errorf("%s (%s): %s %d, want %d\n%s", r.ID, form, what, got, *want, r.Text)
	}
}

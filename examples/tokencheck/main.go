// Command tokencheck shows how far estimates of tokens are from exact counts on your own texts.
//
//	go run ./examples/tokencheck docs/                      # OpenAI's newest family, against OpenAI's tokenizer
//	go run ./examples/tokencheck -model gpt-4-turbo src/    # the family of a model
//	go run ./examples/tokencheck -model claude-sonnet-4-5 -counts counts.tsv docs/
//
// It reads every text file of the directory except hidden ones. By kind of file and for all, it prints the number of
// texts, the median and the 95th percentile of the error, and the worst underestimate, in percent: for the estimator of
// the family and, beside it, for characters / 4. Then it lists the texts with the largest errors.
//
// OpenAI's tokenizer is part of Winnow. For other models the exact counts come from a file with a line for each text:
// its path below the directory, a tab, and its tokens, as the provider's endpoint counts them.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow"
)

func main() {
	model := flag.String("model", "gpt-5", "check the tokenizer family of this model")
	counts := flag.String("counts", "", "file of exact counts, path<tab>tokens a line (OpenAI's tokenizer counts)")
	flag.Parse()
	if err := run(os.Stdout, cmp.Or(flag.Arg(0), "."), winnow.FamilyForModel(*model), *counts); err != nil {
		fmt.Fprintln(os.Stderr, "tokencheck:", err)
		os.Exit(1)
	}
}

// listed is how many texts with the largest errors are listed.
const listed = 5

// run prints the tables for the files of dir.
func run(w io.Writer, dir, family, counts string) error {
	estimator, err := winnow.NewEstimator(family)
	if err != nil {
		return err
	}
	exact, err := exactCounter(family, counts)
	if err != nil {
		return err
	}
	estimated, quarter, off := table{}, table{}, []text(nil)
	err = walk(os.DirFS(dir), func(name, s string) {
		if want := exact(name, s); want > 0 {
			kind := cmp.Or(strings.ToLower(path.Ext(name)), "(none)")
			got := text{name, tokens(estimator, s), want}
			estimated.add(kind, got)
			quarter.add(kind, text{name, tokens(winnow.CharsPerToken(4), s), want})
			off = append(off, got)
		}
	})
	if err != nil {
		return err
	}
	if len(off) == 0 {
		return fmt.Errorf("no text in %s with an exact count", dir)
	}
	fmt.Fprintf(w, "%-20s %-29s characters / 4\n", "error in %", fmt.Sprintf("family %q", family))
	fmt.Fprintf(w, "%-10s %6s %8s %8s %8s     %8s %8s %8s\n", "kind", "texts", "median", "p95", "under", "median",
		"p95", "under")
	for _, kind := range slices.Sorted(maps.Keys(estimated)) {
		fmt.Fprintf(w, "%-10s %6d %s     %s\n", kind, len(estimated[kind]), estimated[kind], quarter[kind])
	}
	slices.SortFunc(off, func(a, b text) int { return cmp.Compare(math.Abs(b.off()), math.Abs(a.off())) })
	for _, t := range off[:min(listed, len(off))] {
		fmt.Fprintf(w, "%+7.1f %%  %8d tokens  %s\n", t.off(), t.exact, t.name)
	}
	return nil
}

// walk calls f for each text of a directory. Hidden files and directories are left out.
func walk(dir fs.FS, f func(name, text string)) error {
	return fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		isHidden := name != "." && strings.HasPrefix(d.Name(), ".")
		switch {
		case err != nil:
			return err
		case isHidden && d.IsDir():
			return fs.SkipDir
		case isHidden || !d.Type().IsRegular():
			return nil
		}
		data, err := fs.ReadFile(dir, name)
		if err == nil && utf8.Valid(data) && !slices.Contains(data, 0) {
			f(name, string(data))
		}
		return err
	})
}

// tokens returns the estimate for a text without the structure of a message around it.
func tokens(e winnow.Estimator, text string) int {
	message := func(s string) winnow.Message {
		return winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: s}}}
	}
	return e.Estimate(message(text)) - e.Estimate(message(""))
}

// exactCounter returns a function that counts a text exactly; 0 stands for one without a count.
func exactCounter(family, counts string) (count func(name, text string) int, err error) {
	if counts == "" {
		encodings := map[string]string{"o200k": "o200k_base", "cl100k": "cl100k_base"}
		if encodings[family] == "" {
			return nil, fmt.Errorf("no exact tokenizer of family %q is at hand: give exact counts with -counts", family)
		}
		e, err := winnow.TiktokenEstimator(encodings[family])
		return func(_, text string) int { return tokens(e, text) }, err
	}
	data, err := os.ReadFile(counts)
	if err != nil {
		return nil, err
	}
	known := map[string]int{}
	for line := range strings.Lines(string(data)) {
		name, count, _ := strings.Cut(line, "\t")
		if known[name], err = strconv.Atoi(strings.TrimSpace(count)); err != nil {
			return nil, fmt.Errorf("%s: want path<tab>tokens, got %q", counts, line)
		}
	}
	return func(name, _ string) int { return known[name] }, nil
}

// text is a text with its estimate and its exact count.
type text struct {
	name            string
	estimate, exact int
}

// off is the relative error in percent.
func (t text) off() float64 { return 100 * (float64(t.estimate)/float64(t.exact) - 1) }

// table has the relative errors of texts by kind, in percent.
type table map[string]errors

type errors []float64

func (t table) add(kind string, of text) {
	t[kind], t["all"] = append(t[kind], of.off()), append(t["all"], of.off())
}

// String is the median and the 95th percentile of the sizes, and the worst underestimate.
func (e errors) String() string {
	var sizes []float64
	for _, x := range e {
		sizes = append(sizes, math.Abs(x))
	}
	slices.Sort(sizes)
	return fmt.Sprintf("%8.1f %8.1f %8.1f", sizes[len(sizes)/2], sizes[len(sizes)*95/100], min(0, slices.Min(e)))
}

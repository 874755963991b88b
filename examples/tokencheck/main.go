// Command tokencheck shows how far estimates of tokens are from exact counts on your own texts.
//
//	go run ./examples/tokencheck                            # the texts of the current directory
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
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow"
)

// A check compares estimates with exact counts.
type check struct {
	family   string
	encoding string // "": that of the family
	counts   string // file of exact counts; "": encoding
	limit    int64  // maximum bytes to read from a file
	worst    int    // number of texts to list
}

func main() {
	var c check
	flag.StringVar(&c.family, "family", "o200k",
		"tokenizer family to check: a name that NewEstimator knows, \"\" for unknown")
	model := flag.String("model", "", "check the family of this model instead of -family")
	flag.StringVar(&c.encoding, "encoding", "", "count exactly with o200k_base or cl100k_base (default: by the family)")
	flag.StringVar(&c.counts, "counts", "",
		"file of exact counts of whole files, path<tab>tokens a line, instead of -encoding")
	flag.Int64Var(&c.limit, "max", 256<<10, "read this many bytes of each file at most; without -counts")
	flag.IntVar(&c.worst, "worst", 5, "list this many texts that are off most")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(),
			"usage: tokencheck [flags] [directory]\n\nWithout a directory it checks the texts of the current one.\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	dir := "."
	switch flag.NArg() {
	case 0:
	case 1:
		dir = flag.Arg(0)
	default:
		flag.Usage()
		os.Exit(2)
	}
	if *model != "" {
		c.family = winnow.FamilyForModel(*model)
	}
	if err := c.run(os.Stdout, dir); err != nil {
		fmt.Fprintln(os.Stderr, "tokencheck:", err)
		os.Exit(1)
	}
}

// run prints the tables for the files of dir.
func (c check) run(w io.Writer, dir string) error {
	estimator, err := winnow.NewEstimator(c.family)
	if err != nil {
		return err
	}
	exact, source, err := c.exactCounter()
	if err != nil {
		return err
	}
	if c.counts != "" {
		c.limit = math.MaxInt64 // the counts are of whole files
	}
	estimated, quarter, off := table{}, table{}, []text(nil)
	err = walk(dir, c.limit, func(name, s string) {
		want, ok := exact(name, s)
		if !ok {
			return
		}
		kind := cmp.Or(strings.ToLower(path.Ext(name)), "(none)")
		got := textTokens(estimator, s)
		estimated.add(kind, got, want)
		quarter.add(kind, textTokens(winnow.CharsPerToken(4), s), want)
		off = append(off, text{name, got, want})
	})
	if err != nil {
		return err
	}
	if len(estimated) == 0 {
		return fmt.Errorf("no text in %s with an exact count", dir)
	}
	fmt.Fprintf(w, "error in %% against %s\n", source)
	fmt.Fprintf(w, "%17s %-28s characters / 4\n", "", fmt.Sprintf("family %q", c.family))
	fmt.Fprintf(w, "%-10s %6s %8s %8s %8s %12s %8s %8s\n", "kind", "texts", "median", "p95", "under", "median", "p95",
		"under")
	for _, kind := range slices.Sorted(maps.Keys(estimated)) {
		a, b := estimated[kind], quarter[kind]
		fmt.Fprintf(w, "%-10s %6d %s     %s\n", kind, len(a), a, b)
	}
	slices.SortFunc(off, func(a, b text) int { return cmp.Compare(math.Abs(b.off()), math.Abs(a.off())) })
	for _, t := range off[:max(0, min(c.worst, len(off)))] {
		fmt.Fprintf(w, "%+7.1f %%  %8d tokens  %s\n", t.off(), t.exact, t.name)
	}
	return nil
}

// walk calls f for each text below dir, with its path there. Hidden files and directories are left out.
func walk(dir string, limit int64, f func(name, text string)) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path != dir && strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		s, err := readText(path, limit)
		if err != nil || s == "" {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		f(filepath.ToSlash(name), s)
		return nil
	})
}

// readText returns the beginning of a file, or "" if the file is not text.
func readText(path string, limit int64) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return "", err
	}
	for cut := 0; cut < utf8.UTFMax-1 && int64(len(data)+cut) == limit && !utf8.Valid(data); cut++ {
		data = data[:len(data)-1] // the limit may have cut a character
	}
	if !utf8.Valid(data) || strings.ContainsRune(string(data), 0) {
		return "", nil
	}
	return string(data), nil
}

// textTokens returns the estimate for a text without the structure of a message around it.
func textTokens(e winnow.Estimator, text string) int {
	message := func(s string) winnow.Message {
		return winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: s}}}
	}
	return e.Estimate(message(text)) - e.Estimate(message(""))
}

// exactCounter returns a function that counts a text exactly, if it can, and the name of its tokenizer.
func (c check) exactCounter() (count func(name, text string) (int, bool), source string, err error) {
	if c.counts == "" {
		encodings := map[string]string{"o200k": "o200k_base", "cl100k": "cl100k_base", "": "o200k_base"}
		encoding := cmp.Or(c.encoding, encodings[c.family])
		if encoding == "" {
			return nil, "", fmt.Errorf("no exact tokenizer of family %q is at hand: give exact counts with -counts, "+
				"or compare with another tokenizer by -encoding", c.family)
		}
		e, err := winnow.TiktokenEstimator(encoding)
		return func(_, text string) (int, bool) { n := textTokens(e, text); return n, n > 0 }, encoding, err
	}
	f, err := os.Open(c.counts)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	known := map[string]int{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		name, count, ok := strings.Cut(lines.Text(), "\t")
		n, err := strconv.Atoi(strings.TrimSpace(count))
		if !ok || err != nil || n <= 0 {
			return nil, "", fmt.Errorf("%s: want path<tab>tokens, got %q", c.counts, lines.Text())
		}
		known[name] = n
	}
	return func(name, _ string) (int, bool) { n, ok := known[name]; return n, ok }, c.counts, lines.Err()
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

func (t table) add(kind string, estimate, exact int) {
	for _, k := range []string{kind, "all"} {
		t[k] = append(t[k], text{estimate: estimate, exact: exact}.off())
	}
}

// String is the median and the 95th percentile of the sizes, and the worst underestimate.
func (e errors) String() string {
	sizes, under := make([]float64, len(e)), 0.0
	for i, x := range e {
		sizes[i] = math.Abs(x)
		under = min(under, x)
	}
	slices.Sort(sizes)
	return fmt.Sprintf("%8.1f %8.1f %8.1f", sizes[len(sizes)/2], sizes[min(len(sizes)-1, len(sizes)*95/100)], under)
}

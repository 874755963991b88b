// Command tokencheck shows how far estimates of tokens are from exact counts on your own texts.
//
//	go run github.com/winnowgo/winnow/examples/tokencheck -family o200k -encoding o200k_base docs/
//	go run github.com/winnowgo/winnow/examples/tokencheck -family claude4 -counts counts.tsv docs/
//
// It reads every file of the directory and prints, by kind of file and for all: the number of texts, the
// median and the 95th percentile of the error and the worst underestimate, in percent, for the estimator
// of the family and, beside it, for characters / 4. The exact count comes from OpenAI's tokenizer, or,
// for other models, from a file with a line for each text: its path below the directory, a tab, its
// tokens (as the provider's endpoint for counting tokens gives them).
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
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/winnowgo/winnow"
)

func main() {
	family := flag.String("family", "o200k", "tokenizer family to check: a name that NewEstimator knows, \"\" for unknown")
	model := flag.String("model", "", "check the family of this model instead of -family")
	encoding := flag.String("encoding", "o200k_base", "exact count: o200k_base or cl100k_base")
	counts := flag.String("counts", "", "file of exact counts, path<tab>tokens a line, instead of -encoding")
	limit := flag.Int64("max", 256<<10, "read this many bytes of each file at most")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "usage: tokencheck [flags] directory\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if *model != "" {
		*family = winnow.FamilyForModel(*model)
	}
	if err := run(os.Stdout, flag.Arg(0), *family, *encoding, *counts, *limit); err != nil {
		fmt.Fprintln(os.Stderr, "tokencheck:", err)
		os.Exit(1)
	}
}

// run prints the table for the files of dir.
func run(w io.Writer, dir, family, encoding, counts string, limit int64) error {
	estimator, err := winnow.NewEstimator(family)
	if err != nil {
		return err
	}
	exact, err := exactCounter(encoding, counts)
	if err != nil {
		return err
	}
	estimated, quarter := table{}, table{}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := readText(path, limit)
		if err != nil || text == "" {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		want, ok := exact(filepath.ToSlash(name), text)
		if !ok {
			return nil
		}
		kind := cmp.Or(strings.ToLower(filepath.Ext(path)), "(none)")
		estimated.add(kind, textTokens(estimator, text), want)
		quarter.add(kind, textTokens(winnow.CharsPerToken(4), text), want)
		return nil
	})
	if err != nil {
		return err
	}
	if len(estimated) == 0 {
		return fmt.Errorf("no text in %s with an exact count", dir)
	}
	fmt.Fprintf(w, "error in %%        family %-23q chars/4\n", family)
	fmt.Fprintf(w, "%-10s %6s %8s %8s %8s %12s %8s %8s\n", "kind", "texts", "median", "p95", "under", "median", "p95", "under")
	for _, kind := range slices.Sorted(maps.Keys(estimated)) {
		a, b := estimated[kind], quarter[kind]
		fmt.Fprintf(w, "%-10s %6d %s     %s\n", kind, len(a), a, b)
	}
	return nil
}

// readText returns the beginning of a file, or "" if it is no text.
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

// textTokens is what an estimator says of a text without the structure of a message around it.
func textTokens(e winnow.Estimator, text string) int {
	message := func(s string) winnow.Message {
		return winnow.Message{Role: winnow.RoleUser, Parts: []winnow.Part{{Text: s}}}
	}
	return e.Estimate(message(text)) - e.Estimate(message(""))
}

// exactCounter returns the function that counts a text exactly, if it can.
func exactCounter(encoding, counts string) (func(name, text string) (int, bool), error) {
	if counts == "" {
		e, err := winnow.TiktokenEstimator(encoding)
		return func(_, text string) (int, bool) { n := textTokens(e, text); return n, n > 0 }, err
	}
	f, err := os.Open(counts)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	known := map[string]int{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		name, count, ok := strings.Cut(lines.Text(), "\t")
		n, err := strconv.Atoi(strings.TrimSpace(count))
		if !ok || err != nil || n <= 0 {
			return nil, fmt.Errorf("%s: want path<tab>tokens, got %q", counts, lines.Text())
		}
		known[name] = n
	}
	return func(name, _ string) (int, bool) { n, ok := known[name]; return n, ok }, lines.Err()
}

// table has the relative errors of texts by kind, in percent.
type table map[string]errors

type errors []float64

func (t table) add(kind string, estimate, exact int) {
	for _, k := range []string{kind, "all"} {
		t[k] = append(t[k], 100*(float64(estimate)/float64(exact)-1))
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

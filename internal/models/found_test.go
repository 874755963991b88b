package models

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// found counts names by what was found.
type found struct{ right, wrong, none int }

// TestFound counts by vendor and gateway what is found of all names: of the catalogue, alone and with the provider in
// front, and of the constants of SDKs for models that answer in text. The counts are in testdata/found.txt, with what is
// not found: a manager for such a model logs that it is unknown. -update writes it.
func TestFound(t *testing.T) {
	rows := readCatalogue(t)
	first := map[string]entry{} // of an id
	for _, e := range rows {
		if _, ok := first[e.ID]; !ok {
			first[e.ID] = e
		}
	}
	counts := map[string]*found{}
	var unknown []string
	count := func(whose, name string, want *entry) {
		if counts[whose] == nil {
			counts[whose] = &found{}
		}
		switch m, ok := Find(name); {
		case !ok:
			counts[whose].none++
			unknown = append(unknown, name)
		case want != nil && !isRight(m, modelOf(t, *want)):
			counts[whose].wrong++
		default:
			counts[whose].right++
		}
	}
	for _, e := range rows {
		alone := first[e.ID]
		count(e.Provider+", alone", e.ID, &alone)
		count(e.Provider+", with it in front", e.Provider+":"+e.ID, &e)
	}
	sdk, err := os.ReadFile("testdata/sdk-names.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(sdk)) {
		vendor, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		var want *entry
		if e, ok := first[name]; ok {
			want = &e
		}
		count("SDK of "+vendor, name, want)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-44s %6s %6s %9s\n", "", "right", "wrong", "not found")
	for _, whose := range slices.Sorted(maps.Keys(counts)) {
		c := counts[whose]
		assert.Zero(t, c.wrong, whose)
		fmt.Fprintf(&b, "%-44s %6d %6d %9d\n", whose, c.right, c.wrong, c.none)
	}
	slices.Sort(unknown)
	fmt.Fprintf(&b, "\nnot found:\n%s\n", strings.Join(slices.Compact(unknown), "\n"))
	const name = "testdata/found.txt"
	if *update {
		require.NoError(t, os.WriteFile(name, []byte(b.String()), 0o644))
	}
	got, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, b.String(), string(got))
}

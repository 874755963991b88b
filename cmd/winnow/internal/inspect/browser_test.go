package inspect

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// seen is what testdata/probe.js found out about a page in a frame.
type seen struct {
	Width, ClientWidth, ScrollWidth, Rows int
	LeastFont, TapHeight                  float64
	Paper                                 string         // the colour of the page
	TextContrast, MarkContrast            float64        // the least of a text, and of a line or an area of the charts
	FaintText, FaintMark                  string         // which these are
	Columns                               map[string]int // rows by where their cells stand
	Overlaps                              []string
	Cursors                               []float64
	Readout, Tapped                       string
	Opened, Here, Texts                   []string
}

// browser returns the path of a Chromium.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("SKIPPED: no Chromium in the PATH, so that the page was seen by no browser")
	return ""
}

// On a phone and on a desk, light and dark, the page fits, can be read, has columns that line up, one cursor through all charts, and a
// tap on an event opens its row with the texts before and after. The page is in the frames as it is: its policy holds.
func TestInChromium(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: starts a browser")
	}
	path := browser(t)
	page, _ := invoke(t, 32_000, recorded("english"), false)
	probe, err := os.ReadFile(filepath.Join("testdata", "probe.js"))
	require.NoError(t, err)
	var b strings.Builder
	b.WriteString("<!DOCTYPE html><meta charset=utf-8><pre id=found></pre><script>" + string(probe) + "</script>")
	type shown struct {
		width  int
		scheme string
	}
	frames := []shown{{390, "light"}, {1_280, "light"}, {390, "dark"}, {1_280, "dark"}}
	papers := map[string]string{"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 27)"}
	for _, f := range frames { // a frame prefers the scheme that it is shown in
		fmt.Fprintf(&b, `<iframe style="border:0;width:%dpx;height:844px;color-scheme:%s" srcdoc="%s"></iframe>`, f.width, f.scheme, html.EscapeString(page))
	}
	all := probed(t, path, b.String())
	require.Len(t, all, len(frames))
	for i, found := range all {
		assert.Equal(t, frames[i].width, found.Width)
		assert.Equal(t, papers[frames[i].scheme], found.Paper, found.Width)
		assert.GreaterOrEqual(t, found.TextContrast, 4.5, "WCAG 2.2, 1.4.3: %s, %d: %s", frames[i].scheme, found.Width, found.FaintText)
		assert.GreaterOrEqual(t, found.MarkContrast, 3.0, "WCAG 2.2, 1.4.11: %s, %d: %s", frames[i].scheme, found.Width, found.FaintMark)
		assert.Equal(t, found.ClientWidth, found.ScrollWidth, "%d: nothing stands out to the side", found.Width)
		assert.GreaterOrEqual(t, found.LeastFont, 12.0, found.Width)
		assert.GreaterOrEqual(t, found.TapHeight, 40.0, "%d: a finger hits a mark", found.Width)
		assert.Equal(t, 73, found.Rows)
		assert.Len(t, found.Columns, 5, "%d: the cells of all rows stand below one another", found.Width)
		assert.Empty(t, found.Overlaps, "%d: labels of turns", found.Width)
		require.Len(t, found.Cursors, 3)
		assert.Positive(t, found.Cursors[0])
		assert.Equal(t, found.Cursors[0], found.Cursors[1], "%d: one cursor", found.Width)
		assert.Equal(t, found.Cursors[0], found.Cursors[2], "%d: one cursor", found.Width)
		assert.Contains(t, found.Readout, "request 44: ", found.Width)
		assert.Equal(t, []string{"r" + found.Tapped}, found.Opened, "%d: the event's row", found.Width)
		assert.Equal(t, []string{"r1"}, found.Here, "%d: the figures lead to their row", found.Width)
		require.Len(t, found.Texts, 2)
		assert.NotEmpty(t, found.Texts[0], "%d: the text before", found.Width)
		assert.Equal(t, "(not sent: a record stands for it)", found.Texts[1], "%d: the text after", found.Width)
	}
}

// probed opens a page in Chromium and returns what its probe wrote.
func probed(t *testing.T, chromium, page string) []seen {
	t.Helper()
	dir, err := os.MkdirTemp("", "inspect-chromium-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // the browser may still write to it
	file := filepath.Join(dir, "page.html")
	require.NoError(t, os.WriteFile(file, []byte(page), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, chromium,
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--user-data-dir="+filepath.Join(dir, "profile"), "--window-size=1400,1000",
		"--virtual-time-budget=10000", "--dump-dom", "file://"+filepath.ToSlash(file))
	out, err := cmd.Output()
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(out), `<pre id="found">`)
	text, _, _ := strings.Cut(rest, "</pre>")
	var found []seen
	require.NoError(t, json.Unmarshal([]byte(html.UnescapeString(text)), &found), "the probe did not run: %.300s", out)
	return found
}

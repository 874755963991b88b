package inspect

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// color is red, green and blue, each from 0 to 1.
type color [3]float64

var variable = regexp.MustCompile(`--(\w+): #([0-9a-f]{6});`)

// themes returns the colors of the page, light and dark, by the names of its variables.
func themes(t *testing.T) map[string]map[string]color {
	t.Helper()
	light, dark, found := strings.Cut(source("page.css"), "prefers-color-scheme: dark")
	require.True(t, found)
	out := map[string]map[string]color{}
	for theme, css := range map[string]string{"light": light, "dark": dark} {
		out[theme] = map[string]color{}
		for _, m := range variable.FindAllStringSubmatch(css, -1) {
			n, err := strconv.ParseUint(m[2], 16, 32)
			require.NoError(t, err)
			out[theme][m[1]] = color{float64(n>>16) / 255, float64(n>>8&255) / 255, float64(n&255) / 255}
		}
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(out["light"])), slices.Collect(maps.Keys(out["dark"])), "each color has both themes")
	return out
}

// luminance and contrast are those of WCAG 2.
func (c color) luminance() float64 {
	linear := func(v float64) float64 {
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c[0]) + 0.7152*linear(c[1]) + 0.0722*linear(c[2])
}

func contrast(a, b color) float64 {
	x, y := a.luminance()+0.05, b.luminance()+0.05
	return max(x, y) / min(x, y)
}

func (c color) isBlue() bool {
	most, least := max(c[0], c[1], c[2]), min(c[0], c[1], c[2])
	return most-least > 0.2 && c[2] == most && c[2] > c[0] && c[0] < c[1]+0.1
}

func distance(a, b color) (sum float64) {
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(sum)
}

// Text can be read and shapes be seen on every ground, and no two things of a chart look alike.
func TestColors(t *testing.T) {
	kinds := strings.Fields("kind0 kind1 kind2 kind3 kind4 kind5")
	for theme, colors := range themes(t) {
		for _, text := range strings.Fields("ink soft mark") {
			for _, ground := range strings.Fields("paper panel") {
				assert.GreaterOrEqual(t, contrast(colors[text], colors[ground]), 4.5, "%s: %s on %s", theme, text, ground)
			}
		}
		shapes := append(strings.Fields("cached written managed atlimit unmanaged mark"), kinds...)
		for _, shape := range shapes {
			assert.GreaterOrEqual(t, contrast(colors[shape], colors["paper"]), 3.0, "%s: %s", theme, shape)
		}
		blue := []string{}
		for i, a := range shapes {
			if colors[a].isBlue() {
				blue = append(blue, a)
			}
			for _, b := range shapes[i+1:] {
				oneChart := slices.Contains(kinds, a) == slices.Contains(kinds, b)
				if oneChart && a != "cached" && a != "written" { // the grays of two charts may be near one another
					assert.Greater(t, distance(colors[a], colors[b]), 0.15, "%s: %s and %s", theme, a, b)
				}
				assert.NotEqual(t, colors[a], colors[b], "%s: %s and %s", theme, a, b)
			}
		}
		assert.Equal(t, []string{"kind2"}, blue, "%s: blue is one thing", theme)
		assert.Greater(t, contrast(colors["cached"], colors["written"]), 2.0, "%s: cached and written", theme)
	}
}

var fontSize = regexp.MustCompile(`font(?:-size)?: ?([0-9.]+)(\w+)`)

// No label is smaller than 12 px, and nothing that holds text is scaled with the screen.
func TestLabelSizes(t *testing.T) {
	sizes := fontSize.FindAllStringSubmatch(source("page.css"), -1)
	require.NotEmpty(t, sizes)
	for _, s := range sizes {
		n, err := strconv.ParseFloat(s[1], 64)
		require.NoError(t, err)
		assert.Equal(t, "px", s[2], s[0])
		assert.GreaterOrEqual(t, n, 12.0, s[0])
	}
	assert.NotContains(t, source("page.html"), "<text", "a label in a drawing shrinks with it")
}

// The script creates no elements from the content of a transcript, and fetches nothing.
func TestScriptIsPlain(t *testing.T) {
	for _, word := range []string{"innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval", "Function(", "fetch", "XMLHttp", "import", "http:", "https:", "</"} {
		assert.NotContains(t, source("page.js"), word)
	}
}

// Each request has a row that the charts' cursor reads, and each event a mark that leads to a row which opens.
func TestChartsAndRows(t *testing.T) {
	out, _ := invoke(t, 32_000, recorded("english"), false)
	elements, _ := parsePage(t, ownScript(t, out))
	rows, details, marks, cursors := 0, map[string]bool{}, []string{}, 0
	for _, e := range elements {
		attr := map[string]string{}
		for _, a := range e.attrs {
			attr[a.Name.Local] = a.Value
		}
		if title, ok := attr["data-title"]; ok {
			rows++
			require.Equal(t, "r"+strconv.Itoa(rows), attr["id"], "rows stand in the order of requests: the cursor counts them")
			require.True(t, strings.HasPrefix(title, "request "+strconv.Itoa(rows)+":"), title)
			if e.name == "details" {
				details["#"+attr["id"]] = true
			}
		}
		if number, ok := attr["data-request"]; ok {
			require.Equal(t, "#r"+number, attr["href"], "without a script the link leads there")
			marks = append(marks, attr["href"])
		}
		if attr["class"] == "cursor" {
			cursors++
		}
	}
	assert.Equal(t, 73, rows)
	assert.Equal(t, 3, cursors, "one for each chart")
	assert.Len(t, marks, strings.Count(out, `<span class="flag">rewrite</span>`), "one for each rewrite")
	assert.NotEmpty(t, marks)
	for _, m := range marks {
		assert.True(t, details[m], "%s can be opened", m)
	}
}

package toolcall

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/winnowgo/winnow/internal/jsontext"
)

func TestHolds(t *testing.T) {
	reads, edits := WorkFiles{{name: 1}}, WorkFiles{{name: 1, modifies: true}}
	rest := func(n int) []WorkFiles { return make([]WorkFiles, n) }
	join := func(parts ...[]WorkFiles) (all []WorkFiles) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	for _, tt := range []struct {
		requests []WorkFiles // the newest first
		work     Work
		held     []int
		reason   string
	}{
		{[]WorkFiles{reads, reads, reads}, Work{}, []int{0, 1}, "the newest two reads"},
		{[]WorkFiles{edits, reads, edits, reads, edits, reads}, Work{}, []int{0, 1, 3},
			"what was written since the newest read, and the reads"},
		{join(rest(49), []WorkFiles{reads}), Work{}, []int{49}, "read fifty requests ago"},
		{join(rest(50), []WorkFiles{reads}), Work{}, nil, "read longer ago than that"},
		{join(rest(15), []WorkFiles{reads}), Work{Uncached: true}, nil, "for less long without a cache"},
		{join(rest(5), []WorkFiles{edits, reads}), Work{}, nil, "after an edit the work moves on soon"},
		{join(rest(4), []WorkFiles{edits, reads}), Work{}, []int{4, 5}, "not yet"},
		{[]WorkFiles{{{name: 1}, {name: 2}}, {{name: 2}}, {{name: 2}, {name: 3}}}, Work{}, []int{0, 1, 2}, "one of several files is enough"},
	} {
		w := tt.work
		var held []int
		for i, files := range tt.requests {
			w.Back()
			if w.Holds(files, false) {
				held = append(held, i)
			}
		}
		assert.Equal(t, tt.held, held, tt.reason)
	}
}

// A short result is not the text of a file: it does not count as a read that is held.
func TestHoldsBehindAShortResult(t *testing.T) {
	reads := WorkFiles{{name: 1}}
	var w Work
	var held []int
	for i, isShort := range []bool{true, false, true, true, false, false} {
		w.Back()
		if w.Holds(reads, isShort) {
			held = append(held, i)
		}
	}
	assert.Equal(t, []int{0, 1, 2, 3, 4}, held, "two whole ones, and the short ones before the second of them")
}

// A short result points at the newest whole one before it, and at no other.
func TestPointedAt(t *testing.T) {
	reads, edits, other := WorkFiles{{name: 1}}, WorkFiles{{name: 1, modifies: true}}, WorkFiles{{name: 2}}
	type call struct {
		files   WorkFiles
		isShort bool
	}
	for _, tt := range []struct {
		calls  []call // the newest first
		want   []int
		reason string
	}{
		{[]call{{reads, true}, {reads, false}, {reads, false}}, []int{1}, "the newest whole one"},
		{[]call{{reads, true}, {reads, true}, {reads, false}}, []int{2}, "two short ones point at the same"},
		{[]call{{reads, true}, {other, false}, {edits, false}, {reads, false}}, []int{3}, "another file, or an edit, is not it"},
		{[]call{{reads, false}, {reads, false}}, nil, "nothing points"},
		{[]call{{reads, false}, {reads, true}, {reads, false}}, []int{2}, "a short one between whole ones points back"},
	} {
		var w Work
		var got []int
		for i, c := range tt.calls {
			w.Back()
			if w.PointedAt(c.files, c.isShort) {
				got = append(got, i)
			}
		}
		assert.Equal(t, tt.want, got, tt.reason)
	}
}

func TestWorkFiles(t *testing.T) {
	whole := Common.WorkFiles("read", []byte(`{"path":"/srv/app/main.go"}`))
	assert.Len(t, whole, 1)
	assert.Equal(t, whole, Common.WorkFiles("read", []byte(`{"path":"app\\main.go"}`)), "by the end of its path")
	assert.NotEqual(t, whole, Common.WorkFiles("edit", []byte(`{"path":"main.go"}`)), "it is changed")
}

// A call that may have written a file counts as a change of it, and no other does.
func TestMayHaveWritten(t *testing.T) {
	shell := func(command string) [2]string {
		return [2]string{"bash", `{"command":` + string(jsontext.Quote(command)) + `}`}
	}
	for _, tt := range []struct {
		call    [2]string
		changed bool
	}{
		{shell("cat > app/main.go <<'EOF'\npackage main\nEOF"), true},
		{shell("echo x >> main.go"), true},
		{shell("sed -i 's/a/b/' main.go"), true},
		{shell("sed -i.bak 's/a/b/' main.go"), true},
		{shell("sed -i 's/max(2, n)/min(a | b; c)/' main.go"), true},
		{shell("sh -c 'cd src && sed -i s/a/b/ main.go'"), true},
		{shell("tee main.go < /tmp/x"), true},
		{shell("cat fix.diff | patch main.go"), true},
		{shell("python3 - <<EOF\nopen('main.go', 'w').write('x')\nEOF"), true},
		{shell("cd app && node -e 'fs.writeFileSync(\"main.go\", s)'"), true},
		{shell("gofmt -w main.go && go test ./..."), true},
		{shell("git checkout HEAD~1 -- main.go"), true},
		{shell("git restore app/main.go"), true},
		{shell("git apply <<'EOF'\n--- a/main.go\n+++ b/main.go\n@@ -1 +1 @@\n-a\n+b\nEOF"), true},
		{shell("ruby -i -pe 'x' main.go"), true},
		{shell("jq . main.go | sponge main.go"), true},
		{shell("cat > notes.md <<'EOF'\n" + strings.Repeat("a line of a long text\n", 100) + "EOF\ncat > main.go <<'EOF'\nx\nEOF"), true},
		{shell("curl -so main.go https://example.com/x"), true},
		{shell("wget -O main.go https://example.com/x"), true},
		{shell("dd if=x of=app/main.go"), true},
		{shell("black main.go && git commit -am x"), true},
		{shell("bash -c 'sed -i s/a/b/ main.go'"), true},
		{shell("powershell -Command \"Set-Content app/main.go 'x'\""), true},
		{shell("awk -i inplace '{print}' main.go"), true},
		{shell("sed -Ei 's/a/b/' main.go; yq -i .a=1 x.yml"), true},
		{shell("sed -i s/a/b/ $PWD/main.go"), true},
		{shell("for f in main.go b.go; do sed -i s/a/b/ \"$f\"; done"), true},
		{shell("grep -l a main.go | xargs sed -i s/a/b/"), true},
		{shell("find . -name main.go -exec sed -i s/a/b/ {} +"), true},
		{shell("sed -i s/a/b/ 'app/(shop)/main.go'"), true},
		{shell("go run gen.go >| main.go"), true},
		{shell("sort -o main.go main.go"), true},
		{shell("ruff format main.go"), true},
		{shell("git -C app checkout HEAD~1 main.go"), true},
		{shell("uv run python - <<EOF\nopen('main.go', 'w')\nEOF"), true},
		{shell("cp /tmp/main.go app/"), true},
		{shell("cp main.go /tmp/backup.go"), false},
		{shell("black --check main.go"), false},
		{shell("awk -F: -vi=1 '{print}' main.go; perl -MList::Util -ne print main.go"), false},
		{shell("sed -i 's/x$/y/' b.go; cat main.go"), false},
		{[2]string{"replace_many", `{"why":"x","edits":[{"filePath":"main.go","oldString":"a","newString":"b"}]}`}, true},
		{[2]string{"local_shell", `{"action":{"command":["sed","-i","s/a/b/","main.go"]}}`}, true},
		{[2]string{"ipython", `{"code":"open('main.go', 'w').write('x')"}`}, true},
		{[2]string{"insert_into_file", `{"path":"main.go","code":"func a() {\n}"}`}, true},
		{shell("awk '{print}' main.go; curl -s https://example.com/x"), false},
		{shell("curl -s x | sudo tee main.go"), true},
		{shell("find . -name main.go | xargs sed -i s/a/b/ app/main.go"), true},
		{shell("LANG=C timeout 5 patch main.go x.diff"), true},
		{shell("docker exec web sed -i s/a/b/ main.go"), true},
		{shell("sudo cat main.go; LANG=C grep x main.go"), false},
		{shell("git log main.go; git add main.go"), false},
		{[2]string{"str_edit_thing", `{"path":"main.go","text":"package main\nfunc main() {}"}`}, true},
		{[2]string{"dev__text_editor", `{"command":"str_replace","path":"main.go","old_str":"a","new_str":"b"}`}, true},
		{shell("grep -n 'a\\|b' main.go | head -3"), false},
		{shell("sed -n '1,20p' main.go 2>/dev/null"), false},
		{shell("git diff main.go; wc -l main.go"), false},
		{shell("cat > other.go <<'EOF'\npackage main\nEOF"), false},
		{shell("go test -run X main.go 2>&1 > /tmp/out.txt"), false},
		{shell("python3 main.go"), false},
		{shell("grep -i -w total main.go; wc -w main.go"), false},
		{[2]string{"outline", `{"path":"main.go"}`}, false},
		{[2]string{"ask_about", `{"path":"main.go","question":"What is it?"}`}, false},
	} {
		edit := Common.WorkFiles("edit", []byte(`{"path":"/srv/app/main.go"}`))[0]
		isEdit := func(u workFile) bool { return u.name == edit.name && u.modifies }
		files := Common.WorkFiles(tt.call[0], []byte(tt.call[1]))
		assert.Equal(t, tt.changed, slices.ContainsFunc(files, isEdit), tt.call[1])
	}
}

// A pattern may mean each file of its kind: none that was read before is held. A command may have written though it
// failed, and an edit that failed has not.
func TestWrittenByPatternAndFailure(t *testing.T) {
	read := Common.WorkFiles("read", []byte(`{"path":"app/main.go"}`))
	other := Common.WorkFiles("read", []byte(`{"path":"app/main.css"}`))
	glob := Common.WorkFiles("bash", []byte(`{"command":"sed -i s/a/b/ app/*.go"}`))
	var w Work
	w.Back()
	assert.True(t, w.Holds(read, false), "read since")
	w.Holds(glob, false)
	assert.False(t, w.Holds(read, false), "read before")
	assert.True(t, w.Holds(other, false), "of another kind")

	assert.NotEmpty(t, Common.WorkFiles("bash", []byte(`{"command":"sed -i s/a/b/ x.go && false"}`)).AfterError())
	assert.Empty(t, Common.WorkFiles("edit", []byte(`{"path":"x.go"}`)).AfterError())
}

package identifier

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestScan(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want []string
	}{
		{"see internal/parse/lexer.go:41 and ./cmd/main.go.", []string{"0 internal/parse/lexer.go", "0 cmd/main.go"}},
		{"GET https://api.example.com/v1/users?id=17#top, ok", []string{"1 https://api.example.com/v1/users?id=17#top"}},
		{"on build7.example.com:2222", []string{"1 build7.example.com", "3 2222"}},
		{"commit 3f2a9c1 of 7d444840-9dc0-11d1-b245-5ffdce74fad2", []string{"2 3f2a9c1", "2 7d444840-9dc0-11d1-b245-5ffdce74fad2"}},
		{"pod web-7f9c4d21 at 10.0.12.7 took 1500 and 30s, v1.22.3, in 2026", []string{"2 web-7f9c4d21", "3 10.0.12.7", "3 1500", "3 30s", "3 v1.22.3"}},
		{"error TS2345, CVE-2026-1234, ERR_BAD_KEY, ParseError", []string{"4 TS2345", "4 CVE-2026-1234", "6 ERR_BAD_KEY", "4 ParseError"}},
		{"call max_tokens_per_day with readFile and `retries` or \"dry-run\"", []string{"6 max_tokens_per_day", "6 readFile", "5 retries", "5 dry-run"}},
		{`{"path":"a/b/c.go","text":"x\nfooBar\tgood_by_e"}`, []string{"0 a/b/c.go", "6 fooBar", "6 good_by_e"}},
		{"@scope/package", []string{"0 @scope/package"}},
		{"</StrictMode> </tool_use_error> </div> </a/b.go>", []string{"6 StrictMode", "6 tool_use_error", "0 a/b.go"}},
		{"src/model.ts-12-const x\nmodel.ts-7-\nsrc/a.b.go-120-export a-1.go v1.2-3 a.go-x2", []string{"0 src/model.ts", "0 model.ts", "0 src/a.b.go", "0 a-1.go", "3 v1.2-3"}},
		{"server.go:1234:56: undefined, build7.example.com:2222", []string{"0 server.go", "1 build7.example.com", "3 2222"}},
		{"at 2026-01-31T10:20:30.644Z, \"2026-01-31T10:20:30Z\" and 10:20:31.58Z in 2026-01-31T10-20-30-644Z", []string{"2 2026-01-31T10-20-30-644Z"}},
		{"node_modules/.pnpm/vfile@6.0.3/node_modules/vfile/index.js, vfile@6.0.3 and a@v1.2.3/b.go",
			[]string{"0 node_modules/.pnpm/vfile@6.0.3/node_modules/vfile/index.js", "3 6.0.3", "0 a@v1.2.3/b.go"}},
		{`cd x \u0026\u0026 make 2\u003e\u00261 \u003e/dev/null; see bin\update.sh, user\nfooBar`,
			[]string{"0 /dev/null", "0 update.sh", "6 fooBar"}},
		{`C:\src\Shop\bin\Shop.dll, D:\new\tool_box and "E:\\a\\b_c", lib\Shop_x`, []string{`0 C:\src\Shop\bin\Shop.dll`,
			"6 b_c", "6 Shop_x"}},
		{`"code":"print(\"\\nfooBar\")\n\tif x {\\n\\t\\tsetName", "lib\\new_x", "E:\\temp_a\\b_c"`, // code in JSON within JSON
			[]string{"6 fooBar", "6 setName", "6 new_x", "6 temp_a", "6 b_c"}},
		{"données.csv café_au /srv/straße_1 数据/a.go 文件a.go", []string{"0 a.go"}},
		{"订单号20240117已取消 端口8080 提交3f2a9c1d8e7b 用户#12345 版本1.2.3 修改/etc/nginx.conf后 打开./src/a.go",
			[]string{"3 20240117", "3 8080", "2 3f2a9c1d8e7b", "3 12345", "3 1.2.3", "0 /etc/nginx.conf", "0 src/a.go"}},
		{"数据/src/a.go 报告/2024/q1.md src/数据/x/a.go 修改/etc/nginx/nginx.conf後 ログ/var/log/app.log", // a path is whole or absent
			[]string{"0 /etc/nginx/nginx.conf", "0 /var/log/app.log"}},
		{"调用foo_bar。数据.go 读取config_a文件/etc/nginx.conf", []string{"6 foo_bar", "6 config_a", "0 /etc/nginx.conf"}},
		{"cafe\u0301.csv src/donne\u0301es/x_y.go donne\u0301es/a.go src/ไฟล์/a.go ไฟล์.go, ⚠\ufe0f./src/a.go", []string{"0 src/a.go"}},
		{"see .claude/rules_go/a.md, ./.github/x.yml and .eslintrc.json, ...opts.map, .NET 8.0.100, .forEach(x).",
			[]string{"0 .claude/rules_go/a.md", "0 .github/x.yml", "0 .eslintrc.json", "3 8.0.100", "6 forEach"}},
		{"文件_config.yaml 日志.env.local clé=shop_id, путь: /etc/passwd café:lib/é", []string{"0 /etc/passwd"}},
		{`"Plan B:\nsrc/app/main.go" D:\new\tool_box`, []string{"0 src/app/main.go"}},
		{"ports: 127.0.0.1:8080:80, 10:20:30.5", []string{"3 127.0.0.1", "3 8080"}}, // a host is no hour
		{"took 0.14s and 12.305ms, within 1.5s, of 0.35GB", []string{"3 1.5s", "3 0.35GB"}},
		{"diff --git a/cmd/main.go b/cmd/main.go\n--- a/cmd/main.go\n+++ b/cmd/main.go\n see a/main.go",
			[]string{"0 cmd/main.go", "0 cmd/main.go", "0 cmd/main.go", "0 cmd/main.go", "0 a/main.go"}},
		{"in Use Cases/UC-16.md:12, docs/Use Cases/Second Part/UC 17.md and See README.md", []string{"0 Use Cases/UC-16.md", "0 docs/Use Cases/Second Part/UC 17.md", "0 README.md"}},
		{"./my notes/todo list.md: x\n/srv/my data/a.csv\nsee src/my\\ data/b.csv, in \"/Library/Application Support/Code/a.json\"",
			[]string{"0 my notes/todo list.md", "0 /srv/my data/a.csv", "0 src/my\\ data/b.csv", "0 /Library/Application Support/Code/a.json"}},
		{`"C:\Program Files\App\a.txt" and C:\Users\me\b.txt Then D:\my data\c.txt`, []string{`0 C:\Program Files\App\a.txt`, `0 C:\Users\me\b.txt`, `0 D:\my data\c.txt`}},
		{"FAIL Tests/a.test.ts, M Sources/App.swift, ls -la Docs/a.md -x Other/b.md, src/a.go Docs/b.go, of 269B", // words beside paths
			[]string{"0 Tests/a.test.ts", "0 Sources/App.swift", "0 Docs/a.md", "0 Other/b.md", "0 src/a.go", "0 Docs/b.go", "3 269B"}},
		{"plain words, and/or 12 of 345. EMPTY", nil},
		{"", nil},
	} {
		var got []string
		Scan(tc.in, func(id string, kind Kind) { got = append(got, fmt.Sprint(kind, " ", id)) })
		assert.Equal(t, tc.want, got, tc.in)
	}
}

// TestCover: whatever a text mentions is covered, with each end of a path, and nothing else.
func TestCover(t *testing.T) {
	for text, want := range map[string][]string{
		"see cmd/main.go and TS2345":           {"cmd/main.go", "main.go", "TS2345"},
		"max_tokens":                           {"max_tokens"},
		"main.go of cmd/main.go, main.go":      {"cmd/main.go", "main.go"},
		"https://x.dev/a":                      {"https://x.dev/a", "//x.dev/a", "/x.dev/a", "x.dev/a", "a"},
		"at " + strings.Repeat("a/", MaxBytes): nil,
	} {
		var covered Known
		Cover(&covered, text)
		for _, id := range want {
			assert.True(t, covered.Has(id), id)
		}
		assert.Len(t, covered.hashes, len(want), text)
	}
}

func TestScanAllocatesNothing(t *testing.T) {
	text := strings.Repeat("see internal/parse/lexer.go:41, `retries`, 3f2a9c1b and https://x.dev/a?b=c of TS2345 ", 50)
	found := 0
	emit := func(string, Kind) { found++ }
	Scan(text, emit) // The word lists are made by the first call.
	assert.Zero(t, testing.AllocsPerRun(10, func() { Scan(text, emit) }))
	assert.Positive(t, found)
}

func FuzzScan(f *testing.F) {
	f.Add("see a/b.go:41, @scope/x `ok` https://x.dev/?a=b \\n10.0.0.1 TS2345")
	f.Fuzz(func(t *testing.T, text string) {
		Scan(text, func(id string, kind Kind) {
			require.Contains(t, text, id)
			require.NotEmpty(t, id)
			require.LessOrEqual(t, len(id), 4*MaxBytes)
			require.Less(t, kind, Kinds)
		})
	})
}

func BenchmarkScan(b *testing.B) {
	line := "2026-03-01 INFO internal/parse/lexer.go:41 request_id=3f2a9c1b served /v1/users in 17ms for user_name\n"
	prose := "The parser reads one line after the other and stops at the first that it does not know, which it reports.\n"
	for name, text := range map[string]string{"log": strings.Repeat(line, 1000), "prose": strings.Repeat(prose, 1000)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				Scan(text, func(string, Kind) { n++ })
			}
		})
	}
}

// TestHump: a hump is found at any place in a name of any length.
func TestHump(t *testing.T) {
	for n := 2; n < 40; n++ {
		for at := 1; at < n; at++ {
			name := strings.Repeat("a", at) + "B" + strings.Repeat("c", n-at-1)
			assert.True(t, hasHump(name), name)
		}
		assert.False(t, hasHump(strings.Repeat("A", n-1)+"b"+strings.Repeat("_", n)), n)
		assert.False(t, hasHump(strings.Repeat("a1B_", n)), n)
	}
}

// Words are passed over eight bytes at a time: at each distance from the name behind them.
func TestScanBehindWords(t *testing.T) {
	for n := range 40 {
		for _, sep := range []string{" ", "\n", "{", "\t"} {
			var got []string
			Scan(" "+strings.Repeat("ab cde ", 6)[:n]+sep+"getUser and more words",
				func(id string, _ Kind) { got = append(got, id) })
			assert.Equal(t, []string{"getUser"}, got, "behind %d bytes and %q", n, sep)
		}
	}
}

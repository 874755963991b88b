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
		{"Warning: did not end with newline; file saved", false, "a warning is no refusal"},
		{"Warning: the old text was not unique.\nNo replacement was performed.", true, "what follows a warning is one"},
		{"Warning: the file was not saved", true, "a warning that is all"},
		{`{"error":{"code":0,"message":"OK"}}`, false, "the code of a success"},
		{`{"errcode":40013,"errmsg":"invalid appid"}`, true, "the code of an error"},
		{"<tool_use_error>Sibling tool call errored</tool_use_error>", true, "the tag says so"},
		{"File has been modified since read, either by the user or by a linter.", true, "it was not the call that did"},
		{"File has been unexpectedly modified. Read it again.", true, "nor here"},
		{"Replaced text in a.go. Changed 26 characters to 0 characters.", false, "0 of something else"},
		{"Wrote 0 bytes to a.go", false, "an empty file"},
		{"Found 2 matches of the string to replace, but replace_all is false.", true, "but"},
		{"File already existed and was overwritten.", false, "it was changed nevertheless"},
		{"The file already exists", true, "it was not changed"},
		{"Operation cancelled by user", true, "denied"},
		{"未找到要替换的文本", true, "Chinese"},
		{"替换失败：old_string 在文件中出现 2 次", true, "Chinese"},
		{"错误：文件不存在", true, "Chinese"},
		{"文件已存在", true, "Chinese: it exists"},
		{"文件已更新，共替换 2 处", false, "Chinese: it was updated"},
		{"成功写入文件，没有错误", false, "Chinese: no errors"},
		{"没有错误。文件已保存", false, "Chinese: no errors, and saved"},
		{"警告：文件末尾没有换行；文件已保存", false, "Chinese: a warning"},
		{"文件不存在，已创建新文件", false, "Chinese: it was created"},
		{"文件不存在，未创建", true, "Chinese: it was not"},
		{"File not found, created it", false, "an editor that creates a missing file"},
		{"The file a.c does not exist. Created it with 3 lines.", false, "in two sentences"},
		{"File not found. It must be created first.", true, "it was not created"},
		{"File not found, and no file was created", true, "nor here"},
		{"String not found in a.c, which was created today", true, "another thing that is not there"},
		{"Не удалось найти строку для замены", true, "Russian"},
		{"Ошибка: файл не найден", true, "Russian"},
		{"Файл успешно обновлён", false, "Russian"},
		{"Строка заменена (ошибок нет)", false, "Russian: a participle"},
		{"Нет ошибок. Файл сохранён.", false, "Russian: no errors"},
		{"Ошибок нет. Файл сохранён.", false, "Russian: no errors, in the other order"},
		{"Файл сохранён, ошибок: 0", false, "Russian: their number"},
		{"Файл не сохранён: 3 ошибок", true, "Russian: errors"},
		{"置換できませんでした", true, "Japanese"},
		{"ファイルを更新しました", false, "Japanese"},
		{"문자열을 찾을 수 없습니다", true, "Korean"},
		{"파일이 업데이트되었습니다", false, "Korean"},
		{"Datei nicht gefunden", true, "German"},
		{"Keine Fehler. Die Datei wurde gespeichert.", false, "German: no errors"},
		{"Fichier introuvable", true, "French"},
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
		`{"error":{"code":0}}`:                                      "",
		`{"error":{"code":0,"message":"x"},"success":false}`:        `{"success":false}`,
		`{"error":{"message":"x"}}`:                                 `{"error":{"message":"x"}}`,
		`{"error":{"code":-32601,"message":"no method"}}`:           `{"error":{"code":-32601,"message":"no method"}}`,
		`{"errcode":0,"errmsg":"ok"}`:                               "",
		`{"error":"no error","success":"true"}`:                     "",
		`{"exit_code":"2","success":"false"}`:                       `{"exit_code":"2","success":"false"}`,
		`{"status":"timeout"}`:                                      `{"status":"timeout"}`,
		`{"error":null,"errors":[],"status":"cancelled","ok":true}`: "",
		`{"status":200,"message":"fine"}`:                           "",
		"{\"error\": \"None\", \"errors\": [ ]}":                    "",
		`{"nested":{"error":"x"}}`:                                  "",
		`{"error":"x"`:                                              "",
		`["error"]`:                                                 "",
		`{"errors":"none found"}`:                                   "",
		`{"error":"No errors reported."}`:                           "",
		`{"errors":"0 errors"}`:                                     "",
		`{"errors":"无"}`:                                            "",
		`{"error":"none of the files matched"}`:                     `{"error":"none of the files matched"}`,
		`{"error":"no such table"}`:                                 `{"error":"no such table"}`,
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

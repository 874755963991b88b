package toolcall

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/winnowgo/winnow/internal/ascii"
)

// saying is what a word in the result of an editor says of the call.
type saying int

const (
	saysNothing  saying = iota
	saysNo              // the file was not changed
	saysNone            // likewise, at the beginning: elsewhere it may be about something else
	saysFault           // likewise, unless "no" or 0 stands in front of it
	saysWarning         // something is not as it should be, which does not keep the file from being changed
	saysMaybeNot        // the file was not changed, unless another word says that it was
	saysDone            // the file was changed
)

// The words, in lower case.
var (
	refusing = []string{"not", "cannot", "can't", "couldn't", "didn't", "doesn't", "hasn't", "isn't", "wasn't",
		"won't", "failed", "fail", "fails", "required", "invalid", "unable", "denied", "missing", "nothing",
		"unsuccessful", "rejected", "refused", "errored", "forbidden", "aborted", "cancelled", "canceled",
		"interrupted", "declined", "timed", "impossible", "unsupported", "unexpectedly", "nicht", "fehlgeschlagen",
		"ungültig", "verweigert", "introuvable", "échec", "échoué", "refusé", "falló", "inválido", "denegado", "não",
		"falha", "falhou", "negado", "не", "нельзя", "невозможно", "отказано", "неверный", "отсутствует",
		"отклонено", "отменено", "сбой"}
	nones  = []string{"no", "0", "keine", "kein", "aucun", "aucune", "ningún", "nenhum", "нет"}
	faults = []string{"error", "errors", "failure", "failures", "exception", "exceptions", "fehler", "erreur",
		"erreurs", "erro", "erros", "ошибка", "ошибки", "enoent", "eisdir", "eacces", "eperm", "enotdir", "eexist",
		"enospc", "erofs", "ebusy", "einval", "emfile", "eloop", "enametoolong"}
	warnings = []string{"warning", "warnings", "warn", "note", "notice", "hint", "issue", "issues", "problem",
		"problems", "diagnostics", "warnung", "avertissement", "advertencia", "aviso", "предупреждение",
		"ошибок"} // the form behind a number, and beside "нет" on either side
	doubting = []string{"already", "exists", "but", "must", "multiple", "ambiguous", "mismatch", "conflict",
		"conflicts", "unchanged", "skipped", "ignored", "unknown", "outside", "unauthorized", "blocked",
		"timeout", "exceeds", "exceeded"}
	doing = []string{"success", "successful", "successfully", "succeeded", "done", "ok", "updated", "edited",
		"wrote", "written", "created", "replaced", "applied", "modified", "saved", "inserted", "deleted",
		"removed", "changed", "added", "appended", "overwritten", "patched", "erfolgreich", "aktualisiert",
		"gespeichert", "geändert", "erstellt", "ersetzt", "geschrieben", "succès", "enregistré", "modifié",
		"créé", "remplacé", "écrit", "éxito", "actualizado", "guardado", "modificado", "creado", "reemplazado",
		"escrito", "sucesso", "atualizado", "salvo", "criado", "substituído", "успешно", "готово", "обновлен",
		"сохранен", "записан", "создан", "изменен", "заменен", "удален", "применен", "добавлен", "исправлен"}
)

// signs are what is said in scripts without spaces between words, or with endings joined to the words. Of those that
// begin at the same place the longest counts.
var signs = map[saying][]string{
	saysNo: {"未", "没有", "沒有", "不存在", "不能", "不允许", "不支持", "不匹配", "不唯一", "不一致", "不成功",
		"找不到", "无法", "無法", "失败", "失敗", "拒绝", "拒絕", "已存在", "已被拒", "已被锁", "已被占",
		"已取消", "自读取", "自上次", "无效", "無效", "禁止", "超时", "ません", "拒否", "無効", "できない",
		"없", "않", "못", "실패", "거부", "잘못"},
	saysFault:   {"错误", "錯誤", "异常", "異常", "エラー", "오류"},
	saysWarning: {"警告", "注意", "问题", "問題", "경고"},
	saysDone: {"已", "成功", "完成", "完了", "更新了", "修改了", "替换了", "写入了", "创建了", "保存了",
		"添加了", "删除了", "しました", "されました", "성공", "완료", "했습니다", "되었습니다"},
	saysNothing: {"没有错误", "沒有錯誤", "无错误", "無錯誤", "没有异常", "无异常", "没有问题", "没有警告",
		"错误处理", "异常处理", "未来", "エラーはありません", "エラーなし"},
}

// sayings has what each of the words says. A word of several lists says what the first of them says.
var sayings = sync.OnceValue(func() map[string]saying {
	all := map[string]saying{}
	for _, list := range [...]struct {
		words []string
		says  saying
	}{{refusing, saysNo}, {nones, saysNone}, {warnings, saysWarning}, {faults, saysFault}, {doubting, saysMaybeNot},
		{doing, saysDone}} {
		for _, word := range list.words {
			if all[word] == saysNothing {
				all[word] = list.says
			}
		}
	}
	return all
})

// sayingOf returns what a word says. The participles of Russian bend: обновлён, обновлена, обновлено.
func sayingOf(word string) saying {
	if says := sayings()[word]; says != saysNothing {
		return says
	}
	if strings.HasSuffix(word, "error") {
		return saysFault
	}
	if ascii.Only(word) {
		return saysNothing
	}
	if stem := strings.TrimRight(strings.ReplaceAll(word, "ё", "е"), "аоы"); slices.Contains(doing, stem) {
		return saysDone
	}
	return sayingOfSigns(word)
}

// sayingOfSigns returns what the first sign in text says.
func sayingOfSigns(text string) saying {
	for i := 0; i < len(text); {
		says, longest := saysNothing, 0
		for kind, list := range signs {
			for _, sign := range list {
				if len(sign) > longest && strings.HasPrefix(text[i:], sign) {
					says, longest = kind, len(sign)
				}
			}
		}
		if says != saysNothing {
			return says
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		i += max(size, longest)
	}
	return saysNothing
}

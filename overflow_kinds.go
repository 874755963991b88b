package winnow

import (
	"strings"
	"unicode/utf8"
)

// What a number in a refusal counts is told by the words around it.

// kind says what the number at i counts, by the words around it: the words behind it where they decide
// ("(5000) exceeds …"), then the nearest telling word before it. over: that word was "exceeded".
func (c *counts) kind(ts []token, i int) (kind count, over bool) {
	back := c.behind(ts, i)
	switch back {
	case countTotal:
		back = c.before(ts, i)
		if back == countOutput || back == countLimit && endsWithin(ts, i) {
			return back, false // "max_prompt_len 8192 exceeded: 9000", "a maximum of 8192 tokens exceeded"
		}
		return countTotal, false
	case countLimit, countDelta:
		return back, false
	}
	back = c.before(ts, i)
	if back == countLimit || back == countDelta {
		return back, i > 1 && (ts[i-1].s == ":" || ts[i-1].s == "(") && (ts[i-2].role&rOver != 0 || i > 2 && ts[i-3].role&rOver != 0)
	}
	switch ahead := ahead(ts, i); {
	case ahead == countOutput && promised(ts, i):
		return countIgnored, false
	case ahead != countNone:
		return ahead, false
	}
	return back, false
}

// endsWithin says that nothing but the relation stands behind the number i and its unit.
func endsWithin(ts []token, i int) bool {
	k := skipUnit(ts, i+1)
	if k >= len(ts) || ts[k].role&rOver == 0 {
		return false
	}
	return k+1 == len(ts) || ts[k+1].sign && (ts[k+1].s == ":" || endsSentence(ts[k+1].s))
}

// promised says that a number is one of several that a model supports: "supports 32000 input tokens and
// 8000 output tokens".
func promised(ts []token, i int) bool {
	for i--; i >= 0 && !(ts[i].sign && endsSentence(ts[i].s)); i-- {
		if w := ts[i].s; w == "supports" || w == "accepts" || w == "allows" || w == "permits" {
			return true
		}
	}
	return false
}

// behind reads the words directly behind a number.
func (c *counts) behind(ts []token, i int) count {
	k := skipUnit(ts, i+1)
	for k < len(ts) && (ts[k].s == ")" || ts[k].s == "is" || ts[k].s == "are" || ts[k].s == "cannot" || ts[k].s == "which" ||
		ts[k].s == "," && k+1 < len(ts) && ts[k+1].role&rToo != 0) {
		k++
	}
	if k >= len(ts) {
		return countNone
	}
	t := ts[k]
	switch {
	case t.s == "," && isSign(ts, i-1, "(") && k+1 < len(ts) && ts[k+1].role&rMax != 0 && numberFrom(ts, k+2, 3) > 0:
		return countTotal // "the context window (9000 tokens, maximum 8192)"
	case t.role&rOver != 0 && k+1 < len(ts) && ts[k+1].s == "by", t.role&rContext != 0:
		return countLimit // "a limit of 8192 exceeded by …", "an 8192 token context"
	case (t.s == "over" || t.s == "above" || t.s == "beyond") && numberFrom(ts, k+1, 6) == 0,
		(t.s == "over" || t.s == "above" || t.s == "beyond") && numberFrom(ts, k+1, 6) > ts[i].n && k == skipUnit(ts, i+1):
		return countDelta // "3200 tokens over the limit", "512 tokens beyond the limit of 8192"
	case t.role&rOver != 0, t.role&rMore != 0, t.role&rToo != 0, t.s == "over", t.s == "above", t.s == ">":
		return countTotal
	case t.role&rMax != 0, t.s == "window", t.s == "permits" || t.s == "allows", t.s == "of" && k+1 < len(ts) && ts[k+1].role&rContext != 0:
		return countLimit
	}
	return countNone
}

// numberFrom returns the first number of the n tokens from i on, 0 for none.
func numberFrom(ts []token, i, n int) int32 {
	for k := i; k < i+n && k < len(ts); k++ {
		if ts[k].isNum {
			return ts[k].n
		}
	}
	return 0
}

// holds says that a model has room for what is named next: "can take 8192", "only reads 8192".
func holds(w string) bool {
	switch w {
	case "hold", "holds", "take", "reads", "handle", "handles":
		return true
	}
	return false
}

// before reads the words before a number, nearest first, up to the number before it.
func (c *counts) before(ts []token, i int) count {
	weak := countNone
	for k := i - 1; k >= 0 && k >= i-9; k-- {
		t := ts[k]
		switch {
		case t.isNum || t.sign && endsSentence(t.s), (t.s == ":" || t.s == "{") && weak != countNone:
			return weak
		case t.role&rInput != 0 && k == i-2 && isSign(ts, i-1, "="):
			return countInput
		case t.s == ">" && isSign(ts, k-1, "-"):
			weak = countInput // "too long -> 140000"
		case t.s == "room" && k > 0 && ts[k-1].role&rOutput != 0:
			continue // "answer room (500)"
		case t.s == "current" && k > 0 && ts[k-1].s == "of":
			continue // "the max length of current question is 20000"
		case t.role&rActual != 0 && k > 0 && (ts[k-1].s == "model" || ts[k-1].s == "models"):
			return countLimit // "the model takes 8192"
		case t.s == "least":
			c.atLeast = true
		case t.role&rField != 0 && k >= i-2:
			return countIgnored
		case t.s == "minimum" || t.s == "draft" || t.s == "used" || t.s == "remaining" || t.s == "least":
			return countNone
		case t.s == "by" && k == i-1:
			return countDelta
		case t.role&rOutput != 0 && isSign(ts, k-1, "+") && !isNum(ts, k-2) && !isSign(ts, k-2, ")") && k < i-1 && !ts[i-1].sign:
			return countTotal // "prompt + max_tokens would be 41200"
		case t.role&rOutParam != 0, t.role&rOutput != 0 && (k == i-1 || k == i-2 && !isSign(ts, i-1, "(")):
			return countOutput
		case t.role&rOutput != 0 && k >= i-3 && isSign(ts, k-1, "+") && (isNum(ts, k-2) || isSign(ts, k-2, ")")):
			return countOutput // "input (10000) + output (2000)"
		case t.role&rMax != 0 && k+1 < len(ts) && ts[k+1].role&rOutput != 0:
			continue // "input and maximum output tokens (35000)"
		case t.role&rMax != 0 && isSign(ts, k-1, "+"):
			return countOutput // "prompt (5000) + max tokens (4096)"
		case t.role&rOver != 0 && ts[k+1].s == "by":
			weak = countInput // "exceeded by a request with 20000"
		case t.role&(rMax|rContext) != 0, t.s == "supports", t.s == "accepts", t.s == "allows", t.s == "permits", holds(t.s), t.role&(rOver|rThan) != 0 && k >= i-4 && !(t.role&rThan != 0 && isSign(ts, i-1, ":")),
			t.s == "<", t.s == ">", t.s == "over", t.s == "above", t.s == "window", t.s == "room",
			t.s == "to" && k > 0 && ts[k-1].s == "up", t.s == "within":
			return countLimit
		case t.s == "range" || t.s == "most":
			return countLimit
		case t.s == "total" || t.s == "requested" || t.s == "totals" || t.s == "requires" || t.s == "needs":
			return countTotal
		case t.role&rActual != 0:
			return countInput
		case t.role&(rInput|rLength|rToken|rRequest|rCapacity) != 0:
			weak = countInput
		}
		if kind := beforeWide(t.s); kind != countNone {
			return kind
		}
	}
	return weak
}

// beforeWide reads a run of characters of a script without spaces: the part nearest to the number decides.
func beforeWide(s string) count {
	if s == "" || s[0] < utf8.RuneSelf { // such scripts are set apart from others
		return countNone
	}
	limit := lastOf(s, "最大", "上限", "限制", "超过", "超過", "超出", "不能大于", "最多", "窗口", "ウィンドウ", "制限", "한도", "최대", "제한", "大于")
	actual := lastOf(s, "当前", "實際", "实际", "请求", "共", "现在", "現在", "요청", "현재", "收到")
	input := lastOf(s, "输入", "輸入", "入力", "입력", "长度为")
	most := lastOf(s, "最大", "最多", "최대") // stands before what it belongs to: "最大输入长度为28000"
	switch {
	case limit > max(actual, input), most > actual && input > most:
		return countLimit
	case max(actual, input) >= 0:
		return countInput
	}
	return countNone
}

// lastOf returns where the last of the words stands in s, -1 for none.
func lastOf(s string, words ...string) int {
	last := -1
	for _, w := range words {
		last = max(last, strings.LastIndex(s, w))
	}
	return last
}

// ahead reads what a number belongs to in the words behind it: "4012 in the messages", "1024 max_new_tokens".
func ahead(ts []token, i int) count {
	for k := i + 1; k < len(ts) && k <= i+6; k++ {
		t := ts[k]
		switch {
		case t.isNum || t.sign:
			return countNone
		case t.role&rOutput != 0:
			return countOutput
		case t.role&(rInput|rActual) != 0:
			return countInput
		}
	}
	return countNone
}

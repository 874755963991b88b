package overflow

import (
	"strings"
	"unicode/utf8"
)

// hitWide runs the families over Chinese, whose words no space divides: what is sent and how it is too much, as parts
// of the text.
func hitWide(s string) hit {
	if !containsAny(s, "过长", "過長", "太长", "太長", "超长", "超長", "超过", "超過", "超出", "超限", "过大", "過大", "大于", "大於",
		"溢出", "最大长度", "上限", "最多", "不能超", "过多", "已满", "耗尽", "用尽", "请缩短", "請縮短") {
		return hitNone
	}
	if containsAny(s, "图片", "图像", "圖片", "文件") && !containsAny(s, "上下文", "token") {
		return hitNone
	}
	context := containsAny(s, "上下文", "语境", "context")
	sent := containsAny(s, "输入", "輸入", "提示词", "提示詞", "prompt", "消息", "訊息", "对话", "對話", "会话", "历史", "token", "文本",
		"问题", "内容长度")
	switch {
	case context, sent:
		if containsAny(s, "字符", "文字") && !strings.Contains(s, "token") && !context {
			return hitChars
		}
		if strings.Contains(s, "字节") {
			return hitBytes
		}
		return hitTokens
	case containsAny(s, "请求体", "請求體", "请求过大"):
		return hitBytes
	case containsAny(s, "请求", "請求") && containsAny(s, "长度", "長度", "過長", "过长"):
		return hitTokens
	}
	return hitNone
}

// lastOf returns where the last of the words stands in s, -1 for none.
func lastOf(s string, words ...string) int {
	last := -1
	for _, w := range words {
		last = max(last, strings.LastIndex(s, w))
	}
	return last
}

// beforeWide reads a run of Chinese characters before a number: the part nearest to the number decides.
func beforeWide(s string) count {
	if s == "" || s[0] < utf8.RuneSelf { // they are set apart from others
		return countNone
	}
	limit := lastOf(s, "最大", "上限", "限制", "超过", "超過", "超出", "不能大于", "最多", "窗口", "大于")
	actual := lastOf(s, "当前", "實際", "实际", "请求", "共", "现在", "收到")
	input := lastOf(s, "输入", "輸入", "长度为")
	most := lastOf(s, "最大", "最多") // stands before what it belongs to: "最大输入长度为28000"
	switch {
	case limit > max(actual, input), most > actual && input > most:
		return countLimit
	case max(actual, input) >= 0:
		return countInput
	}
	return countNone
}

// Words of Chinese, as parts of a text.
var (
	answerWide = []string{"输出", "輸出", "回答超", "回答过长", "回答长度", "回复超", "回复过长", "回复长度"}
	inputWide  = []string{"输入", "輸入", "上下文"}
	rateWide   = []string{
		"频繁", "頻繁", "频率", "限流", "速率", "每分钟", "并发", "每秒", "限速", "流控", "过快", "请求太多", "请求过多",
	}
	quotaWide = []string{
		"配额", "額度", "额度", "余额", "欠费", "充值", "每日", "免费额", "套餐", "用量已", "次数已用", "免费调用", "时的使用上限",
	}
	busyWide   = []string{"繁忙", "过载", "访问量过大", "负载过高"}
	deniedWide = []string{
		"无效的令牌", "令牌无效", "令牌已过期", "令牌过期", "密钥", "未授权", "无权", "没有权限", "鉴权", "认证失败", "身份验证",
	}
)

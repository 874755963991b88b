package overflow

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// hitWide runs the families over scripts without spaces between the words, and over Korean, by parts of the text.
func hitWide(s string) hit {
	if !containsAny(s, "过长", "過長", "太长", "太長", "超长", "超長", "超过", "超過", "超出", "超限", "过大", "過大", "大于", "大於", "溢出", "最大长度",
		"上限", "最多", "不能超", "过多", "已满", "耗尽", "用尽", "请缩短", "請縮短",
		"超え", "長すぎ", "大きすぎ", "多すぎ", "くなりすぎ", "オーバー", "が要求され", "上回", "より大きい", "より長い", "収まりません", "収まらない",
		"入りき", "までです", "短くして", "초과", "너무 ", "넘었", "넘습", "넘는", "넘어", "넘을", "초과했", "보다 깁", "보다 길", "보다 큽", "보다 많",
		"줄여 주", "줄여주", "토큰까지") {
		return hitNone
	}
	if containsAny(s, "图片", "图像", "圖片", "画像", "이미지", "文件", "文件名") &&
		!containsAny(s, "上下文", "token", "コンテキスト", "컨텍스트") {
		return hitNone
	}
	context := containsAny(s, "上下文", "语境", "コンテキスト", "文脈", "컨텍스트", "문맥", "context")
	sent := containsAny(s, "输入", "輸入", "提示词", "提示詞", "prompt", "消息", "訊息", "对话", "對話", "会话", "会話", "历史", "请求的 token",
		"token", "文本", "问题", "内容长度",
		"入力", "プロンプト", "トークン", "メッセージ", "입력", "프롬프트", "토큰", "메시지", "대화")
	if context || sent {
		if containsAny(s, "字符", "文字", "글자") && !strings.Contains(s, "token") && !context {
			return hitChars
		}
		if containsAny(s, "字节", "バイト", "바이트") {
			return hitBytes
		}
		return hitTokens
	}
	if containsAny(s, "请求体", "請求體", "请求过大", "リクエストボディ", "リクエストが大き", "요청 본문", "요청이 너무 큽") {
		return hitBytes
	}
	if containsAny(s, "请求", "請求", "リクエスト", "요청") && containsAny(s, "长度", "長度", "過長", "过长", "長すぎ", "너무 깁", "너무 길") {
		return hitTokens
	}
	return hitNone
}

// The answer, and what is sent, in scripts without spaces.
var (
	answerWide = []string{"输出", "輸出", "出力", "출력", "回答超", "回答过长", "回答长度", "回复超", "回复过长", "回复长度"}
	inputWide  = []string{"输入", "輸入", "入力", "입력", "上下文", "コンテキスト", "컨텍스트"}
)

// beginsWithUnit reports whether a run of such characters begins with the unit of the number in front of it.
func beginsWithUnit(s string) bool {
	begins := func(unit string) bool { return strings.HasPrefix(s, unit) }
	return slices.ContainsFunc([]string{"トークン", "토큰", "个", "個"}, begins)
}

// lastOf returns where the last of the words stands in s, -1 for none.
func lastOf(s string, words ...string) int {
	last := -1
	for _, w := range words {
		last = max(last, strings.LastIndex(s, w))
	}
	return last
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

// The words of scripts without spaces, as parts of a text.
var (
	rateWide = []string{
		"频繁", "頻繁", "频率", "限流", "速率", "每分钟", "并发", "每秒", "限速", "流控", "过快", "过于频繁", "请求太多", "请求过多",
		"レート制限", "毎分", "分あたり", "毎秒", "秒あたり", "リクエストが多すぎ", "초당", "요청이 너무 많", "속도 제한", "분당",
	}
	minuteWide = []string{"每分钟", "毎分", "分あたり", "분당"}
	quotaWide  = []string{
		"配额", "額度", "额度", "余额", "欠费", "充值", "每日", "免费额", "套餐", "用量已", "次数已用", "免费调用", "时的使用上限",
		"利用枠", "残高", "利用上限", "クレジット", "할당량", "잔액",
	}
	busyWide   = []string{"繁忙", "过载", "访问量过大", "负载过高", "混雑", "과부하"}
	deniedWide = []string{
		"无效的令牌", "令牌无效", "令牌已过期", "令牌过期", "密钥", "未授权", "无权", "没有权限", "鉴权", "认证失败", "身份验证",
		"認証", "権限", "キーが無効", "인증", "권한", "키가 유효",
	}
)

package rules

import "strings"

// governsAsian reports whether a sentence in a script without spaces says what an agent is to keep to, see [lexicon.governs].
func governsAsian(s string) bool {
	for _, k := range asianLimits {
		whole := true
		at := 0
		for _, words := range k {
			n := indexOfAny(s[at:], words)
			if n < 0 {
				whole = false
				break
			}
			at += n
		}
		if whole && !isPast(s) && indexOfAny(s, showing) < 0 {
			return true
		}
	}
	return false
}

// indexOfAny returns where the first of words stands in a text; less than 0 where none does.
func indexOfAny(s string, words []string) int {
	first := none
	for _, w := range words {
		if i := strings.Index(s, w); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	return first
}

// isPast reports whether a sentence in a script without spaces says what was done, or what is.
func isPast(s string) bool {
	s = strings.TrimRight(s, " \t。.!！~")
	for _, end := range pastEnds {
		if strings.HasSuffix(s, end) {
			return true
		}
	}
	return strings.Contains(s, "了最")
}

// asianLimits are such rules in scripts without spaces, each as the words that follow each other, of each step any.
var asianLimits = [][][]string{
	{{"最小", "尽量少", "尽可能少"}, {"改动", "修改", "变更", "更改"}},
	{{"改动", "修改", "变更"}, {"最小", "尽量小", "尽可能小"}},
	{{"変更", "修正"}, {"最小限"}},
	{{"最小限"}, {"変更", "修正"}},
	{{"只做", "仅做", "只改", "只作"}, {"必要", "必须"}, {"修改", "改动", "部分"}},
	{{"改动", "修改", "变更", "代码"}, {"越小越好", "越少越好"}},
	{{"できるだけ", "なるべく"}, {"少なく", "小さく", "最小"}, {"変更", "修正", "して"}},
	{{"되도록", "최대한", "가능한 한"}, {"적게", "작게"}, {"수정", "변경", "바꿔"}},
	{{"변경", "수정"}, {"최소한", "최소화"}},
	{{"최소한의"}, {"변경", "수정"}},
	{{"最多", "不超过", "只能", "只", "至少"}, {"一个", "一条", "两个", "两条", "三个", "一次"}, {"命令", "问题", "工具", "提交", "消息"}},
	{{"コマンド", "質問", "変更"}, {"一度に"}, {"一つ", "1つ", "ひとつ"}},
	{{"도구", "명령", "질문"}, {"하나만", "한 개만", "하나씩"}, {"호출", "실행", "사용", "하"}},
	{{"コマンド", "質問", "ツール"}, {"一つまで", "1つまで", "一つだけ", "1つだけ"}},
	{{"分小步", "小步", "一步一步", "循序渐进"}, {"进行", "来", "走", "推进", "工作"}},
	{{"小さなステップで", "一歩ずつ", "少しずつ", "段階的に"}, {"進めて", "作業", "進める"}},
	{{"작은 단계로", "한 단계씩", "단계별로", "조금씩"}, {"진행", "작업"}},
	{{"선호합니다", "선호해요", "선호해."}},
	{{"ずつ"}, {"ください", "こと", "進め"}},
	{{"一次", "每次"}, {"只"}, {"一件事", "一个任务", "一步"}},
	{{"以我", "以上述", "以本"}, {"为准"}},
	{{"一度に", "一回に", "1回に", "毎回"}, {"コマンド", "質問", "ツール"}, {"1つ", "一つ", "ひとつ", "だけ", "以内"}},
	{{"한 번에", "한번에"}, {"명령", "질문", "도구"}, {"하나", "한 개", "만 "}},
	{{"指令", "指示", "规则", "要求", "说明", "约定"}, {"优先于", "高于", "凌驾"}, {"其他", "所有", "任何", "一切", "指令", "规则"}},
	{{"指示", "ルール", "規則", "指針"}, {"他の", "すべて", "いかなる", "どの"}, {"優先"}},
	{{"지침", "지시", "규칙"}, {"다른", "모든", "어떤"}, {"우선"}},
	{{"任务", "工作"}, {"拆分", "分解", "拆成", "分成"}},
	{{"タスク", "作業"}, {"分割", "分けて", "分解"}},
	{{"작업", "과제"}, {"나누", "분할"}},
	{{"如果", "若"}, {"工具", "命令", "测试"}, {"报错", "失败", "出错"}, {"先"}},
	{{"每完成"}, {"告诉我", "汇报", "停"}},
	{{"先"}, {"思考", "想清楚", "规划", "计划"}, {"再"}},
	{{"エラー", "失敗"}, {"たら", "場合"}, {"まず", "先に"}},
	{{"必要なら", "必要な場合", "不明なら", "不明な場合"}, {"聞いて", "確認して", "相談して"}},
	{{"考えて", "計画して"}, {"から"}, {"行動", "実装", "書"}},
	{{"私が", "こちらが"}, {"まで"}, {"できません", "できない", "不可"}},
	{{"오류", "에러", "실패"}, {"면"}, {"먼저"}},
	{{"먼저"}, {"생각"}, {"행동", "작성", "구현"}},
	{{"제가", "내가"}, {"전에는", "전까지", "때까지"}, {"수 없"}},
	{{"如果", "若"}, {"命令", "工具", "方法", "方案"}, {"失败", "不行", "没用", "出错"}, {"换", "另一"}},
	{{"コマンド", "ツール", "方法"}, {"失敗したら", "失敗した場合", "動かなければ", "動かない場合"}, {"別の", "他の"}},
	{{"명령", "도구", "방법"}, {"실패하면", "안 되면"}, {"다른"}},
}

// showing are the words, in scripts without spaces, for what programs show.
var showing = strings.Split("表示|显示|표시", "|")

// pastEnds are the ends of sentences, in scripts without spaces, that say what was or what is.
var pastEnds = strings.Split("了|ました|でした|ている|ています|ません|되었습니다|했습니다|吗|呢", "|")

// 简体中文：解释。用语见 strings.zh.js。
export default {
  "tree.result.draw": "此局面为和棋",
  "tree.wrong": "此处经验法则不成立。残局库的结果：{result}。决策树的说法：{said}。",
  "tree.mark": "在棋盘上标出：{test}",
  "tree.marks": "指向或选中一个问题，棋盘会标出它所问的内容；眼睛按钮让标记留在棋盘上。",
  "fortress.stuck": "{side}无子可动。",
  "fortress.needs": "无论{other}怎样走，{side}只需 {squares} 即可守和。",
  "fortress.many": "无论{other}怎样走，{side}用 {n} 个格子即可守和。",
  "fortress.unlisted": "双方都无法强行取胜。防守涉及的局面太多，无法列出。",

  "because.none": "{result}，此子力的所有局面都如此。",
  "because.tree": "{result}，依此子力的决策树。",
  because: "{result}，因为{reasons}。",
  although: "{result}，尽管{reasons}。",
  "because.and": "，且",
};

// 简体中文：服务器的错误，按其原因。
export default {
  "reason.fen_empty": "FEN 为空。", "reason.fen_rank_count": "棋盘应有 9 行，而不是 {found} 行。",
  "reason.fen_rank_length": "第 {rank} 行有 {found} 格，应为 7 格。",
  "reason.fen_unknown_piece": "第 {rank} 行的“{found}”不是棋子。", "reason.fen_missing_turn": "缺少走棋方：请写 w 或 b。",
  "reason.fen_unknown_turn": "走棋方应为 w 或 b，而不是“{found}”。", "reason.fen_unexpected_clock": "此处不能有步数计数（{found}）。",
  "reason.fen_halfmove_clock": "“{found}”不是步数计数。", "reason.fen_trailing_text": "末尾多出“{found}”。",
  "reason.fen_too_long": "FEN 最多 {max} 个字符。", "reason.position_no_pieces": "棋盘上没有棋子。",
  "reason.position_duplicate": "{color}有两枚{animal}，在 {square} 和 {other}；每方每种动物至多一枚。",
  "reason.position_in_water": "{color}{animal}在水中（{square}）；只有鼠能下水。",
  "reason.position_in_own_den": "{color}{animal}在己方兽穴（{square}）。", "reason.position_both_dens": "两个兽穴都被对方占据。",
  "reason.move_illegal": "第 {number} 着 {move} 不合法。", "reason.move_repeats": "第 {number} 着 {move} 重复了局面，规则不允许。",
  "reason.move_game_over": "第 {number} 着 {move}：对局已结束。", "reason.no_table_of_position": "没有 {pieces} 子的残局库。",
  "reason.no_table_of_material": "没有 {material} 的残局库。", "reason.no_such_position": "{material} 没有这样的局面。",
  "reason.no_tree_of_material": "{material} 没有决策树。", "reason.no_tree": "没有决策树。",
  "reason.too_many_moves": "一盘棋最多 {max} 着。", "reason.text_too_long": "对局文本最多 {max} 字节。",
  "reason.bad_game": "文本第 {line} 行有误。", "reason.searches_busy": "所有搜索线程都在使用中，请稍后再试。",
  "reason.shutting_down": "服务器正在停止。", "reason.tables_unreadable": "目前无法读取残局库。",
};

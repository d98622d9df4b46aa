// 简体中文：全部文字。

import clauses from "./clauses.zh.js";
import messages from "./messages.zh.js";
import explaining from "./strings-explain.zh.js";
import learning from "./strings-learn.zh.js";
import playing from "./strings-play.zh.js";
import chinese from "./strings.zh.js";

/** @type {Record<string, string>} */
export default { ...chinese, ...playing, ...learning, ...explaining, ...clauses, ...messages };

// 中文：全部文字，简体；繁体由 traditional 得出。

import clauses from "./clauses.zh.js";
import { traditional } from "./hant.js";
import messages from "./messages.zh.js";
import learning from "./strings-learn.zh.js";
import playing from "./strings-play.zh.js";
import chinese from "./strings.zh.js";

/** @type {Record<string, string>} */
const strings = { ...chinese, ...playing, ...learning, ...clauses, ...messages };

export default { strings, traditional };

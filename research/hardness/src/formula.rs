//! Positive CNF formulas, and the game Gpos(POS CNF) on them, solved exactly.
//!
//! Two players take turns choosing an open variable. White, who moves first, makes the variable true, Black makes it
//! false. White wins if the formula is true at the end.

use doushouqi::board::Color;
use std::collections::HashMap;
use std::fmt;
use thiserror::Error;

/// A conjunction of clauses, each a disjunction of variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    names: Vec<String>,
    /// The variables of each clause, ascending and distinct.
    clauses: Vec<Vec<usize>>,
}

/// The error of a text that is not a positive CNF, displayed with a caret under the wrong place.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct FormulaError {
    /// The line with the error.
    pub source_line: String,
    /// The number of the line, from 1.
    pub line: usize,
    /// The number of characters before the wrong place.
    pub column: usize,
    /// The error.
    pub reason: String,
}

impl fmt::Display for FormulaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FormulaError { source_line, line, column, reason } = self;
        write!(f, "line {line}, column {}: {reason}\n  {source_line}\n  {:column$}^", column + 1, "")
    }
}

impl Formula {
    /// The most variables and the most clauses.
    pub const MAX: usize = 1000;
    /// The most variables of a game that can be solved.
    pub const MAX_GAME: usize = 32;

    /// A formula of `variables` variables, named x1 and so on. A clause is a list of indices of variables.
    ///
    /// # Panics
    /// If a clause contains an index of at least `variables`.
    #[must_use]
    pub fn new(variables: usize, clauses: &[Vec<usize>]) -> Formula {
        assert!(clauses.iter().flatten().all(|&v| v < variables), "a clause names variable {variables} or more");
        let names = (1..=variables).map(|i| format!("x{i}")).collect();
        Formula { names, clauses: clauses.iter().map(|clause| tidy(clause.clone())).collect() }
    }

    /// Parses `(x | y) & (x | z | w)`, or DIMACS, which begins with `p cnf` or a comment `c`.
    ///
    /// # Errors
    /// If the text is malformed; the error contains the place.
    ///
    /// ```
    /// use hardness::Formula;
    /// let formula: Formula = "(x | y) & (x | z | w)".parse().unwrap();
    /// assert_eq!((formula.variables(), formula.clauses().len()), (4, 2));
    /// let error = "(x | y & z".parse::<Formula>().unwrap_err();
    /// assert_eq!(error.column, 7);
    /// ```
    pub fn parse(text: &str) -> Result<Formula, FormulaError> {
        let first = text.lines().find(|l| !l.trim().is_empty()).unwrap_or_default();
        let is_dimacs = match first.split_once(char::is_whitespace) {
            Some(("p" | "c", rest)) => !rest.contains(['|', '&', '∨', '∧']),
            _ => first == "c",
        };
        if is_dimacs {
            return parse_dimacs(text);
        }
        Parser { text, chars: text.char_indices().collect(), at: 0, names: Vec::new(), clauses: Vec::new() }.formula()
    }

    /// Number of variables.
    #[must_use]
    pub fn variables(&self) -> usize {
        self.names.len()
    }

    /// The name of a variable.
    #[must_use]
    pub fn name(&self, variable: usize) -> &str {
        &self.names[variable]
    }

    /// The variables of each clause.
    #[must_use]
    pub fn clauses(&self) -> &[Vec<usize>] {
        &self.clauses
    }

    /// The sum of the numbers of variables of all clauses.
    #[must_use]
    pub fn literals(&self) -> usize {
        self.clauses.iter().map(Vec::len).sum()
    }

    /// Whether the formula is true if exactly these variables are.
    #[must_use]
    pub fn is_true(&self, is_true: impl Fn(usize) -> bool) -> bool {
        self.clauses.iter().all(|clause| clause.iter().any(|&v| is_true(v)))
    }

    /// The game at its start.
    ///
    /// # Errors
    /// If there are more than [`Formula::MAX_GAME`] variables.
    pub fn game(&self) -> Result<FormulaGame<'_>, TooManyVariables> {
        if self.variables() > Formula::MAX_GAME {
            return Err(TooManyVariables { found: self.variables() });
        }
        let mask = |clause: &Vec<usize>| clause.iter().fold(0u32, |mask, &v| mask | 1 << v);
        Ok(FormulaGame { formula: self, clauses: self.clauses.iter().map(mask).collect(), known: HashMap::new() })
    }
}

/// The error of a game with too many variables to be solved.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{found} variables; the formula game is solved for at most {max}", max = Formula::MAX_GAME)]
pub struct TooManyVariables {
    /// The number of variables of the formula.
    pub found: usize,
}

impl std::str::FromStr for Formula {
    type Err = FormulaError;

    fn from_str(text: &str) -> Result<Formula, FormulaError> {
        Formula::parse(text)
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, clause) in self.clauses.iter().enumerate() {
            let names: Vec<&str> = clause.iter().map(|&v| self.name(v)).collect();
            write!(f, "{}({})", if i > 0 { " & " } else { "" }, names.join(" | "))?;
        }
        Ok(())
    }
}

fn tidy(mut clause: Vec<usize>) -> Vec<usize> {
    clause.sort_unstable();
    clause.dedup();
    clause
}

struct Parser<'a> {
    text: &'a str,
    chars: Vec<(usize, char)>,
    at: usize,
    names: Vec<String>,
    clauses: Vec<Vec<usize>>,
}

impl Parser<'_> {
    fn formula(mut self) -> Result<Formula, FormulaError> {
        loop {
            let clause = self.clause()?;
            self.clauses.push(tidy(clause));
            if self.clauses.len() > Formula::MAX {
                return Err(self.error(format!("more than {} clauses", Formula::MAX)));
            }
            match self.peek() {
                None => break,
                Some('&' | '∧') => self.at += 1,
                Some(')') => return Err(self.error("this parenthesis was not opened")),
                Some('|' | '∨') => {
                    return Err(self.error("between clauses stands &; a clause of several variables is in parentheses"));
                }
                Some(_) => return Err(self.error("expected & and another clause, or the end")),
            }
        }
        Ok(Formula { names: self.names, clauses: self.clauses })
    }

    fn clause(&mut self) -> Result<Vec<usize>, FormulaError> {
        if self.peek() != Some('(') {
            return Ok(vec![self.variable("a clause: ( or a variable")?]);
        }
        self.at += 1;
        let mut clause = vec![self.variable("a variable")?];
        loop {
            match self.peek() {
                Some(')') => {
                    self.at += 1;
                    return Ok(clause);
                }
                Some('|' | '∨') => self.at += 1,
                Some('&' | '∧') => return Err(self.error("a clause has only |; close its parenthesis first")),
                None => return Err(self.error("the clause is not closed: expected | or )")),
                Some(_) => return Err(self.error("expected | or )")),
            }
            clause.push(self.variable("a variable")?);
        }
    }

    fn variable(&mut self, expected: &str) -> Result<usize, FormulaError> {
        match self.peek() {
            Some('!' | '~' | '-' | '¬') => {
                return Err(self.error("a positive CNF has no negation"));
            }
            Some(c) if c.is_alphabetic() || c == '_' => {}
            Some(_) => return Err(self.error(format!("expected {expected}"))),
            None => return Err(self.error(format!("the formula ends; expected {expected}"))),
        }
        let start = self.at;
        while self.chars.get(self.at).is_some_and(|(_, c)| c.is_alphanumeric() || *c == '_') {
            self.at += 1;
        }
        let name: String = self.chars[start..self.at].iter().map(|(_, c)| c).collect();
        if let Some(variable) = self.names.iter().position(|n| *n == name) {
            return Ok(variable);
        }
        if self.names.len() == Formula::MAX {
            self.at = start;
            return Err(self.error(format!("more than {} variables", Formula::MAX)));
        }
        self.names.push(name);
        Ok(self.names.len() - 1)
    }

    /// The next character that is not a space.
    fn peek(&mut self) -> Option<char> {
        while self.chars.get(self.at).is_some_and(|(_, c)| c.is_whitespace()) {
            self.at += 1;
        }
        self.chars.get(self.at).map(|(_, c)| *c)
    }

    fn error(&self, reason: impl Into<String>) -> FormulaError {
        let offset = self.chars.get(self.at).map_or(self.text.len(), |(offset, _)| *offset);
        let before = &self.text[..offset];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
        let source_line = self.text.split('\n').nth(line - 1).unwrap_or_default().to_owned();
        FormulaError { source_line, line, column, reason: reason.into() }
    }
}

fn parse_dimacs(text: &str) -> Result<Formula, FormulaError> {
    let error = |line: usize, source: &str, column: usize, reason: String| FormulaError {
        source_line: source.to_owned(),
        line,
        column,
        reason,
    };
    let mut sizes: Option<(usize, usize)> = None;
    let mut clauses = Vec::new();
    let mut clause = Vec::new();
    let mut last = (1, "");
    for (index, source) in text.lines().enumerate() {
        let line = index + 1;
        if source.trim().is_empty() || source.starts_with('c') {
            continue;
        }
        last = (line, source);
        if source.starts_with('p') {
            let fields: Vec<&str> = source.split_whitespace().collect();
            let number = |text: &str| text.parse().ok().filter(|n| *n <= Formula::MAX);
            sizes = match fields[..] {
                ["p", "cnf", n, m] if sizes.is_none() => number(n).zip(number(m)),
                _ => None,
            };
            if sizes.is_none() {
                let reason = format!("expected one line: p cnf VARIABLES CLAUSES, each at most {}", Formula::MAX);
                return Err(error(line, source, 0, reason));
            }
            continue;
        }
        let Some((variables, most)) = sizes else {
            return Err(error(line, source, 0, "expected p cnf VARIABLES CLAUSES before the clauses".to_owned()));
        };
        let mut column = 0;
        for token in source.split(char::is_whitespace) {
            let here = column;
            column += token.chars().count() + 1;
            let token = token.trim();
            if token.is_empty() {
                continue;
            }
            match token.parse::<i64>() {
                Ok(0) if clause.is_empty() => {
                    return Err(error(line, source, here, "a clause without a variable is never true".to_owned()));
                }
                Ok(0) => clauses.push(tidy(std::mem::take(&mut clause))),
                Ok(n) if n < 0 => return Err(error(line, source, here, "a positive CNF has no negation".to_owned())),
                Ok(n) if n as usize <= variables => clause.push(n as usize - 1),
                _ => return Err(error(line, source, here, format!("expected a variable, 1 to {variables}, or 0"))),
            }
            if clauses.len() > most {
                return Err(error(line, source, here, format!("more than the {most} clauses that were announced")));
            }
        }
    }
    let (line, source) = last;
    let end = source.chars().count();
    if !clause.is_empty() {
        return Err(error(line, source, end, "the last clause does not end with 0".to_owned()));
    }
    match sizes {
        None => Err(error(line, source, 0, "expected p cnf VARIABLES CLAUSES".to_owned())),
        Some((_, announced)) if announced != clauses.len() || clauses.is_empty() => Err(error(
            line,
            source,
            end,
            format!("{} clauses, {announced} were announced; one at least", clauses.len()),
        )),
        Some((variables, _)) => Ok(Formula::new(variables, &clauses)),
    }
}

/// A solver of Gpos(POS CNF) from any point of the game.
pub struct FormulaGame<'a> {
    formula: &'a Formula,
    clauses: Vec<u32>,
    /// Whether White wins, by the clauses left and whether White is to move.
    known: HashMap<(Vec<u32>, bool), bool>,
}

impl FormulaGame<'_> {
    /// The winner of the whole game.
    pub fn winner(&mut self) -> Color {
        self.winner_at(0, 0, Color::White)
    }

    /// The winner with these variables true and false, as bits, and `turn` to choose.
    pub fn winner_at(&mut self, is_true: u32, is_false: u32, turn: Color) -> Color {
        let left = self.clauses.iter().filter(|&&c| c & is_true == 0).map(|&c| c & !is_false).collect();
        if self.white_wins(left, turn == Color::White) { Color::White } else { Color::Black }
    }

    /// A best open variable to choose; `None` if all variables are chosen.
    pub fn best(&mut self, is_true: u32, is_false: u32, turn: Color) -> Option<usize> {
        let open = (0..self.formula.variables()).filter(|&v| (is_true | is_false) >> v & 1 == 0);
        let open: Vec<usize> = open.collect();
        let wins = open.iter().copied().find(|&v| {
            let (t, f) = if turn == Color::White { (1 << v, 0) } else { (0, 1 << v) };
            self.winner_at(is_true | t, is_false | f, !turn) == turn
        });
        // If the game is lost anyway, a variable that occurs in a clause.
        wins.or_else(|| open.iter().copied().find(|&v| self.clauses.iter().any(|c| c >> v & 1 != 0)))
            .or(open.first().copied())
    }

    /// Whether White wins if these clauses have to become true; a clause without variables is lost. Variables in none
    /// of them are ignored: choosing one is a pass, which never helps, since one more own variable does no harm.
    fn white_wins(&mut self, mut clauses: Vec<u32>, white: bool) -> bool {
        if clauses.is_empty() {
            return true;
        }
        clauses.sort_unstable();
        clauses.dedup();
        // A clause that contains another clause is redundant.
        let all = clauses.clone();
        clauses.retain(|&c| !all.iter().any(|&d| d != c && d & c == d));
        if clauses[0] == 0 {
            return false;
        }
        let single = clauses.iter().copied().find(|c| c.count_ones() == 1);
        if let Some(single) = single {
            // White must choose the variable; Black wins by choosing it.
            return white && self.white_wins(clauses.into_iter().filter(|c| c & single == 0).collect(), false);
        }
        let key = (clauses, white);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let clauses = &key.0;
        let variables = clauses.iter().fold(0, |all, c| all | c);
        let mut order: Vec<u32> = (0..32).map(|v| 1 << v).filter(|v| variables & v != 0).collect();
        order.sort_by_key(|v| std::cmp::Reverse(clauses.iter().filter(|&c| c & v != 0).count()));
        let wins = if white {
            order.iter().any(|v| self.white_wins(clauses.iter().copied().filter(|c| c & v == 0).collect(), false))
        } else {
            order.iter().all(|v| self.white_wins(clauses.iter().map(|c| c & !v).collect(), true))
        };
        self.known.insert(key, wins);
        wins
    }
}

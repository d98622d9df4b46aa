use crate::board::{Color, Move, Position, RuleOptions, Rules};
use crate::tablebase::{
    ClassId, Classes, Index, MAX_PIECES, Material, MaterialTable, Options, SolveError, Solver, Stats, Table, Value,
    Verdict, Wdl, position_of,
};
use std::cmp::Reverse;

/// Endgame tables in memory: all materials of up to so many pieces, or those that some materials lead to.
pub struct Tables {
    solver: Solver,
}

impl Tables {
    /// Solves all materials of up to `pieces` pieces and keeps them: for three pieces 40 MB.
    pub fn solve(options: &RuleOptions, pieces: usize) -> Result<Tables, SolveError> {
        let mut solver = Solver::new(options, pieces, Options::default());
        for n in 2..=pieces {
            solver.solve_level(n, true, &|_, _| ())?;
        }
        Ok(Tables { solver })
    }

    /// Solves one material and all that it leads to.
    pub fn solve_material(options: &RuleOptions, material: Material) -> Result<Tables, SolveError> {
        let pieces = material.len();
        if pieces > MAX_PIECES {
            return Err(SolveError::TooManyPieces { material, pieces });
        }
        let mut solver = Solver::new(options, pieces, Options::default());
        if let Some(member) = solver.classes().member(material) {
            let id = member.class;
            solver.solve_class(id, &|_, _| ())?;
        }
        Ok(Tables { solver })
    }

    /// The rules.
    #[must_use]
    pub fn options(&self) -> &RuleOptions {
        self.solver.classes().options()
    }

    /// The classes.
    #[must_use]
    pub fn classes(&self) -> &Classes {
        self.solver.classes()
    }

    /// The values of a material; `None` if it was not solved.
    #[must_use]
    pub fn table(&self, material: Material) -> Option<MaterialTable<'_>> {
        let id = self.classes().member(material)?.class;
        MaterialTable::new(self.classes(), self.solver.table(id)?, material)
    }

    /// The values of a class; `None` if it was not solved.
    #[must_use]
    pub fn class_table(&self, id: ClassId) -> Option<&Table> {
        self.solver.table(id)
    }

    /// The counts of a material with White to move; `None` if it was not solved.
    #[must_use]
    pub fn stats(&self, material: Material) -> Option<&Stats> {
        self.solver.stats(material).map(|stats| stats.white)
    }

    /// The value of a position; also of a finished game. `None` if it was not solved.
    #[must_use]
    pub fn verdict(&self, position: &Position, rules: &Rules) -> Option<Verdict> {
        match position.winner() {
            Some(winner) => {
                let wdl = if winner == position.turn() { Wdl::Win } else { Wdl::Loss };
                Some(Verdict { wdl, dtw: Some(0) })
            }
            None => Some(Verdict::of(self.solver.value(position)?, rules)),
        }
    }

    /// Best play to the end from a decided position, the first of equal moves each time: each move with the position it is
    /// made in. Empty for a draw.
    #[must_use]
    pub fn line(&self, position: &Position, rules: &Rules) -> Vec<(Move, Position)> {
        let mut line = Vec::new();
        let mut current = position.clone();
        loop {
            let moves = current.moves(rules);
            // The best for the side to move: wins, the shortest first, then draws, then losses, the longest first.
            let rank = |mv: &Move| {
                let next = self.verdict(&current.make(*mv), rules)?;
                let plies = next.dtw.unwrap_or(0);
                Some(match next.wdl {
                    Wdl::Loss => (2, Reverse(plies), 0),
                    Wdl::Draw => (1, Reverse(0), 0),
                    Wdl::Win => (0, Reverse(0), plies),
                })
            };
            let best = moves.iter().rev().max_by_key(|mv| rank(mv)).copied();
            let Some(mv) = best.filter(|mv| rank(mv).is_some_and(|rank| rank.0 != 1)) else { return line };
            line.push((mv, current.clone()));
            current = current.make(mv);
        }
    }

    /// The solved class of a name.
    #[must_use]
    pub fn class_of(&self, material: Material) -> Option<ClassId> {
        Some(self.classes().member(material)?.class)
    }

    /// For each class of so many pieces a material with White, and one with Black, of the representative to move (the latter
    /// with colours exchanged); a class that is its own exchange once.
    #[must_use]
    pub fn both_sides(&self, pieces: usize) -> Vec<Material> {
        let classes = self.classes().level(pieces);
        classes.flat_map(|(_, class)| [Some(class.representative), class.swapped.first().copied()]).flatten().collect()
    }

    /// The value of a position, without regard to what no move means; `None` if it was not solved or the game is over.
    #[must_use]
    pub fn value(&self, position: &Position) -> Option<Value> {
        self.solver.value(position)
    }

    /// The first position, in the order of the index, of a class's representative that has this value.
    #[must_use]
    pub fn first_with(&self, representative: Material, turn: Color, value: Value) -> Option<Position> {
        let cells = &self.class_table(self.class_of(representative)?)?.cells[turn];
        let cell = (0..cells.len()).find(|&cell| cells.get(cell) == value.code())?;
        let index = Index::new(representative);
        position_of(&index.men, &index.squares(cell)?, turn)
    }
}

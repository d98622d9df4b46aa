//! Themes of puzzles, defined exactly by tables and rules.

use super::{Goal, Line};
use doushouqi::board::geometry::{DEN, WATER};
use doushouqi::board::{Animal, Move, Position, RuleOptions, Traps};
use doushouqi::tablebase::{Probe, Wdl};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A theme of a solution.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Theme {
    /// The solver wins by entering the den, best play to the end contains no capture, and if the solver passed instead
    /// of making the first move, the other side would win.
    DenRace,
    /// The solver leaps over water.
    Leap,
    /// The solver's rat enters the water, swims or leaves the water.
    RatInWater,
    /// The solver captures a piece that it could not capture outside a trap.
    Trap,
    /// After a move of the solver the opponent loses, but would not lose if it could pass.
    Zugzwang,
    /// After the first move the opponent can capture a piece, but still does not do better.
    Sacrifice,
    /// The first move is neither a capture nor a den entry.
    Quiet,
    /// The solver's last move enters the den.
    Den,
    /// The solver's last move takes the last enemy piece.
    LastPiece,
    /// The solver can only draw.
    Defence,
}

impl Theme {
    /// Every theme.
    pub const ALL: [Theme; 10] = [
        Theme::DenRace,
        Theme::Leap,
        Theme::RatInWater,
        Theme::Trap,
        Theme::Zugzwang,
        Theme::Sacrifice,
        Theme::Quiet,
        Theme::Den,
        Theme::LastPiece,
        Theme::Defence,
    ];

    /// The name in files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Theme::DenRace => "den-race",
            Theme::Leap => "leap",
            Theme::RatInWater => "rat-in-water",
            Theme::Trap => "trap",
            Theme::Zugzwang => "zugzwang",
            Theme::Sacrifice => "sacrifice",
            Theme::Quiet => "quiet",
            Theme::Den => "den",
            Theme::LastPiece => "last-piece",
            Theme::Defence => "defence",
        }
    }

    /// Whether the theme names an idea, not only a kind of move.
    pub(super) const fn is_idea(self) -> bool {
        matches!(
            self,
            Theme::DenRace | Theme::Leap | Theme::RatInWater | Theme::Trap | Theme::Zugzwang | Theme::Sacrifice
        )
    }
}

impl fmt::Display for Theme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The themes of a solution, in the order of [`Theme::ALL`].
pub(super) fn themes<P: Probe>(tables: &P, goal: Goal, line: &Line) -> Result<Vec<Theme>, P::Error> {
    let options = tables.rules().options();
    let own: Vec<&(Move, Position)> = line.iter().step_by(2).collect();
    let (Some((first, start)), Some((last, before_last))) = (line.first(), line.last()) else { return Ok(Vec::new()) };
    let any = |is: &dyn Fn(Move, &Position) -> bool| own.iter().any(|(mv, position)| is(*mv, position));
    let end = before_last.make(*last);
    let won = end.winner() == Some(start.turn());
    let mut themes = Vec::new();
    let mut add = |theme, applies| {
        if applies {
            themes.push(theme);
        }
    };
    add(Theme::DenRace, goal == Goal::Win && is_den_race(tables, start)?);
    add(Theme::Leap, any(&|mv, _| mv.is_leap()));
    add(
        Theme::RatInWater,
        any(&|mv, _| mv.animal == Animal::Rat && (WATER.contains(mv.from) || WATER.contains(mv.to))),
    );
    add(Theme::Trap, any(&|mv, position| needs_trap(mv, position, options)));
    add(Theme::Zugzwang, goal == Goal::Win && has_zugzwang(tables, &own)?);
    let after_first = start.make(*first);
    let can_take = after_first.moves(tables.rules()).iter().any(|mv| mv.is_capture(&after_first));
    add(Theme::Sacrifice, after_first.winner().is_none() && can_take);
    add(Theme::Quiet, !first.is_capture(start) && first.to != DEN[!start.turn()]);
    add(Theme::Den, won && last.to == DEN[!start.turn()]);
    add(Theme::LastPiece, won && last.to != DEN[!start.turn()]);
    add(Theme::Defence, goal == Goal::Draw);
    Ok(themes)
}

/// Whether a move captures a piece that it could not capture if traps had no effect.
fn needs_trap(mv: Move, position: &Position, options: &RuleOptions) -> bool {
    let mut options = *options;
    options.traps = Traps::None;
    position
        .piece_at(mv.to)
        .is_some_and(|victim| !options.may_capture(position.turn(), mv.animal, mv.from, victim.animal, mv.to))
}

fn is_den_race<P: Probe>(tables: &P, start: &Position) -> Result<bool, P::Error> {
    let passed = tables.value(&start.pass())?;
    if passed.is_none_or(|value| value.wdl != Wdl::Win) {
        return Ok(false);
    }
    let line = tables.line(start)?;
    let enters = line.last().is_some_and(|(mv, _)| mv.to == DEN[!start.turn()]);
    Ok(enters && line.iter().all(|(mv, position)| !mv.is_capture(position)))
}

fn has_zugzwang<P: Probe>(tables: &P, own: &[&(Move, Position)]) -> Result<bool, P::Error> {
    for (mv, position) in own {
        let after = position.make(*mv);
        if after.outcome(tables.rules()).is_some() {
            continue;
        }
        if tables.value(&after.pass())?.is_some_and(|value| value.wdl != Wdl::Win) {
            return Ok(true);
        }
    }
    Ok(false)
}

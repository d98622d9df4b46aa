//! Where values come from: files, or a solver in memory.

use crate::errors::{self, TablesError};
use doushouqi::board::{ByColor, Color, Move, Position, Rules};
use doushouqi::tablebase::{CellValue, Classes, Material, MaterialTable, Probe, Solver, Stats, TableProber, Value};
use pyo3::prelude::*;

/// Where values come from.
pub(crate) enum Source {
    Files(Box<TableProber>),
    Memory(Box<Solver>),
}

impl Source {
    pub fn rules(&self) -> &Rules {
        match self {
            Source::Files(prober) => prober.rules(),
            Source::Memory(solver) => solver.rules(),
        }
    }

    pub fn classes(&self) -> &Classes {
        match self {
            Source::Files(prober) => prober.set().classes(),
            Source::Memory(solver) => solver.classes(),
        }
    }

    pub fn value(&self, position: &Position) -> PyResult<Option<Value>> {
        match self {
            Source::Files(prober) => prober.value(position).map_err(errors::tables),
            Source::Memory(solver) => Ok(solver.value(position).unwrap_or(None)),
        }
    }

    pub fn moves(&self, position: &Position) -> PyResult<Option<Vec<(Move, Value)>>> {
        match self {
            Source::Files(prober) => prober.moves(position).map_err(errors::tables),
            Source::Memory(solver) => Ok(solver.moves(position).unwrap_or(None)),
        }
    }

    pub fn line(&self, position: &Position) -> PyResult<Vec<(Move, Position)>> {
        match self {
            Source::Files(prober) => prober.line(position).map_err(errors::tables),
            Source::Memory(solver) => Ok(solver.line(position).unwrap_or_default()),
        }
    }

    /// The materials of that many pieces whose values are here.
    pub fn materials(&self, pieces: usize) -> Vec<Material> {
        let classes = self.classes();
        let listed = |id| match self {
            Source::Files(prober) => prober.set().ids().any(|listed| listed == id),
            Source::Memory(solver) => solver.table(id).is_some(),
        };
        let ids = classes.level(pieces).filter(|(id, _)| listed(*id));
        let mut materials: Vec<Material> =
            ids.flat_map(|(_, class)| class.same.iter().chain(&class.swapped).copied()).collect();
        materials.sort();
        materials
    }

    /// The counts of a material for each side to move.
    pub fn stats(&self, material: Material) -> PyResult<ByColor<Stats>> {
        let member = self.classes().member(material).ok_or_else(|| not_here(material))?;
        let stats = match self {
            Source::Files(prober) => &prober.set().file(member.class).map_err(errors::tables)?.description().stats,
            Source::Memory(solver) => solver.class_stats(member.class).ok_or_else(|| not_here(material))?,
        };
        Ok(ByColor::from_fn(|color| stats[if member.swapped { !color } else { color }].clone()))
    }

    /// Calls `f` with every position of a material for a side to move, as [`MaterialTable::each`] does.
    pub fn each(&self, material: Material, mut f: impl FnMut(Color, &MaterialTable<'_>)) -> PyResult<()> {
        let loaded;
        let table = match self {
            Source::Files(prober) => {
                loaded = prober.load(material).map_err(errors::tables)?;
                MaterialTable::new(self.classes(), &loaded, material)
            }
            Source::Memory(solver) => solver.material_table(material),
        };
        let table = table.ok_or_else(|| not_here(material))?;
        Color::ALL.into_iter().for_each(|turn| f(turn, &table));
        Ok(())
    }

    /// A position of that many pieces with the longest distance, and the distance.
    pub fn longest(&self, pieces: usize) -> PyResult<Option<(Position, u16)>> {
        let solver = match self {
            Source::Files(prober) => return prober.deepest(pieces).map_err(errors::tables),
            Source::Memory(solver) => solver,
        };
        let mut best: Option<(Position, u16)> = None;
        for (id, class) in solver.classes().level(pieces) {
            let (Some(table), index) = (solver.table(id), class.index()) else { continue };
            for turn in Color::ALL {
                let cells = &table.cells[turn];
                for cell in 0..cells.len() {
                    let Some(CellValue::Decided(plies)) = CellValue::from_code(cells.get(cell)) else { continue };
                    if best.as_ref().is_none_or(|(_, longest)| plies > *longest)
                        && let Some(position) = index.position(cell, turn)
                    {
                        best = Some((position, plies));
                    }
                }
            }
        }
        Ok(best)
    }
}

fn not_here(material: Material) -> PyErr {
    TablesError::new_err(format!("there is no table of {material}"))
}

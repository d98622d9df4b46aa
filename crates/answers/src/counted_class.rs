//! A class of more pieces than the tables in memory, which a page without a server has solved at its visitor's request.

use super::class_table::ClassTable;
use doushouqi::board::{ByColor, Position, RuleOptions};
use doushouqi::tablebase::{Addresser, CellValue, Cells, Class, ClassId, Classes, Material, Member, Solver, Stats};
use serde::{Deserialize, Serialize};

/// The most pieces of a class that is solved at a visitor's request.
pub const COUNTED_PIECES: usize = 5;

/// A class with its values in memory.
pub struct CountedClass {
    classes: Classes,
    addresser: Addresser,
    id: ClassId,
    pub table: ClassTable,
}

/// The description of a [`CountedClass`] without its values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CountedHead {
    /// As [`RuleOptions::table_spelling`].
    pub rules: String,
    /// The representative of the class.
    pub class: String,
    /// For each side of the representative to move, whether a value takes two bytes.
    pub wide: ByColor<bool>,
    /// For each side of the representative to move.
    pub stats: ByColor<Stats>,
}

impl CountedClass {
    /// Takes the values of a class that `solver` has solved and kept; `None` if there are none.
    #[must_use]
    pub fn take(solver: &mut Solver, id: ClassId) -> Option<CountedClass> {
        let (solved, stats) = solver.forget(id).zip(solver.class_stats(id))?;
        let table = ClassTable::new(solver.classes().get(id), solved.cells, stats.clone());
        Some(CountedClass::of(solver.classes().clone(), id, table))
    }

    /// Reserves the memory for the values of an equal class, which `values_mut` of its table adds; `None` if the
    /// memory cannot be allocated, or there is no such class.
    #[must_use]
    pub fn reserved(head: CountedHead) -> Option<CountedClass> {
        let options: RuleOptions = RuleOptions::from_table_spelling(&head.rules).ok()?;
        let classes = Classes::new(&options, COUNTED_PIECES);
        let id = classes.member(head.class.parse().ok()?)?.class;
        let table = ClassTable::reserved(classes.get(id), head.wide, head.stats)?;
        Some(CountedClass::of(classes, id, table))
    }

    fn of(classes: Classes, id: ClassId, table: ClassTable) -> CountedClass {
        CountedClass { addresser: Addresser::new(&classes), classes, id, table }
    }

    /// The description from which another module makes an equal class, besides the values.
    #[must_use]
    pub fn head(&self) -> CountedHead {
        CountedHead {
            rules: self.classes.options().table_spelling(),
            class: self.table.material.to_string(),
            wide: ByColor::from_fn(|turn| matches!(self.table.values(turn), Cells::Wide(_))),
            stats: self.table.stats.clone(),
        }
    }

    pub(crate) fn is_for(&self, hash: u64) -> bool {
        self.classes.options().table_hash() == hash
    }

    /// Whether a description is that of the same class under another no-capture limit, or without one.
    pub(crate) fn differs_in_limit(&self, head: &CountedHead) -> bool {
        let (mine, options) = (self.classes.options(), RuleOptions::from_table_spelling(&head.rules));
        head.class == self.table.material.to_string()
            && options.is_ok_and(|options| {
                options.no_capture_limit != mine.no_capture_limit
                    && options.within(None).table_hash() == mine.within(None).table_hash()
            })
    }

    pub(crate) fn class(&self) -> &Class {
        self.classes.get(self.id)
    }

    /// How the pieces of a material correspond to those of the class; `None` if it is of another class.
    pub(crate) fn member(&self, material: Material) -> Option<&Member> {
        self.classes.member(material).filter(|member| member.class == self.id)
    }

    pub(crate) fn value(&self, position: &Position) -> Option<CellValue> {
        let address = self.addresser.locate(position).filter(|address| address.class == self.id)?;
        self.table.value(address.turn, address.cell)
    }
}

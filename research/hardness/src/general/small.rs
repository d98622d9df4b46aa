//! Small variants of Jungle, on boards small enough to be solved from their initial positions.

/// A small board with its initial position.
#[derive(Copy, Clone, Debug)]
pub struct SmallJungle {
    /// The name in `dsq-lab general small`.
    pub name: &'static str,
    /// The position in the format of [`super::GeneralPosition::parse`].
    pub text: &'static str,
}

/// The boards of the table of small variants. Dens are in the middle of the first and last rank, surrounded by traps.
pub const SMALL: [SmallJungle; 10] = [
    SmallJungle { name: "3x5, rat and elephant", text: "v%v\nrve\n...\nE^R\n^#^\n\nunder: a4=. c4=.\n" },
    SmallJungle { name: "3x5, cat, dog and lion", text: "v%v\nldc\n...\nCDL\n^#^\n\nunder: b4=v b2=^\n" },
    SmallJungle { name: "3x5, rat, lion and elephant", text: "v%v\nrle\n...\nELR\n^#^\n\nunder: b4=v b2=^\n" },
    SmallJungle { name: "3x7, rat and elephant", text: "v%v\nrve\n...\n...\n...\nE^R\n^#^\n" },
    SmallJungle { name: "5x5 with a lake, rat and elephant", text: ".v%v.\nr.v.e\n.~~~.\nE.^.R\n.^#^.\n" },
    SmallJungle { name: "5x5 with a lake, rat and lion", text: ".v%v.\nr.v.l\n.~~~.\nL.^.R\n.^#^.\n" },
    SmallJungle { name: "5x5 with a lake, lion and elephant", text: ".v%v.\nl.v.e\n.~~~.\nE.^.L\n.^#^.\n" },
    SmallJungle {
        name: "5x7 with two lakes, rat and elephant",
        text: ".v%v.\nr.v.e\n.....\n.~.~.\n.....\nE.^.R\n.^#^.\n",
    },
    SmallJungle {
        name: "5x7 with two lakes, lion and tiger",
        text: ".v%v.\nl.v.t\n.....\n.~.~.\n.....\nT.^.L\n.^#^.\n",
    },
    SmallJungle {
        name: "5x7 with two lakes, rat, dog, lion and elephant",
        text: "lv%vd\nr.v.e\n.....\n.~.~.\n.....\nE.^.R\nD^#^L\n",
    },
];

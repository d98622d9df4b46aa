//! Features of positions with few pieces and White to move: the features of van Rijn and Vis (2014, Table 3), and more
//! of the same kind.
//!
//! The paper leaves some definitions open. With the definitions used here, its three printed trees misclassify 0, 0 and
//! 16 positions of EvE, PvE and LvE, as the paper states (`dsq-lab mine printed`):
//!
//! - A distance that decides a race (`closest`, `unopposed`, `can_cross`) is the length of the piece's shortest path on
//!   the empty board: around the water for land animals, over it for leapers, through it for the rat, never through its
//!   own den ([`Routes`]). With Manhattan distances the trees misclassify 28, 42 and 418 positions. Distances with a
//!   name of their own (`distance_d`, `distance_p`) are Manhattan distances, as the paper states.
//! - `closest` is White at equal distance. With Black at equal distance (121, 121, 221), or with White even if a move
//!   behind (102, 141, 217), all three trees are worse.
//! - `unopposed_w`: some black trap is strictly nearer to the white piece than to the black one. Equally near (84, 84,
//!   187) and two moves nearer (0, 113, 197) are worse. Any trap counts: with only traps on a shortest path to the den,
//!   the trees misclassify 0, 0 and 24.
//! - `unopposed_b`: some white trap is nearer to the black piece by at least two moves, since White moves first. With
//!   one move, tree (a) misclassifies 113; three moves are as good as two.
//! - `can_cross`: the white piece stands on rank 7 or above, or some square of rank 7 on a shortest path of the white
//!   piece to the den is nearer to it than to the black piece. Without the first condition, tree (b) misclassifies 16.
//! - `trapped` and `adjacent` are unambiguous.

use super::routes::{Routes, manhattan};
use doushouqi::board::geometry::{DEN, TRAPS, WATER, habitat};
use doushouqi::board::{Bitboard, Color, Direction, File, Piece, Position, Rank, RuleOptions, Square};
use doushouqi::tablebase::Material;

/// The type of a feature's values.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FeatureKind {
    /// 0 no, 1 yes.
    Bool,
    /// A number.
    Number,
    /// The index of one of these names, which are in a meaningful order.
    Named(&'static [&'static str]),
}

/// One feature of the positions of a material.
#[derive(Clone, Debug)]
pub struct Feature {
    /// The name, as in the paper if the paper has the feature. A piece is `w` or `b`, with a number (strongest 0) if
    /// its side has several.
    pub name: String,
    /// The definition, in a sentence.
    pub meaning: String,
    /// The type of the values.
    pub kind: FeatureKind,
    pub(super) what: Measure,
}

/// The choice of features.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FeatureChoice {
    /// The paper's eleven features; for two pieces only.
    Paper,
    /// The paper's features, generalised to more pieces, and further ones.
    All,
    /// [`FeatureChoice::All`] and features of the material, for a tree over several materials.
    WithMaterial,
}

/// The computation of a feature. The numbers are indices in the list of pieces.
#[derive(Copy, Clone, Debug)]
pub(super) enum Measure {
    Closest,
    Unopposed(usize),
    Sector(usize),
    OwnDen(usize),
    Apart(usize, usize),
    Parity(usize, usize),
    Adjacent(usize, usize),
    Trapped(usize),
    CanCross(usize),
    Den(usize),
    Lead,
    Margin(usize),
    Rank(usize),
    Wing(usize),
    Wet(usize),
    Ahead(usize, usize),
    Beside(usize, usize),
    Chase(usize, usize),
    Takes(usize, usize),
    MayTake(usize, usize),
    Leaps(usize),
    Swims(usize),
}

const SECTORS: &[&str] = &["bot", "mid", "top"];
const PARITIES: &[&str] = &["0", "1"];
const SIDES: &[&str] = &["black", "white"];

/// The features of a material, and their computation.
pub struct FeatureSet {
    pieces: Vec<Piece>,
    options: RuleOptions,
    routes: Vec<Routes>,
    features: Vec<Feature>,
}

const APART: &str = "the Manhattan distance between the two pieces";
const TRAPPED: &str = "the piece stands in an enemy trap";

/// The names of features.
struct Names {
    /// The name of each piece.
    pieces: Vec<String>,
}

impl Names {
    /// Whether there are only two pieces, which need no names.
    fn two(&self) -> bool {
        self.pieces.len() == 2
    }

    fn of(&self, what: &str, i: usize) -> String {
        format!("{what}_{}", self.pieces[i])
    }

    fn pair(&self, what: &str, i: usize, j: usize) -> String {
        if self.two() { what.to_owned() } else { format!("{what}_{}{}", self.pieces[i], self.pieces[j]) }
    }

    /// The names of a relation from White's piece to Black's, and from Black's to White's.
    fn both_ways(&self, what: &str, w: usize, b: usize) -> [(usize, usize, String); 2] {
        [(w, b, "w"), (b, w, "b")].map(|(i, j, side)| {
            let two = || format!("{what}_{side}");
            (i, j, if self.two() { two() } else { self.pair(what, i, j) })
        })
    }
}

impl FeatureSet {
    /// The features of a material. With more than two pieces, [`FeatureChoice::Paper`] is the same as
    /// [`FeatureChoice::All`].
    #[must_use]
    pub fn new(material: Material, options: &RuleOptions, which: FeatureChoice) -> FeatureSet {
        let pieces: Vec<Piece> = material.pieces().collect();
        let routes = pieces.iter().map(|piece| Routes::new(piece.color, piece.animal, options)).collect();
        let mut set = FeatureSet { pieces, options: *options, routes, features: Vec::new() };
        set.add_all(if which == FeatureChoice::Paper && material.len() > 2 { FeatureChoice::All } else { which });
        set
    }

    /// The pieces: White's first, each side's strongest first.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The features.
    #[must_use]
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// The index of the feature with this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<usize> {
        self.features.iter().position(|f| f.name == name)
    }

    /// The name of a piece within feature names.
    fn piece(&self, i: usize) -> String {
        let color = self.pieces[i].color;
        let letter = color.letter();
        let side: Vec<usize> = self.of(color).collect();
        if side.len() == 1 { letter.to_string() } else { format!("{letter}{}", i - side[0]) }
    }

    fn of(&self, color: Color) -> impl Iterator<Item = usize> + '_ {
        (0..self.pieces.len()).filter(move |&i| self.pieces[i].color == color)
    }

    fn add(&mut self, name: String, meaning: &str, kind: FeatureKind, what: Measure) {
        self.features.push(Feature { name, meaning: meaning.to_owned(), kind, what });
    }

    fn add_all(&mut self, which: FeatureChoice) {
        let names = Names { pieces: (0..self.pieces.len()).map(|i| self.piece(i)).collect() };
        let (white, black): (Vec<usize>, Vec<usize>) =
            (self.of(Color::White).collect(), self.of(Color::Black).collect());
        let pairs: Vec<(usize, usize)> = white.iter().flat_map(|&w| black.iter().map(move |&b| (w, b))).collect();
        self.add_paper(&names, &white, &black, &pairs);
        if which == FeatureChoice::Paper {
            return;
        }
        self.add_places(&names, &white, which);
        self.add_relations(&names);
        self.add_captures(&names, &pairs);
        if which == FeatureChoice::WithMaterial {
            self.add_material(&names, &pairs);
        }
    }

    /// Adds the paper's features.
    fn add_paper(&mut self, names: &Names, white: &[usize], black: &[usize], pairs: &[(usize, usize)]) {
        use FeatureKind::{Bool, Named, Number};
        let meaning = "the side whose piece reaches the enemy's den first; White at equal distance";
        self.add("closest".into(), meaning, Named(SIDES), Measure::Closest);
        for i in 0..self.pieces.len() {
            let meaning = "the piece reaches a trap at the enemy's den before every enemy piece";
            self.add(names.of("unopposed", i), meaning, Bool, Measure::Unopposed(i));
        }
        for i in 0..self.pieces.len() {
            self.add(
                names.of("sector", i),
                "the ranks on which the piece stands: 1 to 3, 4 to 6 or 7 to 9",
                Named(SECTORS),
                Measure::Sector(i),
            );
        }
        for &w in white {
            let name = if white.len() == 1 { "distance_d".into() } else { names.of("distance_d", w) };
            self.add(name, "the Manhattan distance of the white piece to its own den", Number, Measure::OwnDen(w));
        }
        for &(w, b) in pairs {
            self.add(names.pair("distance_p", w, b), APART, Number, Measure::Apart(w, b));
            self.add(
                names.pair("parity", w, b),
                "the Manhattan distance between the two pieces modulo 2",
                Named(PARITIES),
                Measure::Parity(w, b),
            );
            self.add(names.pair("adjacent", w, b), "the two pieces are adjacent", Bool, Measure::Adjacent(w, b));
        }
        for &b in black {
            let name = if names.two() { "trapped".into() } else { names.of("trapped", b) };
            self.add(name, TRAPPED, Bool, Measure::Trapped(b));
        }
        for &w in white {
            let name = if white.len() == 1 { "can_cross".into() } else { names.of("can_cross", w) };
            let meaning =
                "the piece is on rank 7 or above, or reaches it on a shortest path to the den before every enemy piece";
            self.add(name, meaning, Bool, Measure::CanCross(w));
        }
    }

    /// Adds the location of each piece and the side nearer to the den.
    fn add_places(&mut self, names: &Names, white: &[usize], which: FeatureChoice) {
        use FeatureKind::{Bool, Number};
        for &w in white {
            self.add(names.of("trapped", w), TRAPPED, Bool, Measure::Trapped(w));
        }
        for i in 0..self.pieces.len() {
            self.add(
                names.of("den", i),
                "the number of moves from the piece to the enemy's den",
                Number,
                Measure::Den(i),
            );
            let meaning = "the piece's lead in moves over every enemy piece to the best trap at the enemy's den";
            self.add(names.of("margin", i), meaning, Number, Measure::Margin(i));
            self.add(names.of("rank", i), "the rank of the piece, 1 to 9", Number, Measure::Rank(i));
            self.add(
                names.of("wing", i),
                "the distance in files between the piece and the d-file",
                Number,
                Measure::Wing(i),
            );
            if self.pieces[i].animal.swims() || which == FeatureChoice::WithMaterial {
                self.add(names.of("wet", i), "the piece is in the water", Bool, Measure::Wet(i));
            }
        }
        let meaning = "the moves of Black's nearest piece to the den minus those of White's";
        self.add("lead".into(), meaning, Number, Measure::Lead);
    }

    /// Adds the relations between two pieces.
    fn add_relations(&mut self, names: &Names) {
        use FeatureKind::Number;
        for i in 0..self.pieces.len() {
            for j in i + 1..self.pieces.len() {
                if self.pieces[i].color == self.pieces[j].color {
                    self.add(names.pair("distance_p", i, j), APART, Number, Measure::Apart(i, j));
                }
                let meaning = "the rank of the second piece minus that of the first";
                self.add(names.pair("ahead", i, j), meaning, Number, Measure::Ahead(i, j));
                self.add(
                    names.pair("beside", i, j),
                    "the distance in files between the two pieces",
                    Number,
                    Measure::Beside(i, j),
                );
            }
        }
    }

    /// Adds chases and captures.
    fn add_captures(&mut self, names: &Names, pairs: &[(usize, usize)]) {
        use FeatureKind::{Bool, Number};
        for &(w, b) in pairs {
            for (i, j, name) in names.both_ways("chase", w, b) {
                self.add(
                    name,
                    "the number of moves from the first piece to the square of the second",
                    Number,
                    Measure::Chase(i, j),
                );
            }
            for (i, j, name) in names.both_ways("takes", w, b) {
                self.add(name, "the first piece could capture the second at once", Bool, Measure::Takes(i, j));
            }
        }
    }

    /// Adds the properties of the animals.
    fn add_material(&mut self, names: &Names, pairs: &[(usize, usize)]) {
        use FeatureKind::Bool;
        for &(w, b) in pairs {
            for (i, j, name) in names.both_ways("may_take", w, b) {
                self.add(name, "the first animal may capture the second on open land", Bool, Measure::MayTake(i, j));
            }
        }
        for i in 0..self.pieces.len() {
            self.add(names.of("leaps", i), "the animal leaps over water", Bool, Measure::Leaps(i));
            self.add(names.of("swims", i), "the animal swims", Bool, Measure::Swims(i));
        }
    }

    /// The values of the features with the pieces on these squares, in the order of [`pieces`](FeatureSet::pieces),
    /// White to move.
    #[must_use]
    pub fn values(&self, squares: &[Square]) -> Vec<i8> {
        self.features.iter().map(|feature| self.value(feature.what, squares)).collect()
    }

    /// The values of the features in a position with White to move; `None` if it has other pieces.
    #[must_use]
    pub fn values_of(&self, position: &Position) -> Option<Vec<i8>> {
        let squares: Vec<Square> =
            self.pieces.iter().map(|piece| position.square_of(piece.color, piece.animal)).collect::<Option<_>>()?;
        (position.turn() == Color::White && position.occupied().len() == squares.len()).then(|| self.values(&squares))
    }

    fn value(&self, what: Measure, squares: &[Square]) -> i8 {
        match what {
            Measure::Closest => i8::from(self.race(Color::White, squares) <= self.race(Color::Black, squares)),
            Measure::Unopposed(i) => {
                let ahead = if self.pieces[i].color == Color::White { 1 } else { 2 };
                i8::from(self.margin(i, squares) >= ahead)
            }
            Measure::Sector(i) => squares[i].rank() as i8 / 3,
            Measure::OwnDen(i) => manhattan(squares[i], DEN[self.pieces[i].color]) as i8,
            Measure::Apart(i, j) => manhattan(squares[i], squares[j]) as i8,
            Measure::Parity(i, j) => manhattan(squares[i], squares[j]) as i8 % 2,
            Measure::Adjacent(i, j) => i8::from(manhattan(squares[i], squares[j]) == 1),
            Measure::Trapped(i) => i8::from(TRAPS[!self.pieces[i].color].contains(squares[i])),
            Measure::CanCross(i) => i8::from(squares[i].rank() >= Rank::Seventh || self.crosses(i, squares)),
            Measure::Den(i) => self.den(i, squares) as i8,
            Measure::Lead => self.race(Color::Black, squares) as i8 - self.race(Color::White, squares) as i8,
            Measure::Margin(i) => self.margin(i, squares),
            Measure::Rank(i) => squares[i].rank() as i8 + 1,
            Measure::Wing(i) => squares[i].file().distance(File::D) as i8,
            Measure::Wet(i) => i8::from(WATER.contains(squares[i])),
            Measure::Ahead(i, j) => squares[j].rank() as i8 - squares[i].rank() as i8,
            Measure::Beside(i, j) => squares[i].file().distance(squares[j].file()) as i8,
            Measure::Chase(i, j) => self.routes[i].steps(squares[i], squares[j]) as i8,
            Measure::Takes(i, j) => i8::from(self.takes(i, j, squares)),
            Measure::MayTake(i, j) => i8::from(self.may_take(i, j)),
            Measure::Leaps(i) => {
                let leaps = |direction| self.options.leaps(self.pieces[i].animal, direction);
                i8::from(leaps(Direction::Up) || leaps(Direction::Right))
            }
            Measure::Swims(i) => i8::from(self.pieces[i].animal.swims()),
        }
    }

    /// Whether a piece may capture another on open land.
    pub(super) fn may_take(&self, i: usize, j: usize) -> bool {
        let (Piece { color, animal: attacker }, Piece { animal: victim, .. }) = (self.pieces[i], self.pieces[j]);
        self.options.may_capture(color, attacker, Square::A4, victim, Square::A5)
    }

    /// The number of moves of a piece to the enemy's den.
    fn den(&self, i: usize, squares: &[Square]) -> u8 {
        self.routes[i].steps(squares[i], DEN[!self.pieces[i].color])
    }

    /// The number of moves of a side's nearest piece to the enemy's den.
    fn race(&self, color: Color, squares: &[Square]) -> u8 {
        self.of(color).map(|i| self.den(i, squares)).min().unwrap_or(Routes::NONE)
    }

    /// The number of moves by which a piece is nearer to a square than every enemy piece.
    fn gap(&self, i: usize, square: Square, squares: &[Square]) -> i8 {
        let enemy = self.of(!self.pieces[i].color).map(|j| self.routes[j].steps(squares[j], square)).min();
        enemy.unwrap_or(Routes::NONE) as i8 - self.routes[i].steps(squares[i], square) as i8
    }

    /// [`gap`](Self::gap) for the best of the traps at the enemy's den.
    fn margin(&self, i: usize, squares: &[Square]) -> i8 {
        TRAPS[!self.pieces[i].color].into_iter().map(|trap| self.gap(i, trap, squares)).max().unwrap_or(0)
    }

    /// Whether a piece reaches rank 7, on a shortest path to the black den, before every enemy piece.
    fn crosses(&self, i: usize, squares: &[Square]) -> bool {
        let way = &self.routes[i];
        Bitboard::rank(Rank::Seventh).into_iter().any(|square| {
            let length = way.steps(squares[i], square) + way.steps(square, DEN.black);
            length == self.den(i, squares) && self.gap(i, square, squares) >= 1
        })
    }

    /// Whether a piece could capture another at once if its side were to move.
    fn takes(&self, i: usize, j: usize, squares: &[Square]) -> bool {
        let (Piece { color, animal: attacker }, Piece { animal: victim, .. }) = (self.pieces[i], self.pieces[j]);
        let blocked = |crossed: Bitboard| {
            let mut pieces = self.pieces.iter().zip(squares);
            pieces.any(|(&piece, &square)| crossed.contains(square) && self.options.blocks_leap(piece, color))
        };
        habitat(color, attacker).contains(squares[j])
            && self.options.may_capture(color, attacker, squares[i], victim, squares[j])
            && self
                .options
                .destinations(attacker, squares[i])
                .any(|(to, crossed)| to == squares[j] && !blocked(crossed))
    }
}

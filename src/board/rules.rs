//! The rule options on which sources and programs disagree, and the masks that move generation derives from them.

use super::geometry::{TRAPS, WATER, habitat};
use super::{Animal, Bitboard, Color, Direction, Piece, Square};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use thiserror::Error;

/// A rule option: its name, its values and its effect. [`RuleOptions::OPTIONS`] lists all options.
#[derive(Copy, Clone, Debug)]
#[non_exhaustive]
pub struct RuleOption {
    /// The name, as in `key=value`.
    pub key: &'static str,
    /// Every value, the default first.
    pub values: &'static [&'static str],
    /// What the option decides, in a few words.
    pub help: &'static str,
    /// Whether the values of endgame tables depend on the option.
    pub in_tables: bool,
    /// Whether the canonical spelling contains the option even if it has the default value. Options that joined after
    /// the first tables do not, so the spelling and the hash of these tables remain.
    pub always_spelled: bool,
}

/// Declares the options in the order of the canonical spelling: for each one the type of its values, its field in
/// [`RuleOptions`], and its entry in [`RuleOptions::OPTIONS`].
macro_rules! rule_options {
    ($(
        $(#[doc = $doc:literal])*
        $kind:ident {
            key: $key:literal, field: $field:ident,
            help: $help:literal, in_tables: $in_tables:literal, always_spelled: $always_spelled:literal,
            values: { $($(#[doc = $value_doc:literal])* $value:ident = $text:literal,)+ }
        }
    )+) => {
        $(rule_option! {
            $(#[doc = $doc])*
            $kind($key) { $($(#[doc = $value_doc])* $value = $text),+ }
        })+

        /// A value for every rule option, written `paper,shore=none`. The default is [`RuleOptions::PAPER`].
        ///
        /// ```
        /// use doushouqi::board::{RuleOptions, Shore};
        /// let options = RuleOptions::PAPER.shore(Shore::None);
        /// assert_eq!("paper,shore=none".parse(), Ok(options));
        /// assert_eq!(options.to_string().parse(), Ok(options));
        /// ```
        #[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub struct RuleOptions {
            $($(#[doc = $doc])* pub $field: $kind,)+
            /// The no-capture limit in plies that the values of endgame tables know; `None` for values of games without a
            /// limit. No text of rules sets it: games have a limit of their own, and only their tables have it here.
            pub no_capture_limit: Option<u16>,
        }

        impl RuleOptions {
            /// Every option, in the order of the canonical spelling.
            pub const OPTIONS: &'static [RuleOption] = &[$(RuleOption {
                key: $key,
                values: &[$($text),+],
                help: $help,
                in_tables: $in_tables,
                always_spelled: $always_spelled,
            }),+];

            /// The rules of van Rijn and Vis (2013, 2014), the default: every option has its first value.
            pub const PAPER: RuleOptions = RuleOptions { $($field: $kind::ALL[0],)+ no_capture_limit: None };

            $(
                #[doc = concat!("The same options with this [`", stringify!($kind), "`].")]
                #[must_use]
                pub const fn $field(self, $field: $kind) -> RuleOptions {
                    RuleOptions { $field, ..self }
                }
            )+

            /// Every option with its value, in the order of [`RuleOptions::OPTIONS`].
            pub fn values(&self) -> impl Iterator<Item = (&'static RuleOption, &'static str)> + use<> {
                RuleOptions::OPTIONS.iter().zip([$(self.$field.as_str()),+])
            }

            /// The same options with another value of one of them.
            ///
            /// # Errors
            /// If there is no such option, it has no such value, or the value contradicts another option.
            pub fn with(self, key: &str, value: &str) -> Result<RuleOptions, ParseRulesError> {
                self.set(key, value)?.consistent()
            }

            /// [`RuleOptions::with`], where further options may follow that end a contradiction.
            fn set(mut self, key: &str, value: &str) -> Result<RuleOptions, ParseRulesError> {
                match key {
                    $($key => self.$field = value.parse()?,)+
                    _ => return Err(ParseRulesError::UnknownKey { key: key.to_owned() }),
                }
                Ok(self)
            }
        }
    };
}

/// Declares the type of an option with the texts of its values.
macro_rules! rule_option {
    ($(#[$doc:meta])* $name:ident($key:literal) { $($(#[$value_doc:meta])* $value:ident = $text:literal),+ }) => {
        $(#[$doc])*
        #[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name { $($(#[$value_doc])* $value),+ }

        impl $name {
            /// Every value, the default first.
            pub const ALL: &[$name] = &[$($name::$value),+];

            const fn as_str(self) -> &'static str {
                match self { $($name::$value => $text),+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = ParseRulesError;

            fn from_str(text: &str) -> Result<$name, ParseRulesError> {
                $name::ALL.iter().copied().find(|v| v.as_str() == text).ok_or_else(|| ParseRulesError::UnknownValue {
                    key: $key.to_owned(),
                    value: text.to_owned(),
                    allowed: [$($text),+].join(", "),
                })
            }
        }

        impl Default for $name {
            fn default() -> $name { $name::ALL[0] }
        }
    };
}

rule_options! {
    /// Whether the elephant may take the rat outside the elephant's own traps.
    ElephantTakesRat {
        key: "elephant-takes-rat", field: elephant_takes_rat,
        help: "whether the elephant may take the rat", in_tables: true, always_spelled: true,
        values: {
            /// The elephant may take the rat everywhere.
            Yes = "yes",
            /// The elephant may take the rat only in the elephant's own traps, where the rat has no strength.
            No = "no",
        }
    }
    /// Captures between water and land.
    Shore {
        key: "shore", field: shore,
        help: "captures between water and land", in_tables: true, always_spelled: true,
        values: {
            /// Every capture is allowed, except of an elephant by a rat in the water.
            ElephantSafe = "elephant-safe",
            /// No capture is allowed between water and land.
            None = "none",
            /// No capture is allowed from the water onto land.
            NoExit = "no-exit",
        }
    }
    /// The squares on which a piece has strength 0: every enemy may take it there.
    Traps {
        key: "traps", field: traps,
        help: "where a piece has no strength", in_tables: true, always_spelled: true,
        values: {
            /// In a trap of the opponent.
            Opponent = "opponent",
            /// In any trap.
            Any = "any",
            /// Nowhere.
            None = "none",
            /// In a trap of the opponent. A piece in one of its own traps cannot be taken at all.
            Sanctuary = "sanctuary",
        }
    }
    /// The stronger of dog and wolf.
    DogOverWolf {
        key: "dog-over-wolf", field: dog_over_wolf,
        help: "which of dog and wolf is the stronger", in_tables: true, always_spelled: true,
        values: {
            /// The dog takes the wolf.
            Yes = "yes",
            /// The wolf takes the dog.
            No = "no",
        }
    }
    /// The directions in which the tiger may leap.
    TigerLeap {
        key: "tiger-leap", field: tiger_leap,
        help: "where the tiger may leap", in_tables: true, always_spelled: true,
        values: {
            /// Along files and ranks, as the lion does.
            Both = "both",
            /// Along files only, over three squares of water.
            Files = "files",
            /// Along ranks only, over two squares of water.
            Ranks = "ranks",
            /// Nowhere.
            None = "none",
        }
    }
    /// Whether the leaper's own rat blocks a leap, too.
    OwnRatBlocks {
        key: "own-rat-blocks", field: own_rat_blocks,
        help: "whether a leap is blocked by the leaper's own rat", in_tables: true, always_spelled: true,
        values: {
            /// Every rat in the water on the way blocks a leap.
            Yes = "yes",
            /// Only an enemy rat blocks a leap.
            No = "no",
        }
    }
    /// The result of a side that has pieces but no legal move (stalemate).
    NoMove {
        key: "no-move", field: no_move,
        help: "the result of a side without a legal move", in_tables: true, always_spelled: true,
        values: {
            /// The game is drawn.
            Draw = "draw",
            /// The side has lost.
            Loss = "loss",
        }
    }
    /// The directions in which the panther may leap: a house rule.
    PantherLeap {
        key: "panther-leap", field: panther_leap,
        help: "where the panther may leap", in_tables: true, always_spelled: false,
        values: {
            /// Nowhere.
            None = "none",
            /// Along ranks, over two squares of water.
            Ranks = "ranks",
        }
    }
    /// The rule on repetition. Endgame tables ignore it, since their positions have no history.
    Repetition {
        key: "repetition", field: repetition,
        help: "the effect of a repeated position; tables ignore it", in_tables: false, always_spelled: true,
        values: {
            /// The third occurrence is a draw.
            Threefold = "threefold",
            /// The second occurrence is a draw.
            Twofold = "twofold",
            /// A move that repeats a position is not legal.
            Illegal = "illegal",
            /// Repetition has no effect.
            None = "none",
        }
    }
    /// The rule of competition against loops of one side. A game knows its moves; tables and positions do not.
    Loop {
        key: "loop", field: loop_rule,
        help: "what a side may not do again and again; tables ignore it", in_tables: false, always_spelled: false,
        values: {
            /// There is no rule against loops.
            None = "none",
            /// No fourth entry of an animal into a square within eight moves of its side.
            SevenThree = "7-3",
            /// No eighteenth move in a row of one animal within five squares.
            SeventeenFive = "17-5",
            /// Both 7-3 and 17-5, as on Chinese servers.
            Servers = "servers",
            /// The fourth entry of an animal into a square within eight moves in a row loses.
            SevenThreeLoses = "7-3-loses",
            /// The third entry of an animal into a square within six moves in a row loses.
            FiveTwo = "5-2",
            /// The second entry of an animal into a square within three moves in a row loses.
            TwoOne = "2-1",
            /// A position that occurs again within eight rounds ends the game.
            RepeatEnd = "repeat-end",
        }
    }
    /// To whom a drawn game goes.
    Judge {
        key: "judge", field: judge,
        help: "to whom a drawn game goes; tables ignore it", in_tables: false, always_spelled: false,
        values: {
            /// A draw is a draw.
            None = "none",
            /// The side with more animals.
            Number = "number",
            /// The side with the heavier animals.
            Weight = "weight",
        }
    }
    /// The moves of both sides together after which a game is drawn.
    MoveLimit {
        key: "move-limit", field: move_limit,
        help: "the plies after which a game is drawn; tables ignore it", in_tables: false, always_spelled: false,
        values: {
            /// There is no limit.
            None = "none",
            /// 100 plies.
            Plies100 = "100",
            /// 200 plies.
            Plies200 = "200",
            /// 300 plies.
            Plies300 = "300",
            /// 400 plies.
            Plies400 = "400",
        }
    }
}

impl MoveLimit {
    /// The plies; `None` is no limit.
    #[must_use]
    pub fn plies(self) -> Option<u32> {
        self.as_str().parse().ok()
    }
}

/// Why a text does not name rules.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseRulesError {
    /// The first item is neither a preset nor `key=value`.
    #[error("no rules preset is called {name:?}; the presets are {}", RuleOptions::preset_names())]
    UnknownPreset {
        /// The item.
        name: String,
    },
    /// No option has this name.
    #[error("no rule option is called {key:?}; the options are {}", RuleOptions::keys())]
    UnknownKey {
        /// The unknown name.
        key: String,
    },
    /// The option has no such value.
    #[error("{key} cannot be {value:?}; it is one of {allowed}")]
    UnknownValue {
        /// The option's name.
        key: String,
        /// The unknown value.
        value: String,
        /// The option's values, separated by commas.
        allowed: String,
    },
    /// Two options contradict each other.
    #[error("loop=repeat-end and repetition={repetition} contradict each other: both decide repeated positions")]
    Contradiction {
        /// The rule on repetition.
        repetition: Repetition,
    },
    /// A later item is not `key=value`.
    #[error("{text:?} is neither a preset nor key=value")]
    Malformed {
        /// The item.
        text: String,
    },
}

impl RuleOptions {
    /// The named rule sets, each from one source.
    pub const PRESETS: [(&'static str, RuleOptions); 6] = [
        ("paper", RuleOptions::PAPER),
        ("cazaux", RuleOptions { shore: Shore::None, repetition: Repetition::Illegal, ..RuleOptions::PAPER }),
        ("bodlaender", RuleOptions { traps: Traps::Sanctuary, ..RuleOptions::PAPER }),
        ("quadibloc", RuleOptions { shore: Shore::NoExit, ..RuleOptions::PAPER }),
        ("bell", RuleOptions { traps: Traps::None, ..RuleOptions::PAPER }),
        (
            "chinese",
            RuleOptions {
                elephant_takes_rat: ElephantTakesRat::No,
                shore: Shore::None,
                dog_over_wolf: DogOverWolf::No,
                no_move: NoMove::Loss,
                ..RuleOptions::PAPER
            },
        ),
    ];

    /// Every combination of the values of the options about positions: all but the rules of games on repetition and of
    /// competition.
    #[must_use]
    pub fn all() -> Vec<RuleOptions> {
        RuleOptions::of_positions().fold(vec![RuleOptions::PAPER], |all, option| {
            let values =
                |rules: RuleOptions| option.values.iter().filter_map(move |value| rules.with(option.key, value).ok());
            all.into_iter().flat_map(values).collect()
        })
    }

    /// [`RuleOptions::PAPER`] with one changed option, for each other value of each option about positions.
    pub fn single_changes() -> impl Iterator<Item = RuleOptions> {
        RuleOptions::of_positions().flat_map(|option| {
            option.values[1..].iter().filter_map(move |value| RuleOptions::PAPER.with(option.key, value).ok())
        })
    }

    /// The options that positions, and so their values in tables, depend on.
    fn of_positions() -> impl Iterator<Item = &'static RuleOption> {
        RuleOptions::OPTIONS.iter().filter(|option| option.in_tables)
    }

    /// These options, unless two of them contradict each other.
    fn consistent(self) -> Result<RuleOptions, ParseRulesError> {
        let decided = matches!(self.repetition, Repetition::Twofold | Repetition::Illegal);
        if decided && self.loop_rule == Loop::RepeatEnd {
            return Err(ParseRulesError::Contradiction { repetition: self.repetition });
        }
        Ok(self)
    }

    /// Whether there is a rule against loops, under which values of tables may not hold in games.
    #[must_use]
    pub fn has_loop_rule(&self) -> bool {
        self.loop_rule != Loop::None
    }

    /// Whether there is any rule of competition: against loops, on draws, or a limit of moves.
    #[must_use]
    pub fn has_competition_rule(&self) -> bool {
        self.has_loop_rule() || self.judge != Judge::None || self.move_limit != MoveLimit::None
    }

    /// The preset of a name, if there is one.
    #[must_use]
    pub fn preset(name: &str) -> Option<RuleOptions> {
        RuleOptions::PRESETS.into_iter().find(|(n, _)| *n == name).map(|(_, options)| options)
    }

    fn preset_names() -> String {
        RuleOptions::PRESETS.map(|(name, _)| name).join(", ")
    }

    /// The name of the preset with these options, if there is one.
    #[must_use]
    pub fn preset_name(&self) -> Option<&'static str> {
        RuleOptions::PRESETS.into_iter().find(|(_, options)| options == self).map(|(name, _)| name)
    }

    fn keys() -> String {
        RuleOptions::OPTIONS.iter().map(|option| option.key).collect::<Vec<_>>().join(", ")
    }

    /// The stable hash of the options that tables depend on: FNV-1a, 64 bits, over [`RuleOptions::table_spelling`].
    #[must_use]
    pub fn table_hash(&self) -> u64 {
        self.table_spelling()
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
    }

    /// The largest no-capture limit of tables.
    pub const MAX_NO_CAPTURE_LIMIT: u16 = 1000;

    /// The same options for tables whose values know this no-capture limit.
    #[must_use]
    pub const fn within(self, no_capture_limit: Option<u16>) -> RuleOptions {
        RuleOptions { no_capture_limit, ..self }
    }

    /// The canonical spelling of the options that tables depend on. The no-capture limit, if there is one, comes last.
    #[must_use]
    pub fn table_spelling(&self) -> String {
        let options = self.spelling(|option| option.in_tables);
        self.no_capture_limit.map_or(options.clone(), |limit| format!("{options},{LIMIT_KEY}={limit}"))
    }

    /// The options of tables, from their [`table_spelling`](RuleOptions::table_spelling).
    ///
    /// # Errors
    /// If the text is no such spelling.
    pub fn from_table_spelling(text: &str) -> Result<RuleOptions, ParseRulesError> {
        let (options, limit) = match text.rsplit_once(',').and_then(|(rest, last)| Some((rest, last.split_once('=')?)))
        {
            Some((options, (LIMIT_KEY, limit))) => (options, Some(limit)),
            _ => (text, None),
        };
        let unknown = |value: &str| ParseRulesError::UnknownValue {
            key: LIMIT_KEY.to_owned(),
            value: value.to_owned(),
            allowed: format!("1 to {}", RuleOptions::MAX_NO_CAPTURE_LIMIT),
        };
        let right = 1..=RuleOptions::MAX_NO_CAPTURE_LIMIT;
        let number = |text: &str| text.parse().ok().filter(|limit| right.contains(limit)).ok_or_else(|| unknown(text));
        Ok(options.parse::<RuleOptions>()?.within(limit.map(number).transpose()?))
    }

    /// The items `key=value` of the chosen options, in their fixed order. An option that is not always spelled is left
    /// out if it has the default value.
    fn spelling(&self, is_chosen: impl Fn(&RuleOption) -> bool) -> String {
        let is_spelled = |option: &RuleOption, value: &str| option.always_spelled || value != option.values[0];
        let items = self.values().filter(|(option, value)| is_chosen(option) && is_spelled(option, value));
        items.map(|(option, value)| format!("{}={value}", option.key)).collect::<Vec<_>>().join(",")
    }
}

/// The canonical spelling: the options in one fixed order. Options that are not always spelled
/// ([`RuleOption::always_spelled`]) are left out if they have the default value.
impl fmt::Display for RuleOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spelling(|_| true))
    }
}

/// Reads `key=value` items separated by commas. They change the preset that may come first; the default is `paper`.
impl FromStr for RuleOptions {
    type Err = ParseRulesError;

    fn from_str(text: &str) -> Result<RuleOptions, ParseRulesError> {
        let mut options = RuleOptions::PAPER;
        for (i, item) in text.split(',').map(str::trim).enumerate() {
            match item.split_once('=') {
                Some((key, value)) => options = options.set(key.trim(), value.trim())?,
                None if i == 0 => {
                    options = RuleOptions::preset(item)
                        .ok_or_else(|| ParseRulesError::UnknownPreset { name: item.to_owned() })?;
                }
                None => return Err(ParseRulesError::Malformed { text: item.to_owned() }),
            }
        }
        options.consistent()
    }
}

/// The name of the no-capture limit in [`RuleOptions::table_spelling`].
const LIMIT_KEY: &str = "no-capture-limit";

/// One word for each animal, weakest first: eight lanes of one vector register.
pub(crate) type Lanes = [u64; Animal::COUNT];

/// The rule options with the masks that move generation derives from them. The masks replace branches on the options.
/// All clones share the masks, so a clone is cheap.
#[derive(Clone, Debug)]
pub struct Rules {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    options: RuleOptions,
    masks: Masks,
}

#[derive(Debug)]
pub(crate) struct Masks {
    /// All ones in the lanes of animals that leap along files (or along ranks).
    pub leaps_files: Lanes,
    pub leaps_ranks: Lanes,
    /// The squares that an animal of a colour may enter.
    pub habitat: [Lanes; 2],
    /// `takes[attacker's colour][its rat stands in water][victim][attacker]`: where the attacker may take the victim.
    pub takes: [[[Lanes; Animal::COUNT]; 2]; 2],
    /// All ones if a leap is blocked by the leaper's own rat.
    pub own_rat_blocks: u64,
}

impl Rules {
    /// The rules of these options.
    #[must_use]
    pub fn new(options: RuleOptions) -> Rules {
        let lanes = |f: &dyn Fn(Animal) -> bool| Animal::ALL.map(|a| if f(a) { u64::MAX } else { 0 });
        let takes = Color::ALL.map(|color| {
            [false, true].map(|wet| {
                Animal::ALL.map(|victim| {
                    Animal::ALL.map(|attacker| {
                        // Only the kind of the attacker's square matters: one square of water and one of land represent
                        // all. An animal that does not swim is on land, wherever its side's rat is.
                        let from = if wet && attacker.swims() { Square::B4 } else { Square::A4 };
                        Square::all()
                            .filter(|&to| options.may_capture(color, attacker, from, victim, to))
                            .collect::<Bitboard>()
                            .bits()
                    })
                })
            })
        });
        let own_rat = Piece { color: Color::White, animal: Animal::Rat };
        let masks = Masks {
            leaps_files: lanes(&|a| options.leaps(a, Direction::Up)),
            leaps_ranks: lanes(&|a| options.leaps(a, Direction::Right)),
            habitat: Color::ALL.map(|color| Animal::ALL.map(|a| habitat(color, a).bits())),
            takes,
            own_rat_blocks: if options.blocks_leap(own_rat, Color::White) { u64::MAX } else { 0 },
        };
        Rules { shared: Arc::new(Shared { options, masks }) }
    }

    #[inline(always)]
    pub(crate) fn masks(&self) -> &Masks {
        &self.shared.masks
    }

    /// The options of these rules.
    #[must_use]
    pub fn options(&self) -> &RuleOptions {
        &self.shared.options
    }
}

impl Default for Rules {
    fn default() -> Rules {
        Rules::new(RuleOptions::default())
    }
}

impl From<RuleOptions> for Rules {
    fn from(options: RuleOptions) -> Rules {
        Rules::new(options)
    }
}

impl RuleOptions {
    /// Whether this animal leaps over water in this direction.
    #[must_use]
    pub fn leaps(&self, animal: Animal, direction: Direction) -> bool {
        match animal {
            Animal::Lion => true,
            Animal::Tiger => match self.tiger_leap {
                TigerLeap::Both => true,
                TigerLeap::Files => direction.is_vertical(),
                TigerLeap::Ranks => !direction.is_vertical(),
                TigerLeap::None => false,
            },
            Animal::Panther => self.panther_leap == PantherLeap::Ranks && !direction.is_vertical(),
            _ => false,
        }
    }

    /// Whether a piece in the water blocks a leap of this side over it.
    #[must_use]
    pub fn blocks_leap(&self, piece: Piece, leaper: Color) -> bool {
        piece.animal.swims() && (piece.color != leaper || self.own_rat_blocks == OwnRatBlocks::Yes)
    }

    /// The squares that this animal reaches from a square by one step or leap on an otherwise empty board, each with
    /// the water it leaps over (a rat there may block it). It may not be allowed to stand on all of them: see
    /// [`habitat`].
    pub fn destinations(
        &self,
        animal: Animal,
        from: Square,
    ) -> impl Iterator<Item = (Square, Bitboard)> + Clone + use<> {
        let options = *self;
        Direction::ALL.into_iter().flat_map(move |direction| {
            let step = from.neighbour(direction).map(|to| (to, Bitboard::EMPTY));
            let leap = from.leap(direction).filter(|_| options.leaps(animal, direction));
            step.into_iter().chain(leap)
        })
    }

    /// Whether `attacker`, of side `color` and able to go from `from` to `to`, may take `victim` there. The squares
    /// matter only as water, land or traps.
    #[must_use]
    pub fn may_capture(&self, color: Color, attacker: Animal, from: Square, victim: Animal, to: Square) -> bool {
        let (wet_from, wet_to) = (WATER.contains(from), WATER.contains(to));
        let shore = match self.shore {
            Shore::ElephantSafe => !(wet_from && !wet_to && victim == Animal::Elephant),
            Shore::None => wet_from == wet_to,
            Shore::NoExit => !wet_from || wet_to,
        };
        if !shore {
            return false;
        }
        let in_attackers_trap = TRAPS[color].contains(to);
        let in_victims_trap = TRAPS[!color].contains(to);
        if self.traps == Traps::Sanctuary && in_victims_trap {
            return false;
        }
        let strengthless = match self.traps {
            Traps::Opponent | Traps::Sanctuary => in_attackers_trap,
            Traps::Any => in_attackers_trap || in_victims_trap,
            Traps::None => false,
        };
        strengthless
            || match (attacker, victim) {
                (Animal::Rat, Animal::Elephant) => true,
                (Animal::Elephant, Animal::Rat) => self.elephant_takes_rat == ElephantTakesRat::Yes,
                (Animal::Dog, Animal::Wolf) => self.dog_over_wolf == DogOverWolf::Yes,
                (Animal::Wolf, Animal::Dog) => self.dog_over_wolf == DogOverWolf::No,
                _ => attacker >= victim,
            }
    }
}

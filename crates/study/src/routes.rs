use doushouqi::board::geometry::{DEN, habitat};
use doushouqi::board::{Animal, Color, RuleOptions, Square};

/// The lengths of the shortest paths of one piece between any two squares of an otherwise empty board: around the water
/// (or through it, or leaping over it, if the animal may), never into its own den, and not beyond the enemy's den,
/// where the game ends.
#[derive(Clone)]
pub struct Routes {
    steps: [[u8; Square::COUNT]; Square::COUNT],
}

impl Routes {
    /// The length if there is no path, greater than every other length.
    pub const NONE: u8 = 60;

    /// The paths of an animal of one side.
    #[must_use]
    pub fn new(color: Color, animal: Animal, options: &RuleOptions) -> Routes {
        let habitat = habitat(color, animal);
        let mut steps = [[Routes::NONE; Square::COUNT]; Square::COUNT];
        for start in habitat {
            let steps = &mut steps[start.index()];
            steps[start.index()] = 0;
            let mut reached = vec![start];
            let mut next = 0;
            while let Some(&from) = reached.get(next) {
                next += 1;
                if from == DEN[!color] {
                    continue;
                }
                for (to, _) in options.destinations(animal, from) {
                    if habitat.contains(to) && steps[to.index()] == Routes::NONE {
                        steps[to.index()] = steps[from.index()] + 1;
                        reached.push(to);
                    }
                }
            }
        }
        Routes { steps }
    }

    /// The number of moves from one square to another; [`Routes::NONE`] if there is no path.
    #[must_use]
    pub fn steps(&self, from: Square, to: Square) -> u8 {
        self.steps[from.index()][to.index()]
    }
}

/// File distance plus rank distance.
#[must_use]
pub fn manhattan(a: Square, b: Square) -> u8 {
    a.distance(b) as u8
}

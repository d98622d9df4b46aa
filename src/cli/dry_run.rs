//! What solving on a graphics card would take, without doing it.

use super::backend::BackendArg;
use super::{Failure, Outcome};
use doushouqi::board::RuleOptions;
use doushouqi::tablebase::Material;

/// What to plan.
pub struct DryRun<'a> {
    pub rules: &'a RuleOptions,
    pub backend: &'a BackendArg,
    /// The most pieces.
    pub pieces: usize,
    /// One material, and all it leads to.
    pub material: Option<Material>,
    /// Bytes a second that the card's memory moves.
    pub bandwidth: f64,
    pub json: bool,
}

#[cfg(not(feature = "gpu"))]
impl DryRun<'_> {
    pub fn run(&self) -> Outcome {
        let DryRun { rules, backend, pieces, material, bandwidth, json } = self;
        let _ = (rules, backend, pieces, material, bandwidth, json);
        Err(Failure::Environment(super::NO_GPU_FEATURE.to_owned()))
    }
}

#[cfg(feature = "gpu")]
mod gpu {
    use super::super::{grouped, print, print_json};
    use super::{DryRun, Failure, Outcome};
    use doushouqi::tablebase::{BatchNeeds, ClassId, Classes};
    use serde::Serialize;

    #[derive(Serialize)]
    struct Line<'a> {
        pieces: usize,
        #[serde(flatten)]
        needs: &'a BatchNeeds,
        predicted_seconds: f64,
    }

    impl DryRun<'_> {
        pub fn run(&self) -> Outcome {
            if !(self.bandwidth.is_finite() && self.bandwidth > 0.0) {
                return Err(Failure::Input("--bandwidth must be more than 0".to_owned()));
            }
            let Some(gpu) = self.backend.gpu()? else {
                return Err(Failure::Input("--dry-run plans for a graphics card: say --backend gpu".to_owned()));
            };
            let classes = Classes::new(self.rules, self.pieces);
            let mut total = 0.0;
            if !self.json {
                print(format_args!("adapter: {}", gpu.adapter().name))?;
            }
            for pieces in 2..=self.pieces {
                let ids = self.ids(&classes, pieces);
                for needs in gpu.plan(&ids, &classes, self.material.is_some() || pieces < self.pieces) {
                    let predicted_seconds = needs.seconds(self.bandwidth);
                    total += predicted_seconds;
                    if self.json {
                        print_json(&Line { pieces, needs: &needs, predicted_seconds })?;
                    } else {
                        print(format_args!("{}", text(pieces, &needs, predicted_seconds)))?;
                    }
                }
            }
            if self.json { Ok(()) } else { print(format_args!("in all: {total:.3} s at least")) }
        }

        fn ids(&self, classes: &Classes, pieces: usize) -> Vec<ClassId> {
            match self.material.and_then(|material| classes.member(material)) {
                Some(member) => classes
                    .needed_for(member.class)
                    .into_iter()
                    .flatten()
                    .filter(|&id| classes.get(id).representative.len() == pieces)
                    .collect(),
                None => classes.level(pieces).map(|(id, _)| id).collect(),
            }
        }
    }

    fn text(pieces: usize, needs: &BatchNeeds, seconds: f64) -> String {
        let mib = |bytes: u64| grouped(bytes.div_ceil(1 << 20));
        format!(
            "{pieces} pieces, {} classes from {}: {} rows in {} pages, the plane that is read in {} buffers; {} MiB: planes {}, \
             codes {}, seeds {} (expected), smaller classes {}, lists {}; {seconds:.3} s at least",
            needs.classes,
            needs.material,
            grouped(needs.rows),
            needs.pages,
            needs.plane_buffers,
            mib(needs.bytes),
            mib(needs.planes),
            mib(needs.codes),
            mib(needs.seeds),
            mib(needs.tables),
            mib(needs.lists),
        )
    }
}

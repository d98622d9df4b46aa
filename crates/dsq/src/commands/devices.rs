use crate::failure::Outcome;
use crate::gpu;
use clap::Args;

/// List graphics adapters with the limits that matter here.
#[derive(Args)]
#[command(after_help = "Examples:\n  dsq devices\n  dsq devices --json")]
pub struct Devices {
    /// Print JSON, one object an adapter.
    #[arg(long)]
    json: bool,
}

impl Devices {
    pub fn run(self) -> Outcome {
        gpu::list(self.json)
    }
}

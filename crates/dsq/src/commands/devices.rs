use crate::gpu;
use clap::Args;
use cli::failure::Outcome;

/// List the graphics adapters, with the limits that matter to dsq.
#[derive(Args)]
#[command(after_help = "Examples:\n  dsq devices\n  dsq devices --json")]
pub struct Devices {
    /// Print one JSON object per adapter.
    #[arg(long)]
    json: bool,
}

impl Devices {
    pub fn run(self) -> Outcome {
        gpu::list(self.json)
    }
}

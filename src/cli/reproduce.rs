#[derive(clap::Args)]
pub struct Reproduce {}
impl Reproduce {
    pub fn run(self) -> super::Outcome {
        Ok(())
    }
}

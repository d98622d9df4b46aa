
use doushouqi::perft::*;
use doushouqi::board::*;
use doushouqi::cpu::CpuLevel;
fn main() {
    let n: u32 = std::env::args().nth(1).unwrap().parse().unwrap();
    let rules = Rules::default();
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().unwrap();
    for level in CpuLevel::available() { for mode in [PerftMode::Expand, PerftMode::Leaf] {
        for d in 1..=n {
        let t = std::time::Instant::now();
        let c = Perft::new(&rules, mode).with_level(level).count(&Position::start(), d);
        println!("{level:?} {mode:?} {d} {c} {:.3e}", c as f64 / t.elapsed().as_secs_f64());
        }
    }}
}

use doushouqi::tablebase::*;
use doushouqi::board::*;
fn main() {
    let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let r: RuleOptions = std::env::args().nth(2).unwrap_or("paper".into()).parse().unwrap();
    let t = std::time::Instant::now();
    let mut s = Solver::new(&r, n, Options::default());
    println!("classes {:?} {:?}", (2..=n).map(|k| s.classes().level(k).count()).collect::<Vec<_>>(), t.elapsed());
    for k in 2..=n {
        s.solve_level(k, k<n, &|_,_|()).unwrap();
        println!("{k} {:?} {:?}", s.level_stats(k).unwrap().summary(), t.elapsed());
    }
}

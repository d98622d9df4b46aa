use doushouqi::board::*;
use doushouqi::game::Game;
use doushouqi::search::*;
use std::sync::atomic::AtomicBool;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let depth: u32 = a[1].parse().unwrap();
    let fen = a.get(2).map(|s| s.as_str()).unwrap_or("l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L w");
    let mut o = match a.get(3).map(|s| s.as_str()) {
        Some("ab") => EngineOptions::burnett_alphabeta(),
        _ => EngineOptions::default(),
    };
    if let Some(i) = a.get(4) {
        o.ideas = i.parse().unwrap();
    }
    let mut e = Engine::new(o);
    let g = Game::new(Position::from_fen(fen).unwrap(), Rules::default(), Some(100));
    let l = Limits { depth: Some(depth), ..Limits::default() };
    e.search(&g, &l, &AtomicBool::new(false), &mut |i| {
        println!(
            "d{} sd{} {} n{} {:?} nps {:.2}M {}",
            i.depth,
            i.seldepth,
            i.score,
            i.nodes,
            i.time,
            i.nodes as f64 / i.time.as_secs_f64() / 1e6,
            i.pv.iter().map(|m| m.to_string()).collect::<Vec<_>>().join(" ")
        )
    });
}

//! From games to a network that the engine plays with, and the errors on the way.

use doushouqi::board::{Position, RuleOptions, Rules};
use doushouqi::game::Game;
use doushouqi::search::network::Network;
use doushouqi::search::{Engine, EngineOptions, Evaluation, Limits, SearchPreset, Tables};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use train::{DataFile, Datagen, Header, Model, Recipe, Shape, TrainingError, train};

fn header(seed: u64) -> Header {
    Header::new(&RuleOptions::default(), seed, 40, &Evaluation::Default, false, 2)
}

fn generate(path: &Path, seed: u64, games: u32) {
    let tables = Arc::new(Tables::solve(&RuleOptions::default(), 2).unwrap());
    let datagen =
        Datagen { rules: Rules::default(), seed, nodes: 40, evaluation: Evaluation::Default, tables, sidelines: false };
    let mut engine = datagen.engine();
    let mut file = DataFile::open(path, &header(seed)).unwrap();
    for number in file.next_game()..games {
        file.write_game(&datagen.game(&mut engine, number)).unwrap();
    }
}

/// Trains, and checks that the rate ends where the recipe says.
fn run(recipe: &str, directory: &Path, threads: usize) -> Result<train::Trained, TrainingError> {
    let recipe = Recipe::parse(recipe, directory).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let mut rates = vec![recipe.rates[0]];
    let trained = pool.install(|| train(&recipe, &AtomicBool::new(false), &mut |epoch| rates.push(epoch.rate)))?;
    assert!(rates.windows(2).all(|pair| pair[1] <= pair[0]), "{rates:?}");
    assert!((rates[recipe.epochs] - recipe.rates[1]).abs() < 1e-6, "{rates:?}");
    Ok(trained)
}

/// A file that is cut off anywhere is completed to the same bytes. A file of other games is refused.
#[test]
fn a_file_is_continued() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    generate(&path("a.data"), 1, 10);
    let whole = std::fs::read(path("a.data")).unwrap();
    for cut in [0, 10, 48, 60, whole.len() / 2, whole.len() - 1, whole.len()] {
        std::fs::write(path("cut.data"), &whole[..cut]).unwrap();
        generate(&path("cut.data"), 1, 10);
        assert!(std::fs::read(path("cut.data")).unwrap() == whole, "cut after {cut} bytes");
    }
    std::fs::write(path("header.data"), &whole[..48]).unwrap();
    for name in ["a.data", "header.data"] {
        let refused = DataFile::open(&path(name), &header(2)).err().unwrap().to_string();
        assert!(refused.contains("seed 1"), "{refused}");
    }
}

#[test]
fn from_games_to_a_network_that_plays() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    generate(&path("a.data"), 1, 200);
    // Any number of threads gives the same network, and it improves on held-out games.
    let recipe = |name: &str, more: &str| {
        format!(
            "data = ['a.data']\nnetwork = '{name}.nnue'\ncheckpoint = '{name}.ckpt'\nhidden = 32\nepochs = 12\n\
             batch = 256\nrates = [0.01, 0.0001]\nheld_out = 6\n{more}"
        )
    };
    let trained = run(&recipe("one", ""), directory.path(), 1).unwrap();
    let again = run(&recipe("two", ""), directory.path(), 2).unwrap();
    assert!(trained.after < 0.9 * trained.before, "{} {}", trained.before, trained.after);
    assert_eq!(trained.network.to_bytes(), again.network.to_bytes());
    assert_eq!(std::fs::read(path("one.ckpt")).unwrap(), std::fs::read(path("two.ckpt")).unwrap());
    let network = Network::open(&path("one.nnue")).unwrap();
    assert_eq!(network.hash(), trained.network.hash());

    // A run continues from a checkpoint.
    let next = run(&recipe("three", "start = 'one.ckpt'"), directory.path(), 2).unwrap();
    assert!((next.before - trained.after).abs() < 1e-5 && next.after < trained.before);
    let Err(TrainingError::Input(refused)) =
        run(&recipe("x", "start = 'one.ckpt'").replace("32", "64"), directory.path(), 1)
    else {
        panic!("another architecture")
    };
    assert!(refused.contains("32 units"), "{refused}");

    // A run without pairs has a smaller network, from which a run with pairs continues, but not the other way round.
    let plain = run(&recipe("plain", "pairs = false"), directory.path(), 2).unwrap();
    assert!(trained.network.has_pairs() && !plain.network.has_pairs());
    let next = run(&recipe("next", "start = 'plain.ckpt'"), directory.path(), 2).unwrap();
    assert!((next.before - plain.after).abs() < 1e-5 && next.after < trained.before && next.network.has_pairs());
    let Err(TrainingError::Input(refused)) =
        run(&recipe("x", "start = 'one.ckpt'\npairs = false"), directory.path(), 1)
    else {
        panic!("another architecture")
    };
    assert!(refused.contains("inputs for pairs"), "{refused}");

    // The engine evaluates with the network: at depth 1 the best move leads to the worst position for the opponent.
    let network = Arc::new(network);
    let rules = Rules::default();
    let options = EngineOptions::default().hash_mib(1).search(SearchPreset::AlphaBeta);
    let mut engine = Engine::new(options.evaluation(Evaluation::Network(Arc::clone(&network))));
    for fen in ["l5t/1d3c1/r1p1w1e/7/7/7/E1W1P1R/1C3D1/T5L b", "7/7/3e3/3t3/7/7/3E3/7/R1L4 w"] {
        let position = Position::from_fen(fen).unwrap();
        let expected = position.moves(&rules).iter().map(|&mv| -network.evaluate(&position.make(mv))).max().unwrap();
        let game = Game::new(position, rules.clone(), Some(100));
        let found = engine.search(&game, &Limits::default().depth(1)).run();
        assert_eq!(found.lines[0].score.value(), expected, "{fen}");
    }
}

#[test]
fn wrong_files_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let recipe = "data = ['bad.data']\nnetwork = 'x.nnue'\ncheckpoint = 'x.ckpt'\nhidden = 32\nepochs = 1\n";
    let refused = || run(recipe, directory.path(), 1).unwrap_err().to_string();
    assert!(refused().contains("bad.data"), "missing");
    for (bytes, problem) in [
        (&b"DSQ"[..], "shorter than a header"),
        (&[b'x'; 72], "does not begin with DSQDATA"),
        (&[&b"DSQDATA\x02"[..], &[0; 64]].concat(), "its format is 2"),
        (&[&b"DSQDATA\x01"[..], &[0; 40], &[0; 24]].concat(), "record 1: two pieces"),
        (&[&b"DSQDATA\x01"[..], &[0; 40]].concat(), "too few games"),
    ] {
        std::fs::write(path("bad.data"), bytes).unwrap();
        let refused = refused();
        assert!(refused.contains(problem), "{problem}: {refused}");
    }
    for shape in Shape::all(32) {
        Model::random(shape, 1).save(&path("good.ckpt")).unwrap();
        let model = Model::load(&path("good.ckpt")).unwrap();
        assert_eq!(model.shape(), shape);
        model.save(&path("again.ckpt")).unwrap();
        assert_eq!(Model::load(&path("again.ckpt")).unwrap(), model);
    }
    let bytes = std::fs::read(path("good.ckpt")).unwrap();
    let with = |at: usize, byte| {
        let mut bytes = bytes[..bytes.len() - 8].to_vec();
        bytes[at] = byte;
        bytes.extend(xxhash_rust::xxh3::xxh3_64(&bytes).to_le_bytes());
        bytes
    };
    for (bytes, problem) in [
        (&with(7, 3)[..], "its version"),
        (&with(7, 1), "its version"),
        (&with(8, 33), "the number of units"),
        (&with(12, 1), "the number of inputs"),
        (&with(8, 64), "its length"),
        (&bytes[..bytes.len() - 4], "checksum"),
        (&bytes[4..], "the header is wrong"),
    ] {
        std::fs::write(path("bad.ckpt"), bytes).unwrap();
        let refused = Model::load(&path("bad.ckpt")).unwrap_err().to_string();
        assert!(refused.contains(problem), "{refused}");
    }
}

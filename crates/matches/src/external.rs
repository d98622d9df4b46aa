//! A program as a player, in either protocol: one process for all games, started again after a crash.

use super::player::{Choice, Player, PlayerError, Requirements, Turn};
use super::process::Process;
use doushouqi::game::Game;
use std::sync::atomic::AtomicBool;

/// A running program that has completed the handshake of its protocol. An error other than an illegal move or a
/// resignation ends the program.
pub(super) trait Session: Send + Sized {
    /// The settings for starting it.
    type Setup: Clone + Send;

    /// Starts a program that can play games of these requirements.
    fn start(setup: &Self::Setup, requirements: &Requirements, stop: &AtomicBool) -> Result<Self, PlayerError>;

    /// Reports the rules that the program cannot receive.
    fn remark(&self, requirements: &Requirements);

    /// The process.
    fn process(&mut self) -> &mut Process;

    /// See [`Player::new_game`].
    fn new_game(&mut self, stop: &AtomicBool) -> Result<(), PlayerError>;

    /// See [`Player::choose`].
    fn choose(&mut self, game: &Game, turn: &Turn, stop: &AtomicBool) -> Result<Choice, PlayerError>;
}

/// A program as a player.
pub(super) struct External<S: Session> {
    setup: S::Setup,
    requirements: Requirements,
    /// `None` after a crash.
    session: Option<S>,
}

impl<S: Session> External<S> {
    /// Starts a program that can play games of these requirements.
    pub(super) fn start(
        setup: &S::Setup,
        requirements: Requirements,
        stop: &AtomicBool,
    ) -> Result<External<S>, PlayerError> {
        let session = S::start(setup, &requirements, stop)?;
        if requirements.remarks && !requirements.assume_rules {
            session.remark(&requirements);
        }
        Ok(External { setup: setup.clone(), requirements, session: Some(session) })
    }

    /// Calls `act` with the program, which is started if it is not running, and ended if it fails.
    fn with<T>(
        &mut self,
        stop: &AtomicBool,
        act: impl FnOnce(&mut S) -> Result<T, PlayerError>,
    ) -> Result<T, PlayerError> {
        let session = match &mut self.session {
            Some(session) => session,
            None => self.session.insert(S::start(&self.setup, &self.requirements, stop)?),
        };
        let done = act(session);
        if done.as_ref().is_err_and(|error| !matches!(error, PlayerError::IllegalMove(_) | PlayerError::Resigned)) {
            session.process().kill();
            self.session = None;
        }
        done
    }
}

impl<S: Session> Player for External<S> {
    fn new_game(&mut self, _: u64, stop: &AtomicBool) -> Result<(), PlayerError> {
        self.with(stop, |session| session.new_game(stop))
    }

    fn choose(&mut self, game: &Game, turn: &Turn, stop: &AtomicBool) -> Result<Choice, PlayerError> {
        self.with(stop, |session| session.choose(game, turn, stop))
    }
}

//! Questions at the terminal for what nobody may see.

use std::io::BufRead as _;

use anyhow::{Context, Result};
use nix::sys::termios::{self, LocalFlags, SetArg};
use secrecy::SecretString;

/// Asks at the terminal, and reads the answer unseen.
pub(super) fn ask_secret(question: &str) -> Result<SecretString> {
    let _unseen = Unseen::begin()?;
    anstream::eprint!("{question}");
    let answer = read_line();
    anstream::eprintln!();
    answer
}

/// Reads a line of standard input.
pub(super) fn read_line() -> Result<SecretString> {
    let mut line = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut line)
        .context("standard input cannot be read")?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned().into())
}

/// Keeps the terminal from showing what is typed, until it is dropped.
struct Unseen(termios::Termios);

impl Unseen {
    fn begin() -> Result<Self> {
        let before = termios::tcgetattr(std::io::stdin()).context("the terminal cannot be examined")?;
        let mut unseen = before.clone();
        unseen.local_flags.remove(LocalFlags::ECHO);
        termios::tcsetattr(std::io::stdin(), SetArg::TCSANOW, &unseen)
            .context("the terminal cannot be changed")?;
        Ok(Self(before))
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        // Without this the user's next commands would stay invisible. An error means that the terminal is gone, and
        // then nothing is to be done.
        let _ = termios::tcsetattr(std::io::stdin(), SetArg::TCSANOW, &self.0);
    }
}

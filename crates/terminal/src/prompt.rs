//! Asks at the terminal, and reads secrets from there or from standard input.

use std::io::{BufRead as _, Write as _};

use anyhow::{Context, Result};
use nix::sys::termios::{self, LocalFlags, SetArg};
use secrecy::SecretString;

use super::WARN;

/// Prints a question at the terminal and reads a line.
pub fn ask_question(question: &str) -> Result<String> {
    anstream::print!("{WARN}{question}{WARN:#}");
    std::io::stdout().flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(answer.trim().to_owned())
}

/// Prints a question at the terminal and reads a line, which the terminal does not show.
pub fn ask_secret(question: &str) -> Result<SecretString> {
    let _echo_off = EchoOff::begin()?;
    anstream::eprint!("{question}");
    let answer = read_line();
    anstream::eprintln!();
    answer
}

/// Reads a line from standard input.
pub fn read_line() -> Result<SecretString> {
    let mut line = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut line)
        .context("standard input cannot be read")?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned().into())
}

/// Disables the terminal's echo until it is dropped.
struct EchoOff(termios::Termios);

impl EchoOff {
    fn begin() -> Result<Self> {
        let before = termios::tcgetattr(std::io::stdin()).context("the terminal cannot be examined")?;
        let mut changed = before.clone();
        changed.local_flags.remove(LocalFlags::ECHO);
        termios::tcsetattr(std::io::stdin(), SetArg::TCSANOW, &changed)
            .context("the terminal cannot be changed")?;
        Ok(Self(before))
    }
}

impl Drop for EchoOff {
    fn drop(&mut self) {
        // An error means that the terminal was closed.
        let _ = termios::tcsetattr(std::io::stdin(), SetArg::TCSANOW, &self.0);
    }
}

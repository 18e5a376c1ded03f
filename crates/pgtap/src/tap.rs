//! Reads the Test Anything Protocol, as pgTAP writes it. Pure.

/// Directive of a TAP assertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Directive {
    None,
    /// `# TODO`: it may fail.
    Todo,
    /// `# SKIP`: it did not run.
    Skip,
}

/// The report of a test file.
#[derive(Debug, Default)]
pub(super) struct TapReport {
    /// Number of assertions that the plan promises.
    planned: Option<usize>,
    /// The plan `1..0`: the whole file is skipped, with this reason.
    skipped: Option<String>,
    /// Numbers of failed assertions, without those marked `# TODO`.
    failed: Vec<usize>,
    /// Number of assertions that ran.
    ran: usize,
    /// Number of assertions marked with `# TODO` that passed.
    unexpected: usize,
    /// Diagnostics, with the failed assertions that they belong to.
    comments: Vec<String>,
    /// The text behind `Bail out!`, if the file printed it.
    bail_out: Option<String>,
    /// The error at which the file stopped.
    error: Option<String>,
}

impl TapReport {
    /// Takes a line of the file's output.
    pub(super) fn read_line(&mut self, line: &str) {
        if let Some(plan) = line.strip_prefix("1..") {
            self.read_plan(plan);
        } else if let Some(rest) = line.strip_prefix("not ok") {
            self.read_assertion(rest, false);
        } else if let Some(rest) = line.strip_prefix("ok") {
            self.read_assertion(rest, true);
        } else if let Some(reason) = line.strip_prefix("Bail out!") {
            self.bail_out = Some(reason.trim().to_owned());
        } else if line.starts_with('#') {
            self.comments.push(line.to_owned());
        }
        // Lines of nested tests are indented, and their result follows as an assertion; other output is not TAP.
    }

    /// Records PostgreSQL's error, which has ended the file.
    pub(super) fn set_error(&mut self, error: String) {
        self.error = Some(error);
    }

    fn read_plan(&mut self, plan: &str) {
        let (count, directive) = plan.split_once('#').unwrap_or((plan, ""));
        self.planned = count.trim().parse().ok();
        if self.planned == Some(0) {
            let reason = directive.trim();
            let reason = reason.get(4..).filter(|_| starts_with_word(reason, "skip"));
            self.skipped = Some(reason.unwrap_or_default().trim().to_owned());
        }
    }

    fn read_assertion(&mut self, rest: &str, passed: bool) {
        // `okay` is not an assertion.
        if !rest.is_empty() && !rest.starts_with(' ') {
            return;
        }
        self.ran += 1;
        let rest = rest.trim_start();
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let number = digits.parse().unwrap_or(self.ran);
        match (directive_of(rest), passed) {
            (Directive::Todo, true) => self.unexpected += 1,
            (Directive::None, false) => self.failed.push(number),
            _ => {}
        }
    }

    /// Problems besides failed assertions, as TAP::Harness describes them.
    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if let Some(reason) = &self.bail_out {
            problems.push(format!("Bailed out: {reason}"));
        }
        if self.error.is_some() {
            problems.push("Stopped by an error".to_owned());
        }
        match self.planned {
            None => problems.push("Parse errors: No plan found in TAP output".to_owned()),
            Some(planned) if planned != self.ran => problems.push(format!(
                "Parse errors: Bad plan.  You planned {planned} tests but ran {}.",
                self.ran
            )),
            Some(_) => {}
        }
        problems
    }

    /// Whether all planned tests ran and passed.
    pub(super) fn has_passed(&self) -> bool {
        self.failed.is_empty() && self.problems().is_empty()
    }

    /// Numbers of failed assertions.
    pub(super) fn failed(&self) -> &[usize] {
        &self.failed
    }

    /// Number of assertions that ran.
    pub(super) fn ran_count(&self) -> usize {
        self.ran
    }

    /// Number of planned assertions; `None` without a plan.
    pub(super) fn planned_count(&self) -> Option<usize> {
        self.planned
    }

    /// Why the whole file was skipped; `None` if it was not.
    pub(super) fn skipped(&self) -> Option<&str> {
        self.skipped.as_deref()
    }

    /// Number of expected failures that passed.
    pub(super) fn unexpected(&self) -> usize {
        self.unexpected
    }

    /// The diagnostic lines, each with its `#`.
    pub(super) fn comments(&self) -> &[String] {
        &self.comments
    }

    /// PostgreSQL's error, if one has ended the file.
    pub(super) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }
}

/// The directive behind the last ` # ` that is not escaped.
fn directive_of(assertion: &str) -> Directive {
    let Some((before, directive)) = assertion.rsplit_once('#') else {
        return Directive::None;
    };
    let directive = directive.trim_start();
    if before.ends_with('\\') {
        Directive::None
    } else if starts_with_word(directive, "todo") {
        Directive::Todo
    } else if starts_with_word(directive, "skip") {
        Directive::Skip
    } else {
        Directive::None
    }
}

fn starts_with_word(text: &str, word: &str) -> bool {
    text.get(..word.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(output: &str) -> TapReport {
        let mut report = TapReport::default();
        output.lines().for_each(|line| report.read_line(line));
        report
    }

    #[test]
    fn assertions_are_counted_by_their_results_and_directives() {
        let report = read(
            "1..6\nok 1 - a\nnot ok 2 - b\n# Failed test 2: \"b\"\n#         have: 1\n#         want: 2\n\
             not ok 3 - later # TODO soon\nok 4 # SKIP not here\nok 5 - has # inside\n    not ok 1 - nested\nok 6 - t # todo",
        );

        assert_eq!(report.failed(), [2]);
        assert_eq!(
            (report.ran_count(), report.planned_count(), report.unexpected()),
            (6, Some(6), 1)
        );
        assert_eq!(report.comments().len(), 3);
        assert!(!report.has_passed());
        assert!(report.problems().is_empty());
    }

    #[test]
    fn a_plan_must_exist_and_be_met_and_may_skip_the_file() {
        assert_eq!(
            read("1..3\nok 1\nok 2").problems(),
            ["Parse errors: Bad plan.  You planned 3 tests but ran 2."]
        );
        assert_eq!(
            read("ok 1").problems(),
            ["Parse errors: No plan found in TAP output"]
        );
        assert!(read("ok 1\nok 2\n1..2").has_passed());
        let skipped = read("1..0 # SKIP no such version");
        assert_eq!(skipped.skipped(), Some("no such version"));
        assert!(skipped.has_passed());
        assert_eq!(
            read("1..1\nok 1\nBail out!  gone").problems(),
            ["Bailed out: gone"]
        );
    }
}

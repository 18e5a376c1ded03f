//! The statements of a migration are parts of its text, in order, and their line numbers are right.
#![no_main]

use libfuzzer_sys::fuzz_target;
use selvedge_postgres::migrate::split_statements;

fuzz_target!(|sql: &str| {
    let statements = match split_statements(sql) {
        Ok(statements) => statements,
        Err(error) => {
            assert!(error.line() >= 1 && error.line() <= sql.split('\n').count());
            return;
        }
    };
    let mut from = 0;
    for statement in &statements {
        let offset = statement.text.as_ptr() as usize - sql.as_ptr() as usize;
        assert!(offset >= from, "statements do not overlap");
        from = offset + statement.text.len();
        // Only at the beginning of a file is a byte order mark left out; elsewhere it is a character that PostgreSQL refuses.
        if statement.text.starts_with('\u{feff}') {
            continue;
        }
        // A statement is one statement, so splitting it again changes nothing but the number of its line.
        let again = split_statements(statement.text).expect("a part that was split before");
        assert_eq!(again.len(), 1);
        assert_eq!(again[0].text, statement.text);
        let lines_before = sql[..offset].matches('\n').count();
        assert_eq!(again[0].line + lines_before, statement.line);
    }
});

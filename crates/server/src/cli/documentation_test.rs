//! docs/operations.md says of every command what it touches.

use std::collections::BTreeSet;

use clap::CommandFactory as _;

use super::Cli;

const OPERATIONS: &str = include_str!("../../../../docs/operations.md");

/// Every command that does something, by the names with which it is called: `db reset`. One with several names is in each of `names`.
fn list_commands(command: &clap::Command, path: &[String], found: &mut Vec<Vec<String>>) {
    let children: Vec<_> = command
        .get_subcommands()
        .filter(|child| child.get_name() != "help" && !child.is_hide_set())
        .collect();
    if children.is_empty() {
        found.push(path.to_vec());
    }
    for child in children {
        // `migrate` is documented by the name that the Supabase CLI has for it.
        let name = child.get_visible_aliases().next().unwrap_or(child.get_name());
        list_commands(child, &[path, &[name.to_owned()]].concat(), found);
    }
}

/// The names in the first column of the table.
fn read_table() -> BTreeSet<String> {
    let (_, section) = OPERATIONS.split_once("## What each command touches").unwrap();
    let rows = section
        .lines()
        .skip_while(|line| !line.starts_with("|---"))
        .skip(1);
    let rows = rows.take_while(|line| line.starts_with('|'));
    rows.filter_map(|row| row.split('|').nth(1))
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .map(str::to_owned)
        .collect()
}

#[test]
fn gw_031_every_command_is_in_the_table_of_what_it_touches_and_nothing_else_is() {
    let mut commands = Vec::new();
    list_commands(&Cli::command(), &[], &mut commands);
    let table = read_table();

    // A row may be about all commands of an area.
    let prefixes = |path: &[String]| {
        (1..=path.len())
            .map(|count| path[..count].join(" "))
            .collect::<Vec<_>>()
    };
    let missing: Vec<String> = commands
        .iter()
        .filter(|path| !prefixes(path).iter().any(|name| table.contains(name)))
        .map(|path| path.join(" "))
        .collect();
    let known: BTreeSet<String> = commands.iter().flat_map(|path| prefixes(path)).collect();
    let unknown: Vec<&String> = table.iter().filter(|name| !known.contains(*name)).collect();

    assert!(commands.len() > 50, "{commands:?}");
    assert_eq!(missing, Vec::<String>::new());
    assert_eq!(unknown, Vec::<&String>::new());
}

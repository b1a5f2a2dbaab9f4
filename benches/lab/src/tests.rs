//! Tests of the command line.
use clap::CommandFactory;

#[test]
fn the_arguments_are_consistent() {
    super::Cli::command().debug_assert();
}

#[test]
fn every_subcommand_has_examples_that_name_it() {
    for command in [&super::Cli::command()].into_iter().chain(super::Cli::command().get_subcommands()) {
        let name = if command.get_name() == "lab" { "lab".into() } else { format!("lab {}", command.get_name()) };
        let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(after.starts_with("Examples:\n  ") && after.contains(&name), "{name}: {after}");
    }
}

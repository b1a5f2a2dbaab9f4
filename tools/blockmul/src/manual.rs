//! `blockmul completions` and `blockmul man`: shell completions and manual pages, generated from
//! the definitions of `--help`.
use crate::failure::Failure;
use crate::output;
use clap::CommandFactory;
use clap_mangen::Man;
use std::path::{Path, PathBuf};

/// Print a shell's completions for this command.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  blockmul completions bash > ~/.local/share/bash-completion/completions/blockmul
  blockmul completions zsh > ~/.zfunc/_blockmul          with ~/.zfunc in fpath
  blockmul completions fish > ~/.config/fish/completions/blockmul.fish")]
pub struct CompletionsArgs {
    /// The shell.
    shell: clap_complete::Shell,
}

/// Print the manual page, or write one for every subcommand.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  blockmul man | man -l -                                read it
  blockmul man ~/.local/share/man/man1                   then: man blockmul-multiply")]
pub struct ManArgs {
    /// Write blockmul.1, blockmul-multiply.1 and so on into this folder, which is created if
    /// necessary. Without a folder, blockmul.1 goes to stdout.
    dir: Option<PathBuf>,
}

pub fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::Cli::command(), "blockmul", &mut script);
    output::write_bytes(Path::new("-"), &script)
}

pub fn man(args: &ManArgs) -> Result<(), Failure> {
    let mut command = crate::Cli::command();
    command.build();
    match &args.dir {
        None => output::write_bytes(Path::new("-"), &page(&command)?),
        Some(dir) => {
            let failed = |error| Failure::Output(dir.display().to_string(), error);
            std::fs::create_dir_all(dir).map_err(failed)?;
            write_pages(dir, &command)
        }
    }
}

/// Writes the manual page of `command` and the pages of its subcommands.
fn write_pages(dir: &Path, command: &clap::Command) -> Result<(), Failure> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    output::write_bytes(&dir.join(format!("{name}.1")), &page(command)?)?;
    let written = |subcommand: &&clap::Command| subcommand.get_name() != "help" && !subcommand.is_hide_set();
    command.get_subcommands().filter(written).try_for_each(|subcommand| write_pages(dir, subcommand))
}

fn page(command: &clap::Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    let failed = |error| Failure::Output("the manual page".into(), error);
    Man::new(command.clone()).render(&mut page).map_err(failed)?;
    Ok(page)
}

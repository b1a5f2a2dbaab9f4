//! Parsers of numbers in options. The error of a parser gives the allowed range; clap adds the
//! option and the value.
use std::any::TypeId;
use std::num::NonZero;
use std::str::FromStr;

/// Parses a finite number from 0: a share, a tolerance, a distance.
pub fn from_zero(text: &str) -> Result<f64, String> {
    real(text, |number| number >= 0.0, "a finite number from 0 is wanted, as in 1e-3")
}

/// Parses a finite number above 0.
pub fn above_zero(text: &str) -> Result<f64, String> {
    real(text, |number| number > 0.0, "a finite number above 0 is wanted, as in 1e-3")
}

/// Parses a finite number of either sign.
pub fn finite(text: &str) -> Result<f64, String> {
    real(text, |_| true, "a finite number is wanted, as in -1e-3")
}

fn real(text: &str, is_in_range: fn(f64) -> bool, wanted: &str) -> Result<f64, String> {
    text.parse().ok().filter(|&number: &f64| number.is_finite() && is_in_range(number)).ok_or_else(|| wanted.into())
}

/// Parses a whole number from 0.
pub fn count<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "a whole number from 0 is wanted".into())
}

/// Parses a whole number from 1.
pub fn some(text: &str) -> Result<NonZero<u32>, String> {
    text.parse().map_err(|_| format!("a whole number from 1 to {} is wanted", u32::MAX))
}

/// Parses a place in a list that is counted from 1, as in files.
pub fn place(text: &str) -> Result<NonZero<usize>, String> {
    text.parse().map_err(|_| "a whole number is wanted; the first is 1".into())
}

/// Lets every option accept negative numbers, so that its parser can refuse them: clap would call
/// `-1` an unexpected argument. clap recognises no negative number with an exponent, so options for
/// real numbers accept anything that begins with a hyphen.
pub fn with_negative(command: clap::Command) -> clap::Command {
    let take = |arg: clap::Arg| match arg.get_long().is_some() && arg.get_action().takes_values() {
        true if arg.get_value_parser().type_id() == TypeId::of::<f64>() => arg.allow_hyphen_values(true),
        true => arg.allow_negative_numbers(true),
        false => arg,
    };
    command.mut_args(take).mut_subcommands(with_negative)
}

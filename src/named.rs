//! Types of few values that have names: they are displayed by name and parsed from it.
use crate::{Error, Result};

/// Displays a type by its `name`. With a word for its values and lists of all of them, it is also
/// parsed from the name.
macro_rules! named {
    ($named:ident) => {
        impl std::fmt::Display for $named {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
    ($named:ident, $what:literal, $($all:expr),+) => {
        $crate::named::named!($named);

        impl std::str::FromStr for $named {
            type Err = $crate::Error;
            fn from_str(text: &str) -> $crate::Result<Self> {
                $crate::named::find($what, &[$($all),+], Self::name, text)
            }
        }
    };
}
pub(crate) use named;

/// Finds the value of one of the lists `all` that is called `text`, in capital or small letters.
pub(crate) fn find<T: Copy>(what: &str, all: &[&[T]], name: fn(T) -> &'static str, text: &str) -> Result<T> {
    let known = all.iter().copied().flatten().copied();
    known.clone().find(|of| name(*of).eq_ignore_ascii_case(text)).ok_or_else(|| {
        let names: Vec<_> = known.clone().map(name).collect();
        Error::Argument(format!("no {what} \"{text}\"; there are: {}", names.join(", ")))
    })
}

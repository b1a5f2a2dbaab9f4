//! Kernel sources, embedded in the library, and the options they are compiled with.
use super::{DeviceInfo, File};
use crate::{Element, Semiring, Word, element::Text};

/// The source of a kernel: the file that has it, and before it those whose functions it calls.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Source {
    pub files: &'static [&'static File],
}

impl Source {
    /// The path of the kernel's own file.
    pub fn path(&self) -> &'static str {
        self.files.last().map_or("", |file| file.path)
    }

    /// The texts of all files, which the compiler's log names.
    pub fn text(&self) -> String {
        self.files.iter().flat_map(|File { path, text }| ["#line 1 \"", path, "\"\n", text, "\n"]).collect()
    }
}

/// A file under `cl/`: `source!("product/esc/gather.cl")`. If several files are given, the texts of
/// the others come before the last one's.
macro_rules! source {
    ($($path:literal),+) => {
        $crate::device::Source { files: const { &[$($crate::device::file(concat!("cl/", $path))),+] } }
    };
}
pub(crate) use source;

/// Definitions that every kernel shares.
pub(super) const COMMON: Source = source!("common.cl");

/// Options of a compilation. Two programs with the same sources and options are one.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Options {
    /// Names and values of macros.
    pub(super) defines: Vec<(String, String)>,
    /// Flags of the compiler, which apply to a whole program.
    pub(super) flags: String,
}

impl Options {
    /// Options with this work-group size: every kernel is compiled for one.
    pub fn group_size(group_size: usize) -> Self {
        Self::default().define("GROUP_SIZE", group_size)
    }

    /// Adds the macro `name`, or `name(x, y)`.
    pub fn define(mut self, name: &str, value: impl std::fmt::Display) -> Self {
        self.add(name, &value);
        self
    }

    /// Not generic, so that the kernels share it.
    fn add(&mut self, name: &str, value: &dyn std::fmt::Display) {
        self.defines.push((name.to_owned(), value.to_string()));
    }

    /// Adds the macro `name`, defined as the OpenCL name of `T`.
    pub fn word<T: Word>(self, name: &str) -> Self {
        self.define(name, T::CL_NAME)
    }

    /// Asks for correctly rounded quotients and square roots of `float`, if the device has them and
    /// `T` is computed in `float`. Those of `double` always are.
    pub fn exact_division<T: Element>(mut self, info: &DeviceInfo) -> Self {
        if info.exact_division && T::Arithmetic::CL_NAME == "float" {
            self.flags += " -cl-fp32-correctly-rounded-divide-sqrt";
        }
        self
    }

    /// Adds the types and conversions of an element, ELEMENT, ARITHMETIC, LOAD and STORE of
    /// `cl/common.cl`, and the sums of plus-times.
    pub fn element<T: Element>(self) -> Self {
        self.algebra::<T>(Semiring::PlusTimes, false)
    }

    /// As [`Options::element`], with the sums of a semiring: ADD, MULTIPLY, IDENTITY and EMPTY of
    /// `cl/common.cl`.
    ///
    /// OpenCL C leaves it open what a signed sum is that overflows. So if elements are added, those
    /// of `i32` are taken for `uint`: modulo 2^32 their sums and products have the same bits.
    pub fn element_in<T: Element>(self, semiring: Semiring) -> Self {
        self.algebra::<T>(semiring, T::CL_NAME == i32::CL_NAME && semiring.adds())
    }

    /// Adds the type and the conversion of a matrix's values, VALUE and LOAD_VALUE of
    /// `cl/common.cl`, if they may have another than the vectors that they are multiplied with.
    pub fn value<T: Element>(self) -> Self {
        self.define("VALUE", T::CL_NAME).define("VALUE_IS_HALF", u8::from(T::NAME == "f16"))
    }

    /// As [`Options::value`], for sums of a semiring.
    pub fn value_in<T: Element>(self, semiring: Semiring) -> Self {
        match T::CL_NAME == i32::CL_NAME && semiring.adds() {
            true => self.value::<u32>(),
            false => self.value::<T>(),
        }
    }

    fn algebra<T: Element>(self, semiring: Semiring, wraps: bool) -> Self {
        let text = Text::of::<T::Arithmetic>(semiring);
        let unsigned = |name| if wraps { u32::CL_NAME } else { name };
        self.define("ELEMENT", unsigned(T::CL_NAME))
            .define("ARITHMETIC", unsigned(T::Arithmetic::CL_NAME))
            .define("ELEMENT_IS_HALF", u8::from(T::NAME == "f16"))
            .define("ELEMENT_IS_BYTE", u8::from(T::NAME == "u8"))
            .define("ADD(x, y)", text.add)
            .define("MULTIPLY(x, y)", text.multiply)
            .define("IDENTITY", text.identity)
            .define("EMPTY", text.empty)
    }
}

impl std::fmt::Display for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.flags.trim_start())?;
        self.defines.iter().try_for_each(|(name, value)| write!(f, " -D{name}={value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_numbers_are_added_as_unsigned_ones() {
        for &semiring in Semiring::ALL {
            let options = Options::group_size(1).element_in::<i32>(semiring).to_string();
            assert_eq!(options.contains("-DELEMENT=uint -DARITHMETIC=uint"), semiring.adds(), "{options}");
            assert_eq!(options.contains("-DELEMENT=int -DARITHMETIC=int"), !semiring.adds(), "{options}");
        }
        assert!(Options::group_size(1).element::<i32>().to_string().contains("-DELEMENT=int "));
    }
}

//! Kernel sources, embedded in the library, and the options they are compiled with.
use super::{
    DeviceInfo, File,
    slot::{Words, unsigned},
};
use crate::{
    Semiring, Word,
    element::{ElementType, Text, WordType},
};

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
    /// What the kernel's words are that the host does not name.
    pub(super) words: Words,
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

    /// Adds the macro PAYLOAD.
    pub fn payload(mut self, word: WordType) -> Self {
        self.words.payload = word;
        self.define("PAYLOAD", word.name())
    }

    /// Says what the kernel's OPERAND is, which its source defines.
    pub fn operand(mut self, word: WordType) -> Self {
        self.words.operand = word;
        self
    }

    /// Says what the kernel's COLUMN is, which its source defines.
    pub fn column(mut self, word: WordType) -> Self {
        self.words.column = word;
        self
    }

    /// Says what the kernel's PAYLOAD is, which its options define by another macro.
    pub fn payload_is(mut self, word: WordType) -> Self {
        self.words.payload = word;
        self
    }

    /// Asks for correctly rounded quotients and square roots of `float`, if the device has them and
    /// `element` is computed in `float`. Those of `double` always are.
    pub fn exact_division(mut self, info: &DeviceInfo, element: ElementType) -> Self {
        if info.exact_division && element.arithmetic() == ElementType::F32 {
            self.flags += " -cl-fp32-correctly-rounded-divide-sqrt";
        }
        self
    }

    /// Adds the types and conversions of an element, ELEMENT, ARITHMETIC, LOAD and STORE of
    /// `cl/common.cl`, and the sums of plus-times.
    pub fn element(self, element: ElementType) -> Self {
        self.algebra(element, Semiring::PlusTimes, false)
    }

    /// As [`Options::element`], with the sums of a semiring: ADD, MULTIPLY, IDENTITY and EMPTY of
    /// `cl/common.cl`.
    ///
    /// OpenCL C leaves it open what a signed sum is that overflows. So if elements are added, those
    /// of `i32` are taken for `uint`: modulo 2^32 their sums and products have the same bits.
    pub fn element_in(self, element: ElementType, semiring: Semiring) -> Self {
        self.algebra(element, semiring, element == ElementType::I32 && semiring.adds())
    }

    /// Adds the macro ARITHMETIC alone. If it `wraps`, `i32` is taken for `uint`.
    pub fn arithmetic(mut self, element: ElementType, wraps: bool) -> Self {
        (self.words.arithmetic, self.words.wraps) = (element.arithmetic().word(), wraps);
        let name = self.words.declared(self.words.arithmetic);
        self.define("ARITHMETIC", name)
    }

    /// Adds the type and the conversion of a matrix's values, VALUE and LOAD_VALUE of
    /// `cl/common.cl`, if they may have another than the vectors that they are multiplied with.
    pub fn value(self, element: ElementType) -> Self {
        self.valued(element, false)
    }

    /// As [`Options::value`], for sums of a semiring.
    pub fn value_in(self, element: ElementType, semiring: Semiring) -> Self {
        self.valued(element, element == ElementType::I32 && semiring.adds())
    }

    fn valued(mut self, element: ElementType, wraps: bool) -> Self {
        self.words.value = element.word();
        self.words.wraps |= wraps;
        let name = if wraps { unsigned(element.word()) } else { element.word().name() };
        self.define("VALUE", name).define("VALUE_IS_HALF", u8::from(element == ElementType::F16))
    }

    fn algebra(mut self, element: ElementType, semiring: Semiring, wraps: bool) -> Self {
        let (word, arithmetic) = (element.word(), element.arithmetic().word());
        (self.words.element, self.words.arithmetic, self.words.wraps) = (word, arithmetic, wraps);
        let [word, arithmetic] = [word, arithmetic].map(|word| self.words.declared(word));
        let text = Text::of(element, semiring);
        self.define("ELEMENT", word)
            .define("ARITHMETIC", arithmetic)
            .define("ELEMENT_IS_HALF", u8::from(element == ElementType::F16))
            .define("ELEMENT_IS_BYTE", u8::from(element == ElementType::U8))
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
            let options = Options::group_size(1).element_in(ElementType::I32, semiring).to_string();
            assert_eq!(options.contains("-DELEMENT=uint -DARITHMETIC=uint"), semiring.adds(), "{options}");
            assert_eq!(options.contains("-DELEMENT=int -DARITHMETIC=int"), !semiring.adds(), "{options}");
        }
        assert!(Options::group_size(1).element(ElementType::I32).to_string().contains("-DELEMENT=int "));
    }
}

//! Kernel sources, embedded in the library, and the options with which they are compiled.
use super::{
    DeviceInfo, File,
    slot::{Words, unsigned},
};
use crate::{
    Semiring, Word,
    element::{ElementType, Text, WordType},
};

/// The source of a kernel: the file that contains it, preceded by the files whose functions it
/// calls.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Source {
    pub files: &'static [&'static File],
}

impl Source {
    /// The path of the kernel's own file.
    pub fn path(&self) -> &'static str {
        self.files.last().map_or("", |file| file.path)
    }

    /// The joined texts of all files, with line directives so that the compiler's log names the
    /// files.
    pub fn text(&self) -> String {
        self.files.iter().flat_map(|File { path, text }| ["#line 1 \"", path, "\"\n", text, "\n"]).collect()
    }
}

/// Names a file under `cl/`: `source!("product/esc/gather.cl")`. If several files are given, the
/// last file contains the kernel, and the other files precede it in the source.
macro_rules! source {
    ($($path:literal),+) => {
        $crate::device::Source { files: const { &[$($crate::device::file(concat!("cl/", $path))),+] } }
    };
}
pub(crate) use source;

/// Definitions that every kernel shares.
pub(super) const COMMON: Source = source!("common.cl");

/// Options of a compilation. Kernels with equal sources and options share one program.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Options {
    /// Names and values of macros.
    pub(super) defines: Vec<(String, String)>,
    /// Flags of the compiler, which apply to a whole program.
    pub(super) flags: String,
    /// The types that the kernel's macros stand for.
    pub(super) words: Words,
}

impl Options {
    /// Options with this work-group size. Every kernel is compiled for one size.
    pub fn group_size(group_size: usize) -> Self {
        Self::default().define("GROUP_SIZE", group_size)
    }

    /// Adds the macro `name`, or `name(x, y)`.
    pub fn define(mut self, name: &str, value: impl std::fmt::Display) -> Self {
        self.add(name, &value);
        self
    }

    /// The implementation of `define`, which is not generic, so that it is compiled once.
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

    /// Sets the type of OPERAND. The kernel's source defines the macro.
    pub fn operand(mut self, word: WordType) -> Self {
        self.words.operand = word;
        self
    }

    /// Sets the type of COLUMN. The kernel's source defines the macro.
    pub fn column(mut self, word: WordType) -> Self {
        self.words.column = word;
        self
    }

    /// Sets the type of the macro PAYLOAD, which other options define.
    pub fn payload_is(mut self, word: WordType) -> Self {
        self.words.payload = word;
        self
    }

    /// Requests correctly rounded quotients and square roots of `float`, if the device supports
    /// them and `element` is computed in `float`. Quotients and square roots of `double` are always
    /// correctly rounded.
    pub fn exact_division(mut self, info: &DeviceInfo, element: ElementType) -> Self {
        if info.exact_division && element.arithmetic() == ElementType::F32 {
            self.flags += " -cl-fp32-correctly-rounded-divide-sqrt";
        }
        self
    }

    /// Adds the types and conversions of an element type for plus-times arithmetic: ELEMENT,
    /// ARITHMETIC, LOAD and STORE of `cl/common.cl`.
    pub fn element(self, element: ElementType) -> Self {
        self.algebra(element, Semiring::PlusTimes, false)
    }

    /// Like [`Options::element`], with the operations of a semiring: ADD, MULTIPLY, IDENTITY and
    /// EMPTY of `cl/common.cl`. `i32` is computed as `uint` where [`Semiring::adds_unsigned`] says
    /// so.
    pub fn element_in(self, element: ElementType, semiring: Semiring) -> Self {
        self.algebra(element, semiring, semiring.adds_unsigned(element))
    }

    /// Adds only the macro ARITHMETIC. With `wraps`, `i32` is computed as `uint`.
    pub fn arithmetic(mut self, element: ElementType, wraps: bool) -> Self {
        (self.words.arithmetic, self.words.wraps) = (element.arithmetic().word(), wraps);
        let name = self.words.declared(self.words.arithmetic);
        self.define("ARITHMETIC", name)
    }

    /// Adds the type and the conversion of a matrix's values: VALUE and LOAD_VALUE of
    /// `cl/common.cl`. These macros are for kernels in which vectors may have another element type
    /// than the matrix.
    pub fn value(self, element: ElementType) -> Self {
        self.valued(element, false)
    }

    /// Like [`Options::value`], for sums in a semiring.
    pub fn value_in(self, element: ElementType, semiring: Semiring) -> Self {
        self.valued(element, semiring.adds_unsigned(element))
    }

    fn valued(mut self, element: ElementType, wraps: bool) -> Self {
        self.words.value = element.word();
        self.words.wraps |= wraps;
        let name = if wraps { unsigned(element.word()) } else { element.word().name() };
        self.define("VALUE", name).define("VALUE_IS_HALF", is_half_or_byte(element)[0])
    }

    fn algebra(mut self, element: ElementType, semiring: Semiring, wraps: bool) -> Self {
        let (word, arithmetic) = (element.word(), element.arithmetic().word());
        (self.words.element, self.words.arithmetic, self.words.wraps) = (word, arithmetic, wraps);
        let [word, arithmetic] = [word, arithmetic].map(|word| self.words.declared(word));
        let (text, [is_half, is_byte]) = (Text::of(element, semiring), is_half_or_byte(element));
        self.define("ELEMENT", word)
            .define("ARITHMETIC", arithmetic)
            .define("ELEMENT_IS_HALF", is_half)
            .define("ELEMENT_IS_BYTE", is_byte)
            .define("ADD(x, y)", text.add)
            .define("MULTIPLY(x, y)", text.multiply)
            .define("IDENTITY", text.identity)
            .define("EMPTY", text.empty)
    }
}

/// Whether elements are stored as halves, and whether they are stored as bytes. Loads widen halves
/// and bytes.
fn is_half_or_byte(element: ElementType) -> [u8; 2] {
    match element {
        ElementType::F16 => [1, 0],
        ElementType::U8 => [0, 1],
        ElementType::F64 | ElementType::F32 | ElementType::U32 | ElementType::I32 => [0, 0],
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

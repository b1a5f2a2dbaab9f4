//! Element types as a value.

/// The type of an [`Element`](crate::Element) as a value, for code that is compiled once for all
/// elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ElementType {
    /// `f64`
    F64,
    /// `f32`
    F32,
    /// `half::f16`
    F16,
    /// `u32`
    U32,
    /// `i32`
    I32,
    /// `u8`
    U8,
}

impl ElementType {
    /// The name in the command and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::U8 => "u8",
        }
    }
}

impl std::fmt::Display for ElementType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

//! The methods and libraries that compute A·D.
use super::Subject;
use crate::paper::peers::libraries;
use blockmul::plan::DenseMethod;

/// A method of blockmul, or another library.
#[derive(Clone, Copy, PartialEq)]
pub enum Way<'s> {
    Method(DenseMethod),
    Library(&'s str),
}

impl<'s> Way<'s> {
    /// All methods, and the libraries that multiplied at least one of the matrices.
    pub fn all(subjects: &[&'s Subject]) -> Vec<Self> {
        let libraries = libraries(subjects.iter().flat_map(|subject| &subject.products));
        DenseMethod::ALL
            .iter()
            .map(|&method| Self::Method(method))
            .chain(libraries.into_iter().map(Self::Library))
            .collect()
    }

    /// All methods but the given one, and the libraries.
    pub fn others(method: DenseMethod, subjects: &[&'s Subject]) -> Vec<Self> {
        Self::all(subjects).into_iter().filter(|&way| way != Self::Method(method)).collect()
    }

    pub fn name(self) -> &'s str {
        match self {
            Self::Method(method) => method.name(),
            Self::Library(library) => library,
        }
    }

    pub fn ms(self, subject: &Subject) -> Option<f64> {
        match self {
            Self::Method(method) => subject.ms(method),
            Self::Library(library) => subject.peer_ms(library),
        }
    }

    /// GFLOP/s, counted for the entries alone.
    pub fn rate(self, subject: &Subject) -> Option<f64> {
        subject.rate(self.ms(subject))
    }

    /// The ratio of this way's time to that of a method.
    pub fn ratio(self, method: DenseMethod, subject: &Subject) -> Option<f64> {
        Some(self.ms(subject)? / subject.ms(method)?)
    }
}

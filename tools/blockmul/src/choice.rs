//! Options whose values are named: parsers of the names.
use blockmul::{
    Method, Semiring,
    element::ElementType,
    plan::{DenseMethod, Format},
};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Parses one of these values by its name.
pub fn one_of<T: Copy + Send + Sync + 'static>(
    named: impl IntoIterator<Item = (impl Into<PossibleValue>, T)>,
) -> impl TypedValueParser<Value = T> {
    let named: Vec<(PossibleValue, T)> = named.into_iter().map(|(name, value)| (name.into(), value)).collect();
    let names = PossibleValuesParser::new(named.iter().map(|(name, _)| name.clone()));
    names.map(move |chosen| named.iter().find(|(name, _)| name.matches(&chosen, false)).expect("one of the names").1)
}

/// Parses one of these values by its name, as [`one_of`] does; `word` becomes `None`.
pub fn one_or<T: Copy + Send + Sync + 'static>(
    word: &'static str,
    named: impl Iterator<Item = (&'static str, T)>,
) -> impl TypedValueParser<Value = Option<T>> {
    one_of(named.map(|(name, value)| (name, Some(value))).chain([(word, None)]))
}

/// Pairs of names and values.
pub fn named<T: Copy + 'static>(
    values: impl IntoIterator<Item = &'static T>,
    name: fn(T) -> &'static str,
) -> impl Iterator<Item = (&'static str, T)> {
    values.into_iter().map(move |&value| (name(value), value))
}

/// The methods of products.
pub fn methods() -> impl Iterator<Item = (&'static str, Method)> {
    named([Method::Auto].iter().chain(Method::ALL), Method::name)
}

/// The way in which work-groups share the entries of the sparse matrix in a product with a dense
/// one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// By a method, from compressed rows or columns.
    By(DenseMethod),
    /// In the groups (GCOO) in which the matrix is stored, or to which the matrix is converted
    /// first.
    Stored,
}

impl Sharing {
    /// The way that an option asks for, or `None` if it leaves the choice to `auto`.
    pub fn asked(option: Option<Self>) -> Option<Self> {
        option.filter(|&sharing| sharing != Self::By(DenseMethod::Auto))
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::By(method) => method.name(),
            Self::Stored => "stored",
        }
    }
}

/// The ways in which work-groups share the entries of the sparse matrix in a product with a dense
/// one.
pub fn sharings() -> impl Iterator<Item = (&'static str, Sharing)> {
    let methods = [DenseMethod::Auto].iter().chain(DenseMethod::ALL).map(|&method| Sharing::By(method));
    methods.chain([Sharing::Stored]).map(|sharing| (sharing.name(), sharing))
}

/// The formats of A·x.
pub fn formats() -> impl Iterator<Item = (&'static str, Format)> {
    named([Format::Auto].iter().chain(Format::ALL).chain(Format::COMPARED), Format::name)
}

/// Parses the name of an algebra.
pub fn semiring() -> impl TypedValueParser<Value = Semiring> {
    one_of(named(Semiring::ALL, Semiring::name))
}

/// Parses the name of an element type that products support, integers included.
pub fn number() -> impl TypedValueParser<Value = ElementType> {
    one_of(named(ElementType::ALL, ElementType::name))
}

/// Parses the name of a type of real numbers.
pub fn real() -> impl TypedValueParser<Value = ElementType> {
    one_of(named(ElementType::ALL.iter().filter(|element| element.is_real()), ElementType::name))
}

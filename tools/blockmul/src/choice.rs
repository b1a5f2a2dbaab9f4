//! Options whose values are named: parsers of the names.
use blockmul::{Method, Semiring, element::ElementType, plan::DenseMethod};
use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Parses one of these values by its name.
pub fn one_of<T: Copy + Send + Sync + 'static>(
    values: impl IntoIterator<Item = &'static T>,
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let named: Vec<_> = values.into_iter().map(|&value| (name(value), value)).collect();
    let names = PossibleValuesParser::new(named.iter().map(|(name, _)| *name));
    names.map(move |chosen| named.iter().find(|(name, _)| *name == chosen).expect("one of the names").1)
}

/// Parses the name of a method of products.
pub fn method() -> impl TypedValueParser<Value = Method> {
    one_of([Method::Auto].iter().chain(Method::ALL), Method::name)
}

/// Parses the name of an algebra.
pub fn semiring() -> impl TypedValueParser<Value = Semiring> {
    one_of(Semiring::ALL, Semiring::name)
}

/// Parses a way to share entries of a product with a dense matrix out.
pub fn sharing() -> impl TypedValueParser<Value = DenseMethod> {
    one_of([DenseMethod::Auto].iter().chain(DenseMethod::ALL), DenseMethod::name)
}

/// Parses the name of an element type of products, integers included.
pub fn number() -> impl TypedValueParser<Value = ElementType> {
    one_of(ElementType::ALL, ElementType::name)
}

/// Parses the name of a type of real numbers.
pub fn real() -> impl TypedValueParser<Value = ElementType> {
    one_of(ElementType::ALL.iter().filter(|element| element.is_real()), ElementType::name)
}

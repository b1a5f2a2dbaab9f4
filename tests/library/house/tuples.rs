//! Parameters that are tuples. The check allows pairs of one type, such as `(rows, cols)`. Other
//! tuples should be a struct, or several parameters.
use super::{File, files_of};
use std::collections::BTreeSet;

/// The folders whose functions are checked.
const FOLDERS: [&str; 3] = ["src", "tools/blockmul/src", "benches/lab/src"];

/// Files with those of their functions that may have another tuple as a parameter: `from` converts
/// the operands of an execution, such as `(&a, weights, &x)`.
const EXCEPTED: &[(&str, &[&str])] =
    &[("src/apply/gram/operands.rs", &["from"]), ("src/product/plan/inputs.rs", &["from"])];

/// Splits a list at the commas outside of brackets.
fn parts(list: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut begin, mut last) = (Vec::new(), 0, 0, ' ');
    for (at, c) in list.char_indices() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '>' if last != '-' && last != '=' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&list[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
        last = c;
    }
    parts.push(&list[begin..]);
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// Returns the text up to the bracket that closes one before the text.
fn closed(text: &str) -> &str {
    let mut depth = 1;
    let end = text.find(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0
    });
    &text[..end.expect("a bracket that closes")]
}

/// Returns a type without its lifetimes.
fn without_lifetimes(of: &str) -> String {
    let words = of.split('\'').enumerate().map(|(at, part)| match at {
        0 => part,
        _ => part.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').trim_start(),
    });
    words.collect()
}

/// Whether a parameter, `pattern: type`, is a tuple that is not a pair of one type.
fn is_unlike(parameter: &str) -> bool {
    let begin = match parameter.strip_prefix('(') {
        Some(pattern) => closed(pattern).len() + 2,
        None => 0,
    };
    let Some((_, of)) = parameter[begin..].split_once(':') else { return false };
    let of = without_lifetimes(of);
    let of = of.trim_start_matches([' ', '&']).trim_start_matches("mut ");
    let Some(tuple) = of.strip_prefix('(').filter(|_| of.ends_with(')')) else { return false };
    let types = parts(&tuple[..tuple.len() - 1]);
    types.len() > 2 || types.windows(2).any(|pair| pair[0] != pair[1])
}

/// Returns the functions of a file that have a parameter that is such a tuple.
fn unlike(file: &File) -> BTreeSet<String> {
    let functions = file.code.match_indices("fn ").filter_map(|(at, _)| {
        let rest = &file.code[at + 3..];
        let name = &rest[..rest.find(|c: char| !c.is_alphanumeric() && c != '_')?];
        let generics = rest[name.len()..].strip_prefix('<').map_or(0, |rest| {
            let (mut depth, mut last) = (1, ' ');
            let end = rest.find(|c| {
                depth += i32::from(c == '<') - i32::from(c == '>' && last != '-');
                last = c;
                depth == 0
            });
            end.map_or(0, |end| end + 2)
        });
        let list = rest[name.len() + generics..].strip_prefix('(').filter(|_| !name.is_empty())?;
        parts(closed(list)).into_iter().any(is_unlike).then(|| name.to_owned())
    });
    functions.collect()
}

#[test]
fn parameters_are_no_tuples_of_unlike_things() {
    let mut found = BTreeSet::new();
    for folder in FOLDERS {
        for file in files_of(folder) {
            let path = format!("{folder}/{}", file.path.display());
            found.extend(unlike(&file).into_iter().map(|name| (path.clone(), name)));
        }
    }
    let excepted =
        EXCEPTED.iter().flat_map(|(path, names)| names.iter().map(|name| (path.to_string(), name.to_string())));
    let excepted: BTreeSet<_> = excepted.collect();
    let new: Vec<_> = found.difference(&excepted).collect();
    assert!(new.is_empty(), "functions with tuples of unlike things: {new:#?}");
    let gone: Vec<_> = excepted.difference(&found).collect();
    assert!(gone.is_empty(), "excepted functions without such a tuple: {gone:#?}");
}

#[test]
fn tuples_of_unlike_things_are_seen() {
    for (code, seen) in [
        ("fn f(&self, sides: (usize, usize), d: Range<usize>) {}", false),
        ("fn f(pair: (&'a Csc<T>, &'b Csc<T>)) {}", false),
        ("fn f([a, b]: [&str; 2], g: impl Fn((u8, u32)) -> u8) {}", false),
        ("struct F { of: fn(u8) -> (u8, u32) }", false),
        ("fn f(a: Option<(u8, u32)>) -> (u8, u32) {}", false),
        ("fn f((rows, stride): (usize, &usize)) {}", true),
        ("fn f<T: Fn(u8) -> u32>(\n    a: u8,\n    (b, c): (u8, Vec<T>),\n) {}", true),
        ("fn f(of: &mut (u8, u32)) {}", true),
        ("fn f(of: (u8, u8, u8)) {}", true),
        ("fn f((a, (b, c)): (u8, (u8, u8))) {}", true),
    ] {
        let found = unlike(&File { path: "planted.rs".into(), code: code.into() });
        assert_eq!(found.contains("f"), seen, "{code}");
    }
}

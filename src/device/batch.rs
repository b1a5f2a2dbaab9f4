//! Several kernels compiled as one program.
//!
//! For every program a compiler reads the declarations of OpenCL C, and PoCL also reads its
//! library. In a small program this reading takes most of the compile time. So the sources of all
//! kernels that are missing at one time are joined into one program. Each source becomes a part of
//! the program. A part defines its macros at its start and undefines them at its end. Macros also
//! rename the functions, kernels and structures of a part by appending the part's number. Type
//! definitions and constants would not be renamed, so no source declares any.
use super::source::{COMMON, Options, Source};
use memchr::{memchr, memmem};
use std::{collections::BTreeSet, fmt::Write};

/// A kernel, its source and the options it is compiled with.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Unit {
    pub(super) source: Source,
    pub(super) options: Options,
    pub(super) kernel: &'static str,
}

/// Kernels joined into one program. Kernels with the same source and options share one copy of the
/// source, from which all other kernels are removed.
pub(super) struct Batch {
    pub(super) text: String,
    pub(super) options: String,
    /// The name of each unit's kernel in the program.
    pub(super) names: Vec<String>,
    /// A kernel that is missing in its source, if there is one.
    pub(super) missing: Option<&'static str>,
}

impl Batch {
    /// Joins units whose compiler flags are the same.
    pub(super) fn new<'u>(units: impl IntoIterator<Item = &'u Unit>) -> Self {
        let (mut parts, mut names): (Vec<(Source, &Options, Vec<&'static str>)>, _) = (Vec::new(), Vec::new());
        for Unit { source, options, kernel } in units {
            let part = parts.iter().position(|(of, with, _)| of == source && *with == options).unwrap_or_else(|| {
                parts.push((*source, options, Vec::new()));
                parts.len() - 1
            });
            parts[part].2.push(kernel);
            names.push(renamed(kernel, part));
        }
        let flags = parts.first().map_or("", |(_, options, _)| options.flags.as_str());
        // PoCL prints the number of warnings on stderr. PoCL warns if a kernel uses vectors that
        // are wider than those of the CPU.
        let options = format!("-w -cl-std=CL1.2 -cl-kernel-arg-info{flags}");
        let (mut text, mut missing) = (String::new(), None);
        for (number, (source, options, kernels)) in parts.iter().enumerate() {
            missing = missing.or(add_part(&mut text, number, *source, options, kernels));
        }
        Self { text, options, names, missing }
    }
}

/// The name of a function or structure of part `part` in the program.
fn renamed(name: &str, part: usize) -> String {
    format!("{name}_{part}")
}

/// Adds a source with the given kernels. Returns the first given kernel that the source does not
/// contain, if any.
fn add_part(
    text: &mut String,
    number: usize,
    source: Source,
    options: &Options,
    kernels: &[&'static str],
) -> Option<&'static str> {
    let (common, own) = (COMMON.text(), source.text());
    let names = DefinedNames::of(&[&common, &own]);
    let defines = options.defines.iter().cloned();
    let renames = names.functions.iter().chain(&names.structures).map(|name| (name.clone(), renamed(name, number)));
    let defines: Vec<(String, String)> = defines.chain(renames).collect();
    for (name, value) in &defines {
        let _ = writeln!(text, "#define {name} {value}");
    }
    text.push_str(&common);
    text.push_str(&with_kernels(&own, kernels));
    let macros = names.macros.iter().map(String::as_str);
    let forgotten: BTreeSet<&str> = defines.iter().map(|(name, _)| leading_name(name)).chain(macros).collect();
    for name in forgotten {
        let _ = writeln!(text, "#undef {name}");
    }
    kernels.iter().copied().find(|&kernel| !names.functions.contains(kernel))
}

/// Returns `text` in which kernels that are not among `kernels` are replaced by blank lines. A
/// kernel begins with a line `KERNEL name(` and ends with a line `}`.
fn with_kernels(text: &str, kernels: &[&str]) -> String {
    let mut left_out = false;
    let mut keep = |line: &str| {
        if let Some(rest) = line.strip_prefix("KERNEL ") {
            left_out = !kernels.contains(&leading_name(rest));
        }
        let kept = !left_out;
        left_out &= !line.trim_end().ends_with('}') || line.starts_with(' ');
        kept
    };
    text.lines().flat_map(|line| [if keep(line) { line } else { "" }, "\n"]).collect()
}

/// The names that a source defines.
#[derive(Default)]
struct DefinedNames {
    macros: BTreeSet<String>,
    /// Functions and kernels, whose names come before a parenthesis outside of braces. If a macro
    /// defines the function, its name is the macro's first argument.
    functions: BTreeSet<String>,
    /// Structures, whose names come between `struct` and a brace, outside of braces.
    structures: BTreeSet<String>,
}

impl DefinedNames {
    fn of(texts: &[&str]) -> Self {
        let mut names = Self::default();
        let bare: Vec<String> = texts.iter().map(|text| without_comments(text)).collect();
        for line in bare.iter().flat_map(|text| text.lines()) {
            let rest = line.trim_start().strip_prefix('#').and_then(|rest| rest.trim_start().strip_prefix("define "));
            names.macros.extend(rest.map(|rest| leading_name(rest.trim_start()).to_owned()));
        }
        bare.iter().for_each(|text| names.find_names(&without_directives(text)));
        names
    }

    fn find_names(&mut self, text: &str) {
        let (mut depth, mut at) = (0_i32, 0);
        while let Some(next) = text[at..].chars().next() {
            let name = leading_name(&text[at..]);
            at += name.len().max(next.len_utf8());
            if depth == 0 && name == "struct" {
                let declared = leading_name(text[at..].trim_start());
                if text[at..].trim_start()[declared.len()..].trim_start().starts_with('{') {
                    self.structures.insert(declared.to_owned());
                }
            }
            match next {
                '{' | '(' => depth += 1,
                '}' | ')' => depth -= 1,
                _ => {}
            }
            if depth > 0 || name.is_empty() || name.starts_with("__") {
                continue;
            }
            let Some(arguments) = text[at..].trim_start().strip_prefix('(') else { continue };
            let defined = if self.macros.contains(name) { leading_name(arguments.trim_start()) } else { name };
            if !defined.is_empty() {
                self.functions.insert(defined.to_owned());
            }
        }
    }
}

/// The name with which `text` begins; empty if there is none.
fn leading_name(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    if text.starts_with(|c: char| c.is_ascii_digit()) { "" } else { &text[..end] }
}

fn without_comments(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(slash) = memchr(b'/', rest.as_bytes()) {
        let (before, from) = rest.split_at(slash);
        bare += before;
        rest = match from.as_bytes().get(1) {
            Some(b'/') => &from[memchr(b'\n', from.as_bytes()).unwrap_or(from.len())..],
            Some(b'*') => memmem::find(&from.as_bytes()[2..], b"*/").map_or("", |length| &from[2 + length + 2..]),
            _ => {
                bare.push('/');
                &from[1..]
            }
        };
    }
    bare + rest
}

/// Returns `text` without lines that begin with `#` and their continuation lines.
fn without_directives(text: &str) -> String {
    let mut continued = false;
    let mut keep = |line: &&str| {
        let directive = continued || line.trim_start().starts_with('#');
        continued = directive && line.trim_end().ends_with('\\');
        !directive
    };
    text.lines().filter(&mut keep).flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::File;

    const TEXT: &str = "
// sum(x): a comment
#define TWICE(name, WORD) \\
    WORD name##_unused(WORD x) { return 2 * x; }
#define AREA (ROWS * COLS)
/* TWICE(not, this) */
TWICE(double_of, uint)
uint square(uint x) { return helper(x) * x; }
struct Pair {
    uint row;
    struct Pair* next;
};
struct Pair doubled(struct Pair pair) { return pair; }
KERNEL fill(global uint* to, uint n)
{
    if (n > 0) to[0] = square(AREA);
}
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void other(global uint* to) {}
";

    #[test]
    fn functions_and_macros_are_found() {
        let names = DefinedNames::of(&["#define KERNEL kernel void\n", TEXT]);
        assert_eq!(names.macros.into_iter().collect::<Vec<_>>(), ["AREA", "KERNEL", "TWICE"]);
        assert_eq!(
            names.functions.into_iter().collect::<Vec<_>>(),
            ["double_of", "doubled", "fill", "other", "square"]
        );
        assert_eq!(names.structures.into_iter().collect::<Vec<_>>(), ["Pair"]);
    }

    #[test]
    fn a_part_leaves_nothing_behind() {
        let source = Source { files: &[&File { path: "cl/text.cl", text: TEXT }] };
        let unit = |rows: u32, kernel| {
            let options = Options::group_size(4).define("ROWS", rows).define("COLS", 2).define("LESS(x, y)", "x < y");
            Unit { source, options, kernel }
        };
        let batch = Batch::new(&[unit(3, "fill"), unit(5, "fill"), unit(3, "other")]);
        assert_eq!(batch.options, "-w -cl-std=CL1.2 -cl-kernel-arg-info");
        assert_eq!(batch.names, ["fill_0", "fill_1", "other_0"]);
        assert_eq!(batch.missing, None);
        assert_eq!(Batch::new(&[unit(3, "fill"), unit(3, "helper")]).missing, Some("helper"), "it is only called");
        for word in ["#define ROWS 3\n", "#define ROWS 5\n", "#define fill fill_1\n", "#line 1 \"cl/text.cl\"\n"] {
            assert!(batch.text.contains(word), "no {word} in {}", batch.text);
        }
        let count = |word: &str| batch.text.matches(word).count();
        assert_eq!((count("#define ROWS"), count("#undef ROWS\n")), (2, 2));
        assert_eq!((count("#define LESS(x, y) x < y\n"), count("#undef LESS\n")), (2, 2));
        assert_eq!((count("#define fill "), count("#undef fill\n")), (2, 2));
        assert_eq!((count("#define Pair Pair_"), count("#undef Pair\n")), (2, 2));
        assert_eq!(count("#undef TWICE\n"), 2);
    }

    #[test]
    fn kernels_that_are_not_wanted_leave_blank_lines() {
        let text = "KERNEL one(uint n) {}\nuint help() { return 1; }\nKERNEL two(uint n)\n{\n    if (n) {\n    }\n}\n\nKERNEL three()\n{\n}\n";
        assert_eq!(with_kernels(text, &["one", "two", "three"]), text);
        let one = "KERNEL one(uint n) {}\nuint help() { return 1; }\n\n\n\n\n\n\n\n\n\n";
        assert_eq!(with_kernels(text, &["one"]), one);
        assert_eq!(with_kernels(text, &["three"]), "\nuint help() { return 1; }\n\n\n\n\n\n\nKERNEL three()\n{\n}\n");
    }
}

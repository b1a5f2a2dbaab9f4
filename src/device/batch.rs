//! Several programs compiled as one.
//!
//! A compiler reads the declarations of OpenCL C, and PoCL its library, anew for every program: that is most of the time of a small one.
//! So the sources that are missing at a time are joined. Each part begins with its macros and ends by forgetting them; its functions and
//! kernels are renamed by macros too, with the number of the part behind the name.
use super::source::{COMMON, Options, Source};
use std::{collections::BTreeSet, fmt::Write};

/// A part of a batch: a source and what it is compiled with.
pub(super) type Part = (Source, Options);

/// The name that kernel `name` of a part has in its program.
pub(super) fn renamed(name: &str, part: usize) -> String {
    format!("{name}_{part}")
}

/// The name in its source of a kernel of part `part`; `None` if it belongs to another.
pub(super) fn original(name: &str, part: usize) -> Option<&str> {
    let (name, number) = name.rsplit_once('_')?;
    (number.parse() == Ok(part)).then_some(name)
}

/// The text of all parts, and the flags of the compiler, which are the same for each.
pub(super) fn joined(parts: &[Part]) -> (String, String) {
    let mut text = String::new();
    for (number, (source, options)) in parts.iter().enumerate() {
        let mut forgotten = BTreeSet::new();
        let mut define = |text: &mut String, name: &str, value: &str| {
            let _ = writeln!(text, "#define {name} {value}");
            forgotten.insert(name.to_owned());
        };
        for (name, value) in &options.defines {
            define(&mut text, name, value);
        }
        let words = Words::of(&[COMMON.text, source.text]);
        for function in &words.functions {
            define(&mut text, function, &renamed(function, number));
        }
        forgotten.extend(words.macros);
        for Source { path, text: body } in [COMMON, *source] {
            // The log names the file and the line.
            let _ = writeln!(text, "#line 1 \"{path}\"\n{body}");
        }
        for name in forgotten {
            let _ = writeln!(text, "#undef {name}");
        }
    }
    let flags = parts.first().map_or("", |(_, options)| options.flags.as_str());
    (text, format!("-cl-std=CL1.2 -cl-kernel-arg-info{flags}"))
}

/// What a text defines.
#[derive(Default)]
struct Words {
    macros: BTreeSet<String>,
    /// Functions and kernels: names before a parenthesis outside of braces; of a macro that writes a function, its first argument.
    functions: BTreeSet<String>,
}

impl Words {
    fn of(texts: &[&str]) -> Self {
        let mut words = Self::default();
        let bare: Vec<String> = texts.iter().map(|text| without_comments(text)).collect();
        for line in bare.iter().flat_map(|text| text.lines()) {
            let rest = line.trim_start().strip_prefix('#').and_then(|rest| rest.trim_start().strip_prefix("define "));
            words.macros.extend(rest.map(|rest| leading_name(rest.trim_start()).to_owned()));
        }
        bare.iter().for_each(|text| words.find_functions(&without_directives(text)));
        words
    }

    fn find_functions(&mut self, text: &str) {
        let (mut depth, mut at) = (0_i32, 0);
        while let Some(next) = text[at..].chars().next() {
            let name = leading_name(&text[at..]);
            at += name.len().max(next.len_utf8());
            match next {
                '{' | '(' => depth += 1,
                '}' | ')' => depth -= 1,
                _ => {}
            }
            let Some(arguments) = text[at..].trim_start().strip_prefix('(') else { continue };
            if depth > 0 || name.is_empty() || name.starts_with("__") {
                continue;
            }
            let defined = if self.macros.contains(name) { leading_name(arguments.trim_start()) } else { name };
            if !defined.is_empty() {
                self.functions.insert(defined.to_owned());
            }
        }
    }
}

/// The name that `text` begins with, or nothing.
fn leading_name(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    if text.starts_with(|c: char| c.is_ascii_digit()) { "" } else { &text[..end] }
}

fn without_comments(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        bare += &rest[..start];
        let (end, skipped) = if rest[start..].starts_with("//") { ("\n", 0) } else { ("*/", 2) };
        rest = rest[start + 2..].find(end).map_or("", |length| &rest[start + 2 + length + skipped..]);
    }
    bare + rest
}

/// Without lines that begin with `#`, and those that continue them.
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

    const TEXT: &str = "
// sum(x): a comment
#define TWICE(name, WORD) \\
    WORD name##_unused(WORD x) { return 2 * x; }
#define AREA (ROWS * COLS)
/* TWICE(not, this) */
TWICE(double_of, uint)
uint square(uint x) { return helper(x) * x; }
KERNEL fill(global uint* to, uint n)
{
    if (n > 0) to[0] = square(AREA);
}
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void other(global uint* to) {}
";

    #[test]
    fn functions_and_macros_are_found() {
        let words = Words::of(&["#define KERNEL kernel void\n", TEXT]);
        assert_eq!(words.macros.into_iter().collect::<Vec<_>>(), ["AREA", "KERNEL", "TWICE"]);
        assert_eq!(words.functions.into_iter().collect::<Vec<_>>(), ["double_of", "fill", "other", "square"]);
    }

    #[test]
    fn a_part_leaves_nothing_behind() {
        let source = Source { path: "cl/text.cl", text: TEXT };
        let part = |rows: u32| (source, Options::group_size(4).define("ROWS", rows).define("COLS", 2));
        let (text, flags) = joined(&[part(3), part(5)]);
        assert_eq!(flags, "-cl-std=CL1.2 -cl-kernel-arg-info");
        for word in ["#define ROWS 3\n", "#define ROWS 5\n", "#define fill fill_1\n", "#line 1 \"cl/text.cl\"\n"] {
            assert!(text.contains(word), "no {word} in {text}");
        }
        let count = |word: &str| text.matches(word).count();
        assert_eq!(count("#define ROWS"), count("#undef ROWS\n"));
        assert_eq!(count("#define fill "), count("#undef fill\n"));
        assert_eq!(count("#undef TWICE\n"), 2);
        assert_eq!(
            (renamed("fill", 1).as_str(), original("fill_1", 1), original("fill_1", 0)),
            ("fill_1", Some("fill"), None)
        );
    }
}

//! The folder of a study: a page of Markdown, one JSON object, and pictures.
use super::{Setting, peers::Peer};
use blockmul_cli::bench::results::Host;
use blockmul_cli::failure::Failure;
use blockmul_cli::output;
use blockmul_cli::report::command_line;
pub use blockmul_cli::table::number as shown;
use serde::Serialize;
use serde_json::{Map, Value};
use std::fmt::Write;
use std::io;
use std::path::Path;

/// The schema of `report.json`. The number of the schema is increased by changes that a reader must
/// know.
const SCHEMA: &str = "blockmul-paper/1";

/// The findings of a study.
pub struct Report {
    page: String,
    object: Map<String, Value>,
    /// File names and contents of the pictures.
    pictures: Vec<(String, Vec<u8>)>,
    /// Names of the figures of the folder's previous report, which are removed.
    replaced: Vec<String>,
    /// Number of measurements. If it is 0, the folder keeps its previous report.
    pub measured: usize,
    /// Number of results that differ from the reference.
    pub wrong: usize,
    /// Exit status of the first failure of the study.
    pub failed: Option<u8>,
}

impl Report {
    pub fn new(setting: &Setting<'_>) -> Self {
        let info = setting.device.info();
        let replaced = figures_of(setting.folder);
        let (page, object, pictures) = Default::default();
        let mut report = Self { page, object, pictures, replaced, measured: 0, wrong: 0, failed: None };
        report.keep("schema", SCHEMA);
        report.keep("command", command_line());
        report.keep("host", Host::this());
        report.keep("device", [&info.name, &info.platform, &info.driver]);
        report.keep("by_rows", setting.args.by_rows);
        report.keep("max_products", setting.most);
        // Until the report is complete, the folder still has the figures of the previous report.
        report.keep("figures", report.replaced.clone());
        report
    }

    /// Adds a field to the JSON object.
    pub fn keep(&mut self, name: &str, value: impl Serialize) {
        self.object.insert(name.into(), serde_json::to_value(value).expect("plain data"));
    }

    /// Adds a paragraph.
    pub fn say(&mut self, text: &str) {
        self.page.push_str(text);
        self.page.push_str("\n\n");
    }

    /// Begins the page with the title and a sentence. `what` names the paper's measurements, and
    /// `how` the way in which they are repeated on the device.
    pub fn begin(&mut self, setting: &Setting<'_>, title: &str, what: &str, how: &str) {
        let (version, info) = (env!("CARGO_PKG_VERSION"), setting.device.info());
        self.say(&format!("# {title}, again"));
        self.say(&format!("{what}, with blockmul {version} on {} ({}). {how}", info.name, info.platform));
    }

    /// Names the libraries that are in the tables.
    pub fn libraries<'p>(&mut self, peers: impl IntoIterator<Item = &'p Peer>) {
        let mut names: Vec<String> = peers.into_iter().map(Peer::what).collect();
        names.sort();
        names.dedup();
        self.say(&match names[..] {
            [] => "No other library was given with `--peers`, or none had these matrices.".into(),
            _ => format!("Other libraries, each by its fastest variant, from `--peers`: {}.", names.join("; ")),
        });
    }

    /// Says where the differences from the paper are explained.
    pub fn differences(&mut self) {
        self.say("`benches/lab/papers.md` of blockmul says where this differs from the paper, and why.");
    }

    /// Adds a table. All columns but the first are aligned on the right.
    pub fn table<S: AsRef<str>>(&mut self, header: &[S], rows: impl IntoIterator<Item = Vec<String>>) {
        let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
        self.page.push_str(&line(header.iter().map(AsRef::as_ref).collect()));
        self.page.push_str(&line((0..header.len()).map(|at| if at == 0 { "---" } else { "---:" }).collect()));
        for row in rows {
            self.page.push_str(&line(row.iter().map(String::as_str).collect()));
        }
        self.page.push('\n');
    }

    /// Adds a picture with its caption.
    pub fn figure(&mut self, name: &str, text: &str, picture: io::Result<Vec<u8>>) -> Result<(), Failure> {
        let picture = picture.map_err(|error| Failure::Output(name.into(), error))?;
        writeln!(self.page, "![{text}]({name})\n\n{text}\n").expect("text");
        self.pictures.push((name.into(), picture));
        Ok(())
    }

    /// Writes the JSON object with the results so far, because a study may take long. Before the
    /// first measurement it writes nothing.
    pub fn save(&self, folder: &Path) -> Result<(), Failure> {
        if self.measured == 0 {
            return Ok(());
        }
        let object = serde_json::to_string_pretty(&self.object).expect("plain data");
        output::write(&folder.join("report.json"), &object)
    }

    /// Writes all files of the folder, and removes the figures of the previous report.
    pub fn write(&mut self, folder: &Path) -> Result<(), Failure> {
        for name in self.replaced.drain(..) {
            match std::fs::remove_file(folder.join(&name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Failure::Output(name, error)),
                _ => {}
            }
        }
        let names: Vec<String> = self.pictures.iter().map(|(name, _)| name.clone()).collect();
        self.keep("figures", names);
        for (name, picture) in &self.pictures {
            output::write_bytes(&folder.join(name), picture)?;
        }
        self.save(folder)?;
        output::write(&folder.join("report.md"), self.page.trim_end())
    }
}

/// Whether a folder has a report.
pub fn is_in(folder: &Path) -> bool {
    ["report.md", "report.json"].iter().any(|name| folder.join(name).exists())
}

/// The names of the figures of the report in a folder. No names if the folder has no report.
fn figures_of(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("report.json")).unwrap_or_default();
    let object: Value = serde_json::from_str(&text).unwrap_or_default();
    let figures = object["figures"].as_array().filter(|_| object["schema"] == SCHEMA).into_iter().flatten();
    // Only pictures in the folder itself are removed, whatever the file says.
    let is_ours = |name: &&str| name.ends_with(".png") && Path::new(name).file_name() == Some(name.as_ref());
    figures.filter_map(Value::as_str).filter(is_ours).map(String::from).collect()
}

/// A number in thousands, millions or billions, as the tables show it.
pub fn counted(number: f64) -> String {
    match number {
        number if number >= 1e9 => format!("{:.3} G", number / 1e9),
        number if number >= 1e6 => format!("{:.3} M", number / 1e6),
        number if number >= 1e3 => format!("{:.3} k", number / 1e3),
        number => format!("{number:.0}"),
    }
}

/// The mean of some numbers.
pub fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = numbers.fold((0.0, 0), |(sum, count), number| (sum + number, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

pub fn geometric_mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    mean(numbers.map(f64::ln)).map(f64::exp)
}

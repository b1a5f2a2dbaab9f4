//! The user's tuning file, which overrides numbers and costs of the tables.
mod merged;

pub use merged::{merged_costs, merged_numbers};

use super::{
    DeviceKind, GivenNumbers,
    costs::{MethodCost, MethodCosts},
    stage,
};
use crate::{Error, Result};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::{
    collections::BTreeMap,
    env,
    io::Read,
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

/// The environment variable that contains the path of the tuning file, or `off`.
const VARIABLE: &str = "BLOCKMUL_TUNING";

/// The costs in a file, by method and coefficient.
type GivenCosts = BTreeMap<String, BTreeMap<String, f64>>;

/// The numbers and costs in a file for some devices.
#[derive(Debug, Default, Deserialize)]
struct Section {
    #[serde(default)]
    costs: GivenCosts,
    /// The numbers, by name.
    #[serde(flatten)]
    numbers: Map<String, Value>,
}

/// The numbers and costs of the file for a device, which replace the numbers and costs of the
/// tables.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given {
    pub numbers: GivenNumbers,
    costs: GivenCosts,
}

/// The contents of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Overrides {
    #[serde(default)]
    gpu: Section,
    #[serde(default)]
    cpu: Section,
    /// The sections for devices whose name contains a given text; upper and lower case are equal.
    /// If several texts fit a device, the sections of later ones take precedence.
    #[serde(default)]
    devices: BTreeMap<String, Section>,
}

/// The byte order mark, which some editors write at the beginning of a text in UTF-8. The mark is
/// not part of the contents.
const BYTE_ORDER_MARK: char = '\u{feff}';

impl Overrides {
    /// Parses the text of a file.
    fn parse(text: &str) -> std::result::Result<Self, String> {
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        // The JSON parser would also accept a list of the fields in their order.
        if text.trim_start().starts_with('[') {
            return Err("the file is no JSON object".into());
        }
        let all: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        // Errors are reported even if the section applies to no device.
        for (name, kind, given) in [("gpu", DeviceKind::Gpu, &all.gpu), ("cpu", DeviceKind::Cpu, &all.cpu)] {
            given.check(kind).map_err(|error| format!("{name}: {error}"))?;
        }
        for (device, given) in &all.devices {
            given.check(DeviceKind::Gpu).map_err(|error| format!("devices: {device}: {error}"))?;
        }
        Ok(all)
    }

    /// Returns the sections that apply to a device. The numbers of later sections take precedence.
    fn sections<'a>(&'a self, kind: DeviceKind, name: &str) -> impl Iterator<Item = &'a Section> {
        let (of_kind, name) = (if kind == DeviceKind::Cpu { &self.cpu } else { &self.gpu }, name.to_lowercase());
        let named = self.devices.iter().filter(move |(part, _)| name.contains(&part.to_lowercase()));
        std::iter::once(of_kind).chain(named.map(|(_, section)| section))
    }

    /// Returns the numbers and costs of a device.
    fn given(&self, kind: DeviceKind, name: &str) -> Given {
        let mut given = Given::default();
        for section in self.sections(kind, name) {
            given.add_costs(section);
            // Numbers that are valid together with one table may be invalid together with another
            // table.
            if let Ok(numbers) = given.numbers_and(section, kind) {
                given.numbers = numbers;
            }
        }
        given
    }
}

impl Section {
    fn check(&self, kind: DeviceKind) -> std::result::Result<(), String> {
        Given::default().numbers_and(self, kind)?;
        with_costs(MethodCosts::of_kind(kind), &self.costs).map_err(|error| format!("costs: {error}"))?;
        Ok(())
    }
}

impl Given {
    /// Returns these numbers after the numbers of a section have replaced the numbers with the same
    /// names.
    fn numbers_and(&self, section: &Section, kind: DeviceKind) -> std::result::Result<GivenNumbers, String> {
        let mut numbers = self.numbers.clone();
        for (name, value) in &section.numbers {
            let number = usize::deserialize(value).map_err(|error| format!("{name}: {error}"))?;
            numbers.insert(name.clone(), number);
        }
        stage::check(kind, &numbers).map_err(|error| error.to_string())?;
        Ok(numbers)
    }

    fn add_costs(&mut self, section: &Section) {
        for (method, costs) in &section.costs {
            self.costs.entry(method.clone()).or_default().extend(costs.clone());
        }
    }

    /// Returns the costs of methods on a device of this kind.
    pub fn costs(&self, kind: DeviceKind) -> MethodCosts {
        let table = MethodCosts::of_kind(kind);
        with_costs(table, &self.costs).unwrap_or(table)
    }
}

/// Replaces the given costs in `costs`.
fn with_costs(mut costs: MethodCosts, given: &GivenCosts) -> std::result::Result<MethodCosts, String> {
    for (method, given) in given {
        let mut coefficients = costs.of(method).map_or([0.0; 4], |cost| cost.coefficients());
        for (name, &value) in given {
            let names = MethodCost::NAMES;
            let at = names.iter().position(|known| known == name);
            let unknown = || format!("{method}: unknown `{name}`; there are: {}", names.join(", "));
            coefficients[at.ok_or_else(unknown)?] = value;
        }
        let cost = MethodCost::new(coefficients).map_err(|error| format!("{method}: {error}"))?;
        costs = costs.with(method, cost).map_err(|error| error.to_string())?;
    }
    Ok(costs)
}

/// Returns the path of the user's tuning file, whether or not the file exists. The path is
/// `blockmul/tuning.json` in the configuration folder of the platform, or the path in
/// `BLOCKMUL_TUNING`. Returns `None` if the variable is `off`, or if the platform has no
/// configuration folder.
pub fn user_file() -> Option<PathBuf> {
    match env::var_os(VARIABLE) {
        Some(value) if value == "off" => None,
        Some(value) => Some(value.into()),
        None => dirs::config_dir().map(|folder| folder.join("blockmul/tuning.json")),
    }
}

/// Whether the file that the variable names may be missing.
static OPTIONAL: AtomicBool = AtomicBool::new(false);

/// Allows the file that `BLOCKMUL_TUNING` names to be missing, which is otherwise an error. A
/// program that writes the tuning file calls this function before the first search for devices.
pub fn allow_missing_user_file() {
    OPTIONAL.store(true, Ordering::Relaxed);
}

/// Returns the path of the file to read, if there is one.
fn path() -> Option<PathBuf> {
    let must_exist = env::var_os(VARIABLE).is_some() && !OPTIONAL.load(Ordering::Relaxed);
    user_file().filter(|path| must_exist || path.exists())
}

fn read(path: Option<&Path>) -> std::result::Result<Overrides, String> {
    let Some(path) = path else { return Ok(Overrides::default()) };
    let named = |error: String| format!("{}: {error}", path.display());
    let text = read_text(path).map_err(|error| named(error.to_string()))?;
    Overrides::parse(&text).map_err(named)
}

/// Maximum number of bytes of a tuning file. All numbers of a device take about 3 KB.
const MOST_BYTES: u64 = 1 << 20;

/// Returns the text of the tuning file at `path`.
///
/// # Errors
/// Errors of the system, and an error if the file is larger than a mebibyte.
pub fn read_text(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(path)?.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    match text.len() as u64 > MOST_BYTES {
        true => Err(std::io::Error::other(format!("more than {MOST_BYTES} bytes, which is no tuning file"))),
        false => Ok(text),
    }
}

/// Returns the contents of the file, which is read at the first search for devices.
fn overrides() -> &'static std::result::Result<Overrides, String> {
    static OVERRIDES: OnceLock<std::result::Result<Overrides, String>> = OnceLock::new();
    OVERRIDES.get_or_init(|| read(path().as_deref()))
}

/// Reports a file that cannot be read or is invalid.
///
/// # Errors
/// [`Error::Argument`] with the path of the file.
pub(crate) fn check_file() -> Result<()> {
    overrides().as_ref().map(|_| ()).map_err(|error| Error::Argument(error.clone()))
}

/// Returns the numbers and costs in the user's file for a device. If the file is invalid, there are
/// none.
pub(crate) fn given(kind: DeviceKind, name: &str) -> Given {
    overrides().as_ref().map(|file| file.given(kind, name)).unwrap_or_default()
}

/// Adds the numbers and costs of the text of a tuning file to the numbers and costs of a device.
///
/// # Errors
/// [`Error::Argument`] if `text` is not a tuning file, or if no kernel can be compiled with the
/// numbers.
pub(crate) fn with_file(before: &Given, text: &str, kind: DeviceKind, name: &str) -> Result<Given> {
    let (file, mut given) = (Overrides::parse(text).map_err(Error::Argument)?, before.clone());
    for section in file.sections(kind, name) {
        given.add_costs(section);
        given.numbers = given.numbers_and(section, kind).map_err(Error::Argument)?;
    }
    Ok(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers by their names.
    fn numbers<const N: usize>(numbers: [(&str, usize); N]) -> GivenNumbers {
        numbers.map(|(name, value)| (name.to_owned(), value)).into()
    }

    #[test]
    fn a_file_overrides_what_it_names() -> std::result::Result<(), String> {
        let text =
            r#"{"gpu": {"tile_items": 4}, "devices": {"H200": {"scan_items": 7}, "pthread": {"group_size": 32}}}"#;
        let file = Overrides::parse(&format!("\u{feff}{text}"))?;
        let of = |kind, name| file.given(kind, name).numbers;
        assert_eq!(of(DeviceKind::Gpu, "Radeon"), numbers([("tile_items", 4)]));
        assert_eq!(of(DeviceKind::Gpu, "NVIDIA h200"), numbers([("tile_items", 4), ("scan_items", 7)]));
        assert_eq!(of(DeviceKind::Cpu, "x"), numbers([]));
        assert_eq!(of(DeviceKind::Cpu, "pthread-amd"), numbers([("group_size", 32)]));
        Ok(())
    }

    /// Tests that sections for devices are checked together with the table of GPUs. With the table
    /// of CPUs, the work-groups of the scan in this test would have too many values.
    #[test]
    fn numbers_that_a_table_refuses_are_left_out() -> std::result::Result<(), String> {
        let text = r#"{"devices": {"a": {"scan_group_size": 512}, "b": {"radix_bits": 6}}}"#;
        let file = Overrides::parse(text)?;
        let of = |kind| file.given(kind, "ab").numbers;
        assert_eq!(of(DeviceKind::Gpu), numbers([("scan_group_size", 512), ("radix_bits", 6)]));
        assert_eq!(of(DeviceKind::Cpu), numbers([("radix_bits", 6)]));
        assert!(with_file(&Given::default(), text, DeviceKind::Cpu, "ab").is_err());
        Ok(())
    }

    #[test]
    fn what_is_wrong_in_a_file_is_named() {
        let refused = |text: &str| Overrides::parse(text).unwrap_err();
        let unknown = refused(r#"{"gpu": {"tile_item": 4}}"#);
        assert!(unknown.starts_with("gpu: there is no number `tile_item` (earlier versions had more): remove it"));
        assert!(unknown.contains(", tile_items, "), "{unknown}");
        assert!(refused(r#"{"devices": {"H200": {"group_size": 3}}}"#).contains("H200: "));
        assert!(refused(r#"{"fpga": {}}"#).contains("unknown field `fpga`"));
        assert!(refused("{\n\"gpu\": 3}").contains("line 2"));
        assert!(refused("\n []").contains("the file is no JSON object"));
        assert!(refused(r#"{"gpu": []}"#).contains("line 1"));
        assert!(refused(r#"{"cpu": {"scan_items": -1}}"#).contains("cpu: scan_items: "));
        assert!(read(Some(Path::new("/no/such/file"))).unwrap_err().starts_with("/no/such/file: "));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long.json");
        for (blanks, is_read) in [(MOST_BYTES - 2, true), (MOST_BYTES - 1, false), (MOST_BYTES + 9, false)] {
            std::fs::write(&path, format!("{{}}{}", " ".repeat(blanks as usize))).unwrap();
            let refused = read(Some(&path)).err();
            assert_eq!(refused.is_none(), is_read, "{blanks}");
            assert!(
                refused.is_none_or(|why| why.ends_with("long.json: more than 1048576 bytes, which is no tuning file"))
            );
        }
        assert!(refused(r#"{"gpu": {"costs": {"sorted": {}}}}"#).contains("gpu: costs: no method `sorted` has costs"));
        let unknown = refused(r#"{"devices": {"H200": {"costs": {"sort": {"products": 3}}}}}"#);
        assert!(unknown.contains("H200: costs: sort: unknown `products`; there are: launch_us"), "{unknown}");
        assert!(refused(r#"{"cpu": {"costs": {"sort": {"entry_ps": -2}}}}"#).contains("sort: entry_ps is -2"));
        assert!(refused(r#"{"cpu": {"costs": {"sort": 3}}}"#).contains("line 1"));
    }

    #[test]
    fn a_file_overrides_the_costs_it_names() -> std::result::Result<(), String> {
        let text = r#"{"gpu": {"costs": {"sort": {"entry_ps": 2.5}}, "tile_items": 4},
            "devices": {"H200": {"costs": {"sort": {"launch_us": 3}, "esc": {"product_ps": 9}}}}}"#;
        let file = Overrides::parse(text)?;
        let usual = MethodCosts::of_kind(DeviceKind::Gpu);
        let cost = |costs: MethodCosts, method: &str| costs.of(method).unwrap().coefficients();
        let [launch, product, _, column] = cost(usual, "sort");
        let costs = |kind, name| file.given(kind, name).costs(kind);
        let other = costs(DeviceKind::Gpu, "Radeon");
        assert_eq!(cost(other, "sort"), [launch, product, 2.5, column]);
        assert_eq!(other.of("esc"), usual.of("esc"));
        let named = costs(DeviceKind::Gpu, "NVIDIA h200");
        assert_eq!(cost(named, "sort"), [3.0, product, 2.5, column]);
        assert_eq!((cost(named, "esc")[1], named.of("dense")), (9.0, usual.of("dense")));
        assert_eq!(costs(DeviceKind::Cpu, "x"), MethodCosts::of_kind(DeviceKind::Cpu));
        assert_eq!(file.given(DeviceKind::Gpu, "x").numbers, numbers([("tile_items", 4)]));
        Ok(())
    }
}

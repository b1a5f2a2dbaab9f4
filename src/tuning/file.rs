//! The user's tuning file, which overrides numbers and costs of the tables.
mod merged;

pub use merged::{merged_costs, merged_numbers};

use super::{
    DeviceKind, Numbers,
    costs::{MethodCost, MethodCosts},
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
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

/// The environment variable that contains the path of the file, or `off`.
const VARIABLE: &str = "BLOCKMUL_TUNING";

/// The numbers that a file gives, by name.
type Given = Map<String, Value>;

/// The costs that a file gives, by method and coefficient.
type GivenCosts = BTreeMap<String, BTreeMap<String, f64>>;

/// The numbers and costs that a file gives for some devices.
#[derive(Debug, Default, Deserialize)]
struct Section {
    #[serde(default)]
    costs: GivenCosts,
    #[serde(flatten)]
    numbers: Given,
}

/// The contents of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Overrides {
    #[serde(default)]
    gpu: Section,
    #[serde(default)]
    cpu: Section,
    /// Sections by a part of the device's name, in any case. Later names take precedence.
    #[serde(default)]
    devices: BTreeMap<String, Section>,
    /// The numbers that the file has changed, for each device that was looked up. Products look
    /// them up many times, and combining them takes microseconds.
    #[serde(skip)]
    found: Mutex<Vec<(DeviceKind, String, Numbers)>>,
}

/// Some editors write this at the beginning of UTF-8. It is not part of the contents.
const BYTE_ORDER_MARK: char = '\u{feff}';

impl Overrides {
    /// Parses the text of a file.
    fn parse(text: &str) -> std::result::Result<Self, String> {
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        // JSON would accept a list as the fields in their order.
        if text.trim_start().starts_with('[') {
            return Err("the file is no JSON object".into());
        }
        let all: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        // Errors are reported even if no device uses the section.
        for (name, kind, given) in [("gpu", DeviceKind::Gpu, &all.gpu), ("cpu", DeviceKind::Cpu, &all.cpu)] {
            given.check(kind).map_err(|error| format!("{name}: {error}"))?;
        }
        for (device, given) in &all.devices {
            given.check(DeviceKind::Gpu).map_err(|error| format!("devices: {device}: {error}"))?;
        }
        Ok(all)
    }

    /// The sections that apply to a device. Later ones take precedence.
    fn sections<'a>(&'a self, kind: DeviceKind, name: &str) -> impl Iterator<Item = &'a Section> {
        let (of_kind, name) = (if kind == DeviceKind::Cpu { &self.cpu } else { &self.gpu }, name.to_lowercase());
        let named = self.devices.iter().filter(move |(part, _)| name.contains(&part.to_lowercase()));
        std::iter::once(of_kind).chain(named.map(|(_, section)| section))
    }

    /// The numbers for a device.
    fn numbers(&self, kind: DeviceKind, name: &str) -> Numbers {
        let given = || self.sections(kind, name).map(|section| &section.numbers).filter(|given| !given.is_empty());
        let table = Numbers::of(kind);
        if given().next().is_none() {
            return table;
        }
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., numbers)) = found.iter().find(|(of, named, _)| (*of, named.as_str()) == (kind, name)) {
            return *numbers;
        }
        // Numbers that are valid with one table may be invalid with another.
        let numbers = given().fold(table, |numbers, given| with(numbers, given).unwrap_or(numbers));
        found.push((kind, name.to_owned(), numbers));
        numbers
    }

    /// The costs of methods on a device.
    fn costs(&self, kind: DeviceKind, name: &str) -> MethodCosts {
        let costs = MethodCosts::of_kind(kind);
        self.sections(kind, name).fold(costs, |costs, section| with_costs(costs, &section.costs).unwrap_or(costs))
    }
}

impl Section {
    fn check(&self, kind: DeviceKind) -> std::result::Result<(), String> {
        with(Numbers::of(kind), &self.numbers)?;
        with_costs(MethodCosts::of_kind(kind), &self.costs).map_err(|error| format!("costs: {error}"))?;
        Ok(())
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

/// Replaces the given numbers in `numbers`.
fn with(mut numbers: Numbers, given: &Given) -> std::result::Result<Numbers, String> {
    for (name, value) in given {
        let known = || Numbers::NAMES.iter().map(|known| format!("`{known}`")).collect::<Vec<_>>().join(", ");
        let unknown = || format!("unknown field `{name}`, expected one of {}", known());
        *numbers.named(name).ok_or_else(unknown)? = usize::deserialize(value).map_err(|error| error.to_string())?;
    }
    numbers.check().map_err(|error| error.to_string())?;
    Ok(numbers)
}

/// The path of the user's tuning file, whether or not it exists. It is `blockmul/tuning.json` in
/// the configuration folder of the platform, or the path in `BLOCKMUL_TUNING`. `None` if the
/// variable is `off`, or if there is no such folder.
pub fn user_file() -> Option<PathBuf> {
    match env::var_os(VARIABLE) {
        Some(value) if value == "off" => None,
        Some(value) => Some(value.into()),
        None => dirs::config_dir().map(|folder| folder.join("blockmul/tuning.json")),
    }
}

/// Whether the file in the variable may be missing.
static OPTIONAL: AtomicBool = AtomicBool::new(false);

/// Allows the file that `BLOCKMUL_TUNING` names to be missing, which is otherwise an error. This is
/// for a program that writes it. Call it before the first search for devices.
pub fn allow_missing_user_file() {
    OPTIONAL.store(true, Ordering::Relaxed);
}

/// The path of the file to read, if there is one.
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

/// Most bytes of a tuning file. All numbers of a device take about 6 KB.
const MOST_BYTES: u64 = 1 << 20;

/// The text of the tuning file at `path`.
///
/// # Errors
/// Errors of the system, and a file of more than a mebibyte.
pub fn read_text(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(path)?.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    match text.len() as u64 > MOST_BYTES {
        true => Err(std::io::Error::other(format!("more than {MOST_BYTES} bytes, which is no tuning file"))),
        false => Ok(text),
    }
}

/// The numbers that replace those of all devices, in the process of a test.
#[cfg(test)]
pub(super) static TRIED: Mutex<Option<Numbers>> = Mutex::new(None);

/// The contents of the file, read at the first search for devices.
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

impl Numbers {
    /// The numbers of a device whose work-groups have at most `most` items.
    pub(crate) fn of_device(kind: DeviceKind, name: &str, most: usize) -> Self {
        #[cfg(test)]
        if let Some(tried) = *TRIED.lock().unwrap_or_else(PoisonError::into_inner) {
            return tried.within(most);
        }
        let table = || Self::of(kind);
        overrides().as_ref().map_or_else(|_| table(), |given| given.numbers(kind, name)).within(most)
    }
}

impl MethodCosts {
    /// The costs of methods on a device.
    pub(crate) fn of_device(kind: DeviceKind, name: &str) -> Self {
        overrides().as_ref().map_or_else(|_| Self::of_kind(kind), |given| given.costs(kind, name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_overrides_what_it_names() -> std::result::Result<(), String> {
        let text =
            r#"{"gpu": {"tile_items": 4}, "devices": {"H200": {"record_groups": 7}, "pthread": {"group_size": 32}}}"#;
        let file = Overrides::parse(&format!("\u{feff}{text}"))?;
        let gpu = Numbers::of(DeviceKind::Gpu);
        assert_eq!(file.numbers(DeviceKind::Gpu, "Radeon"), Numbers { tile_items: 4, ..gpu });
        for _again in 0..2 {
            let h200 = file.numbers(DeviceKind::Gpu, "NVIDIA h200");
            assert_eq!(h200, Numbers { tile_items: 4, record_groups: 7, ..gpu });
        }
        let cpu = Numbers::of(DeviceKind::Cpu);
        assert_eq!(file.numbers(DeviceKind::Cpu, "x"), cpu);
        assert_eq!(file.numbers(DeviceKind::Cpu, "pthread-amd"), Numbers { group_size: 32, ..cpu });
        Ok(())
    }

    #[test]
    fn what_is_wrong_in_a_file_is_named() {
        let refused = |text: &str| Overrides::parse(text).unwrap_err();
        assert!(refused(r#"{"gpu": {"tile_item": 4}}"#).contains("gpu: unknown field `tile_item`"));
        assert!(refused(r#"{"devices": {"H200": {"group_size": 3}}}"#).contains("H200: "));
        assert!(refused(r#"{"fpga": {}}"#).contains("unknown field `fpga`"));
        assert!(refused("{\n\"gpu\": 3}").contains("line 2"));
        assert!(refused("\n []").contains("the file is no JSON object"));
        assert!(refused(r#"{"gpu": []}"#).contains("line 1"));
        assert!(refused(r#"{"cpu": {"scan_items": -1}}"#).contains("cpu: "));
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
        let other = file.costs(DeviceKind::Gpu, "Radeon");
        assert_eq!(cost(other, "sort"), [launch, product, 2.5, column]);
        assert_eq!(other.of("esc"), usual.of("esc"));
        let named = file.costs(DeviceKind::Gpu, "NVIDIA h200");
        assert_eq!(cost(named, "sort"), [3.0, product, 2.5, column]);
        assert_eq!((cost(named, "esc")[1], named.of("dense")), (9.0, usual.of("dense")));
        assert_eq!(file.costs(DeviceKind::Cpu, "x"), MethodCosts::of_kind(DeviceKind::Cpu));
        assert_eq!(file.numbers(DeviceKind::Gpu, "x").tile_items, 4);
        Ok(())
    }
}

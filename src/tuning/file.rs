//! The user's file, which overrides numbers of the tables.
use super::{DeviceKind, Numbers};
use crate::{Error, Result};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// Environment variable with the path of the file, or `off`.
const VARIABLE: &str = "BLOCKMUL_TUNING";

/// The numbers that a file gives, by name.
type Given = Map<String, Value>;

/// The contents of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Overrides {
    #[serde(default)]
    gpu: Given,
    #[serde(default)]
    cpu: Given,
    /// Numbers by a part of the device's name, case ignored; later names win.
    #[serde(default)]
    devices: BTreeMap<String, Given>,
}

impl Overrides {
    /// Parses the text of a file.
    fn parse(text: &str) -> std::result::Result<Self, String> {
        let all: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        // Errors are reported even if no device uses the numbers.
        for (name, kind, given) in [("gpu", DeviceKind::Gpu, &all.gpu), ("cpu", DeviceKind::Cpu, &all.cpu)] {
            with(Numbers::of(kind), given).map_err(|error| format!("{name}: {error}"))?;
        }
        for (device, given) in &all.devices {
            with(Numbers::of(DeviceKind::Gpu), given).map_err(|error| format!("devices: {device}: {error}"))?;
        }
        Ok(all)
    }

    /// The numbers of a device.
    fn numbers(&self, kind: DeviceKind, name: &str) -> Numbers {
        let of_kind = if kind == DeviceKind::Cpu { &self.cpu } else { &self.gpu };
        let named = self.devices.iter().filter(|(part, _)| name.to_lowercase().contains(&part.to_lowercase()));
        let mut numbers = Numbers::of(kind);
        // Every product asks for these numbers, so an empty section must cost nothing.
        for given in std::iter::once(of_kind).chain(named.map(|(_, given)| given)).filter(|given| !given.is_empty()) {
            // Numbers that suit one table need not suit another.
            numbers = with(numbers, given).unwrap_or(numbers);
        }
        numbers
    }
}

/// Replaces in `numbers` those that are given.
fn with(numbers: Numbers, given: &Given) -> std::result::Result<Numbers, String> {
    let Ok(Value::Object(mut all)) = serde_json::to_value(numbers) else { return Ok(numbers) };
    all.extend(given.clone());
    let numbers: Numbers = serde_json::from_value(Value::Object(all)).map_err(|error| error.to_string())?;
    numbers.check().map_err(|error| error.to_string())?;
    Ok(numbers)
}

/// The path of the file, if there is one.
fn path() -> Option<PathBuf> {
    match env::var_os(VARIABLE) {
        Some(value) if value == "off" => None,
        Some(value) => Some(value.into()),
        None => dirs::config_dir().map(|folder| folder.join("blockmul/tuning.json")).filter(|path| path.exists()),
    }
}

fn read(path: Option<&Path>) -> std::result::Result<Overrides, String> {
    let Some(path) = path else { return Ok(Overrides::default()) };
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Overrides::parse(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The contents of the file, read at the first search for devices.
fn overrides() -> &'static std::result::Result<Overrides, String> {
    static OVERRIDES: OnceLock<std::result::Result<Overrides, String>> = OnceLock::new();
    OVERRIDES.get_or_init(|| read(path().as_deref()))
}

/// Refuses a file that cannot be read, or whose contents are invalid.
///
/// # Errors
/// [`Error::Argument`] with the file's name.
pub(crate) fn check_file() -> Result<()> {
    overrides().as_ref().map(|_| ()).map_err(|error| Error::Argument(error.clone()))
}

impl Numbers {
    /// The numbers of a device whose work-groups have at most `most` items.
    pub(crate) fn of_device(kind: DeviceKind, name: &str, most: usize) -> Self {
        let table = || Self::of(kind);
        overrides().as_ref().map_or_else(|_| table(), |given| given.numbers(kind, name)).within(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_overrides_what_it_names() -> std::result::Result<(), String> {
        let text =
            r#"{"gpu": {"tile_items": 4}, "devices": {"H200": {"record_groups": 7}, "pthread": {"group_size": 32}}}"#;
        let file = Overrides::parse(text)?;
        let gpu = Numbers::of(DeviceKind::Gpu);
        assert_eq!(file.numbers(DeviceKind::Gpu, "Radeon"), Numbers { tile_items: 4, ..gpu });
        assert_eq!(file.numbers(DeviceKind::Gpu, "NVIDIA h200"), Numbers { tile_items: 4, record_groups: 7, ..gpu });
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
        assert!(refused(r#"{"cpu": {"scan_items": -1}}"#).contains("cpu: "));
        assert!(read(Some(Path::new("/no/such/file"))).unwrap_err().starts_with("/no/such/file: "));
    }
}

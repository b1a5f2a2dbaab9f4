//! Adds new numbers or costs of a device to the text of a tuning file.
use super::{BYTE_ORDER_MARK, Overrides};
use crate::{
    Error, Result,
    tuning::{DeviceKind, MethodCost},
};
use serde_json::Value;

/// Adds costs of methods for the device of this name and kind to the text of a tuning file. The
/// rest of `text` does not change. An empty text is an empty file.
///
/// # Errors
/// [`Error::Argument`] if `text` is not a tuning file, or if a later section that matches the
/// device gives other costs, because that section takes precedence.
pub fn merged_costs(text: &str, kind: DeviceKind, name: &str, costs: &[(&str, MethodCost)]) -> Result<String> {
    let json = |cost| serde_json::to_value(cost).map_err(|error| Error::Argument(error.to_string()));
    let given = costs.iter().map(|&(method, cost)| Ok((method, json(cost)?)));
    let (merged, file) = merged(text, &["devices", name, "costs"], given)?;
    let found = file.given(kind, name).costs(kind);
    match costs.iter().find(|(method, cost)| found.of(method) != Some(*cost)) {
        Some((method, _)) => Err(Error::Argument(format!(
            "the costs of {method} for \"{name}\" would have no effect: a later name of `devices` gives others"
        ))),
        None => Ok(merged),
    }
}

/// Adds numbers, by their names, for the device of this name and kind to the text of a tuning file.
/// The rest of `text` does not change. An empty text is an empty file.
///
/// # Errors
/// [`Error::Argument`] if `text` is not a tuning file, if no kernel can be compiled with the
/// numbers, or if a later section that matches the device gives other numbers, because that section
/// takes precedence.
pub fn merged_numbers(text: &str, kind: DeviceKind, name: &str, numbers: &[(&str, usize)]) -> Result<String> {
    let given = numbers.iter().map(|&(number, value)| Ok((number, value.into())));
    let (merged, file) = merged(text, &["devices", name], given)?;
    let found = file.given(kind, name).numbers;
    match numbers.iter().find(|(number, value)| found.get(*number) != Some(value)) {
        Some((number, value)) => Err(Error::Argument(format!(
            "{number} = {value} for \"{name}\" would have no effect: a later name of `devices` gives another"
        ))),
        None => Ok(merged),
    }
}

/// Adds `given` at a path of keys. Returns the new text, and the file parsed from it.
fn merged<'a>(
    text: &str,
    path: &[&str],
    given: impl Iterator<Item = Result<(&'a str, Value)>>,
) -> Result<(String, Overrides)> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let text = if text.trim().is_empty() { "{}" } else { text };
    Overrides::parse(text).map_err(Error::Argument)?;
    let mut file: Value = serde_json::from_str(text).map_err(|error| Error::Argument(error.to_string()))?;
    for given in given {
        let (key, value) = given?;
        let mut at = &mut file;
        for key in path {
            at = &mut at[*key];
        }
        at[key] = value;
    }
    let merged = serde_json::to_string_pretty(&file).map_err(|error| Error::Argument(error.to_string()))?;
    let parsed = Overrides::parse(&merged).map_err(Error::Argument)?;
    Ok((merged, parsed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_costs_leave_all_else() -> Result<()> {
        let cost = |launch| MethodCost::new([launch, 2.0, 3.25, 4.0]);
        let merged = |text: &str, costs: &[(&str, MethodCost)]| {
            merged_costs(text, DeviceKind::Gpu, "NVIDIA H200", costs).map(|text| {
                let file = serde_json::from_str::<Value>(&text).unwrap();
                (file, Overrides::parse(&text).unwrap())
            })
        };
        let (_, file) = merged("\u{feff}", &[("sort", cost(1.0)?)])?;
        let costs = |file: &Overrides, name| file.given(DeviceKind::Gpu, name).costs(DeviceKind::Gpu);
        assert_eq!(costs(&file, "nvidia h200").of("sort"), Some(cost(1.0)?));
        let text = r#"{"cpu": {"scan_items": 3}, "devices": {"H200": {"tile_items": 4, "costs": {"hub": {"entry_ps": 1}}},
            "NVIDIA H200": {"group_size": 32, "costs": {"sort": {"launch_us": 7}, "esc": {"entry_ps": 5.5}}}}}"#;
        let (mut file, parsed) = merged(text, &[("sort", cost(1.0)?), ("dense", cost(2.0)?)])?;
        let costs = costs(&parsed, "NVIDIA H200");
        assert_eq!([costs.of("sort"), costs.of("dense")], [Some(cost(1.0)?), Some(cost(2.0)?)]);
        let of_device = file["devices"]["NVIDIA H200"]["costs"].as_object_mut().unwrap();
        of_device.remove("dense");
        of_device["sort"] = serde_json::json!({"launch_us": 7});
        assert_eq!(file, serde_json::from_str::<Value>(text).unwrap(), "nothing else has changed");
        Ok(())
    }

    #[test]
    fn costs_are_not_merged_into_what_is_no_tuning_file() -> Result<()> {
        let costs = [("sort", MethodCost::new([1.0; 4])?)];
        let refused = |text: &str| merged_costs(text, DeviceKind::Cpu, "H200", &costs).unwrap_err().to_string();
        assert!(refused("{").contains("line 1"));
        assert!(refused(r#"{"gpu": {"tile": 3}}"#).contains("no number `tile`"));
        assert!(refused("[]").contains("no JSON object"));
        let text = r#"{"devices": {"h2": {"costs": {"sort": {"launch_us": 9}}}}}"#;
        assert!(refused(text).contains("costs of sort for \"H200\" would have no effect"), "h2 sorts behind H200");
        Ok(())
    }

    #[test]
    fn merged_numbers_leave_all_else() -> Result<()> {
        let text = r#"{"cpu": {"scan_items": 3}, "devices": {"H200": {"dense_staged": 32, "costs": {"sort": {"launch_us": 1}}}}}"#;
        let numbers = [("dense_group_lines", 8), ("dense_staged", 64)];
        let merged = merged_numbers(text, DeviceKind::Gpu, "NVIDIA H200", &numbers)?;
        let file = Overrides::parse(&merged).map_err(Error::Argument)?;
        let found = |name| {
            let found = file.given(DeviceKind::Gpu, name).numbers;
            ["dense_group_lines", "dense_staged"].map(|number| found.get(number).copied())
        };
        assert_eq!(found("NVIDIA H200"), [Some(8), Some(64)]);
        assert_eq!(found("H200"), [None, Some(32)]);
        let mut value: Value = serde_json::from_str(&merged).unwrap();
        value["devices"].as_object_mut().unwrap().remove("NVIDIA H200");
        assert_eq!(value, serde_json::from_str::<Value>(text).unwrap(), "nothing else has changed");
        let refused = |name, numbers| merged_numbers(text, DeviceKind::Gpu, name, numbers).unwrap_err().to_string();
        assert!(refused("A H200", &[("dense_staged", 1 << 20)]).contains("dense_staged is 1048576"));
        assert!(refused("A H200", &[("dense_lines", 4)]).contains("no number `dense_lines`"));
        let lost = refused("A H200", &[("dense_staged", 64)]);
        assert!(lost.contains("dense_staged = 64 for \"A H200\" would have no effect"), "H200 sorts behind it: {lost}");
        Ok(())
    }
}

//! Times of other libraries, from files of the schema that `bench --json` and the programs of
//! `benches/peers` write.
use crate::failure::Failure;
use blockmul::Error;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

const SCHEMA: &str = "blockmul-bench/1";

#[derive(Deserialize)]
struct File {
    schema: String,
    results: Vec<Peer>,
}

/// A product that another library computed.
#[derive(Clone, Deserialize, Serialize)]
pub struct Peer {
    pub library: String,
    #[serde(default)]
    version: Option<String>,
    #[serde(default)]
    variant: Option<String>,
    #[serde(default)]
    threads: Option<u32>,
    #[serde(default)]
    device: Option<String>,
    matrix: String,
    element: String,
    verified: bool,
    #[serde(default)]
    pub ms: Option<f64>,
    /// Device memory, if the program measures it.
    #[serde(default)]
    pub used_device_bytes: Option<u64>,
}

/// The records of other libraries in f64.
#[derive(Default)]
pub struct Peers(Vec<Peer>);

impl Peers {
    /// Reads the files.
    pub fn read(paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut all = Vec::new();
        for path in paths {
            let text = std::fs::read_to_string(path).map_err(|source| Error::Io { path: path.clone(), source })?;
            let wrong = |why: String| Error::Malformed { path: path.clone(), place: "the file".into(), reason: why };
            let file: File = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
            if file.schema != SCHEMA {
                return Err(wrong(format!("the schema is {:?}, not {SCHEMA:?}", file.schema)).into());
            }
            all.extend(file.results.into_iter().filter(|peer| peer.library != "blockmul" && peer.element == "f64"));
        }
        Ok(Self(all))
    }

    /// The libraries, in the order of the files.
    pub fn libraries(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for peer in &self.0 {
            if !names.contains(&peer.library.as_str()) {
                names.push(&peer.library);
            }
        }
        names
    }

    /// The fastest record of a library for a matrix; a wrong one if there is no other.
    pub fn fastest(&self, library: &str, matrix: &str) -> Option<&Peer> {
        let of = self.0.iter().filter(|peer| peer.library == library && peer.matrix == matrix);
        of.min_by(|one, other| time(one).total_cmp(&time(other)))
    }

    /// The fastest time of a library for a matrix.
    pub fn ms(&self, library: &str, matrix: &str) -> Option<f64> {
        self.fastest(library, matrix).filter(|peer| peer.verified).and_then(|peer| peer.ms)
    }

    /// The fastest records of all libraries for a matrix.
    pub fn of(&self, matrix: &str) -> Vec<&Peer> {
        self.libraries().into_iter().filter_map(|library| self.fastest(library, matrix)).collect()
    }
}

impl Peer {
    /// The time of a right result.
    pub fn right_ms(&self) -> Option<f64> {
        self.ms.filter(|_| self.verified)
    }

    /// Library, version, variant, threads and device.
    pub fn what(&self) -> String {
        let words = [Some(self.library.clone()), self.version.clone(), self.variant.clone()];
        let words = words.into_iter().chain([
            self.threads.map(|threads| format!("({threads} threads)")),
            self.device.as_ref().map(|device| format!("on {device}")),
        ]);
        words.flatten().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

fn time(peer: &Peer) -> f64 {
    peer.right_ms().unwrap_or(f64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_right_record_stands_for_a_library() {
        let record = |library: &str, variant: &str, ms: f64, verified: bool| {
            serde_json::json!({"library": library, "version": "1", "variant": variant, "threads": null, "device": "d",
                "matrix": "m", "element": "f64", "verified": verified, "ms": ms})
        };
        let records = [
            record("x", "a", 3.0, true),
            record("x", "b", 2.0, true),
            record("x", "c", 1.0, false),
            record("blockmul", "auto", 0.5, true),
            record("y", "a", 9.0, false),
        ];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.json");
        std::fs::write(&path, serde_json::json!({"schema": SCHEMA, "host": {}, "results": records}).to_string())
            .unwrap();
        let peers = Peers::read(std::slice::from_ref(&path)).unwrap();
        assert_eq!((peers.libraries(), peers.ms("x", "m"), peers.ms("y", "m")), (vec!["x", "y"], Some(2.0), None));
        assert_eq!((peers.of("m")[0].what(), peers.of("other").len()), ("x 1 b on d".into(), 0));
        std::fs::write(&path, r#"{"schema": "other/1", "results": []}"#).unwrap();
        assert!(Peers::read(&[path]).err().unwrap().to_string().contains("other/1"));
    }
}

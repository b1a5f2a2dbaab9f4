//! Times of other libraries. The times are read from files of the schema that `bench --json` and
//! the programs of `benches/peers` write.
use blockmul::Error;
use blockmul_cli::failure::Failure;
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
    version: Option<String>,
    variant: Option<String>,
    threads: Option<u32>,
    device: Option<String>,
    matrix: String,
    element: String,
    verified: bool,
    pub ms: Option<f64>,
    /// Peak memory, operands and C included, if the program measures it. For a library for CPUs,
    /// peak memory is host memory.
    pub peak_device_bytes: Option<u64>,
}

/// A product with a dense matrix or a vector that another library computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DenseWork {
    /// The sparse matrix times a dense one with this many columns.
    Product(usize),
    /// The dense matrix times the sparse one, which is also stored as a dense matrix.
    Gemm(usize),
    /// The conversion of a dense matrix to the sparse one.
    Conversion,
    /// The product of the sparse matrix with a vector.
    Vector,
}

/// The records of other libraries.
#[derive(Default)]
pub struct Peers {
    /// Whole products of sparse matrices in f64.
    products: Vec<Peer>,
    dense: Vec<(DenseWork, Peer)>,
}

impl Peers {
    /// Reads the files.
    pub fn read(paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut all = Self::default();
        for path in paths {
            let text = std::fs::read_to_string(path).map_err(|source| Error::Io { path: path.clone(), source })?;
            let wrong = |why: String| Error::Malformed { path: path.clone(), place: "the file".into(), reason: why };
            let file: File = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
            if file.schema != SCHEMA {
                return Err(wrong(format!("the schema is {:?}, not {SCHEMA:?}", file.schema)).into());
            }
            for peer in file.results.into_iter().filter(|peer| peer.library != "blockmul") {
                match peer.dense_work() {
                    Some(work) => all.dense.push((work, peer)),
                    None if peer.element == "f64" && peer.is_whole() => all.products.push(peer),
                    None => {}
                }
            }
        }
        Ok(all)
    }

    /// The libraries that multiply sparse matrices, in the order of the files.
    pub fn libraries(&self) -> Vec<&str> {
        libraries(self.products.iter())
    }

    /// The fastest correct record of each library for work with a dense matrix or a vector.
    pub fn with_dense(&self, work: DenseWork, matrix: &str, element: &str) -> Vec<&Peer> {
        let of = |peer: &&Peer| (&*peer.matrix, &*peer.element) == (matrix, element) && peer.right_ms().is_some();
        let right: Vec<&Peer> = self.dense.iter().filter(|one| one.0 == work).map(|one| &one.1).filter(of).collect();
        let fastest = |library: &str| {
            let of_library = right.iter().copied().filter(|peer| peer.library == library);
            of_library.min_by(|one, other| time(one).total_cmp(&time(other)))
        };
        libraries(right.iter().copied()).into_iter().filter_map(fastest).collect()
    }

    /// The fastest record of a library for a matrix. Records with wrong results are used only if
    /// the library has no correct one.
    pub fn fastest(&self, library: &str, matrix: &str) -> Option<&Peer> {
        let of = self.products.iter().filter(|peer| peer.library == library && peer.matrix == matrix);
        of.min_by(|one, other| time(one).total_cmp(&time(other)))
    }

    /// The fastest time of a library for a matrix, if its result is correct.
    pub fn ms(&self, library: &str, matrix: &str) -> Option<f64> {
        self.fastest(library, matrix).filter(|peer| peer.verified).and_then(|peer| peer.ms)
    }

    /// The fastest records of all libraries for a matrix.
    pub fn of(&self, matrix: &str) -> Vec<&Peer> {
        self.libraries().into_iter().filter_map(|library| self.fastest(library, matrix)).collect()
    }
}

/// The names of libraries, each once.
pub fn libraries<'a>(peers: impl Iterator<Item = &'a Peer>) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for peer in peers {
        if !names.contains(&peer.library.as_str()) {
            names.push(&peer.library);
        }
    }
    names
}

impl Peer {
    /// The work with a dense matrix or a vector that the variant names: "from-dense ...", "apply
    /// ...", "dense gemm ... N" or "dense ... N". N is the number of columns of the dense matrix.
    fn dense_work(&self) -> Option<DenseWork> {
        let variant = self.variant.as_deref()?;
        if variant.starts_with("from-dense ") {
            return Some(DenseWork::Conversion);
        }
        if variant.starts_with("apply ") {
            return Some(DenseWork::Vector);
        }
        let (way, columns) = variant.strip_prefix("dense ")?.rsplit_once(' ')?;
        let columns = columns.parse().ok()?;
        Some(if way.starts_with("gemm ") { DenseWork::Gemm(columns) } else { DenseWork::Product(columns) })
    }

    /// Whether the record is of a whole product. In a "kept" variant only the values were computed,
    /// in an "upper" variant one triangle.
    fn is_whole(&self) -> bool {
        !self.variant.iter().flat_map(|variant| variant.split(' ')).any(|word| matches!(word, "kept" | "upper"))
    }

    /// The time, if the result is correct.
    pub fn right_ms(&self) -> Option<f64> {
        self.ms.filter(|_| self.verified)
    }

    /// Library, version, variant without the columns of a dense matrix, threads and device.
    pub fn what(&self) -> String {
        let variant = self.variant.as_deref().map(|variant| match self.dense_work() {
            Some(DenseWork::Product(_) | DenseWork::Gemm(_)) => {
                variant.rsplit_once(' ').map_or(variant, |found| found.0)
            }
            _ => variant,
        });
        let words = [Some(self.library.clone()), self.version.clone(), variant.map(String::from)];
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
            record("x", "kept pattern", 0.1, true),
            record("x", "csr kept", 0.1, true),
            record("x", "csr upper", 0.1, true),
            record("blockmul", "auto", 0.5, true),
            record("y", "a", 9.0, false),
            record("x", "dense csr ALG2 by rows 32", 0.2, true),
            record("x", "dense csr ALG3 by rows 32", 0.1, true),
            record("x", "dense csr ALG3 by rows 128", 0.01, true),
            record("z", "dense gemm by columns 32", 0.3, true),
            record("z", "from-dense by rows", 0.4, true),
            record("y", "dense csr by rows 32", 0.1, false),
            record("z", "apply csr", 0.02, true),
            record("z", "apply csr optimized", 0.01, true),
        ];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.json");
        std::fs::write(&path, serde_json::json!({"schema": SCHEMA, "host": {}, "results": records}).to_string())
            .unwrap();
        let peers = Peers::read(std::slice::from_ref(&path)).unwrap();
        assert_eq!((peers.libraries(), peers.ms("x", "m"), peers.ms("y", "m")), (vec!["x", "y"], Some(2.0), None));
        assert_eq!((peers.of("m")[0].what(), peers.of("other").len()), ("x 1 b on d".into(), 0));
        for (work, want) in [
            (DenseWork::Product(32), Some(("x", 0.1))),
            (DenseWork::Gemm(32), Some(("z", 0.3))),
            (DenseWork::Conversion, Some(("z", 0.4))),
            (DenseWork::Vector, Some(("z", 0.01))),
            (DenseWork::Product(64), None),
        ] {
            let found: Vec<_> =
                peers.with_dense(work, "m", "f64").iter().map(|one| (&*one.library, time(one))).collect();
            assert_eq!(found, want.into_iter().collect::<Vec<_>>(), "{work:?}");
        }
        let whats: Vec<_> =
            peers.with_dense(DenseWork::Product(32), "m", "f64").iter().map(|peer| peer.what()).collect();
        assert_eq!(whats, ["x 1 dense csr ALG3 by rows on d"]);
        assert!(peers.with_dense(DenseWork::Product(32), "m", "f32").is_empty());
        std::fs::write(&path, r#"{"schema": "other/1", "results": []}"#).unwrap();
        assert!(Peers::read(&[path]).err().unwrap().to_string().contains("other/1"));
    }
}

//! Counts of a product for its report, and the names of its stages.
use super::{Method, Pipeline};
use crate::tuning::BinSize;

/// Columns of C that one method computed together.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Bin {
    /// Describes the columns in words.
    pub which: &'static str,
    /// The method that computed the columns.
    pub method: Method,
    /// Columns of C that the method computed.
    pub columns: u64,
    /// Products of entries (blocks) of these columns.
    pub products: u64,
    /// The sizes by which the time was predicted.
    #[serde(skip)]
    pub size: Option<BinSize>,
    /// Milliseconds predicted from sizes by the [costs](crate::tuning::MethodCosts) of the method,
    /// or `None` for blocks, plans, and methods without costs.
    pub predicted_ms: Option<f64>,
    /// Milliseconds that the kernels of these columns were busy, or `None` unless the product was
    /// [explained](crate::Product::explained). If kernels compute columns of several bins, their
    /// time is divided among the bins in proportion to their products.
    pub measured_ms: Option<f64>,
}

impl Bin {
    /// A bin whose time is neither predicted nor measured.
    pub(crate) fn of(which: &'static str, method: Method, columns: u64, products: u64) -> Self {
        Self { which, method, columns, products, size: None, predicted_ms: None, measured_ms: None }
    }

    /// Adds the columns of the same kind in another band.
    fn join(&mut self, other: &Self) {
        let size = |one: BinSize, other: BinSize| {
            let (products, entries) = (one.products + other.products, one.entries + other.entries);
            BinSize::new(one.launches + other.launches, products, entries, one.places + other.places)
        };
        (self.columns, self.products) = (self.columns + other.columns, self.products + other.products);
        self.size = self.size.zip(other.size).map(|(one, other)| size(one, other));
        self.predicted_ms = self.predicted_ms.zip(other.predicted_ms).map(|(one, other)| one + other);
    }
}

/// Counts collected while multiplying, for the report.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counts {
    /// Number of products: the expansion size.
    pub products: u64,
    /// Products of the longest column that ESC computes.
    pub longest: u64,
    /// Products of the longest run, if the methods count it.
    pub longest_run: Option<u32>,
    pub bands: usize,
    /// Products that the sort merges after the expansion.
    pub merged: u64,
    /// The bins of the product, for all bands together.
    pub bins: Vec<Bin>,
    pub pipeline: Pipeline,
}

impl Counts {
    /// Names of the stages in the report.
    pub fn stages(&self) -> &'static [&'static str] {
        self.pipeline.stages()
    }

    /// The stage in which C is complete.
    pub fn last_stage(&self) -> &'static str {
        self.stages().last().copied().unwrap_or("setup")
    }

    /// The number of the bin with these columns, or of the next new bin.
    pub fn number_of(&self, which: &str) -> usize {
        self.bins.iter().position(|bin| bin.which == which).unwrap_or(self.bins.len())
    }

    /// Adds a bin to the bin with columns of the same kind in earlier bands. Returns the number of
    /// the bin.
    pub fn add_bin(&mut self, bin: &Bin) -> usize {
        let same = |known: &Bin| (known.which, known.method) == (bin.which, bin.method);
        match self.bins.iter().position(same) {
            Some(number) => {
                self.bins[number].join(bin);
                number
            }
            None => {
                self.bins.push(*bin);
                self.bins.len() - 1
            }
        }
    }

    /// Adds columns with `products` products to the bin of `method`.
    pub fn add(&mut self, method: Method, columns: u64, products: u64) {
        match self.bins.iter_mut().find(|bin| bin.method == method) {
            Some(bin) => (bin.columns, bin.products) = (bin.columns + columns, bin.products + products),
            None => self.bins.push(Bin::of("all columns", method, columns, products)),
        }
    }
}

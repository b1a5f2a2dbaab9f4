//! The terms of a product: types that several modules of `product` use. This module has no kernels,
//! launches or choices, and uses no other module of `product`. Code that computes with a type of
//! this module is in the module that does the computation.
mod band;
mod bound;
mod chunks;
mod class;
mod class_sums;
mod consumer;
mod counts;
mod factors;
mod known;
mod lists;
mod method;
mod parts;
mod payload;
mod pipeline;
mod runs;
mod share;
mod sizes;
mod spec;
mod target;
mod task;
mod weights;

pub(crate) use crate::element::Scaling;
pub use crate::matrix::Part;
pub(crate) use band::Band;
pub(crate) use bound::{Bound, CountedProduct};
pub(in crate::product) use chunks::{CHUNK_GROUP_SIZE, CHUNK_ITEMS};
#[cfg(test)]
pub(crate) use class::MOST_SORTED_PRODUCTS;
pub(crate) use class::{Class, SORTED_PRODUCTS, most_sorted_products, sorted_class};
pub(crate) use class_sums::{ClassSizes, ClassSums, ClassesSums, no_columns, without_long};
pub(crate) use consumer::BandConsumer;
pub use counts::Bin;
pub(crate) use counts::Counts;
pub(crate) use factors::{
    Destination, FactorPair, FactorPattern, Factors, NumberedPattern, Operands, PatternPair, Place,
};
pub(in crate::product) use factors::{InFactors, InOperands};
pub(crate) use known::Known;
pub(crate) use lists::{ClassLists, Profile};
pub use method::Method;
pub use parts::GramParts;
pub(crate) use payload::PayloadKind;
pub(crate) use pipeline::{Pipeline, Way};
pub(crate) use runs::{CPattern, FoundColumns, FoundRuns};
pub(crate) use share::Share;
pub(crate) use sizes::Sizes;
pub(crate) use spec::{How, Spec, Transposed};
pub(in crate::product) use target::{InLayout, Layout, SumsInto, Target, TargetKind};
pub(crate) use task::ColumnTask;
pub(in crate::product) use task::InTask;
pub use weights::Weights;
pub(crate) use weights::{ArrayWeights, DeviceWeights, ViewWeights};

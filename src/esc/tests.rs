//! The pipeline with tunings of other devices than the one at hand, and the paper's listings.

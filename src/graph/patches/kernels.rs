//! The kernels of `cl/graph/patches.cl`.
use crate::{
    device::{In, InOut, Out, kernel},
    element::Piece,
};

kernel! {
    pub struct CountMembers = "count_members" in "graph/patches.cl" {
        label: In<u32>,
        number: In<f64>,
        counted: Out<f64>,
        vertices: u32,
    }
}

kernel! {
    pub struct RenameLabels = "rename_labels" in "graph/patches.cl" {
        name: In<u32>,
        label: InOut<u32>,
        vertices: u32,
    }
}

kernel! {
    pub struct GatherSquares = "gather_squares" in "graph/patches.cl" {
        order: In<u32>,
        path_length: In<f64>,
        squares: Out<f64>,
        count: u32,
    }
}

kernel! {
    pub struct GatherAxis = "gather_axis" in "graph/patches.cl" {
        order: In<u32>,
        points: In<f64>,
        axis_values: Out<f64>,
        count: u32,
        axis: u32,
    }
}

kernel! {
    pub struct FinishCentroid = "finish_centroid" in "graph/patches.cl" {
        run_end: In<u32>,
        run_patch: In<u32>,
        sums: In<f64>,
        centroid: InOut<f64>,
        runs: u32,
        axis: u32,
    }
}

kernel! {
    pub struct FromCentroid = "from_centroid" in "graph/patches.cl" {
        label: In<u32>,
        points: In<f64>,
        centroid: In<f64>,
        score: Out<f64>,
        vertices: u32,
    }
}

kernel! {
    pub struct MarkBorder = "mark_border" in "graph/patches.cl" {
        in_ptr: In<u32>,
        from: In<u32>,
        out_ptr: In<u32>,
        to: In<u32>,
        label: In<u32>,
        border: Out<u32>,
        vertices: u32,
    }
}

kernel! {
    pub struct ListBorder = "list_border" in "graph/patches.cl" {
        border: In<u32>,
        listed: Out<u32>,
        vertices: u32,
        count: u32,
    }
}

kernel! {
    pub struct FromBorder = "from_border" in "graph/patches.cl" {
        path_length: In<f64>,
        score: Out<f64>,
        vertices: u32,
    }
}

kernel! {
    pub struct LeastInPiece = "least_in_piece" in "graph/patches.cl" {
        piece: In<Piece>,
        order: In<u32>,
        score: In<f64>,
        found: Out<u32>,
        pieces: u32,
    }
}

kernel! {
    pub struct LeastInPatch = "least_in_patch" in "graph/patches.cl" {
        piece_ptr: In<u32>,
        run_patch: In<u32>,
        found: In<u32>,
        label: In<u32>,
        score: In<f64>,
        seed: InOut<u32>,
        runs: u32,
    }
}

kernel! {
    pub struct FarthestInPart = "farthest_in_part" in "graph/patches.cl" {
        path_length: In<f64>,
        found: Out<u32>,
        most: Out<f64>,
        vertices: u32,
        parts: u32,
    }
}

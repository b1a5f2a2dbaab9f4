//! The kernels of `cl/graph/patches.cl`.
use crate::{
    device::{In, InOut, Out, kernel},
    element::Piece,
};

kernel! {
    in "graph/patches.cl":
    pub struct CountMembers = "count_members" { label: In<u32>, number: In<f64>, counted: Out<f64>, vertices: u32 }
    pub struct RenameLabels = "rename_labels" { name: In<u32>, label: InOut<u32>, vertices: u32 }
    pub struct GatherSquares = "gather_squares" { order: In<u32>, path_length: In<f64>, squares: Out<f64>, count: u32 }
    pub struct GatherAxis = "gather_axis" {
        order: In<u32>,
        points: In<f64>,
        axis_values: Out<f64>,
        count: u32,
        axis: u32,
    }
    pub struct FinishCentroid = "finish_centroid" {
        run_end: In<u32>,
        run_patch: In<u32>,
        sums: In<f64>,
        centroid: InOut<f64>,
        runs: u32,
        axis: u32,
    }
    pub struct FromCentroid = "from_centroid" {
        label: In<u32>,
        points: In<f64>,
        centroid: In<f64>,
        score: Out<f64>,
        vertices: u32,
    }
    pub struct MarkBorder = "mark_border" {
        in_ptr: In<u32>,
        from: In<u32>,
        out_ptr: In<u32>,
        to: In<u32>,
        label: In<u32>,
        border: Out<u32>,
        vertices: u32,
    }
    pub struct ListBorder = "list_border" { border: In<u32>, listed: Out<u32>, vertices: u32, count: u32 }
    pub struct FromBorder = "from_border" { path_length: In<f64>, score: Out<f64>, vertices: u32 }
    pub struct LeastInPiece = "least_in_piece" {
        piece: In<Piece>,
        order: In<u32>,
        score: In<f64>,
        found: Out<u32>,
        pieces: u32,
    }
    pub struct LeastInPatch = "least_in_patch" {
        piece_ptr: In<u32>,
        run_patch: In<u32>,
        found: In<u32>,
        label: In<u32>,
        score: In<f64>,
        seed: InOut<u32>,
        runs: u32,
    }
    pub struct FarthestInPart = "farthest_in_part" {
        path_length: In<f64>,
        found: Out<u32>,
        most: Out<f64>,
        vertices: u32,
        parts: u32,
    }
}

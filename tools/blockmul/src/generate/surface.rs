//! Triangle meshes of surfaces.
use super::Common;
use crate::failure::Failure;
use crate::messages::Messages;
use crate::numbers::count;
use crate::output;
use crate::places::Places;
use blockmul::{
    Result,
    extra::mesh::{Mesh, MeshFormat, write_ply},
    generate::{sphere, terrain, torus},
};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Args {
    /// The surface.
    #[arg(long, value_enum, default_value = "torus")]
    shape: ShapeName,
    /// Approximate number of points; a sphere has the next of 12, 42, 162, 642 ...
    #[arg(long, default_value_t = 10_000, value_parser = count::<usize>)]
    points: usize,
    /// Output file: .ply, packed if .gz or .bz2 follows; - for stdout.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum ShapeName {
    /// An icosahedron whose triangles are divided, of radius 1.
    Sphere,
    /// A ring of radius 1 around the z axis, whose tube has radius 0.4.
    Torus,
    /// Hills of several widths over a square, which depend on the seed.
    Terrain,
}

impl Args {
    pub fn run(&self) -> std::result::Result<(), Failure> {
        Places::default().others([&self.output]).check()?;
        if !output::is_standard(&self.output) && MeshFormat::of(&self.output) != Some(MeshFormat::Ply) {
            let path = self.output.display();
            return Err(Failure::Usage(format!("{path}: meshes are written to .ply, packed if .gz or .bz2 follows")));
        }
        blockmul::io::check_name(&self.output)?;
        let messages = Messages::new(self.common.quiet);
        messages.step("generating");
        let mesh = self.mesh()?;
        match output::is_standard(&self.output) {
            true => {
                let mut bytes = Vec::new();
                blockmul::extra::mesh::write_ply_to(&mut bytes, &mesh, &[])?;
                output::write_bytes(&self.output, &bytes)?;
            }
            false => write_ply(&self.output, &mesh, &[]).map_err(output::of_output)?,
        }
        let (points, triangles) = (mesh.points().len(), mesh.triangles().len());
        messages.say(&format!("{}: {points} points, {triangles} triangles", self.output.display()));
        Ok(())
    }

    fn mesh(&self) -> Result<Mesh> {
        let points = self.points as f64;
        match self.shape {
            ShapeName::Sphere => {
                let divisions = (0..32).find(|&divisions| 10 * (1u128 << (2 * divisions)) + 2 >= self.points as u128);
                sphere(divisions.unwrap_or(32))
            }
            // Edges around the tube have the same length as those around the axis.
            ShapeName::Torus => {
                let across = ((0.4 * points).sqrt().round() as usize).max(3);
                torus((self.points / across).max(3), across)
            }
            ShapeName::Terrain => {
                let side = (points.sqrt().round() as usize).max(2);
                terrain(side, side, self.common.seed)
            }
        }
    }
}
